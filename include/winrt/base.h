// MIT License, Copyright (c) the directml-py authors.
//
// The part of C++/WinRT's <winrt/base.h> that Direct3D 12 programs use, for Linux and C++17: com_ptr, handle, errors.
// There is no Windows Runtime.

#ifdef _WIN32
#include_next <winrt/base.h>
#else

#ifndef DIRECTML_WINRT_BASE_H
#define DIRECTML_WINRT_BASE_H

#include "hresult_error.h"

#include <cassert>
#include <cmath> // Visual C++'s <iostream> and <string> have fabs and sqrt in the global namespace; libstdc++'s need not.
#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>

#ifndef WINRT_ASSERT
#define WINRT_ASSERT(expression) assert(expression)
#endif
#ifndef WINRT_VERIFY
#ifdef NDEBUG
#define WINRT_VERIFY(expression) ((void)(expression))
#else
#define WINRT_VERIFY(expression) assert(expression)
#endif
#endif

namespace winrt
{
    using guid = GUID;

    template <typename T>
    constexpr const guid& guid_of() noexcept
    {
        return __uuidof(T);
    }

    struct take_ownership_from_abi_t
    {
    };
    inline constexpr take_ownership_from_abi_t take_ownership_from_abi{};

    template <typename T>
    struct com_ptr
    {
        using type = T;

        com_ptr(std::nullptr_t = nullptr) noexcept
        {
        }

        com_ptr(void* object, take_ownership_from_abi_t) noexcept : m_object(static_cast<T*>(object))
        {
        }

        com_ptr(const com_ptr& other) noexcept
        {
            copy_from(other.get());
        }

        com_ptr(com_ptr&& other) noexcept : m_object(other.detach())
        {
        }

        template <typename U, typename = std::enable_if_t<std::is_convertible_v<U*, T*>>>
        com_ptr(const com_ptr<U>& other) noexcept
        {
            copy_from(other.get());
        }

        template <typename U, typename = std::enable_if_t<std::is_convertible_v<U*, T*>>>
        com_ptr(com_ptr<U>&& other) noexcept : m_object(other.detach())
        {
        }

        ~com_ptr() noexcept
        {
            attach(nullptr);
        }

        com_ptr& operator=(com_ptr other) noexcept
        {
            std::swap(m_object, other.m_object);
            return *this;
        }

        explicit operator bool() const noexcept
        {
            return m_object != nullptr;
        }

        T* operator->() const noexcept
        {
            return m_object;
        }

        T& operator*() const noexcept
        {
            return *m_object;
        }

        T* get() const noexcept
        {
            return m_object;
        }

        // Only for an empty pointer, as in C++/WinRT.
        T** put() noexcept
        {
            assert(m_object == nullptr);
            return &m_object;
        }

        void** put_void() noexcept
        {
            return reinterpret_cast<void**>(put());
        }

        void attach(T* object) noexcept
        {
            T* const old = std::exchange(m_object, object);
            if (old != nullptr)
                old->Release();
        }

        T* detach() noexcept
        {
            return std::exchange(m_object, nullptr);
        }

        void copy_from(T* object) noexcept
        {
            if (object != nullptr)
                object->AddRef();
            attach(object);
        }

        void copy_to(T** object) const noexcept
        {
            if (m_object != nullptr)
                m_object->AddRef();
            *object = m_object;
        }

        template <typename U>
        com_ptr<U> as() const
        {
            com_ptr<U> found;
            check_hresult(as(guid_of<U>(), found.put_void()));
            return found;
        }

        template <typename U>
        void as(com_ptr<U>& found) const
        {
            found = as<U>();
        }

        hresult as(const guid& id, void** object) const noexcept
        {
            return m_object->QueryInterface(id, object);
        }

        template <typename U>
        com_ptr<U> try_as() const noexcept
        {
            com_ptr<U> found;
            if (m_object != nullptr)
                as(guid_of<U>(), found.put_void());
            return found;
        }

