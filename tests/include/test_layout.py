"""Layout is the same in C, C++, ctypes and cffi: sizes, alignments, offsets, enumerators."""

from __future__ import annotations

import ctypes
import json
import re

import pytest
from toolchain import INCLUDE, later

from directml_py.api import d3d12_enums, d3d12_structs, descriptor_handles, enums, operator_descs, structs
from directml_py.cffi import ffi

# The enumerator that directx-headers-dev 1.606 of Debian 12 lacks.
NEWER_THAN_DEBIAN = {"D3D_FEATURE_LEVEL_1_0_GENERIC"}
ALIGNOF = "#ifdef __cplusplus\n#define ALIGNOF alignof\n#else\n#define ALIGNOF _Alignof\n#endif\n"


def field_names(struct, by_name):
    """Anonymous members are seen through, as C does."""
    for field in struct.fields:
        if field.anonymous:
            yield from field_names(by_name[field.type], by_name)
        else:
            yield field.name


def by_name(values):
    return {value.name: value for value in values}


def layout_statements(named, names):
    for name in names:
        yield f'printf("\\"{name}\\": {{\\"\\": [%zu, %zu]", sizeof({name}), (size_t)ALIGNOF({name}));'
        for field in field_names(named[name], named):
            member = f"(({name}*)0)->{field}"
            yield f'printf(", \\"{field}\\": [%zu, %zu]", offsetof({name}, {field}), sizeof({member}));'
        yield 'printf("},\\n");'


def probe(named, names, values):
    """A program printing {struct: {"": [size, alignment], field: [offset, size]}, enumerator: value}."""
    statements = [
        *layout_statements(named, names),
        *(f'printf("\\"{name}\\": %lld,\\n", (long long){name});' for name in values),
    ]
    body = "\n".join(statements)
    return (
        f"#include <DirectML.h>\n#include <stddef.h>\n#include <stdio.h>\n{ALIGNOF}"
        f'int main(void)\n{{\nprintf("{{\\n");\n{body}\nprintf("\\"\\": 0}}\\n");\nreturn 0;\n}}\n'
    )


def measured(toolchain, compiler, named, names, values, d3d12=False):
    text = probe(named, names, values)
    found = json.loads(toolchain.run(compiler, toolchain.object(compiler, text, name="layout", d3d12=d3d12)))
    del found[""]
    return found


def ctypes_layout(kind, names):
    layout = {"": [ctypes.sizeof(kind), ctypes.alignment(kind)]}
    for name in names:
        field = getattr(kind, name)
        layout[name] = [field.offset, field.size]
    return layout


def cffi_layout(name, names):
    kind = ffi.typeof(name)
    layout = {"": [ffi.sizeof(kind), ffi.alignof(kind)]}
    for field in names:
        pointer = ffi.cast(f"{name} *", 0)
        member = ffi.typeof(ffi.addressof(pointer, field)).item
        layout[field] = [ffi.offsetof(kind, field), ffi.sizeof(member)]
    return layout


@pytest.fixture(scope="module")
def directml_structs(catalog):
    return by_name([*catalog.structs, *(op.struct for op in catalog.operators)])


@pytest.fixture(scope="module")
def directml_values(catalog):
    return {value.name: value.value for enum in catalog.enums for value in enum.values}


def test_what_the_header_declares_is_compared(catalog, directml_structs):
    """Nothing is left out of the comparisons below."""
    header = (INCLUDE / "DirectML.h").read_text(encoding="utf-8")
    assert set(re.findall(r"^typedef enum (\w+)", header, re.M)) == {enum.name for enum in catalog.enums}
    structs = re.findall(r"^typedef (?:struct|union) (DML_\w+)$", header, re.M)
    assert set(structs) == directml_structs.keys()
    assert [name for name, struct in directml_structs.items() if struct.union] == ["DML_SCALAR_UNION"]
    types, _, _ = ffi.list_types()
    assert directml_structs.keys() <= set(types), (
        "directml_py/api/cdefs.py is older: install the package again"
    )


