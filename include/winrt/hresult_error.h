// MIT License, Copyright (c) the directml-py authors.
//
// The errors of C++/WinRT, part of <winrt/base.h>: an HRESULT is thrown as a winrt::hresult_error, or as the class of
// its code that is derived from it. E_OUTOFMEMORY is std::bad_alloc.

#ifndef DIRECTML_WINRT_HRESULT_ERROR_H
#define DIRECTML_WINRT_HRESULT_ERROR_H

#if __cplusplus < 201703L
#error "the winrt headers need C++17: compile with -std=c++17 or later"
#endif

#include <windows.h>

#include "../win32/error_names.h"

#include <cstdint>
#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

namespace winrt
{
    struct hresult
    {
        int32_t value = 0;

        constexpr hresult() noexcept = default;

        constexpr hresult(int32_t code) noexcept : value(code)
        {
        }

        constexpr operator int32_t() const noexcept
        {
            return value;
        }
    };

    // Immutable text. As everywhere in these headers, a wide character has 32 bits.
    class hstring
    {
    public:
        hstring() = default;

        hstring(const wchar_t* text) : m_text(text)
        {
        }

        explicit hstring(std::wstring_view text) : m_text(text)
        {
        }

        const wchar_t* c_str() const noexcept
        {
            return m_text.c_str();
        }

        uint32_t size() const noexcept
        {
            return static_cast<uint32_t>(m_text.size());
        }

        bool empty() const noexcept
        {
            return m_text.empty();
        }

        operator std::wstring_view() const noexcept
        {
            return m_text;
        }

        friend bool operator==(const hstring& left, const hstring& right) noexcept
        {
            return left.m_text == right.m_text;
        }

        friend bool operator!=(const hstring& left, const hstring& right) noexcept
        {
            return !(left == right);
        }

    private:
        std::wstring m_text;
    };

    inline std::string to_string(std::wstring_view text)
    {
        const int characters = static_cast<int>(text.size());
        const int size = WideCharToMultiByte(CP_UTF8, 0, text.data(), characters, nullptr, 0, nullptr, nullptr);
        std::string bytes(static_cast<size_t>(size), '\0');
        WideCharToMultiByte(CP_UTF8, 0, text.data(), characters, bytes.data(), size, nullptr, nullptr);
        return bytes;
    }

    inline hstring to_hstring(std::string_view text)
    {
        const int bytes = static_cast<int>(text.size());
        std::wstring wide(static_cast<size_t>(MultiByteToWideChar(CP_UTF8, 0, text.data(), bytes, nullptr, 0)), L'\0');
        MultiByteToWideChar(CP_UTF8, 0, text.data(), bytes, wide.data(), static_cast<int>(wide.size()));
        return hstring(wide);
    }

    // Not a std::exception, as in C++/WinRT.
    class hresult_error
    {
    public:
        hresult_error() : hresult_error(E_FAIL)
        {
        }

        explicit hresult_error(hresult code) : m_code(code)
        {
        }

        hresult_error(hresult code, const hstring& message) : m_code(code), m_message(message)
        {
        }

        winrt::hresult code() const noexcept
        {
            return m_code;
        }

        // The program's message or, if there is none, the HRESULT's number and name.
        hstring message() const
        {
            if (!m_message.empty())
                return m_message;
            char number[16];
            std::snprintf(number, sizeof(number), "0x%08X", static_cast<unsigned>(m_code.value));
            const char* const name = directml_win32_error_name(m_code);
            return to_hstring(name == nullptr ? number : number + (" " + std::string(name)));
        }

        winrt::hresult to_abi() const noexcept
        {
            return m_code;
        }

    private:
        hresult m_code;
        hstring m_message;
    };

#define DIRECTML_WINRT_ERRORS(X)                              \
    X(hresult_access_denied, E_ACCESSDENIED)                  \
    X(hresult_wrong_thread, RPC_E_WRONG_THREAD)               \
    X(hresult_not_implemented, E_NOTIMPL)                     \
    X(hresult_invalid_argument, E_INVALIDARG)                 \
    X(hresult_out_of_bounds, E_BOUNDS)                        \
    X(hresult_no_interface, E_NOINTERFACE)                    \
    X(hresult_class_not_available, CLASS_E_CLASSNOTAVAILABLE) \
    X(hresult_class_not_registered, REGDB_E_CLASSNOTREG)      \
    X(hresult_changed_state, E_CHANGED_STATE)                 \
    X(hresult_illegal_method_call, E_ILLEGAL_METHOD_CALL)     \
    X(hresult_illegal_state_change, E_ILLEGAL_STATE_CHANGE)   \
    X(hresult_canceled, HRESULT_FROM_WIN32(ERROR_CANCELLED))

#define DIRECTML_WINRT_CLASS(name, hr)                                      \
    struct name : hresult_error                                             \
    {                                                                       \
        name() : hresult_error(hr)                                          \
        {                                                                   \
        }                                                                   \
        explicit name(const hstring& message) : hresult_error(hr, message) \
        {                                                                   \
        }                                                                   \
    };
    DIRECTML_WINRT_ERRORS(DIRECTML_WINRT_CLASS)
#undef DIRECTML_WINRT_CLASS

    [[noreturn]] inline void throw_hresult(hresult code)
    {
        if (code == E_OUTOFMEMORY)
            throw std::bad_alloc();
#define DIRECTML_WINRT_THROW(name, hr) \
    if (code == hr)                    \
        throw name();
        DIRECTML_WINRT_ERRORS(DIRECTML_WINRT_THROW)
#undef DIRECTML_WINRT_THROW
        throw hresult_error(code);
    }

#undef DIRECTML_WINRT_ERRORS

    [[noreturn]] inline void throw_last_error()
    {
        throw_hresult(HRESULT_FROM_WIN32(GetLastError()));
    }

    inline hresult check_hresult(hresult code)
    {
        if (code < 0)
            throw_hresult(code);
        return code;
    }

    inline void check_win32(uint32_t error)
    {
        if (error != ERROR_SUCCESS)
            throw_hresult(HRESULT_FROM_WIN32(error));
    }

    // After a false or null result, GetLastError has the reason.
    template <typename T>
    void check_bool(T succeeded)
    {
        if (!succeeded)
            throw_last_error();
    }

    template <typename T>
    T* check_pointer(T* pointer)
    {
        check_bool(pointer != nullptr);
        return pointer;
    }

    // In a catch block: the caught exception as an HRESULT. Any other exception ends the program.
    inline hresult to_hresult() noexcept
    {
        try
        {
            throw;
        }
        catch (const hresult_error& error)
        {
            return error.code();
        }
        catch (const std::bad_alloc&)
        {
            return E_OUTOFMEMORY;
        }
        catch (const std::out_of_range&)
        {
            return E_BOUNDS;
        }
        catch (const std::invalid_argument&)
        {
            return E_INVALIDARG;
        }
        catch (const std::exception&)
        {
            return E_FAIL;
        }
    }

    // In a catch block: its text.
    inline hstring to_message()
    {
        try
        {
            throw;
        }
        catch (const hresult_error& error)
        {
            return error.message();
        }
        catch (const std::exception& error)
        {
            return to_hstring(error.what());
        }
    }
}

#endif
