// native_threads: threads that neither Wine nor Python knows signal a fence, and release the last references of objects.
// Prints one line a fact.
//
// Such threads are made by pthread_create, whose address is read from the library for Linux: it lies there in the same
// process, and calls that function itself.

#include <windows.h>

#include <d3d12.h>

#include <DirectML.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

#define LINUX_ABI __attribute__((sysv_abi))

namespace
{
    // Parts of an ELF file in memory.
    struct Header
    {
        unsigned char identification[16];
        uint16_t type, machine;
        uint32_t version;
        uint64_t entry, segments, sections;
        uint32_t flags;
        uint16_t size, segment_size, segment_count;
    };
    struct Segment
    {
        uint32_t type, flags;
        uint64_t offset, address, physical, size_in_file, size, alignment;
    };
    struct Dynamic
    {
        int64_t tag;
        uint64_t value;
    };
    struct Symbol
    {
        uint32_t name;
        unsigned char info, other;
        uint16_t section;
        uint64_t value, size;
    };
    struct Relocation
    {
        uint64_t place, info;
        int64_t addend;
    };
    enum : uint32_t { DynamicSegment = 2 };
    enum : int64_t { PltSize = 2, Strings = 5, Symbols = 6, Rela = 7, RelaSize = 8, Plt = 23, Last = 24 };

    using Start = void*(LINUX_ABI*)(void*);
    using CreateNativeThread = int(LINUX_ABI*)(uint64_t*, const void*, Start, void*);

    uintptr_t image_of(const void* code)
    {
        uintptr_t page = reinterpret_cast<uintptr_t>(code) & ~uintptr_t(0xFFF);
        while (std::memcmp(reinterpret_cast<const void*>(page), "\x7f" "ELF", 4) != 0)
            page -= 0x1000;
        return page;
    }

    // The address of an imported function, as the module at `base` calls it; null if it imports none of that name.
    void* imported(uintptr_t base, const char* name)
    {
        const auto header = reinterpret_cast<const Header*>(base);
        uint64_t values[Last] = {};
        for (int i = 0; i < header->segment_count; i++)
        {
            const auto segment = reinterpret_cast<const Segment*>(base + header->segments) + i;
            if (segment->type != DynamicSegment)
                continue;
            for (auto entry = reinterpret_cast<const Dynamic*>(base + segment->address); entry->tag != 0; entry++)
                if (entry->tag > 0 && entry->tag < Last)
                    values[entry->tag] = entry->value;
        }
        // The loader may have made addresses of them already.
        const auto at = [&](int64_t tag) { return values[tag] < base ? base + values[tag] : values[tag]; };
        const auto strings = reinterpret_cast<const char*>(at(Strings));
        const auto symbols = reinterpret_cast<const Symbol*>(at(Symbols));
        const int64_t tables[][2] = {{Rela, RelaSize}, {Plt, PltSize}};
        for (const auto& [table, size] : tables)
            for (uint64_t i = 0; i < values[size] / sizeof(Relocation); i++)
            {
                const auto relocation = reinterpret_cast<const Relocation*>(at(table)) + i;
                const uint64_t symbol = relocation->info >> 32;
                if (symbol != 0 && std::strcmp(strings + symbols[symbol].name, name) == 0)
                    return *reinterpret_cast<void**>(base + relocation->place);
            }
        return nullptr;
    }

    void fact(const char* text, bool holds)
    {
        std::printf("%s %s\n", holds ? "ok" : "FAIL", text);
        std::fflush(stdout);
    }

    // An object of the program's, which Win32's functions can be called in as in any of its code.
    struct Own final : IUnknown
    {
        LONG references = 1;
        DWORD last_thread = 0;

