// Adapter enumeration with DXGI and DXCore, and devices on the adapters.

#include "harness.h"

#include <dxcore.h>
#include <dxgi1_6.h>

#include <cstring>

namespace
{
    bool same(const LUID& a, const LUID& b)
    {
        return a.LowPart == b.LowPart && a.HighPart == b.HighPart;
    }

    LUID luid_of(IUnknown* adapter, const char* name)
    {
        ComPtr<ID3D12Device> device;
        hresult(
            std::string("D3D12CreateDevice on ") + name,
            D3D12CreateDevice(adapter, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&device)),
            Fine);
        return device ? returned(&ID3D12Device::GetAdapterLuid, device.Get()) : LUID{};
    }

    void test_dxgi(UINT expected)
    {
        ComPtr<IDXGIFactory4> factory;
        hresult("CreateDXGIFactory2", CreateDXGIFactory2(0, IID_PPV_ARGS(&factory)), Fine);
        ComPtr<IDXGIFactory1> older;
        hresult("CreateDXGIFactory1", CreateDXGIFactory1(IID_PPV_ARGS(&older)), Fine);
        void* none = poison();
        hresult("a factory as an adapter", CreateDXGIFactory1(__uuidof(IDXGIAdapter1), &none), E_NOINTERFACE);
        check("a factory as an adapter: null", none == nullptr);
        ComPtr<IDXGIAdapter1> adapter;
        hresult("EnumAdapters1", factory->EnumAdapters1(0, &adapter), Fine);
        UINT count = 0;
        ComPtr<IDXGIAdapter1> other;
        while (count < 100 && factory->EnumAdapters1(count, other.ReleaseAndGetAddressOf()) != NotFound)
            count++;
        equal("adapters before DXGI_ERROR_NOT_FOUND", count, expected);
        DXGI_ADAPTER_DESC1 desc = {};
        hresult("GetDesc1", adapter->GetDesc1(&desc), Fine);
        check("Description", std::wstring(desc.Description).size() > 0);
        check("AdapterLuid is the device's", same(desc.AdapterLuid, luid_of(adapter.Get(), "a DXGI adapter")));
        check("and the default device's", same(desc.AdapterLuid, luid_of(nullptr, "null")));
        ComPtr<IDXGIAdapter1> by_luid;
        hresult("EnumAdapterByLuid", factory->EnumAdapterByLuid(desc.AdapterLuid, IID_PPV_ARGS(&by_luid)), Fine);
        ComPtr<IDXGIAdapter1> warp;
        hresult_among("EnumWarpAdapter", factory->EnumWarpAdapter(IID_PPV_ARGS(&warp)), {Fine, NotFound});
        ComPtr<IDXGIFactory4> parent;
        hresult("IDXGIAdapter::GetParent", adapter->GetParent(IID_PPV_ARGS(&parent)), Fine);
    }

    void test_dxcore()
    {
        ComPtr<IDXCoreAdapterFactory> factory;
        hresult("DXCoreCreateAdapterFactory", DXCoreCreateAdapterFactory(IID_PPV_ARGS(&factory)), Fine);
        const GUID attributes[] = {DXCORE_ADAPTER_ATTRIBUTE_D3D12_CORE_COMPUTE};
        ComPtr<IDXCoreAdapterList> list;
        hresult("CreateAdapterList", factory->CreateAdapterList(1, attributes, IID_PPV_ARGS(&list)), Fine);
        if (!check("GetAdapterCount", list->GetAdapterCount() > 0))
            return;
        ComPtr<IDXCoreAdapter> adapter;
        hresult("GetAdapter", list->GetAdapter(0, IID_PPV_ARGS(&adapter)), Fine);
        check("IsValid", adapter->IsValid());
        check("IsAttributeSupported", adapter->IsAttributeSupported(attributes[0]));
        LUID luid = {};
        hresult("GetProperty", adapter->GetProperty(DXCoreAdapterProperty::InstanceLuid, sizeof luid, &luid), Fine);
        check("InstanceLuid is the device's", same(luid, luid_of(adapter.Get(), "a DXCore adapter")));
        size_t size = 0;
        hresult(
            "GetPropertySize", adapter->GetPropertySize(DXCoreAdapterProperty::DriverDescription, &size), Fine);
        std::vector<char> text(size + 1);
        hresult(
            "DriverDescription",
            adapter->GetProperty(DXCoreAdapterProperty::DriverDescription, size, text.data()),
            Fine);
        check("is a text", size > 1 && std::strlen(text.data()) + 1 == size);
        ComPtr<IDXCoreAdapter> by_luid;
        hresult("GetAdapterByLuid", factory->GetAdapterByLuid(luid, IID_PPV_ARGS(&by_luid)), Fine);
        ComPtr<IDXCoreAdapterFactory> parent;
        hresult("IDXCoreAdapter::GetFactory", adapter->GetFactory(IID_PPV_ARGS(&parent)), Fine);
    }

    void test_no_adapter()
    {
        ComPtr<ID3D12Device> device;
        ComPtr<ID3D12Debug> debug;
        need(D3D12GetDebugInterface(IID_PPV_ARGS(&debug)), "D3D12GetDebugInterface");
        check(
            "D3D12CreateDevice on what is no adapter",
            FAILED(D3D12CreateDevice(debug.Get(), D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&device))));
        check("no device", !device);
    }

    // How many are listed is what the environment says, or 1.
    void adapters(const std::vector<std::string>& arguments)
    {
        test_dxgi(arguments.empty() ? 1 : static_cast<UINT>(std::stoul(arguments[0])));
        test_dxcore();
        test_no_adapter();
    }

    const Registration registration("adapters", adapters);
}
