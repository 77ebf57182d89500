"""``directml_py/api/enums.py`` and ``d3d12_enums.py``: every enumeration, with its members also at module level.

At run time an enumeration is made when it, or a member of it, is first named: to make all takes Python longer than any
other module of the package to load. Type checkers read the stubs beside the modules, which have them as classes.
"""

from __future__ import annotations

from collections.abc import Iterable

from .catalog import Catalog, Enum
from .python_text import python_module


def class_lines(enum: Enum) -> list[str]:
    base = "IntFlag" if enum.flags else "IntEnum"
    return [
        "",
        f"class {enum.name}({base}):",
        *(f"    {value.name} = {value.value}" for value in enum.values),
        "",
    ]


def table_lines(enum: Enum) -> list[str]:
    return [
        f'    "{enum.name}": {{',
        *(f'        "{value.name}": {value.value},' for value in enum.values),
        "    },",
    ]


def module(path: str, docstring: str, enums: Iterable[Enum], constants: dict[str, int]) -> dict[str, str]:
    """The module, and its stub."""
    enums = list(enums)
    members = [(enum.name, value.name) for enum in enums if not enum.scoped for value in enum.values]
    names = [*constants, *(enum.name for enum in enums), *(name for _, name in members)]
    numbers = [f"{name}: Final = {value}" for name, value in constants.items()]
    flags, scoped = (
        "".join(f'        "{enum.name}",\n' for enum in enums if getattr(enum, trait))
        for trait in ("flags", "scoped")
    )
    table = [
        "",
        "ENUMERATIONS = {",
        *(line for enum in enums for line in table_lines(enum)),
        "}",
        f"FLAGS = frozenset((\n{flags}))",
        f"SCOPED = frozenset((\n{scoped}))",
        "",
        "__getattr__ = enumerations(globals(), ENUMERATIONS, FLAGS, SCOPED)",
    ]
    classes = [line for enum in enums for line in class_lines(enum)]
    classes += ["", *(f"{name}: Final = {enum}.{name}" for enum, name in members)]
    imports = "from typing import Final\n\nfrom ..late import enumerations"
    stub_imports = "from enum import IntEnum, IntFlag\nfrom typing import Final"
    return {
        f"{path}.py": python_module(docstring, imports, [*numbers, *table], names),
        f"{path}.pyi": python_module(docstring, stub_imports, [*numbers, *classes], names),
    }


def generate(catalog: Catalog) -> dict[str, str]:
    return {
        **module(
            "directml_py/api/enums",
            "Enumerations and constants of DirectML.h.",
            catalog.enums,
            catalog.constants,
        ),
        **module(
            "directml_py/api/d3d12_enums",
            "Enumerations of Direct3D 12, DXGI and DXCore that DirectML programs use.",
            [*catalog.d3d12_enums, *catalog.dxgi_enums],
            {},
        ),
    }
