// A program that is not linked to libdirectml.so: it loads the file named by an argument, as plug-in loaders do.
// "host LIBRARY TOPIC": prints what it finds, and ends with 0 if the topic's rule holds.

#include <DirectML.h>
#include <dxcore.h>

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <sys/wait.h>
#include <thread>
#include <vector>
#include <unistd.h>

namespace
{
    void* g_library;

    template <typename Function>
    Function* function(const char* name)
    {
        return reinterpret_cast<Function*>(dlsym(g_library, name));
    }

    struct Devices
    {
        ID3D12Device* direct3d = nullptr;
        IDMLDevice* directml = nullptr;

        HRESULT create()
        {
            HRESULT result = function<decltype(D3D12CreateDevice)>("D3D12CreateDevice")(
                nullptr, D3D_FEATURE_LEVEL_11_0, __uuidof(ID3D12Device), reinterpret_cast<void**>(&direct3d));
            if (SUCCEEDED(result))
                result = function<decltype(DMLCreateDevice)>("DMLCreateDevice")(
                    direct3d, DML_CREATE_DEVICE_FLAG_NONE, __uuidof(IDMLDevice), reinterpret_cast<void**>(&directml));
            return result;
        }

        // An identity of so many elements: S_OK for one and more, E_INVALIDARG for none.
        HRESULT identity(UINT elements)
        {
            // Static, so that a child has it at the address where the parent has its own.
            static UINT sizes[4];
            static DML_BUFFER_TENSOR_DESC buffer;
            static DML_TENSOR_DESC tensor;
            static DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC identity;
            for (UINT& size : sizes)
                size = 1;
            sizes[3] = elements;
            buffer = {};
            buffer.DataType = DML_TENSOR_DATA_TYPE_FLOAT32;
            buffer.DimensionCount = 4;
            buffer.Sizes = sizes;
            buffer.TotalTensorSizeInBytes = 4 * elements;
            tensor = {DML_TENSOR_TYPE_BUFFER, &buffer};
            identity = {&tensor, &tensor, nullptr};
            const DML_OPERATOR_DESC desc = {DML_OPERATOR_ELEMENT_WISE_IDENTITY, &identity};
            IDMLOperator* op = nullptr;
            const HRESULT result = directml->CreateOperator(&desc, __uuidof(IDMLOperator), reinterpret_cast<void**>(&op));
            if (op != nullptr)
                op->Release();
            return result;
        }

        void release()
        {
            directml->Release();
            direct3d->Release();
        }
    };

    int load()
    {
        Devices devices;
        const HRESULT result = devices.create();
        std::printf("%08X\n", static_cast<unsigned>(result));
        if (FAILED(result))
            return 3;
        devices.release();
        return 0;
    }

    // As tensorflow-directml-plugin and DxDispatch do: a library for each of the DLLs.
    int names()
    {
        void* const direct3d = dlopen("libd3d12.so", RTLD_NOW | RTLD_LOCAL);
        void* const dxcore = dlopen("libdxcore.so", RTLD_NOW | RTLD_LOCAL);
        if (direct3d == nullptr || dxcore == nullptr)
        {
            std::puts(dlerror());
            return 1;
        }
        using CreateFactory = HRESULT(REFIID, void**);
        const auto create_factory = reinterpret_cast<CreateFactory*>(dlsym(dxcore, "DXCoreCreateAdapterFactory"));
        const auto create_device = reinterpret_cast<decltype(D3D12CreateDevice)*>(dlsym(direct3d, "D3D12CreateDevice"));
        IDXCoreAdapterFactory* factory = nullptr;
        IDXCoreAdapterList* list = nullptr;
        IDXCoreAdapter* adapter = nullptr;
        Devices devices;
        const GUID compute = DXCORE_ADAPTER_ATTRIBUTE_D3D12_CORE_COMPUTE;
        if (FAILED(create_factory(__uuidof(IDXCoreAdapterFactory), reinterpret_cast<void**>(&factory))) ||
            FAILED(factory->CreateAdapterList(1, &compute, __uuidof(IDXCoreAdapterList), reinterpret_cast<void**>(&list))) ||
            FAILED(list->GetAdapter(0, __uuidof(IDXCoreAdapter), reinterpret_cast<void**>(&adapter))) ||
            FAILED(create_device(
                adapter,
                D3D_FEATURE_LEVEL_1_0_CORE,
                __uuidof(ID3D12Device),
                reinterpret_cast<void**>(&devices.direct3d))))
            return 2;
        // The function of this library takes the device of that one: they are one.
        if (FAILED(function<decltype(DMLCreateDevice)>("DMLCreateDevice")(
                devices.direct3d,
                DML_CREATE_DEVICE_FLAG_NONE,
                __uuidof(IDMLDevice),
                reinterpret_cast<void**>(&devices.directml))))
            return 3;
        devices.release();
        adapter->Release();
        list->Release();
        factory->Release();
        return 0;
    }

