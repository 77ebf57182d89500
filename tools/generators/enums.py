"""``directml_py/api/enums.py`` and ``d3d12_enums.py``: every enumeration, with its members also at module level."""

from __future__ import annotations

from collections.abc import Iterable

from .catalog import Catalog, Enum
from .python_text import python_module


def enum_lines(enum: Enum) -> list[str]:
    base = "IntFlag" if enum.flags else "IntEnum"
    return [
        "",
        f"class {enum.name}({base}):",
        *(f"    {value.name} = {value.value}" for value in enum.values),
        "",
    ]


def module(docstring: str, enums: Iterable[Enum], constants: dict[str, int]) -> str:
    enums = list(enums)
    body = [f"{name}: Final = {value}" for name, value in constants.items()]
    for enum in enums:
        body += enum_lines(enum)
    members = [(enum.name, value.name) for enum in enums if not enum.scoped for value in enum.values]
    body += ["", *(f"{name}: Final = {enum}.{name}" for enum, name in members)]
    names = [*constants, *(enum.name for enum in enums), *(name for _, name in members)]
    imports = "from enum import IntEnum, IntFlag\nfrom typing import Final"
    return python_module(docstring, imports, body, names)


def generate(catalog: Catalog) -> dict[str, str]:
    return {
        "directml_py/api/enums.py": module(
            "Enumerations and constants of DirectML.h.", catalog.enums, catalog.constants
        ),
        "directml_py/api/d3d12_enums.py": module(
            "Enumerations of Direct3D 12, DXGI and DXCore that DirectML programs use.",
            [*catalog.d3d12_enums, *catalog.dxgi_enums],
            {},
        ),
    }
