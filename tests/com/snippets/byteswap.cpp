// Big-endian tensor data, as of IDX files, swapped on the way.

#include <stdlib.h>

#include <windows.h>

#include <DirectML.h>

#include "expect.h"

int main()
{
    const unsigned char sizes[] = {0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x05};
    UINT tensor[2];
    memcpy(tensor, sizes, sizeof tensor);
    for (UINT& size : tensor)
        size = _byteswap_ulong(size);
    EXPECT(DMLCalcBufferTensorSize(DML_TENSOR_DATA_TYPE_FLOAT32, 2, tensor, nullptr) == 60);
    EXPECT(_byteswap_ushort(0x1234) == 0x3412);
    EXPECT(_byteswap_ulong(0x12345678) == 0x78563412);
    EXPECT(_byteswap_uint64(0x0123456789abcdef) == 0xefcdab8967452301);
    static_assert(sizeof(_byteswap_ulong(0)) == 4);

    ID3D12Device* device = nullptr;
    EXPECT(D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&device)) == S_OK);
    EXPECT(device->Release() == 0);
}
