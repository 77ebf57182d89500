// MIT License, Copyright (c) the directml-py authors.
//
// The smart pointers of the Windows Implementation Library (WIL) to COM objects, for Linux and C++17: com_ptr throws,
// com_ptr_nothrow returns HRESULTs, com_ptr_failfast aborts. query requires the interface, try_query returns null if it
// is missing; copy and try_copy do the same for a pointer that may be null.

#ifndef DIRECTML_WIL_COM_H
#define DIRECTML_WIL_COM_H

#include "resource.h"

#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>

namespace wil
{
    template <typename T, typename ErrorPolicy = err_exception_policy>
    class com_ptr_t
    {
    public:
        using result = typename ErrorPolicy::result;
        using element_type = T;
        using pointer = T*;

        com_ptr_t() noexcept = default;

        com_ptr_t(std::nullptr_t) noexcept
        {
        }

        com_ptr_t(T* object) noexcept : m_object(object)
        {
            if (m_object != nullptr)
                m_object->AddRef();
        }

        com_ptr_t(const com_ptr_t& other) noexcept : com_ptr_t(other.get())
        {
        }

        com_ptr_t(com_ptr_t&& other) noexcept : m_object(other.detach())
        {
        }

        template <typename U, typename OtherPolicy, typename = std::enable_if_t<std::is_convertible_v<U*, T*>>>
        com_ptr_t(const com_ptr_t<U, OtherPolicy>& other) noexcept : com_ptr_t(static_cast<T*>(other.get()))
        {
        }

        template <typename U, typename OtherPolicy, typename = std::enable_if_t<std::is_convertible_v<U*, T*>>>
        com_ptr_t(com_ptr_t<U, OtherPolicy>&& other) noexcept : m_object(other.detach())
        {
        }

        ~com_ptr_t()
        {
            reset();
        }

        com_ptr_t& operator=(com_ptr_t other) noexcept
        {
            swap(other);
            return *this;
        }

        void swap(com_ptr_t& other) noexcept
        {
            std::swap(m_object, other.m_object);
        }

        T* get() const noexcept
        {
            return m_object;
        }

        T* operator->() const noexcept
        {
            return m_object;
        }

        T& operator*() const noexcept
        {
            return *m_object;
        }

        explicit operator bool() const noexcept
        {
            return m_object != nullptr;
        }

        void reset() noexcept
        {
            attach(nullptr);
        }

        void reset(std::nullptr_t) noexcept
        {
            reset();
        }

        // Takes over the caller's reference.
        void attach(T* object) noexcept
        {
            T* const old = std::exchange(m_object, object);
            if (old != nullptr)
                old->Release();
        }

        [[nodiscard]] T* detach() noexcept
        {
            return std::exchange(m_object, nullptr);
        }

        // For functions that may write to it; the current pointer stays unless they do.
        T** addressof() noexcept
        {
            return &m_object;
        }

        // For functions that return an object: releases the current pointer.
        T** put() noexcept
        {
            reset();
            return &m_object;
        }

        void** put_void() noexcept
        {
            return reinterpret_cast<void**>(put());
        }

        ::IUnknown** put_unknown() noexcept
        {
            return reinterpret_cast<::IUnknown**>(put());
        }

        T** operator&() noexcept
        {
            return put();
        }

        template <typename U>
        com_ptr_t<U, ErrorPolicy> query() const
        {
            static_assert(std::is_void_v<result>, "this pointer reports errors in HRESULTs: use try_query or query_to");
            com_ptr_t<U, ErrorPolicy> found;
            query_to(found.put());
            return found;
        }

        template <typename U>
        result query_to(U** object) const
        {
            return query_to(__uuidof(U), reinterpret_cast<void**>(object));
        }

        result query_to(REFIID riid, void** object) const
        {
            return ErrorPolicy::HResult(m_object->QueryInterface(riid, object));
        }

        template <typename U>
        com_ptr_t<U, ErrorPolicy> try_query() const noexcept
        {
            com_ptr_t<U, ErrorPolicy> found;
            try_query_to(found.put());
            return found;
        }

        template <typename U>
        bool try_query_to(U** object) const noexcept
        {
            return try_query_to(__uuidof(U), reinterpret_cast<void**>(object));
        }

        bool try_query_to(REFIID riid, void** object) const noexcept
        {
            return SUCCEEDED(m_object->QueryInterface(riid, object));
        }

