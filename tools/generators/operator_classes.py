"""Check that every operator of the catalog has its class in the right module, and every class its operator."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages

from .incomplete import Incomplete


def check() -> None:
    """Uses the package on the path. Raises ``Incomplete`` that lists everything missing."""
    operators = import_module("directml_py.operators")
    for module in walk_packages(operators.__path__, f"{operators.__name__}."):
        import_module(module.name)
    lines = list(missing())
    if lines:
        raise Incomplete("\n".join(lines))


def missing() -> Iterator[str]:
    from directml_py.operators import SCHEMAS
    from directml_py.operators.operator import OPERATORS

    modules = {name: type(instance).__module__ for name, instance in OPERATORS.items()}
    for name, schema in SCHEMAS.items():
        entry = f"tools/api/operators/{schema.family}.toml"
        named = f"directml_py.operators.{schema.module}"
        if name not in modules:
            yield (
                f"{name} has no class: add one with @operator({name!r}) to {path_of(named)}, the module that its "
                f"entry in {entry} names, or add another `module` to the entry"
            )
        elif modules[name] != named:
            yield (
                f"{name} has its class in {path_of(modules[name])}, but its entry in {entry} names "
                f'{schema.module}: add module = "{modules[name].removeprefix("directml_py.operators.")}"'
            )
    for name in sorted(modules.keys() - SCHEMAS.keys()):
        yield (
            f"{name} has no entry in the catalog, but a class in {path_of(modules[name])}: add the entry to "
            "tools/api/operators/<family>.toml"
        )


def path_of(module: str) -> str:
    return f"{module.replace('.', '/')}.py"
