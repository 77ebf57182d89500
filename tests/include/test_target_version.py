"""DML_TARGET_VERSION declares exactly what that version has."""

from __future__ import annotations

import pytest

VERSIONS = [
    0x1000, 0x2000, 0x2100, 0x3000, 0x3100, 0x4000, 0x4100, 0x5000,
    0x5100, 0x5200, 0x6000, 0x6100, 0x6200, 0x6300, 0x6400,
]  # fmt: skip
BETWEEN = [0x2001, 0x20FF, 0x62FF]


def enumerators(catalog):
    return [value for enum in catalog.enums for value in enum.values]


def types(catalog):
    return [*catalog.enums, *catalog.structs, *(op.struct for op in catalog.operators), *catalog.interfaces]


def everything(catalog):
    """(name, since) of all that the header declares, the Windows types aside."""
    named = [*enumerators(catalog), *types(catalog), *catalog.functions]
    return [
        *((item.name, item.since) for item in named),
        *((f"IID_{item.name}", item.since) for item in catalog.interfaces),
    ]


def used(catalog, version, compiler):
    """Names everything that the version has, in a way that only a complete declaration allows."""
    check = "static_assert" if "++" in compiler else "_Static_assert"
    lines = [f'{check}({v.name} == {v.value}, "");' for v in enumerators(catalog) if v.since <= version]
    lines += [f'{check}(sizeof({t.name}) > 0, "");' for t in types(catalog) if t.since <= version]
    lines += [f'{check}(sizeof(&{f.name}) > 0, "");' for f in catalog.functions if f.since <= version]
    lines += [f'{check}(sizeof(IID_{i.name}) == 16, "");' for i in catalog.interfaces if i.since <= version]
    return lines


def claimed(names):
    """Declares the names as types of the program's own: an error for a name that is declared already."""
    return ["struct own;", *(f"typedef struct own {name};" for name in names)]


@pytest.mark.parametrize("compiler", ["gcc", "g++"])
@pytest.mark.parametrize("version", [*VERSIONS, *BETWEEN], ids=hex)
def test_declares_all_that_is_due_and_nothing_newer(toolchain, catalog, version, compiler):
    newer = [name for name, since in everything(catalog) if since > version]
    text = "\n".join(["#include <DirectML.h>", *used(catalog, version, compiler), *claimed(newer), ""])
    assert toolchain.errors(compiler, text, f"-DDML_TARGET_VERSION={version:#x}") == ""


def test_the_versions_cover_every_since(catalog):
    assert {since for _, since in everything(catalog)} <= set(VERSIONS)


@pytest.mark.parametrize("compiler", ["gcc", "g++"])
@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("DML_TENSOR_DATA_TYPE_UINT4", 0x6300),
        ("DML_PADDING_MODE_WRAP", 0x6400),
        ("DML_FEATURE_LEVEL", 0x2000),
        ("DML_FEATURE_LEVEL_1_0", 0x2000),
        ("DML_SCALAR_UNION", 0x2100),
        ("DML_CONSTANT_DATA_GRAPH_NODE_DESC", 0x6200),
        ("DML_OPERATOR_ELEMENT_WISE_ADD1", 0x2000),
        ("DML_OPERATOR_GATHER_ELEMENTS", 0x2100),
        ("IDMLDevice1", 0x2100),
        ("IID_IDMLDevice1", 0x2100),
        ("DMLCreateDevice1", 0x2000),
    ],
)
def test_boundaries(toolchain, name, version, compiler):
    """Free to claim one below the version, taken from it on: proves that claiming detects a declaration."""
    text = "\n".join(["#include <DirectML.h>", *claimed([name]), ""])
    assert toolchain.errors(compiler, text, f"-DDML_TARGET_VERSION={version - 1:#x}") == ""
    assert name in toolchain.errors(compiler, text, f"-DDML_TARGET_VERSION={version:#x}")


@pytest.mark.parametrize("compiler", ["gcc", "g++"])
def test_add1_desc_is_older_than_its_enumerator(toolchain, compiler):
    text = "#include <DirectML.h>\nextern DML_ELEMENT_WISE_ADD1_OPERATOR_DESC desc;\n"
    assert toolchain.errors(compiler, text, "-DDML_TARGET_VERSION=0x1000") == ""


@pytest.mark.parametrize("compiler", ["gcc", "g++"])
@pytest.mark.parametrize(
    ("flags", "latest"),
    [
        ((), True),
        (("-DDML_TARGET_VERSION_USE_LATEST",), True),
        (("-DDML_TARGET_VERSION=0x1000",), False),
        (("-DDML_TARGET_VERSION_USE_LATEST", "-DDML_TARGET_VERSION=0x1000"), False),
    ],
)
def test_which_version_is_chosen(toolchain, compiler, flags, latest):
    """Latest unless a number is given; the page "DirectML version history" lets the number win."""
    text = "#include <DirectML.h>\nint mode = DML_PADDING_MODE_WRAP;\n"
    assert (toolchain.errors(compiler, text, *flags) == "") is latest


@pytest.mark.parametrize("version", [0x1000, 0x2000, 0x3000], ids=hex)
def test_old_versions_beside_d3d12(toolchain, version):
    assert (
        toolchain.errors("g++", "#include <DirectML.h>\n", f"-DDML_TARGET_VERSION={version:#x}", d3d12=True)
        == ""
    )
