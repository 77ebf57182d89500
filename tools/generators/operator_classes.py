"""Whether every operator of the catalog has its class, and every class its operator."""

from __future__ import annotations

from importlib import import_module

from .incomplete import Incomplete


def check() -> None:
    """Of the package that is on the path. Raises ``Incomplete``."""
    from directml_py.operators import SCHEMAS
    from directml_py.operators.operator import OPERATORS

    for family in {schema.family for schema in SCHEMAS.values()}:
        import_family(family)
    lines = [
        f"{name} has no class: add one with @operator({name!r}), or a row of a table that makes such classes, to "
        f"directml_py/operators/{schema.family}"
        for name, schema in SCHEMAS.items()
        if name not in OPERATORS
    ]
    lines += [
        f"{name} has no entry in the catalog, but a class in {place_of(OPERATORS[name])}: add the entry to "
        "tools/api/operators/<family>.toml"
        for name in sorted(OPERATORS.keys() - SCHEMAS.keys())
    ]
    if lines:
        raise Incomplete("\n".join(lines))


def import_family(family: str) -> None:
    module = f"directml_py.operators.{family}"
    try:
        import_module(module)
    except ModuleNotFoundError as missing:
        if missing.name != module:
            raise
        raise Incomplete(
            f"the family {family} has no module: make directml_py/operators/{family}.py, or move what is in "
            f"tools/api/operators/{family}.toml to the file of a family that has one"
        ) from None


def place_of(instance: object) -> str:
    """The file of its class, from the repository's root on."""
    return type(instance).__module__.replace(".", "/") + ".py"
