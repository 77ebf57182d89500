"""``directml_py/api/exports.py``: the module of each public name of the package."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path

from .python_text import python_module

PACKAGE = "directml_py"
WIDTH = 110


def generate(root: Path, generated: Mapping[str, str]) -> dict[str, str]:
    """Follows the imports for type checkers in ``directml_py/__init__.py``; ``generated`` is newer than the files on
    disk."""

    def parsed(path: str) -> ast.Module:
        text = generated.get(path)
        return ast.parse((root / path).read_text(encoding="utf-8") if text is None else text)

    def exported(module: str, names: list[str]) -> Iterator[tuple[str, str]]:
        """The names, with the modules that have them: the modules of a package that imports them when named."""
        if names != ["*"]:
            yield from ((name, module) for name in names)
            return
        starred = parsed(source(root, module))
        owners = {
            name: f"{module}.{submodule}" if level == 1 else submodule
            for level, submodule, names in imported(starred)
            for name in names
        }
        yield from ((name, owners.get(name, module)) for name in listed(starred))

    exports: dict[str, str] = {}
    for _, module, names in imported(parsed(f"{PACKAGE}/__init__.py")):
        exports.update(exported(module, names))
    by_module: dict[str, list[str]] = {}
    for name in sorted(exports):
        by_module.setdefault(exports[name], []).append(name)
    # A name each as a string of its own would take most of the time to import the package.
    body = ["NAMES = {"]
    for module in sorted(by_module):
        body += [f'    "{module}": """', textwrap.fill(" ".join(by_module[module]), WIDTH), '""",']
    body += ["}", "EXPORTS = {name: module for module, names in NAMES.items() for name in names.split()}"]
    path = f"{PACKAGE}/api/exports.py"
    return {path: python_module("The module that has each name of the package.", "", body)}


def imported(package: ast.Module) -> Iterator[tuple[int, str, list[str]]]:
    """The levels, modules and names that are imported only for type checkers."""
    for block in package.body:
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
            for statement in block.body:
                if isinstance(statement, ast.ImportFrom):
                    yield statement.level, str(statement.module), [alias.name for alias in statement.names]


def source(root: Path, module: str) -> str:
    path = f"{PACKAGE}/{module.replace('.', '/')}"
    return f"{path}/__init__.py" if (root / path).is_dir() else f"{path}.py"


def listed(module: ast.Module) -> list[str]:
    """The names in ``__all__``."""
    for statement in module.body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__":
            names: list[str] = ast.literal_eval(statement.value)
            return names
    raise ValueError("a module that is imported with a star has no __all__")
