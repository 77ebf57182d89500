"""``directml_py/api/structs.py`` and ``d3d12_structs.py``: ctypes structs with the C layout."""

from __future__ import annotations

from collections.abc import Iterable

from .catalog import SCALARS, Catalog, Field, Struct
from .python_text import python_module

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


def struct_lines(struct: Struct, structs: set[str]) -> list[str]:
    lines = ["", f"class {struct.name}({base_of(struct)}):"]
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


def module(docstring: str, structs: Iterable[Struct], known: Iterable[Struct] = (), imports: str = "") -> str:
    structs = list(structs)
    defined = {struct.name for struct in structs}
    names = defined | {struct.name for struct in known}
    body = [line for struct in structs for line in struct_lines(struct, names)]
    text = "\n".join(body)
    bases = [b for b in ("AnyOperatorDesc", "Structure", "Union") if f"({b})" in text]
    wintypes = [w for w in ("ENUM", *WINTYPES) if f"{w})" in text or f" {w} *" in text]
    used = sorted(name for name in names - defined if f"({name})" in text or f" {name})" in text)
    head = IMPORTS.format(bases=", ".join(bases), wintypes=", ".join(sorted(wintypes)))
    if used:
        head += f"{imports} ({', '.join(used)})\n"
    if "ctypes." not in text:
        head = head.replace("import ctypes\n", "", 1)
    if "POINTER(" not in text:
        head = head.replace("from ctypes import POINTER\n", "", 1)
    return python_module(
        docstring, head, body, defined | {struct.alias for struct in structs if struct.alias}
    )


HANDLES = ("D3D12_CPU_DESCRIPTOR_HANDLE", "D3D12_GPU_DESCRIPTOR_HANDLE")
HANDLES_TITLE = "Descriptor handles, the structs of Direct3D 12 that those of DirectML.h hold."


def split(structs: Iterable[Struct]) -> tuple[list[Struct], list[Struct]]:
    """The descriptor handles, whose module DirectML's structs need, and other structs of Direct3D 12."""
    structs = list(structs)
    handles = [struct for struct in structs if struct.name in HANDLES]
    return handles, [struct for struct in structs if struct not in handles]


def generate(catalog: Catalog) -> dict[str, str]:
    handles, d3d12 = split(catalog.d3d12_structs)
    imports = "from .descriptor_handles import"
    return {
        "directml_py/api/descriptor_handles.py": module(HANDLES_TITLE, handles),
        "directml_py/api/structs.py": module(
            "Plain structs of DirectML.h.", catalog.structs, handles, imports
        ),
        "directml_py/api/d3d12_structs.py": module(
            "Structs of Direct3D 12, DXGI and DXCore that DirectML programs use.",
            [*d3d12, *catalog.dxgi_structs],
            handles,
            imports,
        ),
    }
