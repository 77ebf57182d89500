"""The header is clean C11 and C++17, alone and beside the DirectX headers, however it is included."""

from __future__ import annotations

import pytest
from toolchain import later

DIALECTS = [
    ("gcc", "c11"),
    ("g++", "c++17"),
    *later(
        ("gcc", "c17"),
        ("g++", "c++20"),
        ("clang", "c11"),
        ("clang", "c17"),
        ("clang++", "c++17"),
        ("clang++", "c++20"),
    ),
]
COMPILERS = ["gcc", "g++", *later("clang", "clang++")]

ALONE = '#include <DirectML.h>\nstatic_assert(sizeof(GUID) == 16, "");\n#ifdef __d3d12_h__\n#error\n#endif\n'
D3D12_FIRST = "#include <wsl/winadapter.h>\n#include <directx/d3d12.h>\n#include <DirectML.h>\n"
ORDERS = {
    "d3d12 first": D3D12_FIRST,
    "d3d12 last": "#include <DirectML.h>\n#include <wsl/winadapter.h>\n#include <directx/d3d12.h>\n",
    "winadapter first": "#include <wsl/winadapter.h>\n#include <DirectML.h>\n",
    "DirectML alone": "#include <DirectML.h>\n",
}
COMPLETE = (
    'static_assert(sizeof(D3D12_RESOURCE_DESC) == 56, "");\nstatic_assert(sizeof(ID3D12Device) == 8, "");\n'
)


def in_c(text: str) -> str:
    return "#include <assert.h>\n" + text


@pytest.mark.parametrize(("compiler", "standard"), DIALECTS)
def test_clean_on_its_own(toolchain, compiler, standard):
    assert toolchain.errors(compiler, in_c(ALONE), f"-std={standard}") == ""


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("compiler", "standard"), DIALECTS)
def test_clean_beside_d3d12(toolchain, compiler, standard, order):
    assert toolchain.errors(compiler, in_c(ORDERS[order] + COMPLETE), f"-std={standard}", d3d12=True) == ""


@pytest.mark.parametrize("compiler", COMPILERS)
def test_own_types_where_the_program_asks_for_them(toolchain, compiler):
    assert toolchain.errors(compiler, in_c(ALONE), "-DDIRECTML_NO_D3D12_H", d3d12=True) == ""


@pytest.mark.parametrize("compiler", COMPILERS)
def test_included_d3d12_wins_over_the_wish_for_own_types(toolchain, compiler):
    text = in_c(D3D12_FIRST + COMPLETE)
    assert toolchain.errors(compiler, text, "-DDIRECTML_NO_D3D12_H", d3d12=True) == ""


@pytest.mark.parametrize("d3d12", [False, True])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_c_style_interfaces(toolchain, compiler, d3d12):
    text = "#define CINTERFACE\n#define COBJMACROS\n#include <DirectML.h>\n" + (
        "ULONG retain(IDMLDevice* device);\n"
        "ULONG retain(IDMLDevice* device)\n"
        "{ return device->lpVtbl->AddRef(device) + IDMLDevice_Release(device); }\n"
    )
    assert toolchain.errors(compiler, text, d3d12=d3d12) == ""


@pytest.mark.parametrize("d3d12", [False, True])
@pytest.mark.parametrize("compiler", ["g++", *later("clang++")])
def test_included_inside_extern_c(toolchain, compiler, d3d12):
    use = "DML_TENSOR_FLAGS both = DML_TENSOR_FLAG_NONE | DML_TENSOR_FLAG_OWNED_BY_DML;\n"
    text = f'extern "C" {{\n#include <DirectML.h>\n}}\n{use}'
    assert toolchain.errors(compiler, text, d3d12=d3d12) == ""


@pytest.mark.parametrize("compiler", COMPILERS)
def test_included_twice(toolchain, compiler):
    assert toolchain.errors(compiler, "#include <DirectML.h>\n#include <DirectML.h>\n") == ""


