"""``directml_py/api/operator_descs.py``: the descs of operators, each made when it is first named.

A program uses few of the classes, and making all takes as long as a good part of the other imports. Type checkers read
the stub that ``stubs.py`` writes.
"""

from __future__ import annotations

from .catalog import Catalog, Operator
from .docstrings import docstring_lines
from .python_text import python_module
from .structs import WINTYPES, ctypes_type

IMPORTS = """
from ctypes import POINTER

from ..abi.structure import operator_descs
from ..abi.wintypes import {wintypes}
from .structs import {structs}
"""


def entry_lines(operator: Operator, structs: set[str]) -> list[str]:
    """What the class of the desc has in its body, by name."""
    struct = operator.struct
    first, *others = docstring_lines(operator)
    counts = {field.name: field.count for field in struct.fields if field.count}
    return [
        f'    "{struct.name}": {{',
        f'        "__doc__": {first.lstrip()}',
        *others,
        "        ,",
        f'        "_operator_": {operator.value},',
        '        "_fields_": (',
        *(f'            ("{field.name}", {ctypes_type(field, structs)}),' for field in struct.fields),
        "        ),",
        *([f'        "_counts_": {counts},'] if counts else []),
        "    },",
    ]


def generate(catalog: Catalog) -> dict[str, str]:
    operators = catalog.operators
    structs = {struct.name for struct in catalog.structs}
    aliases = {one.struct.alias: one.struct.name for one in operators if one.struct.alias}
    table = "\n".join(line for operator in operators for line in entry_lines(operator, structs))
    body = ["DESCS = {", table, "}", f"ALIASES = {aliases}", ""]
    body.append("__getattr__ = operator_descs(globals(), DESCS, ALIASES)")
    used = {
        name: ", ".join(sorted(one for one in names if f"({one})" in table or f", {one})" in table))
        for name, names in {"wintypes": {"ENUM", *WINTYPES}, "structs": structs}.items()
    }
    names = {*(operator.struct.name for operator in operators), *aliases}
    text = python_module("The descs of the operators.", IMPORTS.format(**used), body, names)
    return {"directml_py/api/operator_descs.py": text}
