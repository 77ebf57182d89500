"""The public names of ``from directml_py import *``."""

from __future__ import annotations

import ctypes
from enum import IntEnum, IntFlag

import pytest
from generators.catalog import Catalog

import directml_py as dml

STAR: dict[str, object] = {}
exec("from directml_py import *", STAR)
del STAR["__builtins__"]
CATALOG = Catalog()
SUBMODULES = {
    "abi",
    "api",
    "cffi",
    "d3d12",
    "descs",
    "dml",
    "kernels",
    "operators",
    "samples",
    "cli",
    "testing",
    "validation",
}


@pytest.mark.parametrize(
    "name",
    [
        "BOOL",
        "FLOAT",
        "GUID",
        "UINT",
        "UINT64",
        "DMLError",
        "S_OK",
        "E_INVALIDARG",
        "E_NOTIMPL",
        "DXGI_ERROR_DEVICE_REMOVED",
        "DXGI_ERROR_UNSUPPORTED",
        "IUnknown",
        "DMLCreateDevice",
        "DMLCreateDevice1",
        "DMLCalcBufferTensorSize",
        "D3D12CreateDevice",
        "D3D12GetDebugInterface",
        "CD3DX12_CPU_DESCRIPTOR_HANDLE",
        "CD3DX12_GPU_DESCRIPTOR_HANDLE",
        "CD3DX12_HEAP_PROPERTIES",
        "CD3DX12_RESOURCE_BARRIER",
        "CD3DX12_RESOURCE_DESC",
        "UpdateSubresources",
        "tensor_desc",
        "evaluate",
        "validate",
        "Diagnostic",
        "Severity",
    ],
)
def test_names(name):
    assert STAR[name] is getattr(dml, name)


def test_every_interface_and_its_iid():
    for interface in CATALOG.interfaces:
        assert bytes(STAR[f"IID_{interface.name}"]) == bytes(dml.GUID(interface.iid))
        kind = STAR[interface.name]
        assert issubclass(kind, dml.IUnknown)
        assert STAR[f"IID_{interface.name}"] == kind.IID
        for method in interface.methods:
            if interface.name.startswith("IDML"):
                assert callable(getattr(kind, method.name))


def test_every_struct():
    operators = [name for name in STAR if name.startswith("DML_") and name.endswith("_OPERATOR_DESC")]
    # That of all of them, and SCATTER's second name.
    others = ["DML_OPERATOR_DESC", "DML_SCATTER_ELEMENTS_OPERATOR_DESC"]
    assert sorted(operators) == sorted([*(operator.struct.name for operator in CATALOG.operators), *others])
    assert STAR["DML_SCATTER_ELEMENTS_OPERATOR_DESC"] is STAR["DML_SCATTER_OPERATOR_DESC"]
    for name in [
        *operators,
        "DML_BUFFER_TENSOR_DESC",
        "DML_BINDING_DESC",
        "D3D12_HEAP_PROPERTIES",
        "D3D12_RANGE",
    ]:
        assert issubclass(STAR[name], ctypes.Structure)


def test_every_enumerator():
    kinds = [
        kind for kind in STAR.values() if isinstance(kind, type) and issubclass(kind, (IntEnum, IntFlag))
    ]
    assert len([kind for kind in kinds if kind.__name__.startswith("DML_")]) >= 25
    for kind in kinds:
        # DXCore's are scoped in C++ too.
        if not kind.__name__.startswith("DXCore"):
            for name, member in kind.__members__.items():
                assert STAR[name] is member


def test_constants():
    assert STAR["DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT"] == 16
    assert STAR["DML_TEMPORARY_BUFFER_ALIGNMENT"] == 256
    assert STAR["DML_PERSISTENT_BUFFER_ALIGNMENT"] == 256
    assert STAR["DML_TENSOR_DIMENSION_COUNT_MAX1"] == 8


def test_nothing_that_would_hide_a_users_name():
    """Programs say ``import directml_py as dml``; no submodule, import or helper may come with the star."""
    assert not SUBMODULES & set(STAR)
    modules = [name for name, value in STAR.items() if isinstance(value, type(dml))]
    assert modules == []
    assert not [name for name in STAR if name.startswith("_")]
    for helper in ("annotations", "np", "ctypes", "Any", "IntEnum", "IntFlag", "Structure_", "enum"):
        assert helper not in STAR


def test_all_is_what_the_star_gives():
    assert sorted(STAR) == dml.__all__
    assert dml.__version__