@pytest.mark.parametrize("d3d12", [False, True])
@pytest.mark.parametrize(("c", "cpp"), [("gcc", "g++"), *later(("clang", "clang++"))])
def test_translation_units_link(toolchain, c, cpp, d3d12):
    """No symbol is defined twice, and none, identifiers included, is left to a library."""
    use = (
        "#include <DirectML.h>\n"
        "#ifdef __cplusplus\n"
        'extern "C"\n'
        "#endif\n"
        "int NAME(void);\n"
        "int NAME(void) {\n"
        "  const UINT sizes[] = {3, 5};\n"
        "  const GUID* iid = &IID_IDMLDevice;\n"
        "  return iid->Data4[7] == 0x3f"
        " && DMLCalcBufferTensorSize(DML_TENSOR_DATA_TYPE_FLOAT32, 2, sizes, 0) == 60;\n"
        "}\n"
    )
    main = (
        "int one(void); int two(void); int three(void); int four(void);\n"
        "int main(void) { return one() + two() + three() + four() - 4; }\n"
    )
    toolchain.run(
        cpp,
        toolchain.object(cpp, use, "-DNAME=one", name="one", d3d12=d3d12),
        toolchain.object(cpp, use, "-DNAME=two", name="two", d3d12=d3d12),
        toolchain.object(c, use, "-DNAME=three", name="three", d3d12=d3d12),
        toolchain.object(c, use, "-DNAME=four", name="four", d3d12=d3d12),
        toolchain.object(c, main, name="main"),
    )


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_program_may_bring_its_own_size_function(toolchain, compiler):
    """The listing that the documents print is in many programs, and in DirectMLX.h. In C++ it takes over by itself,
    in C a macro makes room for it."""
    if "++" in compiler:
        text = (
            "#include <DirectML.h>\n"
            "constexpr UINT64 DMLCalcBufferTensorSize(DML_TENSOR_DATA_TYPE, UINT, const UINT*, const UINT*)\n"
            "{ return 77; }\n"
            "static_assert(DMLCalcBufferTensorSize(DML_TENSOR_DATA_TYPE_INT8, 0, nullptr, nullptr) == 77);\n"
        )
        assert toolchain.errors(compiler, text) == ""
    else:
        text = "#include <DirectML.h>\nUINT64 DMLCalcBufferTensorSize(void);\n"
        assert "DMLCalcBufferTensorSize" in toolchain.errors(compiler, text)
    assert toolchain.errors(compiler, text, "-DDIRECTML_NO_CALC_BUFFER_TENSOR_SIZE") == ""


@pytest.mark.parametrize("version", ["0x0fff", "0x6401", "0"])
def test_impossible_target_version(toolchain, version):
    errors = toolchain.errors("gcc", "#include <DirectML.h>\n", f"-DDML_TARGET_VERSION={version}")
    assert "#error" in errors
    assert "DML_TARGET_VERSION" in errors


def test_constants(toolchain):
    """Values from the page "DirectML constants"; they serve as array lengths and in #if."""
    values = {
        "DML_TENSOR_DIMENSION_COUNT_MAX": 5,
        "DML_TENSOR_DIMENSION_COUNT_MAX1": 8,
        "DML_TEMPORARY_BUFFER_ALIGNMENT": 256,
        "DML_PERSISTENT_BUFFER_ALIGNMENT": 256,
        "DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT": 16,
        "DML_TARGET_VERSION_LATEST": 0x6400,
    }
    checks = "".join(f"#if {name} != {value}\n#error {name}\n#endif\n" for name, value in values.items())
    text = f"#include <DirectML.h>\n{checks}extern UINT sizes[DML_TENSOR_DIMENSION_COUNT_MAX1];\n"
    assert toolchain.errors("gcc", text) == ""
    assert toolchain.errors("g++", text) == ""
