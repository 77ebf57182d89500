// __uuidof of variables whose types are class templates over an interface, as Visual C++ takes them.

#include <DirectML.h>

#include <wrl/client.h>

#include <atlbase.h>

#include "expect.h"

template <typename T, typename Policy = int>
struct Pointer
{
    T* object = nullptr;
};

// As macros of samples have it.
#define PUT(pointer) __uuidof(pointer), reinterpret_cast<void**>((pointer).ReleaseAndGetAddressOf())

int main()
{
    Microsoft::WRL::ComPtr<ID3D12Device> device;
    EXPECT(D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, PUT(device)) == S_OK);
    Microsoft::WRL::ComPtr<IDMLDevice> dml;
    EXPECT(DMLCreateDevice(device.Get(), DML_CREATE_DEVICE_FLAG_NONE, PUT(dml)) == S_OK);
    const auto& same = dml;
    CComPtr<ID3D12Device> atl;
    const Pointer<IDMLOperator, char> own;
    static_assert(__uuidof(same).Data1 == 0x6dbd6437);
    static_assert(__uuidof(atl).Data1 == 0x189819f1);
    static_assert(__uuidof(own).Data1 == 0x26caae7a);
    static_assert(__uuidof(&own).Data1 == 0x26caae7a);
    static_assert(_uuidof(own).Data1 == 0x26caae7a);
    static_assert(__uuidof(const ID3D12Device).Data1 == 0x189819f1);
    EXPECT(device->QueryInterface(__uuidof(atl), reinterpret_cast<void**>(&atl)) == S_OK);
}