        template <typename U>
        bool try_as(com_ptr<U>& found) const noexcept
        {
            found = try_as<U>();
            return static_cast<bool>(found);
        }

        // Calls a function whose parameters end in (REFIID, void**), and throws if it fails.
        template <typename... Arguments>
        void capture(Arguments&&... arguments)
        {
            check_hresult(try_give(std::forward<Arguments>(arguments)...));
        }

        template <typename... Arguments>
        bool try_capture(Arguments&&... arguments)
        {
            return try_give(std::forward<Arguments>(arguments)...) >= 0;
        }

    private:
        template <typename Function, typename... Arguments>
        hresult try_give(Function function, Arguments&&... arguments)
        {
            attach(nullptr);
            return function(std::forward<Arguments>(arguments)..., guid_of<T>(), put_void());
        }

        template <typename U, typename Method, typename... Arguments>
        hresult try_give(const com_ptr<U>& object, Method method, Arguments&&... arguments)
        {
            attach(nullptr);
            return (object.get()->*method)(std::forward<Arguments>(arguments)..., guid_of<T>(), put_void());
        }

        T* m_object = nullptr;
    };

    template <typename T, typename... Arguments>
    com_ptr<T> capture(Arguments&&... arguments)
    {
        com_ptr<T> found;
        found.capture(std::forward<Arguments>(arguments)...);
        return found;
    }

    template <typename T, typename U>
    bool operator==(const com_ptr<T>& left, const com_ptr<U>& right) noexcept
    {
        return left.get() == right.get();
    }

    template <typename T, typename U>
    bool operator!=(const com_ptr<T>& left, const com_ptr<U>& right) noexcept
    {
        return !(left == right);
    }

    template <typename T, typename U>
    bool operator<(const com_ptr<T>& left, const com_ptr<U>& right) noexcept
    {
        return std::less<>()(left.get(), right.get());
    }

    template <typename T>
    bool operator==(const com_ptr<T>& left, std::nullptr_t) noexcept
    {
        return !left;
    }

    template <typename T>
    bool operator!=(const com_ptr<T>& left, std::nullptr_t) noexcept
    {
        return static_cast<bool>(left);
    }

    // A HANDLE with unique ownership. The empty value is null or, with Invalid, INVALID_HANDLE_VALUE.
    template <bool Invalid>
    class basic_handle
    {
    public:
        using type = HANDLE;

        basic_handle() noexcept = default;

        explicit basic_handle(HANDLE value) noexcept : m_value(value)
        {
        }

        basic_handle(basic_handle&& other) noexcept : m_value(other.detach())
        {
        }

        basic_handle& operator=(basic_handle&& other) noexcept
        {
            if (this != &other)
                attach(other.detach());
            return *this;
        }

        ~basic_handle() noexcept
        {
            close();
        }

        explicit operator bool() const noexcept
        {
            return m_value != none();
        }

        HANDLE get() const noexcept
        {
            return m_value;
        }

        HANDLE* put() noexcept
        {
            close();
            return &m_value;
        }

        void attach(HANDLE value) noexcept
        {
            close();
            m_value = value;
        }

        HANDLE detach() noexcept
        {
            return std::exchange(m_value, none());
        }

        void close() noexcept
        {
            if (*this)
                CloseHandle(detach());
        }

    private:
        static HANDLE none() noexcept
        {
            return Invalid ? INVALID_HANDLE_VALUE : nullptr;
        }

        HANDLE m_value = none();
    };

    using handle = basic_handle<false>;
    using file_handle = basic_handle<true>;

    enum class apartment_type : int32_t
    {
        multi_threaded = COINIT_MULTITHREADED,
        single_threaded = COINIT_APARTMENTTHREADED
    };

    inline void init_apartment(apartment_type type = apartment_type::multi_threaded)
    {
        check_hresult(CoInitializeEx(nullptr, static_cast<DWORD>(type)));
    }

    inline void uninit_apartment() noexcept
    {
        CoUninitialize();
    }
}

#endif
#endif