@pytest.mark.parametrize("compiler", ["gcc", "g++", *later("clang", "clang++")])
def test_directml_layout(toolchain, compiler, directml_structs, directml_values):
    found = measured(toolchain, compiler, directml_structs, directml_structs, directml_values)

    in_ctypes = dict(directml_values)
    in_cffi = {name: getattr(ffi.dlopen(None), name) for name in directml_values}
    for name, struct in directml_structs.items():
        kind = getattr(operator_descs if struct.operator else structs, name)
        names = [field.name for field in struct.fields]
        assert [field[0] for field in kind._fields_] == names
        assert [field for field, _ in ffi.typeof(name).fields] == names
        in_ctypes[name] = ctypes_layout(kind, names)
        in_cffi[name] = cffi_layout(name, names)
    assert found == in_ctypes
    assert found == in_cffi


def test_enumerators_in_python(catalog, toolchain, directml_structs, directml_values):
    """The same names in the same enumerations, with the values that the C compiler sees."""
    found = measured(toolchain, "gcc", directml_structs, [], directml_values)
    for enum in catalog.enums:
        members = getattr(enums, enum.name).__members__
        assert {name: int(member) for name, member in members.items()} == {
            value.name: found[value.name] for value in enum.values
        }


def test_some_layouts_by_hand(toolchain, directml_structs):
    """x86-64 and AArch64: 4-byte enumerations and UINTs, 8-byte pointers, natural alignment."""
    names = ["DML_BUFFER_TENSOR_DESC", "DML_SCALAR_UNION", "DML_BINDING_TABLE_DESC", "DML_JOIN_OPERATOR_DESC"]
    found = measured(toolchain, "gcc", directml_structs, names, [])
    assert found["DML_BUFFER_TENSOR_DESC"] == {
        "": [48, 8],
        "DataType": [0, 4],
        "Flags": [4, 4],
        "DimensionCount": [8, 4],
        "Sizes": [16, 8],
        "Strides": [24, 8],
        "TotalTensorSizeInBytes": [32, 8],
        "GuaranteedBaseOffsetAlignment": [40, 4],
    }
    assert found["DML_SCALAR_UNION"][""] == [8, 8]
    assert found["DML_BINDING_TABLE_DESC"] == {
        "": [32, 8],
        "Dispatchable": [0, 8],
        "CPUDescriptorHandle": [8, 8],
        "GPUDescriptorHandle": [16, 8],
        "SizeInDescriptors": [24, 4],
    }
    assert found["DML_JOIN_OPERATOR_DESC"] == {
        "": [32, 8],
        "InputCount": [0, 4],
        "InputTensors": [8, 8],
        "OutputTensor": [16, 8],
        "Axis": [24, 4],
    }


@pytest.mark.parametrize("compiler", ["gcc", "g++"])
def test_d3d12_layout(toolchain, compiler, catalog):
    """Our Direct3D 12 structs and enumerators against d3d12.h itself."""
    named = by_name(catalog.d3d12_structs)
    anonymous = {field.type for struct in named.values() for field in struct.fields if field.anonymous}
    names = [name for name in named if name not in anonymous]
    values = {
        value.name: value.value
        for enum in catalog.d3d12_enums
        for value in enum.values
        if value.name not in NEWER_THAN_DEBIAN
    }
    found = measured(toolchain, compiler, named, names, values, d3d12=True)
    expected = dict(values)
    for name in names:
        module = descriptor_handles if hasattr(descriptor_handles, name) else d3d12_structs
        expected[name] = ctypes_layout(getattr(module, name), list(field_names(named[name], named)))
    assert found == expected
    for enum in catalog.d3d12_enums:
        members = getattr(d3d12_enums, enum.name).__members__
        assert {name: int(member) for name, member in members.items()} == {
            v.name: v.value for v in enum.values
        }
