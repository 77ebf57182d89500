"""``directml_py/api/structs.py``, ``operator_descs.py`` and ``d3d12_structs.py``: ctypes structs with the C layout."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .catalog import SCALARS, Catalog, Field, Operator, Struct
from .docstrings import docstring_lines
from .python_text import python_module

NOTHING: Mapping[str, Operator] = {}
WINTYPES = (*SCALARS, "LONG_PTR", "WCHAR")
IMPORTS = """
import ctypes
from ctypes import POINTER

from ..abi.structure import {bases}
from ..abi.wintypes import {wintypes}
"""


def ctypes_type(field: Field, structs: set[str]) -> str:
    """The ctypes expression for a field's C type."""
    if field.array:
        element, length = field.array
        return f"{ctypes_name(element, structs)} * {length}"
    target = field.pointee
    if field.type == "const char*":
        return "ctypes.c_char_p"
    if not target:
        return ctypes_name(field.type, structs)
    if target == "void" or is_interface(field):
        return "ctypes.c_void_p"
    return f"POINTER({ctypes_name(target, structs)})"


def ctypes_name(c_name: str, structs: set[str]) -> str:
    return c_name if c_name in WINTYPES or c_name in structs else "ENUM"


def is_interface(field: Field) -> bool:
    return field.pointee.startswith(("ID3D12", "IDML", "IUnknown"))


def base_of(struct: Struct) -> str:
    if struct.operator:
        return "TypedOperatorDesc"
    if struct.name == "DML_OPERATOR_DESC":
        return "AnyOperatorDesc"
    return "Union" if struct.union else "Structure"


def struct_lines(struct: Struct, structs: set[str], operator: Operator | None) -> list[str]:
    lines = ["", f"class {struct.name}({base_of(struct)}):"]
    if operator is not None:
        lines += [*docstring_lines(operator), "", f"    _operator_ = {operator.value}"]
    anonymous = [field.name for field in struct.fields if field.anonymous]
    if anonymous:
        lines.append(f"    _anonymous_ = ({', '.join(repr(name) for name in anonymous)},)")
    lines.append("    _fields_ = (")
    lines += [f'        ("{field.name}", {ctypes_type(field, structs)}),' for field in struct.fields]
    lines.append("    )")
    counts = {field.name: field.count for field in struct.fields if field.count}
    if counts:
        lines.append(f"    _counts_ = {counts}")
    interfaces = [field.name for field in struct.fields if is_interface(field)]
    if interfaces:
        lines.append(f"    _interfaces_ = frozenset({interfaces})")
    alias = ["", f"{struct.alias} = {struct.name}"] if struct.alias else []
    return [*lines, *alias, ""]


def module(
    docstring: str,
    structs: Iterable[Struct],
    known: Iterable[Struct] = (),
    operators: Mapping[str, Operator] = NOTHING,
    imports: str = "",
) -> str:
    structs = list(structs)
    own = {struct.name for struct in structs}
    names = own | {struct.name for struct in known}
    body: list[str] = []
    for struct in structs:
        body += struct_lines(struct, names, operators.get(struct.name))
    text = "\n".join(body)
    bases = [b for b in ("AnyOperatorDesc", "Structure", "TypedOperatorDesc", "Union") if f"({b})" in text]
    wintypes = [w for w in ("ENUM", *WINTYPES) if f"{w})" in text or f" {w} *" in text]
    used = sorted(name for name in names - own if f"({name})" in text or f" {name})" in text)
    head = IMPORTS.format(bases=", ".join(bases), wintypes=", ".join(sorted(wintypes)))
    if used:
        head += f"{imports} ({', '.join(used)})\n"
    if "ctypes." not in text:
        head = head.replace("import ctypes\n", "", 1)
    if "POINTER(" not in text:
        head = head.replace("from ctypes import POINTER\n", "", 1)
    return python_module(docstring, head, body, own | {struct.alias for struct in structs if struct.alias})


def generate(catalog: Catalog) -> dict[str, str]:
    plain = catalog.structs
    d3d12 = catalog.d3d12_structs
    operators = catalog.operators
    return {
        "directml_py/api/structs.py": module(
            "Plain structs of DirectML.h.", plain, d3d12, imports="from .d3d12_structs import"
        ),
        "directml_py/api/operator_descs.py": module(
            "The descs of the operators.",
            (operator.struct for operator in operators),
            plain,
            {operator.struct.name: operator for operator in operators},
            imports="from .structs import",
        ),
        "directml_py/api/d3d12_structs.py": module(
            "Structs of Direct3D 12, DXGI and DXCore that DirectML programs use.",
            [*d3d12, *catalog.dxgi_structs],
        ),
    }
