// Private data, interfaces among it, and names, on every kind of object.

#include "world.h"

#include <algorithm>
#include <atomic>

namespace
{
    const GUID First = {0xa1, 2, 3, {1, 2, 3, 4, 5, 6, 7, 8}};
    const GUID Second = {0xa2, 2, 3, {1, 2, 3, 4, 5, 6, 7, 8}};
    const GUID Third = {0xa3, 2, 3, {1, 2, 3, 4, 5, 6, 7, 8}};

    // An object of the program, not of the library.
    class Counted final : public IUnknown
    {
    public:
        HRESULT STDMETHODCALLTYPE QueryInterface(REFIID iid, void** found) override
        {
            *found = iid == __uuidof(IUnknown) ? this : nullptr;
            if (!*found)
                return E_NOINTERFACE;
            AddRef();
            return S_OK;
        }

        ULONG STDMETHODCALLTYPE AddRef() override { return ++count; }

        ULONG STDMETHODCALLTYPE Release() override { return --count; }

        std::atomic<ULONG> count{1};
    };

    template <typename T>
    void test_bytes(const std::string& name, T* object)
    {
        const unsigned char data[] = {1, 2, 3, 4, 5};
        unsigned char found[8] = {};
        UINT size = sizeof found;
        hresult(name + ": nothing stored", object->GetPrivateData(First, &size, found), NotFound);
        hresult(name + ": SetPrivateData", object->SetPrivateData(First, sizeof data, data), Fine);
        size = 0;
        hresult(name + ": size asked for", object->GetPrivateData(First, &size, nullptr), Fine);
        equal(name + ": size", size, sizeof data);
        size = 4;
        hresult(name + ": too small", object->GetPrivateData(First, &size, found), MoreData);
        equal(name + ": size that is needed", size, sizeof data);
        check(name + ": too small writes nothing", found[0] == 0);
        size = sizeof found;
        hresult(name + ": GetPrivateData", object->GetPrivateData(First, &size, found), Fine);
        equal(name + ": bytes written", size, sizeof data);
        check(name + ": bytes", std::memcmp(found, data, sizeof data) == 0 && found[5] == 0);
        hresult(name + ": other GUID", object->GetPrivateData(Second, &size, found), NotFound);
        hresult(name + ": replaced", object->SetPrivateData(First, 2, data + 3), Fine);
        size = sizeof found;
        hresult(name + ": GetPrivateData again", object->GetPrivateData(First, &size, found), Fine);
        check(name + ": replaced bytes", size == 2 && found[0] == 4 && found[1] == 5);
        // Memory that is not there, under the sanitizers too: they must not see it touched.
        unsigned char* const wild = reinterpret_cast<unsigned char*>(0x7ead0000bee0);
        const GUID& nowhere = *reinterpret_cast<const GUID*>(wild);
        hresult(name + ": SetPrivateData of wild data", object->SetPrivateData(First, 64, wild), E_POINTER);
        hresult(name + ": SetPrivateData under a wild GUID", object->SetPrivateData(nowhere, 2, data), E_POINTER);
        hresult(name + ": GetPrivateData to wild data", object->GetPrivateData(First, &size, wild), E_POINTER);
        UINT* const nothing = reinterpret_cast<UINT*>(wild + 16);
        hresult(name + ": GetPrivateData of a wild size", object->GetPrivateData(First, nothing, found), E_POINTER);
        void* other = nullptr;
        hresult(name + ": QueryInterface of a wild IID", object->QueryInterface(nowhere, &other), E_POINTER);
        hresult(
            name + ": QueryInterface to nowhere",
            object->QueryInterface(__uuidof(IUnknown), reinterpret_cast<void**>(wild + 16)),
            E_POINTER);
        size = sizeof found;
        hresult(name + ": still there", object->GetPrivateData(First, &size, found), Fine);
        hresult(name + ": removed", object->SetPrivateData(First, 0, nullptr), Fine);
        hresult(name + ": is gone", object->GetPrivateData(First, &size, found), NotFound);
        hresult_among(
            name + ": no size", object->GetPrivateData(First, nullptr, found), {E_INVALIDARG, E_POINTER});
    }

