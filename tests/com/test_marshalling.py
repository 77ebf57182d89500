"""Which parameters a call reads, and through which it writes, follows from their C types alone."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from directml_py.com.interfaces import INTERFACES
from directml_py.com.marshalling import plan

OBJECTS = SimpleNamespace(
    held=lambda address: None,
    argument=lambda address, name: (name, address),
    program=SimpleNamespace(layout=None, read_wide=None, event=None),
)


def planned(c_type):
    return plan([(c_type, "parameter")], OBJECTS, None)


@pytest.mark.parametrize("name", ["ID3D12Resource", "IUnknown", "ID3D12CommandSignature", "IDXGIOutput"])
def test_an_object_is_passed_by_one_pointer(name):
    """Whether or not the catalog has its interface."""
    assert (name in INTERFACES) == (name in ("ID3D12Resource", "IUnknown"))
    for c_type in (f"{name}*", f"const {name}*"):
        (read,) = planned(c_type).inputs
        assert read((77,)) == ("parameter", 77)


@pytest.mark.parametrize(
    "c_type",
    [
        "void**",
        "ID3DBlob**",
        "IDXGISurface**",
        "const D3D12_VERSIONED_ROOT_SIGNATURE_DESC**",
        "UINT*",
        "INT*",
        "D3D12_HEAP_PROPERTIES*",
        "D3D12_HEAP_FLAGS*",
    ],
)
def test_results_are_written_through_pointers_to_values_and_pointers(c_type):
    found = planned(c_type)
    assert (len(found.inputs), len(found.outputs)) == (0, 1)


@pytest.mark.parametrize("c_type", ["const UINT*", "void*", "D3D12_RECT*", "D3D12_INFO_QUEUE_FILTER*"])
def test_memory_that_is_read_is_passed_as_an_address(c_type):
    found = planned(c_type)
    assert (len(found.inputs), len(found.outputs)) == (1, 0)
    assert found.inputs[0]((77,)) == 77
    assert found.inputs[0]((0,)) is None
