"""The DXGI header is clean C11 and C++17 beside the DirectX headers, and its tables are in DXGI's order."""

from __future__ import annotations

import pytest
from generators.header.interface_vtables import IUNKNOWN, every_method
from toolchain import later

DIALECTS = [
    ("gcc", "c11"),
    ("g++", "c++17"),
    *later(("gcc", "c17"), ("clang", "c11"), ("g++", "c++20"), ("clang++", "c++17")),
]
D3D12 = "#include <wsl/winadapter.h>\n#include <directx/d3d12.h>\n"
ORDERS = {
    "alone": "#include <dxgi1_6.h>\n",
    "twice": "#include <dxgi1_4.h>\n#include <dxgi1_6.h>\n",
    "d3d12 first": f"{D3D12}#include <dxgi1_4.h>\n",
    "d3d12 last": f"#include <dxgi1_4.h>\n{D3D12}",
    "DirectML first": "#include <DirectML.h>\n#include <dxgi1_4.h>\n",
    "DirectML last": "#include <dxgi1_4.h>\n#include <DirectML.h>\n",
}
USE_IN_C = """
HRESULT first(IDXGIAdapter1** adapter);
HRESULT first(IDXGIAdapter1** adapter)
{
    IDXGIFactory4* factory = 0;
    HRESULT hr = CreateDXGIFactory2(DXGI_CREATE_FACTORY_DEBUG, &IID_IDXGIFactory4, (void**)&factory);
    if (FAILED(hr)) return hr;
    hr = IDXGIFactory4_EnumAdapters1(factory, 0, adapter);
    if (factory->lpVtbl->IsCurrent(factory)) IDXGIFactory4_Release(factory);
    return hr;
}
"""
USE_IN_CPP = """
HRESULT first(IDXGIAdapter1** adapter, IDXGIFactory4** created)
{
    IDXGIFactory6* factory = nullptr;
    HRESULT hr = CreateDXGIFactory1(IID_PPV_ARGS(created));
    if (FAILED(hr)) return hr;
    hr = (*created)->QueryInterface(&factory);
    if (FAILED(hr)) return hr;
    hr = factory->EnumAdapterByGpuPreference(0, DXGI_GPU_PREFERENCE_HIGH_PERFORMANCE, IID_PPV_ARGS(adapter));
    DXGI_ADAPTER_DESC1 desc = {};
    (*adapter)->GetDesc1(&desc);
    const bool found = __uuidof(IDXGIAdapter1) == IID_IDXGIAdapter1 && !(desc.Flags & DXGI_ADAPTER_FLAG_SOFTWARE);
    factory->Release();
    return found ? hr : DXGI_ERROR_NOT_FOUND;
}
static_assert(sizeof(DXGI_ADAPTER_DESC1) == 128 * sizeof(wchar_t) + 56, "");
"""
# All methods of the newest interfaces, counted along the pages of their bases (nn-dxgi1_6-idxgifactory6 and so on).
FACTORY6 = [
    "QueryInterface",
    "AddRef",
    "Release",
    "SetPrivateData",
    "SetPrivateDataInterface",
    "GetPrivateData",
    "GetParent",
    "EnumAdapters",
    "MakeWindowAssociation",
    "GetWindowAssociation",
    "CreateSwapChain",
    "CreateSoftwareAdapter",
    "EnumAdapters1",
    "IsCurrent",
    "IsWindowedStereoEnabled",
    "CreateSwapChainForHwnd",
    "CreateSwapChainForCoreWindow",
    "GetSharedResourceAdapterLuid",
    "RegisterStereoStatusWindow",
    "RegisterStereoStatusEvent",
    "UnregisterStereoStatus",
    "RegisterOcclusionStatusWindow",
    "RegisterOcclusionStatusEvent",
    "UnregisterOcclusionStatus",
    "CreateSwapChainForComposition",
    "GetCreationFlags",
    "EnumAdapterByLuid",
    "EnumWarpAdapter",
    "CheckFeatureSupport",
    "EnumAdapterByGpuPreference",
]
ADAPTER4 = [
    "QueryInterface",
    "AddRef",
    "Release",
    "SetPrivateData",
    "SetPrivateDataInterface",
    "GetPrivateData",
    "GetParent",
    "EnumOutputs",
    "GetDesc",
    "CheckInterfaceSupport",
    "GetDesc1",
    "GetDesc2",
    "RegisterHardwareContentProtectionTeardownStatusEvent",
    "UnregisterHardwareContentProtectionTeardownStatus",
    "QueryVideoMemoryInfo",
    "SetVideoMemoryReservation",
    "RegisterVideoMemoryBudgetChangeNotificationEvent",
    "UnregisterVideoMemoryBudgetChangeNotification",
    "GetDesc3",
]
LENGTHS = {
    "IDXGIObject": 7,
    "IDXGIAdapter": 10,
    "IDXGIAdapter1": 11,
    "IDXGIAdapter2": 12,
    "IDXGIAdapter3": 18,
    "IDXGIAdapter4": 19,
    "IDXGIDevice": 12,
    "IDXGIFactory": 12,
    "IDXGIFactory1": 14,
    "IDXGIFactory2": 25,
    "IDXGIFactory3": 26,
    "IDXGIFactory4": 28,
    "IDXGIFactory5": 29,
    "IDXGIFactory6": 30,
}
DXCORE_HEAD = """
#include <wsl/winadapter.h>
#include <directx/dxcore_interface.h>
#include <cstdint>
#include <cstdio>
#include <cstring>
// Where a pointer to a virtual member function says that its place in the table is.
template <typename Method>
int place(Method method)
{
    std::intptr_t word;
    std::memcpy(&word, &method, sizeof(word));
#ifdef __aarch64__
    return static_cast<int>(word / sizeof(void*));
#else
    return static_cast<int>((word - 1) / sizeof(void*));
#endif
}
"""