        template <typename U>
        com_ptr_t<U, ErrorPolicy> copy() const
        {
            static_assert(std::is_void_v<result>, "this pointer reports errors in HRESULTs: use try_copy or copy_to");
            com_ptr_t<U, ErrorPolicy> found;
            copy_to(found.put());
            return found;
        }

        template <typename U>
        result copy_to(U** object) const
        {
            return copy_to(__uuidof(U), reinterpret_cast<void**>(object));
        }

        result copy_to(REFIID riid, void** object) const
        {
            if (m_object != nullptr)
                return query_to(riid, object);
            *object = nullptr;
            return ErrorPolicy::HResult(S_OK);
        }

        template <typename U>
        com_ptr_t<U, ErrorPolicy> try_copy() const noexcept
        {
            return m_object != nullptr ? try_query<U>() : nullptr;
        }

        template <typename U>
        bool try_copy_to(U** object) const noexcept
        {
            *object = nullptr;
            return m_object != nullptr && try_query_to(object);
        }

    private:
        T* m_object = nullptr;
    };

    template <typename T>
    using com_ptr = com_ptr_t<T, err_exception_policy>;
    template <typename T>
    using com_ptr_nothrow = com_ptr_t<T, err_returncode_policy>;
    template <typename T>
    using com_ptr_failfast = com_ptr_t<T, err_failfast_policy>;

    template <typename T, typename ErrorPolicy>
    void swap(com_ptr_t<T, ErrorPolicy>& left, com_ptr_t<T, ErrorPolicy>& right) noexcept
    {
        left.swap(right);
    }

    // The plain pointer of a plain or a smart one.
    template <typename T>
    T* com_raw_ptr(T* object) noexcept
    {
        return object;
    }

    inline std::nullptr_t com_raw_ptr(std::nullptr_t) noexcept
    {
        return nullptr;
    }

    template <typename T, typename ErrorPolicy>
    T* com_raw_ptr(const com_ptr_t<T, ErrorPolicy>& object) noexcept
    {
        return object.get();
    }

// With a smart pointer on either side, and a plain one or none on the other.
#define DIRECTML_WIL_COMPARE(symbol, Order)                                                             \
    template <typename T, typename P, typename Right, typename = decltype(com_raw_ptr(std::declval<const Right&>()))> \
    bool operator symbol(const com_ptr_t<T, P>& left, const Right& right) noexcept                      \
    {                                                                                                   \
        return Order()(left.get(), com_raw_ptr(right));                                                 \
    }                                                                                                   \
    template <typename Left, typename T, typename P>                                                    \
    auto operator symbol(Left* left, const com_ptr_t<T, P>& right) noexcept->bool                       \
    {                                                                                                   \
        return Order()(left, right.get());                                                              \
    }                                                                                                   \
    template <typename T, typename P>                                                                   \
    bool operator symbol(std::nullptr_t, const com_ptr_t<T, P>& right) noexcept                         \
    {                                                                                                   \
        return Order()(static_cast<T*>(nullptr), right.get());                                          \
    }

    DIRECTML_WIL_COMPARE(==, std::equal_to<>)
    DIRECTML_WIL_COMPARE(!=, std::not_equal_to<>)
    DIRECTML_WIL_COMPARE(<, std::less<>)

#undef DIRECTML_WIL_COMPARE

    // Another interface of the object, which throws if the object lacks it.
    template <typename U, typename Source>
    com_ptr<U> com_query(const Source& source)
    {
        com_ptr<U> found;
        THROW_IF_FAILED(com_raw_ptr(source)->QueryInterface(__uuidof(U), found.put_void()));
        return found;
    }

    // As com_query; null for null.
    template <typename U, typename Source>
    com_ptr<U> com_copy(const Source& source)
    {
        return com_raw_ptr(source) != nullptr ? com_query<U>(source) : nullptr;
    }

    template <typename U, typename Source>
    com_ptr<U> try_com_query(const Source& source) noexcept
    {
        com_ptr<U> found;
        com_raw_ptr(source)->QueryInterface(__uuidof(U), found.put_void());
        return found;
    }

    template <typename U, typename Source>
    com_ptr<U> try_com_copy(const Source& source) noexcept
    {
        return com_raw_ptr(source) != nullptr ? try_com_query<U>(source) : nullptr;
    }

    template <typename T>
    com_ptr<T> make_com_ptr(T* object) noexcept
    {
        return object;
    }
}

#endif
