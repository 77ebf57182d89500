// A program with WIL's com_ptr: one that throws, one that returns HRESULTs.

#include <wil/com.h>
#include <wil/result.h>

#include <DirectML.h>

#include "expect.h"

namespace
{
    ULONG references(IUnknown* object)
    {
        object->AddRef();
        return object->Release();
    }

    HRESULT lacks(const wil::com_ptr_nothrow<ID3D12Device>& device)
    {
        wil::com_ptr_nothrow<IDMLDevice> found;
        RETURN_IF_FAILED(device.query_to(&found));
        return S_OK;
    }
}

int main()
{
    wil::g_fResultOutputDebugString = false;
    wil::com_ptr<ID3D12Device> device;
    THROW_IF_FAILED(D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&device)));
    wil::com_ptr<IDMLDevice> dml;
    THROW_IF_FAILED(DMLCreateDevice(device.get(), DML_CREATE_DEVICE_FLAG_NONE, __uuidof(dml), dml.put_void()));

    const ULONG before = references(device.get());
    {
        wil::com_ptr<ID3D12Object> base = device;
        wil::com_ptr_nothrow<ID3D12Device> quiet = device;
        const auto queried = device.query<ID3D12Device1>();
        const auto identity = wil::com_query<IUnknown>(device.get());
        EXPECT(references(device.get()) == before + 4);
        EXPECT(base == device && device == quiet && device != nullptr && nullptr != device && device.get() == base);
        EXPECT(!(base < device) && !(device < base.get()));
        EXPECT(device.try_query<IDMLDevice>() == nullptr && !wil::try_com_query<IDMLDevice>(device));
        EXPECT(lacks(quiet) == E_NOINTERFACE);
        wil::com_ptr<ID3D12Device> moved = std::move(quiet);
        EXPECT(!quiet && moved && !wil::com_copy<IUnknown>(quiet) && !quiet.try_copy<IUnknown>());
        quiet.attach(moved.detach());
        swap(base, base);
    }
    EXPECT(references(device.get()) == before);
    try
    {
        device.query<IDMLDevice>();
        EXPECT(!"query throws");
    }
    catch (const wil::ResultException& error)
    {
        EXPECT(error.GetErrorCode() == E_NOINTERFACE);
    }
    dml.reset();
    EXPECT(references(device.get()) == 1);
}
