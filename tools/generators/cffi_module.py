"""``directml_py/api/cdefs.py``: the cffi out-of-line ABI-mode module of the same structs and enums.

It is written when the package is built, as every new operator changes most of its numbers.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Iterable
from pathlib import Path

import cffi

from .catalog import SCALARS, Catalog, Enum, Field, Struct
from .python_text import PYTHON_NOTICE

MODULE = "directml_py.api.cdefs"
FIXED = {
    "BYTE": "uint8_t",
    "INT8": "int8_t",
    "UINT8": "uint8_t",
    "INT16": "int16_t",
    "UINT16": "uint16_t",
    "INT": "int32_t",
    "INT32": "int32_t",
    "UINT": "uint32_t",
    "UINT32": "uint32_t",
    "BOOL": "int32_t",
    "FLOAT": "float",
    "INT64": "int64_t",
    "UINT64": "uint64_t",
    "DOUBLE": "double",
    "SIZE_T": "size_t",
    "LONG_PTR": "intptr_t",
}
assert set(SCALARS) <= set(FIXED)


def enum_text(enum: Enum) -> str:
    members = ", ".join(f"{value.name} = {value.value}" for value in enum.values)
    return f"typedef enum {enum.name} {{ {members} }} {enum.name};"


def field_text(field: Field, unions: dict[str, Struct]) -> str:
    if field.anonymous:
        members = " ".join(field_text(member, unions) for member in unions[field.type].fields)
        return f"union {{ {members} }};"
    if field.array:
        element, length = field.array
        return f"{element} {field.name}[{length}];"
    return f"{field.type} {field.name};"


def struct_text(struct: Struct, unions: dict[str, Struct]) -> str:
    keyword = "union" if struct.union else "struct"
    members = " ".join(field_text(field, unions) for field in struct.fields)
    names = ", ".join(name for name in (struct.name, struct.alias) if name)
    return f"typedef {keyword} {struct.name} {{ {members} }} {names};"


def interface_names(structs: Iterable[Struct]) -> list[str]:
    pointees = {field.pointee for struct in structs for field in struct.fields}
    return sorted(name for name in pointees if name.startswith(("ID3D12", "IDML", "IUnknown")))


def cdef(catalog: Catalog) -> str:
    structs = [*catalog.d3d12_structs, *catalog.structs, *(op.struct for op in catalog.operators)]
    unions = {struct.name: struct for struct in structs if struct.union}
    lines = [f"typedef {c_type} {name};" for name, c_type in FIXED.items()]
    lines += [f"typedef struct {name} {name};" for name in interface_names(structs)]
    lines += [enum_text(enum) for enum in (*catalog.d3d12_enums, *catalog.enums)]
    lines += [struct_text(struct, unions) for struct in structs]
    return "\n".join(lines)


def module_text(catalog: Catalog) -> str:
    """The output of cffi's compiler for the declarations; it is not formatted, as it is long and nobody reads it."""
    ffi = cffi.FFI()
    ffi.cdef(cdef(catalog))
    ffi.set_source(MODULE, None)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cdefs.py"
        with contextlib.redirect_stdout(io.StringIO()):
            ffi.emit_python_code(str(path))
        lines = path.read_text(encoding="utf-8").splitlines()
    return "\n".join([PYTHON_NOTICE, *lines[1:]]) + "\n"
