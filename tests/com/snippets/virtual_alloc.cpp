// Pages for the bytes of a buffer, reserved, committed, decommitted and released.

#include <windows.h>

#include <DirectML.h>

#include <wrl/client.h>

#include "expect.h"

#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstring>

using Microsoft::WRL::ComPtr;

namespace
{
    sigjmp_buf back;

    bool faults(volatile char* at, bool write)
    {
        std::signal(SIGSEGV, [](int) { siglongjmp(back, 1); });
        bool faulted = true;
        if (sigsetjmp(back, 1) == 0)
        {
            if (write)
                *at = 1;
            else
                (void)*at;
            faulted = false;
        }
        std::signal(SIGSEGV, SIG_DFL);
        return faulted;
    }

    bool last_error(DWORD code)
    {
        const DWORD found = GetLastError();
        SetLastError(ERROR_SUCCESS);
        return found == code;
    }

    void pages()
    {
        const SIZE_T size = 1 << 20, page = 4096;
        char* const base = static_cast<char*>(VirtualAlloc(nullptr, size, MEM_RESERVE, PAGE_NOACCESS));
        EXPECT(base != nullptr && reinterpret_cast<uintptr_t>(base) % 0x10000 == 0);
        EXPECT(faults(base, false));
        // One byte across two pages commits both.
        EXPECT(VirtualAlloc(base + page - 1, 2, MEM_COMMIT, PAGE_READWRITE) == base);
        EXPECT(base[0] == 0 && !faults(base + 2 * page - 1, true) && faults(base + 2 * page, false));
        base[0] = 7;
        EXPECT(VirtualAlloc(base, page, MEM_COMMIT, PAGE_READONLY) == base);
        EXPECT(base[0] == 7 && faults(base, true) && !faults(base + page, true));
        EXPECT(VirtualFree(base, page, MEM_DECOMMIT) && faults(base, false) && !faults(base + page, false));
        EXPECT(VirtualAlloc(base, page, MEM_COMMIT, PAGE_READWRITE) == base && base[0] == 0);
        EXPECT(VirtualAlloc(base, page, MEM_RESET, PAGE_NOACCESS) == base);

        EXPECT(!VirtualFree(base, size, MEM_RELEASE) && last_error(ERROR_INVALID_PARAMETER));
        EXPECT(!VirtualFree(base, 0, MEM_RELEASE | MEM_DECOMMIT) && last_error(ERROR_INVALID_PARAMETER));
        EXPECT(!VirtualFree(base + page, 0, MEM_RELEASE) && last_error(ERROR_INVALID_ADDRESS));
        EXPECT(!VirtualFree(base, size + page, MEM_DECOMMIT) && last_error(ERROR_INVALID_ADDRESS));
        EXPECT(!VirtualAlloc(base, page, MEM_RESERVE, PAGE_READWRITE) && last_error(ERROR_INVALID_ADDRESS));
        EXPECT(VirtualFree(base, 0, MEM_DECOMMIT) && faults(base + page, false));
        EXPECT(VirtualFree(base, 0, MEM_RELEASE));
        EXPECT(!VirtualFree(base, 0, MEM_RELEASE) && last_error(ERROR_INVALID_ADDRESS));
        EXPECT(!VirtualAlloc(base, page, MEM_COMMIT, PAGE_READWRITE) && last_error(ERROR_INVALID_ADDRESS));
        EXPECT(VirtualAlloc(base, size, MEM_RESERVE, PAGE_READWRITE) == base);
        EXPECT(VirtualFree(base, 0, MEM_RELEASE));

        EXPECT(!VirtualAlloc(nullptr, 0, MEM_COMMIT, PAGE_READWRITE) && last_error(ERROR_INVALID_PARAMETER));
        EXPECT(!VirtualAlloc(nullptr, page, MEM_COMMIT, 0) && last_error(ERROR_INVALID_PARAMETER));
        EXPECT(!VirtualAlloc(nullptr, page, 0, PAGE_READWRITE) && last_error(ERROR_INVALID_PARAMETER));
        EXPECT(!VirtualAlloc(nullptr, page, MEM_COMMIT, PAGE_WRITECOPY) && last_error(ERROR_INVALID_PARAMETER));
        const DWORD large = MEM_RESERVE | MEM_COMMIT | MEM_LARGE_PAGES;
        EXPECT(!VirtualAlloc(nullptr, size, large, PAGE_READWRITE) && last_error(ERROR_PRIVILEGE_NOT_HELD));
        const SIZE_T most = SIZE_MAX / 2;
        EXPECT(!VirtualAlloc(nullptr, most, MEM_RESERVE, PAGE_READWRITE) && last_error(ERROR_NOT_ENOUGH_MEMORY));
    }
}

int main()
{
    pages();
    ComPtr<ID3D12Device> device;
    EXPECT(D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&device)) == S_OK);
    const SIZE_T size = 1 << 16;
    void* const memory = VirtualAlloc(nullptr, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    EXPECT(memory != nullptr);
    std::memset(memory, 0x5a, size);

    D3D12_HEAP_PROPERTIES upload = {};
    upload.Type = D3D12_HEAP_TYPE_UPLOAD;
    D3D12_RESOURCE_DESC desc = {};
    desc.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER;
    desc.Width = size;
    desc.Height = desc.DepthOrArraySize = desc.MipLevels = 1;
    desc.SampleDesc.Count = 1;
    desc.Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR;
    ComPtr<ID3D12Resource> buffer;
    EXPECT(
        device->CreateCommittedResource(
            &upload,
            D3D12_HEAP_FLAG_NONE,
            &desc,
            D3D12_RESOURCE_STATE_GENERIC_READ,
            nullptr,
            IID_PPV_ARGS(&buffer)) == S_OK);
    void* mapped = nullptr;
    EXPECT(buffer->Map(0, nullptr, &mapped) == S_OK);
    std::memcpy(mapped, memory, size);
    EXPECT(VirtualFree(memory, 0, MEM_RELEASE));
    EXPECT(static_cast<unsigned char*>(mapped)[size - 1] == 0x5a);
}
