// ends TOPIC: ways in which a process ends while the library is in use; the exit code tells which way it was.

#include <windows.h>

#include <d3d12.h>

#include <DirectML.h>

#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <initializer_list>

namespace
{
    ID3D12Device* device;
    ID3D12Fence* fence;

    void need(HRESULT result)
    {
        if (SUCCEEDED(result))
            return;
        std::fprintf(stderr, "failed with 0x%08lX\n", static_cast<unsigned long>(result));
        ExitProcess(99);
    }

    void start()
    {
        need(D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&device)));
        need(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)));
    }

    void wait_forever()
    {
        need(fence->SetEventOnCompletion(1, nullptr));
    }

    // Calls that Python answers, without end.
    void compute()
    {
        for (;;)
        {
            ID3D12Fence* other = nullptr;
            need(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&other)));
            other->Signal(5);
            other->Release();
        }
    }

    HANDLE run(void (*function)())
    {
        const auto begin = [](void* function) -> DWORD {
            reinterpret_cast<void (*)()>(function)();
            return 0;
        };
        const HANDLE thread = CreateThread(nullptr, 0, begin, reinterpret_cast<void*>(function), 0, nullptr);
        Sleep(50);
        return thread;
    }

    // An object of the program's whose methods throw when the library calls them.
    struct Thrower final : IUnknown
    {
        HRESULT STDMETHODCALLTYPE QueryInterface(REFIID, void** found) override
        {
            *found = nullptr;
            return E_NOINTERFACE;
        }

        ULONG STDMETHODCALLTYPE AddRef() override { throw 1; }

        ULONG STDMETHODCALLTYPE Release() override { throw 2; }
    };

    int throw_across()
    {
        static Thrower thrower;
        try
        {
            device->SetPrivateDataInterface(IID_IUnknown, &thrower);
        }
        catch (int)
        {
            return 21;
        }
        return 22;
    }

    // A program that loads the DLLs itself, and unloads them as often, uses them again afterwards.
    int unload()
    {
        for (int round = 0; round < 3; round++)
        {
            for (const wchar_t* name : {L"d3d12.dll", L"DirectML.dll", L"dxgi.dll", L"dxcore.dll", L"directml_py.dll"})
            {
                const HMODULE module = LoadLibraryW(name);
                if (module == nullptr)
                    return 98;
                FreeLibrary(module);
                FreeLibrary(module);
                FreeLibrary(module);
            }
            ID3D12Fence* other = nullptr;
            need(device->CreateFence(round, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&other)));
            other->Release();
        }
        return fence->GetCompletedValue() == 0 ? 24 : 97;
    }

    int on_a_small_stack()
    {
        const auto begin = [](void*) -> DWORD {
            start();
            return fence->Signal(3) == S_OK && fence->GetCompletedValue() == 3 ? 25 : 96;
        };
        DWORD code = 0;
        const HANDLE thread
            = CreateThread(nullptr, 64 << 10, begin, nullptr, STACK_SIZE_PARAM_IS_A_RESERVATION, nullptr);
        WaitForSingleObject(thread, INFINITE);
        GetExitCodeThread(thread, &code);
        return static_cast<int>(code);
    }

    int end(const wchar_t* topic)
    {
        const auto is = [topic](const wchar_t* name) { return std::wcscmp(topic, name) == 0; };
        if (is(L"small_stack"))
            return on_a_small_stack();
        start();
        if (is(L"return"))
            return 7;
        if (is(L"exit"))
            ExitProcess(9);
        if (is(L"exit_now"))
            _exit(8);
        if (is(L"large"))
            ExitProcess(0x1234);
        if (is(L"multiple"))
            ExitProcess(0x1200);
        if (is(L"terminate"))
            TerminateProcess(GetCurrentProcess(), 5);
        if (is(L"abort"))
            std::abort();
        if (is(L"crash"))
            *static_cast<volatile int*>(nullptr) = 1;
        if (is(L"raise"))
            RaiseException(0xE0000001, EXCEPTION_NONCONTINUABLE, 0, nullptr);
        if (is(L"throw"))
            throw 1;
        if (is(L"throw_across"))
            return throw_across();
        if (is(L"unload"))
            return unload();
        if (is(L"sleep"))
        {
            std::printf("ready\n");
            std::fflush(stdout);
            Sleep(INFINITE);
        }
        if (is(L"in_a_wait"))
        {
            run(wait_forever);
            return 11;
        }
        if (is(L"in_a_computation"))
        {
            run(compute);
            run(compute);
            return 12;
        }
        if (is(L"by_another_thread"))
        {
            run([] { ExitProcess(13); });
            wait_forever();
        }
        if (is(L"terminate_in_a_computation"))
        {
            run(compute);
            TerminateProcess(GetCurrentProcess(), 14);
        }
        if (is(L"crash_in_a_computation"))
        {
            run(compute);
            *static_cast<volatile int*>(nullptr) = 1;
        }
        // Such a thread may have held any lock.
        if (is(L"after_a_killed_thread"))
        {
            TerminateThread(run(compute), 1);
            return 15;
        }
        return 95;
    }
}

int wmain(int count, wchar_t** words)
{
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);
    return count < 2 ? 94 : end(words[1]);
}