    // Leaks of the program itself are reported.
    int leak()
    {
        void* volatile lost = std::malloc(77);
        std::memset(lost, 0, 77);
        lost = nullptr;
        return load();
    }

    // What the program asks for is what it has, before and after.
    int locale()
    {
        std::setlocale(LC_CTYPE, "C");
        const int result = load();
        std::printf("%s\n", std::setlocale(LC_CTYPE, nullptr));
        return result;
    }

    int ends_well(pid_t child)
    {
        int status = 0;
        if (child < 0 || waitpid(child, &status, 0) != child)
            return 1;
        std::printf("child: %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
        return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    }

    // The child's descs are its own, not those of the parent at the same addresses.
    int forked()
    {
        Devices devices;
        if (FAILED(devices.create()) || devices.identity(4) != S_OK)
            return 1;
        const pid_t child = fork();
        if (child == 0)
        {
            if (devices.identity(0) != E_INVALIDARG)
                _exit(2);
            Devices second;
            if (FAILED(second.create()) || second.identity(5) != S_OK)
                _exit(3);
            _exit(0);
        }
        const int result = ends_well(child);
        return devices.identity(6) == S_OK ? result : 4;
    }

    // Forks while other threads are running, in Python and in C.
    int forked_among_threads()
    {
        Devices devices;
        if (FAILED(devices.create()))
            return 1;
        bool done = false;
        auto work = [&devices, &done] {
            while (!__atomic_load_n(&done, __ATOMIC_RELAXED))
                devices.directml->GetDeviceRemovedReason();
        };
        std::thread first(work), second(work);
        int result = 0;
        for (int round = 0; round < 20 && result == 0; ++round)
        {
            const pid_t child = fork();
            if (child == 0)
            {
                alarm(20);
                _exit(devices.identity(0) == E_INVALIDARG && devices.identity(3) == S_OK ? 0 : 2);
            }
            result = ends_well(child);
        }
        __atomic_store_n(&done, true, __ATOMIC_RELAXED);
        first.join();
        second.join();
        return result;
    }

    // Forks while another thread starts Python, and loads the package and what its first operator needs.
    int forked_while_loading()
    {
        constexpr size_t Most = 20;
        bool done = false;
        int result = 0;
        std::thread loader([&done, &result] {
            Devices devices;
            if (FAILED(devices.create()) || devices.identity(4) != S_OK)
                result = 1;
            __atomic_store_n(&done, true, __ATOMIC_RELEASE);
        });
        std::vector<pid_t> children;
        while (children.size() < Most && !__atomic_load_n(&done, __ATOMIC_ACQUIRE))
        {
            const pid_t child = fork();
            if (child == 0)
            {
                alarm(100);
                Devices own;
                _exit(FAILED(own.create()) || own.identity(5) != S_OK ? 2 : 0);
            }
            children.push_back(child);
            usleep(1000 * (1 + children.size() % 8));
        }
        loader.join();
        for (const pid_t child : children)
            result |= ends_well(child);
        return result;
    }

    // A fork before anything was called: the child starts Python for itself.
    int forked_early()
    {
        const pid_t child = fork();
        if (child == 0)
            _exit(load());
        const int result = ends_well(child);
        return result == 0 ? load() : result;
    }

    // The thread that starts Python has ended when another one calls.
    int load_in_threads()
    {
        int results[2] = {};
        for (int& result : results)
            std::thread([&result] { result = load(); }).join();
        return results[0] != 0 ? results[0] : results[1];
    }

    // Another libpython, out of sight of everybody but its loader; its path is the third argument.
    int beside(const char* python)
    {
        if (dlopen(python, RTLD_NOW | RTLD_LOCAL) == nullptr)
        {
            std::puts(dlerror());
            return 1;
        }
        return load();
    }
}

#ifdef OLD_PYTHON
// As a program that has a Python of its own inside, and lets its extension modules see it.
extern "C" const char* Py_GetVersion()
{
    return "2.7.18 (of the program)";
}
#endif

int main(int argc, char** argv)
{
    if (argc < 3)
        return 64;
    std::setbuf(stdout, nullptr);
    const char* topic = argv[2];
    g_library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (g_library == nullptr)
    {
        std::puts(dlerror());
        return 65;
    }
    if (std::strcmp(topic, "names") == 0)
        return names();
    if (std::strcmp(topic, "leak") == 0)
        return leak();
    if (std::strcmp(topic, "locale") == 0)
        return locale();
    if (std::strcmp(topic, "fork") == 0)
        return forked();
    if (std::strcmp(topic, "fork_among_threads") == 0)
        return forked_among_threads();
    if (std::strcmp(topic, "fork_while_loading") == 0)
        return forked_while_loading();
    if (std::strcmp(topic, "fork_early") == 0)
        return forked_early();
    if (std::strcmp(topic, "threads") == 0)
        return load_in_threads();
    if (std::strcmp(topic, "beside") == 0)
        return beside(argv[3]);
    return load();
}