    template <typename T>
    void test_interface(const std::string& name, T* object, Counted& mine)
    {
        hresult(name + ": SetPrivateDataInterface", object->SetPrivateDataInterface(First, &mine), Fine);
        equal(name + ": holds a reference", mine.count.load(), 2u);
        UINT size = 0;
        hresult(name + ": size of an interface", object->GetPrivateData(First, &size, nullptr), Fine);
        equal(name + ": that of a pointer", size, sizeof(IUnknown*));
        equal(name + ": asking for the size takes no reference", mine.count.load(), 2u);
        IUnknown* found = nullptr;
        size = sizeof(IUnknown*) - 1;
        hresult(name + ": too small for a pointer", object->GetPrivateData(First, &size, &found), MoreData);
        equal(name + ": too small takes no reference", mine.count.load(), 2u);
        size = sizeof found;
        hresult(name + ": GetPrivateData of an interface", object->GetPrivateData(First, &size, &found), Fine);
        check(name + ": the pointer", found == &mine);
        equal(name + ": with a reference", mine.count.load(), 3u);
        if (found)
            found->Release();
        hresult(name + ": under a second GUID", object->SetPrivateDataInterface(Second, &mine), Fine);
        equal(name + ": a second reference", mine.count.load(), 3u);
        hresult(name + ": set again", object->SetPrivateDataInterface(First, &mine), Fine);
        equal(name + ": still two references", mine.count.load(), 3u);
        hresult(name + ": replaced by bytes", object->SetPrivateData(First, 4, "abc"), Fine);
        equal(name + ": released when replaced", mine.count.load(), 2u);
        hresult(name + ": null", object->SetPrivateDataInterface(Second, nullptr), Fine);
        equal(name + ": released by null", mine.count.load(), 1u);
        // Stays when the object dies.
        hresult(name + ": for good", object->SetPrivateDataInterface(Third, &mine), Fine);
    }

    template <typename T>
    void test_name(const std::string& name, T* object)
    {
        hresult(name + ": SetName", object->SetName(L"M\u00e4nner"), Fine);
        WCHAR found[16] = {};
        UINT size = sizeof found;
        hresult(
            name + ": the name as private data",
            object->GetPrivateData(WKPDID_D3DDebugObjectNameW, &size, found),
            Fine);
        // With or without the terminating null.
        check(
            name + ": its size",
            size == 6 * sizeof(WCHAR) || size == 7 * sizeof(WCHAR),
            "is " + std::to_string(size));
        check(name + ": its text", std::equal(found, found + 7, L"M\u00e4nner"));
        hresult_among(name + ": null name", object->SetName(nullptr), {E_INVALIDARG, E_POINTER});
    }

    // DirectML's objects say so where there is nothing to remove, and take a size of null data.
    void test_nothing(const std::string& name, IDMLObject* object)
    {
        const char data[] = "data";
        hresult(name + ": nothing to remove", object->SetPrivateData(First, 0, nullptr), False);
        hresult(name + ": of a size", object->SetPrivateData(First, 4, nullptr), False);
        hresult(name + ": no interface to remove", object->SetPrivateDataInterface(First, nullptr), False);
        hresult(name + ": SetPrivateData", object->SetPrivateData(First, sizeof data, data), Fine);
        hresult(name + ": removed by null data of a size", object->SetPrivateData(First, 4, nullptr), Fine);
        UINT size = 0;
        hresult(name + ": is gone", object->GetPrivateData(First, &size, nullptr), NotFound);
    }

    void test_object(const Object& object, Counted& mine)
    {
        ComPtr<ID3D12Object> d3d12;
        ComPtr<IDMLObject> dml;
        if (SUCCEEDED(object.pointer->QueryInterface(IID_PPV_ARGS(&d3d12))))
        {
            test_bytes(object.name, d3d12.Get());
            test_interface(object.name, d3d12.Get(), mine);
            test_name(object.name, d3d12.Get());
        }
        else if (SUCCEEDED(object.pointer->QueryInterface(IID_PPV_ARGS(&dml))))
        {
            test_nothing(object.name, dml.Get());
            test_bytes(object.name, dml.Get());
            test_interface(object.name, dml.Get(), mine);
            test_name(object.name, dml.Get());
        }
    }

    void private_data(const std::vector<std::string>&)
    {
        std::vector<std::unique_ptr<Counted>> all;
        std::vector<std::string> names;
        {
            World world;
            for (const Object& object : world.objects())
            {
                all.push_back(std::make_unique<Counted>());
                names.push_back(object.name);
                test_object(object, *all.back());
            }
        }
        for (size_t i = 0; i < all.size(); i++)
            equal(names[i] + ": released when the object died", all[i]->count.load(), 1u);
    }

    const Registration registration("private_data", private_data);
}
