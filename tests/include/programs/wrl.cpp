// What wrl/implements.h and wil/wrl.h promise: classes that implement interfaces of the program's own.

#include <guiddef.h>
#include <wil/wrl.h>
#include <wrl.h>

#include <DirectML.h>

#include "cases.h"

using namespace Microsoft::WRL;

#ifdef __clang__
#define OWN_INTERFACE(name, last) interface __declspec(uuid("0d2f4ae3-2b1d-4d0d-9f0d-3a1f9b6c1a" #last)) name : IUnknown
#define OWN_IDENTIFIER(name, last)
#else
// g++ knows no __declspec.
#define OWN_INTERFACE(name, last) interface name : IUnknown
#define OWN_IDENTIFIER(name, last) \
    WINADAPTER_IID(name, 0x0d2f4ae3, 0x2b1d, 0x4d0d, 0x9f, 0x0d, 0x3a, 0x1f, 0x9b, 0x6c, 0x1a, 0x##last)
#endif

OWN_INTERFACE(IFirst, 11)
{
    virtual int STDMETHODCALLTYPE First() = 0;
};
OWN_IDENTIFIER(IFirst, 11)

OWN_INTERFACE(ISecond, 12)
{
    virtual int STDMETHODCALLTYPE Second() = 0;
};
OWN_IDENTIFIER(ISecond, 12)

namespace
{
    int alive = 0;

    class Both : public RuntimeClass<RuntimeClassFlags<ClassicCom>, IFirst, ISecond>
    {
    public:
        explicit Both(int value = 1) : m_value(value)
        {
            ++alive;
        }

        ~Both() override
        {
            --alive;
        }

        HRESULT RuntimeClassInitialize(int value)
        {
            m_value = value;
            return value < 0 ? E_INVALIDARG : S_OK;
        }

        int STDMETHODCALLTYPE First() override
        {
            return m_value;
        }

        int STDMETHODCALLTYPE Second() override
        {
            return -m_value;
        }

    private:
        int m_value;
    };

    class Plain : public RuntimeClass<IFirst>
    {
    public:
        int STDMETHODCALLTYPE First() override
        {
            return 5;
        }
    };
}

CASE(identifiers)
{
    const GUID first = {0x0d2f4ae3, 0x2b1d, 0x4d0d, {0x9f, 0x0d, 0x3a, 0x1f, 0x9b, 0x6c, 0x1a, 0x11}};
    CHECK(IsEqualGUID(__uuidof(IFirst), first));
    CHECK(!IsEqualGUID(__uuidof(ISecond), first));
    CHECK(IsEqualGUID(__uuidof(IDMLDevice), IID_IDMLDevice));
    ComPtr<IFirst> pointer;
    CHECK(IsEqualIID(__uuidof(pointer), first));
}

CASE(classes)
{
    {
        auto object = Make<Both>(7);
        ComPtr<ISecond> second;
        CHECK(object->QueryInterface(IID_PPV_ARGS(&second)) == S_OK && second->Second() == -7);
        ComPtr<IFirst> first;
        CHECK(second.As(&first) == S_OK && first->First() == 7);
        ComPtr<IUnknown> one, other;
        CHECK(first.As(&one) == S_OK && second.As(&other) == S_OK && one == other);
        ComPtr<IDMLDevice> device;
        CHECK(first.As(&device) == E_NOINTERFACE && device == nullptr);
        CHECK(Make<Plain>()->First() == 5);
        object.Reset();
        CHECK(alive == 1);
    }
    CHECK(alive == 0);
}

CASE(initialization)
{
    ComPtr<Both> object;
    CHECK(MakeAndInitialize<Both>(&object, 12) == S_OK && object->First() == 12);
    CHECK(MakeAndInitialize<Both>(&object, -1) == E_INVALIDARG && object == nullptr);
    ComPtr<ISecond> second;
    CHECK(MakeAndInitialize<Both>(second.GetAddressOf(), 3) == S_OK && second->Second() == -3);
    second.Reset();
    CHECK(alive == 0);
}

CASE(wil_throws)
{
    CHECK(wil::MakeOrThrow<Both>(4)->First() == 4);
    CHECK(wil::MakeAndInitializeOrThrow<Both>(6)->First() == 6);
    HRESULT thrown = S_OK;
    try
    {
        wil::MakeAndInitializeOrThrow<Both>(-6);
    }
    catch (const wil::ResultException& error)
    {
        thrown = error.GetErrorCode();
    }
    CHECK(thrown == E_INVALIDARG && alive == 0);
}