        HRESULT STDMETHODCALLTYPE QueryInterface(REFIID, void** object) override
        {
            *object = nullptr;
            return E_NOINTERFACE;
        }
        ULONG STDMETHODCALLTYPE AddRef() override
        {
            return InterlockedIncrement(&references);
        }
        ULONG STDMETHODCALLTYPE Release() override
        {
            last_thread = GetCurrentThreadId();
            return InterlockedDecrement(&references);
        }
    };

    CreateNativeThread create_thread;

    struct Task
    {
        IUnknown* object;
        ULONG left;
        LONG is_done;
    };

    LINUX_ABI void* release(void* argument)
    {
        Task& task = *static_cast<Task*>(argument);
        task.left = task.object->Release();
        __atomic_store_n(&task.is_done, 1, __ATOMIC_SEQ_CST);
        return nullptr;
    }

    LINUX_ABI void* signal(void* argument)
    {
        Task& task = *static_cast<Task*>(argument);
        task.left = FAILED(static_cast<ID3D12Fence*>(task.object)->Signal(1));
        __atomic_store_n(&task.is_done, 1, __ATOMIC_SEQ_CST);
        return nullptr;
    }

    // What a thread of its own gives back; -1 if it does not end.
    ULONG in_a_native_thread(Start start, IUnknown* object)
    {
        // Not on the stack, in case that it ends later.
        static Task tasks[16];
        static int count;
        Task& task = tasks[count++];
        task.object = object;
        uint64_t thread;
        if (create_thread(&thread, nullptr, start, &task) != 0)
            return ULONG(-1);
        for (int i = 0; i < 3000 && !__atomic_load_n(&task.is_done, __ATOMIC_SEQ_CST); i++)
            Sleep(10);
        return task.is_done ? task.left : ULONG(-1);
    }

    const GUID Key = {0x7E1D63C4, 0x21C0, 0x4E0B, {0x9B, 0x33, 0x5A, 0x41, 0x0D, 0x2F, 0x8E, 0x77}};

    // The last reference of an object that holds the last one of the program's.
    template <typename Object> void released(const char* name, Object* object)
    {
        static Own owned[8];
        static int count;
        Own& own = owned[count++];
        char text[80];
        std::snprintf(text, sizeof text, "%s takes private data", name);
        fact(text, SUCCEEDED(object->SetPrivateDataInterface(Key, &own)) && own.Release() == 1);
        own.last_thread = 0;
        std::snprintf(text, sizeof text, "%s has no references left", name);
        fact(text, in_a_native_thread(release, object) == 0);
        std::snprintf(text, sizeof text, "%s has released the program's object, in a thread of Win32", name);
        fact(text, own.references == 0 && own.last_thread != 0);
    }
}

int wmain()
{
    ID3D12Device* device = nullptr;
    ID3D12Fence* fence = nullptr;
    IDMLDevice* dml = nullptr;
    IDMLCommandRecorder* recorder = nullptr;
    if (FAILED(D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&device)))
        || FAILED(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)))
        || FAILED(DMLCreateDevice(device, DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&dml)))
        || FAILED(dml->CreateCommandRecorder(IID_PPV_ARGS(&recorder))))
        return 99;
    const void* const function = **reinterpret_cast<void***>(device);
    create_thread = reinterpret_cast<CreateNativeThread>(imported(image_of(function), "pthread_create"));
    if (create_thread == nullptr)
        return 98;

    const HANDLE event = CreateEventW(nullptr, FALSE, FALSE, nullptr);
    fact("an event waits", SUCCEEDED(fence->SetEventOnCompletion(1, event)));
    fact("a native thread signals", in_a_native_thread(signal, fence) == 0);
    fact("the event is set", WaitForSingleObject(event, 30000) == WAIT_OBJECT_0);

    released("the fence", fence);
    released("the recorder", recorder);
    released("the DirectML device", dml);
    released("the device", device);
    // What was released there is gone: another device is made as the first was.
    fact(
        "another device",
        SUCCEEDED(D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&device)))
            && device->Release() == 0);
    return 0;
}
