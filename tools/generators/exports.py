"""``directml_py/api/exports.py``: the module of each public name of the package."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from .python_text import python_module

PACKAGE = "directml_py"


def generate(root: Path, generated: Mapping[str, str]) -> dict[str, str]:
    """Follows the imports for type checkers in ``directml_py/__init__.py``; ``generated`` is newer than the files on
    disk."""

    def parsed(path: str) -> ast.Module:
        text = generated.get(path)
        return ast.parse((root / path).read_text(encoding="utf-8") if text is None else text)

    exports: dict[str, str] = {}
    for module, names in imported(parsed(f"{PACKAGE}/__init__.py")):
        for name in names:
            public = listed(parsed(source(root, module))) if name == "*" else [name]
            exports.update(dict.fromkeys(public, module))
    # Sorted here, so that `__all__` need not be sorted at import.
    body = ["EXPORTS = {", *(f'    "{name}": "{exports[name]}",' for name in sorted(exports)), "}"]
    path = f"{PACKAGE}/api/exports.py"
    return {path: python_module("The module that has each name of the package.", "", body)}


def imported(package: ast.Module) -> Iterator[tuple[str, list[str]]]:
    """The modules and names that are imported only for type checkers."""
    for block in package.body:
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
            for statement in block.body:
                if isinstance(statement, ast.ImportFrom):
                    yield str(statement.module), [alias.name for alias in statement.names]


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
