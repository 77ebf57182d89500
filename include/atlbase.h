// MIT License, Copyright (c) the directml-py authors.
//
// The smart pointers of <atlbase.h>, for Linux and C++17; nothing else of ATL.

#ifdef _WIN32
#include_next <atlbase.h>
#else

#ifndef DIRECTML_ATLBASE_H
#define DIRECTML_ATLBASE_H

#include <windows.h>

#include <cassert>

namespace ATL
{
    // As in ATL: assignment adds a reference, and the address may be taken only of an empty pointer.
    template <typename T>
    class CComPtr
    {
    public:
        CComPtr() noexcept = default;

        CComPtr(T* other) noexcept : p(other)
        {
            if (p != nullptr)
                p->AddRef();
        }

        CComPtr(const CComPtr& other) noexcept : CComPtr(other.p)
        {
        }

        CComPtr(CComPtr&& other) noexcept : p(other.Detach())
        {
        }

        ~CComPtr()
        {
            Release();
        }

        CComPtr& operator=(T* other) noexcept
        {
            CComPtr kept(other);
            Swap(kept);
            return *this;
        }

        CComPtr& operator=(const CComPtr& other) noexcept
        {
            return *this = other.p;
        }

        CComPtr& operator=(CComPtr&& other) noexcept
        {
            CComPtr kept(static_cast<CComPtr&&>(other));
            Swap(kept);
            return *this;
        }

        operator T*() const noexcept
        {
            return p;
        }

        T& operator*() const
        {
            return *p;
        }

        T** operator&() noexcept
        {
            assert(p == nullptr);
            return &p;
        }

        T* operator->() const noexcept
        {
            return p;
        }

        void Release() noexcept
        {
            T* const last = Detach();
            if (last != nullptr)
                last->Release();
        }

        void Attach(T* other) noexcept
        {
            Release();
            p = other;
        }

        T* Detach() noexcept
        {
            T* const held = p;
            p = nullptr;
            return held;
        }

        HRESULT CopyTo(T** target) const noexcept
        {
            if (target == nullptr)
                return E_POINTER;
            *target = p;
            if (p != nullptr)
                p->AddRef();
            return S_OK;
        }

        template <typename Q>
        HRESULT QueryInterface(Q** target) const noexcept
        {
            return p->QueryInterface(__uuidof(Q), reinterpret_cast<void**>(target));
        }

        bool IsEqualObject(IUnknown* other) const noexcept
        {
            CComPtr<IUnknown> mine, others;
            if (p != nullptr)
                p->QueryInterface(__uuidof(IUnknown), reinterpret_cast<void**>(&mine));
            if (other != nullptr)
                other->QueryInterface(__uuidof(IUnknown), reinterpret_cast<void**>(&others));
            return mine.p == others.p;
        }

        T* p = nullptr;

    protected:
        void Swap(CComPtr& other) noexcept
        {
            T* const held = p;
            p = other.p;
            other.p = held;
        }
    };

    // A pointer to an interface queried from any object; null if the object lacks it.
    template <typename T>
    class CComQIPtr : public CComPtr<T>
    {
    public:
        CComQIPtr() noexcept = default;

        CComQIPtr(T* other) noexcept : CComPtr<T>(other)
        {
        }

        template <typename Q>
        CComQIPtr(Q* other) noexcept
        {
            if (other != nullptr)
                other->QueryInterface(__uuidof(T), reinterpret_cast<void**>(&this->p));
        }

        using CComPtr<T>::operator=;

        template <typename Q>
        T* operator=(Q* other) noexcept
        {
            CComQIPtr kept(other);
            this->Swap(kept);
            return this->p;
        }
    };
}

#ifndef _ATL_NO_AUTOMATIC_NAMESPACE
using namespace ATL;
#endif

#endif
#endif
