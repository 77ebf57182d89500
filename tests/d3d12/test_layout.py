"""Names, numbers and layouts agree with Debian's d3d12.h and dxcore.h and our dxgi1_6.h: what a C++ program sees is
what Python says."""

from __future__ import annotations

import ctypes
import json

from toolchain import run_with_d3d12

from directml_py import d3d12
from directml_py.api import d3d12_enums, d3d12_structs, iids
from directml_py.d3d12.pipeline_states import SUBOBJECTS

# Of the Agility SDK; directx-headers-dev 1.606 of Debian 12 does not have it yet.
NEWER_THAN_DEBIAN = {"D3D_FEATURE_LEVEL_1_0_GENERIC"}
# Anonymous unions, which have no name in C.
NAMELESS = {name for name in d3d12_structs.__all__ if name.endswith("_UNION")}
# Interfaces that programs name, but that no object here has.
WITHOUT_CLASS = {"IDXGIDevice"}
CONSTANTS = [
    "D3D12_CONSTANT_BUFFER_DATA_PLACEMENT_ALIGNMENT",
    "D3D12_DEFAULT_MSAA_RESOURCE_PLACEMENT_ALIGNMENT",
    "D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT",
    "D3D12_DESCRIPTOR_RANGE_OFFSET_APPEND",
    "D3D12_MAX_ROOT_COST",
    "D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES",
    "DXGI_CREATE_FACTORY_DEBUG",
]
ATTRIBUTES = [
    "DXCORE_ADAPTER_ATTRIBUTE_D3D11_GRAPHICS",
    "DXCORE_ADAPTER_ATTRIBUTE_D3D12_CORE_COMPUTE",
    "DXCORE_ADAPTER_ATTRIBUTE_D3D12_GRAPHICS",
]
HEAD = """#define INITGUID
#include <wsl/winadapter.h>
#include <directx/d3d12.h>
#include <directx/d3d12sdklayers.h>
#include <directx/dxcore_interface.h>
#include <dxgi1_6.h>
#include <cstddef>
#include <cstdio>
static void guid(const char* name, const GUID& id)
{
    std::printf("\\"%s\\": \\"%08x-%04x-%04x-%02x%02x-", name, (unsigned)id.Data1, id.Data2, id.Data3,
        id.Data4[0], id.Data4[1]);
    for (int i = 2; i < 8; ++i) std::printf("%02x", id.Data4[i]);
    std::printf("\\",\\n");
}
"""


def fields(kind):
    """Every field with its offset and size, through anonymous members as C sees them."""
    hidden = getattr(kind, "_anonymous_", ())
    for name, field_type in kind._fields_:
        if name in hidden:
            yield from ((inner, getattr(kind, inner)) for inner, _ in field_type._fields_)
        else:
            yield name, getattr(kind, name)


def struct_kinds():
    return {name: getattr(d3d12_structs, name) for name in d3d12_structs.__all__ if name not in NAMELESS}


def enum_members():
    enums = [getattr(d3d12_enums, name) for name in d3d12_enums.ENUMERATIONS]
    members = {
        # Those of DXCore are scoped.
        f"{enum.__name__}::{name}" if enum.__name__.startswith("DXCore") else name: int(value)
        for enum in enums
        for name, value in enum.__members__.items()
    }
    return {name: value for name, value in members.items() if name not in NEWER_THAN_DEBIAN}


def interface_names():
    return [name[4:] for name in iids.__all__ if name.startswith(("IID_ID3D12", "IID_IDXGI", "IID_IDXCore"))]


def expected():
    found = {}
    for name, kind in struct_kinds().items():
        found[name] = {"": [ctypes.sizeof(kind), ctypes.alignment(kind)]}
        found[name].update({field: [place.offset, place.size] for field, place in fields(kind)})
    found.update(enum_members())
    found.update({name: getattr(d3d12, name) for name in CONSTANTS})
    found.update({name: str(getattr(iids, f"IID_{name}")) for name in interface_names()})
    found.update({name: str(getattr(d3d12, name)) for name in ATTRIBUTES})
    return found


def statements():
    for name, kind in struct_kinds().items():
        yield f'std::printf("\\"{name}\\": {{\\"\\": [%zu, %zu]", sizeof({name}), alignof({name}));'
        for field, _ in fields(kind):
            size = f"sizeof((({name}*)0)->{field})"
            yield f'std::printf(", \\"{field}\\": [%zu, %zu]", offsetof({name}, {field}), {size});'
        yield 'std::printf("},\\n");'
    for name in [*enum_members(), *CONSTANTS]:
        yield f'std::printf("\\"{name}\\": %lld,\\n", (long long){name});'
    for name in interface_names():
        yield f'guid("{name}", IID_{name});'
    for name in ATTRIBUTES:
        yield f'guid("{name}", {name});'


