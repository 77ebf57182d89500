// A C++/WinRT program: com_ptr, errors as exceptions, a handle for the fence's event.

#include <winrt/base.h>

#include <DirectML.h>

#include <dxgi1_4.h>

#include "expect.h"

#include <new>

using winrt::check_hresult;
using winrt::com_ptr;

namespace
{
    ULONG references(IUnknown* object)
    {
        object->AddRef();
        return object->Release();
    }

    template <typename Error, typename Function>
    bool throws(Function function)
    {
        try
        {
            function();
        }
        catch (const Error&)
        {
            return true;
        }
        return false;
    }

    void pointers(const com_ptr<ID3D12Device>& device)
    {
        const ULONG before = references(device.get());
        {
            com_ptr<ID3D12Device> second = device;
            com_ptr<ID3D12Object> base = second;
            com_ptr<IUnknown> identity = device.as<IUnknown>();
            EXPECT(references(device.get()) == before + 3);
            EXPECT(second == device && base == device && second != nullptr);
            com_ptr<ID3D12Device> third = std::move(second);
            EXPECT(!second && third);
            com_ptr<IDMLDevice> other;
            EXPECT(device.try_as<IDMLDevice>() == nullptr && !device.try_as(other));
            EXPECT(throws<winrt::hresult_no_interface>([&] { device.as<IDMLDevice>(); }));
            com_ptr<ID3D12Device> owner{third.detach(), winrt::take_ownership_from_abi};
            ID3D12Device* copy = nullptr;
            owner.copy_to(&copy);
            owner = nullptr;
            owner.attach(copy);
            owner.copy_from(owner.get());
            EXPECT(references(device.get()) == before + 3);
        }
        EXPECT(references(device.get()) == before);
    }

    void errors()
    {
        EXPECT(throws<winrt::hresult_invalid_argument>([] { check_hresult(E_INVALIDARG); }));
        EXPECT(throws<winrt::hresult_error>([] { check_hresult(DXGI_ERROR_DEVICE_REMOVED); }));
        EXPECT(throws<std::bad_alloc>([] { check_hresult(E_OUTOFMEMORY); }));
        EXPECT(check_hresult(S_FALSE) == S_FALSE);
        SetLastError(ERROR_INVALID_HANDLE);
        try
        {
            winrt::check_bool(false);
        }
        catch (...)
        {
            EXPECT(winrt::to_hresult() == E_HANDLE);
            EXPECT(winrt::to_string(winrt::to_message()) == "0x80070006 E_HANDLE");
        }
        const winrt::hresult_error own(E_FAIL, L"gr\u00f6\u00dfer");
        EXPECT(own.code() == E_FAIL && winrt::to_string(own.message()) == "gr\xc3\xb6\xc3\x9f" "er");
        EXPECT(winrt::to_hstring("gr\xc3\xb6\xc3\x9f" "er") == own.message());
    }
}

int main()
{
    winrt::init_apartment();
    com_ptr<IDXGIFactory4> factory;
    check_hresult(CreateDXGIFactory1(__uuidof(factory), factory.put_void()));
    com_ptr<IDXGIAdapter> adapter;
    check_hresult(factory->EnumAdapters(0, adapter.put()));
    com_ptr<ID3D12Device> device;
    check_hresult(D3D12CreateDevice(adapter.get(), D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(device.put())));
    const auto dml = winrt::capture<IDMLDevice>(DMLCreateDevice, device.get(), DML_CREATE_DEVICE_FLAG_NONE);
    EXPECT(dml->GetDeviceRemovedReason() == S_OK);
    pointers(device);
    errors();

    com_ptr<ID3D12Fence> fence;
    fence.capture(device, &ID3D12Device::CreateFence, 0, D3D12_FENCE_FLAG_NONE);
    winrt::handle event{CreateEventW(nullptr, FALSE, FALSE, nullptr)};
    WINRT_ASSERT(event);
    winrt::check_bool(static_cast<bool>(event));
    check_hresult(fence->SetEventOnCompletion(1, event.get()));
    check_hresult(fence->Signal(1));
    DWORD waits = 0;
    WINRT_VERIFY((++waits, WaitForSingleObject(event.get(), 10000) == WAIT_OBJECT_0));
    EXPECT(waits == 1);
    winrt::uninit_apartment();
}