def in_c(text: str) -> str:
    return "#include <assert.h>\n" + text


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("compiler", "standard"), DIALECTS)
def test_clean(toolchain, compiler, standard, order):
    use = USE_IN_CPP if "++" in compiler else f"#define COBJMACROS\n{ORDERS[order]}{USE_IN_C}"
    text = ORDERS[order] + use if "++" in compiler else in_c(use)
    flags = [f"-std={standard}", "-Wno-missing-declarations"]
    assert toolchain.errors(compiler, text, *flags, d3d12=True) == ""


@pytest.mark.parametrize("name", ["dxgi", "dxgi1_2", "dxgi1_3", "dxgi1_4", "dxgi1_5", "dxgi1_6"])
def test_every_version_has_all(toolchain, name):
    text = f"#include <{name}.h>\nIDXGIFactory6* factory(IDXGIAdapter4*);\n"
    assert toolchain.errors("g++", text, d3d12=True) == ""


@pytest.mark.parametrize("compiler", ["g++", *later("clang++")])
def test_c_style_in_cpp(toolchain, compiler):
    text = "#define CINTERFACE\n#define COBJMACROS\n#include <dxgi1_6.h>\n" + (
        "ULONG release(IDXGIFactory4* factory) { return IDXGIFactory4_Release(factory); }\n"
    )
    assert toolchain.errors(compiler, text, d3d12=True) == ""


@pytest.mark.parametrize("compiler", ["gcc", *later("clang")])
def test_order_of_the_tables(toolchain, compiler):
    checks = [
        f'_Static_assert(offsetof({interface}Vtbl, {method}) == {slot} * sizeof(void*), "");'
        for interface, table in (("IDXGIFactory6", FACTORY6), ("IDXGIAdapter4", ADAPTER4))
        for slot, method in enumerate(table)
    ]
    checks += [
        f'_Static_assert(sizeof({name}Vtbl) == {length} * sizeof(void*), "");'
        for name, length in LENGTHS.items()
    ]
    text = "\n".join(["#include <dxgi1_6.h>", "#include <stddef.h>", *checks, ""])
    assert toolchain.errors(compiler, text, d3d12=True) == ""


def test_every_interface_is_here(catalog):
    names = [i.name for i in catalog.dxgi_interfaces if i.name.startswith("IDXGI")]
    assert names == list(LENGTHS)


def test_tables_of_dxcore(toolchain, catalog):
    """Places and types of the methods, against dxcore_interface.h."""
    known = {IUNKNOWN.name: IUNKNOWN, **{i.name: i for i in catalog.dxgi_interfaces}}
    interfaces = [i for i in catalog.dxgi_interfaces if i.name.startswith("IDXCore")]
    assert len(interfaces) == 3
    lines = []
    expected = []
    for interface in interfaces:
        name = interface.name
        methods = every_method(interface, known)
        for slot, method in list(enumerate(methods))[3:]:
            kinds = ", ".join(kind for kind, _ in method.params).replace("const LUID*", "const LUID&")
            kind = f"{method.returns} ({name}::*)({kinds})"
            lines.append(f'std::printf("%d ", place(static_cast<{kind}>(&{name}::{method.name})));')
            expected.append(slot)
        # One method more in a class of ours stands right after the last one.
        lines.append(f"struct After{name} : {name} {{ virtual void after(); }};")
        lines.append(f'std::printf("%d ", place(&After{name}::after));')
        expected.append(len(methods))
    text = f"{DXCORE_HEAD}int main()\n{{\n" + "\n".join(lines) + "\n}\n"
    flags = ["-Wno-unused", "-Wno-non-virtual-dtor"]
    built = toolchain.object("g++", text, *flags, name="dxcore", d3d12=True)
    assert [int(word) for word in toolchain.run("g++", built).split()] == expected
