// QueryInterface by the rules of COM: every object, every pair of its interfaces.

#include "world.h"

namespace
{
    const IID Nobody = {0x12345678, 0x1234, 0x1234, {1, 2, 3, 4, 5, 6, 7, 8}};

    ComPtr<IUnknown> query(IUnknown* from, const IID& iid, HRESULT& result)
    {
        void* found = nullptr;
        result = from->QueryInterface(iid, &found);
        ComPtr<IUnknown> owned;
        owned.Attach(static_cast<IUnknown*>(found));
        return owned;
    }

    // From `first` every interface of the chain can be had, and the object stays the same.
    void reaches_all(const Object& object, const Interface& first, IUnknown* from, IUnknown* same)
    {
        for (const Interface& second : object.chain)
        {
            const std::string name = object.name + ": " + first.name + " to " + second.name;
            HRESULT result = E_FAIL;
            auto found = query(from, second.iid, result);
            if (!hresult(name, result, Fine) || !check(name + " gives a pointer", found))
                continue;
            HRESULT again = E_FAIL;
            auto root = query(found.Get(), __uuidof(IUnknown), again);
            check(name + " keeps the identity", again == Fine && root.Get() == same);
            // Asking twice gives the same pointer: interfaces are not made anew.
            auto twice = query(from, second.iid, again);
            check(name + " twice", twice.Get() == found.Get());
        }
    }

    void refuses(const Object& object, const char* name, const IID& iid)
    {
        void* found = poison();
        const std::string fact = object.name + " is no " + name;
        hresult(fact, object.pointer->QueryInterface(iid, &found), E_NOINTERFACE);
        check(fact + ": null", found == nullptr);
    }

    void test_object(const Object& object)
    {
        HRESULT result = E_FAIL;
        auto same = query(object.pointer.Get(), __uuidof(IUnknown), result);
        hresult(object.name + " is an IUnknown", result, Fine);
        for (const Interface& first : object.chain)
        {
            auto from = query(object.pointer.Get(), first.iid, result);
            if (from)
                reaches_all(object, first, from.Get(), same.Get());
        }
        refuses(object, "unknown interface", Nobody);
        const bool is_d3d12 = object.chain.at(1).iid == __uuidof(ID3D12Object);
        if (is_d3d12)
            refuses(object, "IDMLObject", __uuidof(IDMLObject));
        else
            refuses(object, "ID3D12Object", __uuidof(ID3D12Object));
        refuses(object, "ID3D12InfoQueue without the debug layer", __uuidof(ID3D12InfoQueue));
        if (object.name != "dml device")
            refuses(object, "IDMLDebugDevice", __uuidof(IDMLDebugDevice));
        const HRESULT without = object.pointer->QueryInterface(__uuidof(IUnknown), nullptr);
        hresult(object.name + " with a null ppv", without, E_POINTER);
    }

    // The other interface of a debug device is the same object, in all directions.
    template <typename Main, typename Other>
    void test_pair(const char* name, const ComPtr<Main>& main)
    {
        const std::string fact = name;
        ComPtr<Other> other;
        if (!hresult(fact, main->QueryInterface(IID_PPV_ARGS(&other)), Fine))
            return;
        check(fact + ": one IUnknown", unknown(main.Get()).Get() == unknown(other.Get()).Get());
        ComPtr<Main> back;
        hresult(fact + " and back", other->QueryInterface(IID_PPV_ARGS(&back)), Fine);
        check(fact + " and back: the same pointer", back.Get() == main.Get());
        ComPtr<Other> again;
        hresult(fact + " again", back->QueryInterface(IID_PPV_ARGS(&again)), Fine);
        // COM would allow another pointer, but not another object.
        check(fact + " again: one IUnknown", unknown(again.Get()).Get() == unknown(main.Get()).Get());
        void* none = poison();
        hresult(fact + ": no unknown interface", other->QueryInterface(Nobody, &none), E_NOINTERFACE);
        check(fact + ": null", none == nullptr);
    }

    void identity_topic(const std::vector<std::string>&)
    {
        const World world;
        const auto objects = world.objects();
        for (const Object& object : objects)
            test_object(object);
        test_pair<IDMLDevice1, IDMLDebugDevice>("IDMLDebugDevice without the flag", world.bench.dml);
        for (size_t i = 0; i < objects.size(); i++)
            for (size_t j = 0; j < i; j++)
                check(
                    objects[i].name + " is not " + objects[j].name,
                    unknown(objects[i].pointer.Get()).Get() != unknown(objects[j].pointer.Get()).Get());
        ComPtr<ID3D12Debug> debug;
        need(D3D12GetDebugInterface(IID_PPV_ARGS(&debug)), "D3D12GetDebugInterface");
        HRESULT result = E_FAIL;
        auto root = query(debug.Get(), __uuidof(IUnknown), result);
        check("ID3D12Debug is an IUnknown", result == Fine && root);
        auto back = query(root.Get(), __uuidof(ID3D12Debug), result);
        check("ID3D12Debug and back", result == Fine && back.Get() == debug.Get());
    }

    void debug_identity_topic(const std::vector<std::string>&)
    {
        const World world(Bench::Debug::On);
        test_pair<ID3D12Device, ID3D12InfoQueue>("ID3D12Device to ID3D12InfoQueue", world.bench.d3d12);
        test_pair<IDMLDevice1, IDMLDebugDevice>("IDMLDevice1 to IDMLDebugDevice", world.bench.dml);
        ComPtr<IDMLDevice> device;
        need(world.bench.dml->QueryInterface(IID_PPV_ARGS(&device)), "IDMLDevice");
        test_pair<IDMLDevice, IDMLDebugDevice>("IDMLDevice to IDMLDebugDevice", device);
    }

    const Registration identity_registration("identity", identity_topic);
    const Registration debug_registration("debug_identity", debug_identity_topic);
}