def test_agrees_with_d3d12_h(tmp_path):
    body = "\n".join(statements())
    text = f'{HEAD}int main()\n{{\nstd::printf("{{");\n{body}\nstd::printf("\\"\\": 0}}");\n}}\n'
    found = json.loads(run_with_d3d12(text, tmp_path))
    del found[""]
    assert found == expected()


def test_classes_have_the_iids_of_their_names():
    for name in interface_names():
        if name not in WITHOUT_CLASS:
            assert str(getattr(iids, f"IID_{name}")) == str(getattr(d3d12, name).IID)


def test_some_layouts_by_hand():
    """64-bit: enumerations and UINT take 4 bytes, pointers 8, each on its own alignment."""
    desc = d3d12_structs.D3D12_RESOURCE_DESC
    assert ctypes.sizeof(desc) == 56
    # Dimension 0, padding 4, Alignment 8, Width 16, Height 24, DepthOrArraySize 28, MipLevels 30, Format 32,
    # SampleDesc 36 (8 bytes), Layout 44, Flags 48, padding to 56.
    assert (desc.Width.offset, desc.MipLevels.offset, desc.Layout.offset, desc.Flags.offset) == (
        16,
        30,
        44,
        48,
    )
    barrier = d3d12_structs.D3D12_RESOURCE_BARRIER
    assert ctypes.sizeof(barrier) == 32
    assert barrier.Transition.offset == barrier.Aliasing.offset == barrier.UAV.offset == 8


def test_the_barrier_union_shares_its_bytes():
    barrier = d3d12_structs.D3D12_RESOURCE_BARRIER()
    barrier.Aliasing.pResourceBefore = 0x1234
    assert barrier.Transition.pResource == barrier.UAV.pResource == 0x1234


# What a stream holds for each type of subobject (ne-d3d12-d3d12_pipeline_state_subobject_type).
SUBOBJECT_TYPES = {
    "ROOT_SIGNATURE": "ID3D12RootSignature*",
    **dict.fromkeys(("VS", "PS", "DS", "HS", "GS", "CS", "AS", "MS"), "D3D12_SHADER_BYTECODE"),
    "STREAM_OUTPUT": "D3D12_STREAM_OUTPUT_DESC",
    "BLEND": "D3D12_BLEND_DESC",
    "SAMPLE_MASK": "UINT",
    "RASTERIZER": "D3D12_RASTERIZER_DESC",
    "DEPTH_STENCIL": "D3D12_DEPTH_STENCIL_DESC",
    "INPUT_LAYOUT": "D3D12_INPUT_LAYOUT_DESC",
    "IB_STRIP_CUT_VALUE": "D3D12_INDEX_BUFFER_STRIP_CUT_VALUE",
    "PRIMITIVE_TOPOLOGY": "D3D12_PRIMITIVE_TOPOLOGY_TYPE",
    "RENDER_TARGET_FORMATS": "D3D12_RT_FORMAT_ARRAY",
    "DEPTH_STENCIL_FORMAT": "DXGI_FORMAT",
    "SAMPLE_DESC": "DXGI_SAMPLE_DESC",
    "NODE_MASK": "D3D12_NODE_MASK",
    "CACHED_PSO": "D3D12_CACHED_PIPELINE_STATE",
    "FLAGS": "D3D12_PIPELINE_STATE_FLAGS",
    "DEPTH_STENCIL1": "D3D12_DEPTH_STENCIL_DESC1",
    "VIEW_INSTANCING": "D3D12_VIEW_INSTANCING_DESC",
    "DEPTH_STENCIL2": "D3D12_DEPTH_STENCIL_DESC2",
}


def test_subobjects_of_pipeline_states_agree_with_d3d12_h(tmp_path):
    lines = [
        f'std::printf("\\"{name}\\": [%zu, %zu],\\n", sizeof({kind}), alignof({kind}));'
        for name, kind in SUBOBJECT_TYPES.items()
    ]
    body = "\n".join(lines)
    text = f'{HEAD}int main()\n{{\nstd::printf("{{");\n{body}\nstd::printf("\\"\\": 0}}");\n}}\n'
    found = json.loads(run_with_d3d12(text, tmp_path))
    del found[""]
    assert found == {name: list(size) for name, size in SUBOBJECTS.items()}
