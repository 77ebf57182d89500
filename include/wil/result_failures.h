// MIT License, Copyright (c) the directml-py authors.
//
// The failure handling of the macros in result_macros.h: throw, return, log or abort, and report where.

#ifndef DIRECTML_WIL_RESULT_FAILURES_H
#define DIRECTML_WIL_RESULT_FAILURES_H

#if __cplusplus < 201703L
#error "the wil headers need C++17: compile with -std=c++17 or later"
#endif

#include <windows.h>

#include "../win32/error_names.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace wil
{
    inline bool g_fResultOutputDebugString = true;

    // An HRESULT argument of a macro must be an HRESULT: bools and error codes are rejected.
    template <typename T>
    HRESULT verify_hresult(T hr) noexcept
    {
        static_assert(std::is_same_v<T, HRESULT>, "an HRESULT is expected");
        return hr;
    }

    // Smart pointers are conditions, too.
    template <typename T>
    bool verify_bool(const T& condition) noexcept
    {
        return static_cast<bool>(condition);
    }

    namespace details
    {
        // The location of a macro, and its expression.
        struct Site
        {
            const char* file;
            int line;
            const char* function;
            const char* code;
        };

        inline std::string formatted(const char* format, va_list arguments)
        {
            if (format == nullptr)
                return {};
            va_list again;
            va_copy(again, arguments);
            const int length = std::vsnprintf(nullptr, 0, format, again);
            va_end(again);
            std::string text(length < 0 ? 0 : static_cast<size_t>(length), '\0');
            std::vsnprintf(text.data(), text.size() + 1, format, arguments);
            return text;
        }

        // "main.cpp(42): 0x80070057 E_INVALIDARG: message [code in function]"
        inline std::string described(const Site* site, HRESULT hr, const std::string& message)
        {
            char number[16];
            std::snprintf(number, sizeof(number), "0x%08X", static_cast<unsigned>(hr));
            std::string text;
            if (site != nullptr)
                text += std::string(site->file) + "(" + std::to_string(site->line) + "): ";
            text += number;
            if (const char* const name = directml_win32_error_name(hr))
                text += std::string(" ") + name;
            if (!message.empty())
                text += ": " + message;
            if (site != nullptr)
                text += std::string(" [") + site->code + (*site->code ? " in " : "in ") + site->function + "]";
            return text;
        }
    }

    // The exception of the THROW_ macros.
    class ResultException : public std::exception
    {
    public:
        ResultException(HRESULT hr) : ResultException(hr, details::described(nullptr, hr, ""))
        {
        }

        ResultException(HRESULT hr, const std::string& what) : m_hr(hr), m_what(what)
        {
        }

        HRESULT GetErrorCode() const noexcept
        {
            return m_hr;
        }

        // File, line, HRESULT, message and the expression that failed.
        const char* what() const noexcept override
        {
            return m_what.what();
        }

    private:
        HRESULT m_hr;
        std::runtime_error m_what; // a string that copies without throwing
    };

    namespace details
    {
        // The HRESULT of the exception being handled; its text is added to `what`.
        inline HRESULT caught(std::string* what)
        {
            try
            {
                throw;
            }
            catch (const ResultException& e)
            {
                *what += e.what();
                return e.GetErrorCode();
            }
            catch (const std::bad_alloc& e)
            {
                *what += e.what();
                return E_OUTOFMEMORY;
            }
            catch (const std::exception& e)
            {
                *what += e.what();
            }
            catch (...)
            {
                *what += "an exception that is no std::exception";
            }
            return HRESULT_FROM_WIN32(ERROR_UNHANDLED_EXCEPTION);
        }

        inline void log(const std::string& text)
        {
            if (g_fResultOutputDebugString)
                OutputDebugStringA((text + "\n").c_str());
        }

        // A failure without an error code is still a failure.
        inline HRESULT last_error() noexcept
        {
            const DWORD error = GetLastError();
            return HRESULT_FROM_WIN32(error == ERROR_SUCCESS ? static_cast<DWORD>(ERROR_ASSERTION_FAILURE) : error);
        }

// Fails with `code` and the message, in a method with `const char* format, ...`, if the condition holds.
#define DIRECTML_WIL_FAIL_IF(condition, code)                        \
    if (condition)                                                   \
    {                                                                \
        const HRESULT failure = (code);                              \
        va_list arguments;                                           \
        va_start(arguments, format);                                 \
        const std::string message = formatted(format, arguments);    \
        va_end(arguments);                                           \
        this->fail(failure, message);                                \
    }
#define DIRECTML_WIL_PRINTF(index) __attribute__((format(printf, index, index + 1)))

        enum class Verb
        {
            Throw,
            Return,
            Log,
            FailFast
        };

        // The conditions of the macros, one method each; the verb says what happens if the condition is met.
        template <Verb verb>
        struct Check : Site
        {
            explicit Check(const Site& site) : Site(site)
            {
            }

            DIRECTML_WIL_PRINTF(3) HRESULT if_failed(HRESULT hr, const char* format = nullptr, ...) const
            {
                DIRECTML_WIL_FAIL_IF(FAILED(hr), hr)
                return hr;
            }

            DIRECTML_WIL_PRINTF(3) DWORD if_win32_error(DWORD error, const char* format = nullptr, ...) const
            {
                DIRECTML_WIL_FAIL_IF(error != ERROR_SUCCESS, HRESULT_FROM_WIN32(error))
                return error;
            }

            template <typename T>
            DIRECTML_WIL_PRINTF(3) T if_bool_false(T value, const char* format = nullptr, ...) const
            {
                DIRECTML_WIL_FAIL_IF(!value, last_error())
                return value;
            }

            DIRECTML_WIL_PRINTF(4)
            bool hr_if(HRESULT hr, bool condition, const char* format = nullptr, ...) const
            {
                DIRECTML_WIL_FAIL_IF(condition, hr)
                return condition;
            }

            DIRECTML_WIL_PRINTF(3) bool last_error_if(bool condition, const char* format = nullptr, ...) const
            {
                DIRECTML_WIL_FAIL_IF(condition, last_error())
                return condition;
            }

            // A raw pointer is returned, a smart one is not.
            template <typename P, typename Result = std::conditional_t<std::is_pointer_v<P>, P, void>>
            DIRECTML_WIL_PRINTF(4)
            Result hr_if_null(HRESULT hr, const P& pointer, const char* format = nullptr, ...) const
            {
                DIRECTML_WIL_FAIL_IF(!static_cast<bool>(pointer), hr)
                return static_cast<Result>(pointer);
            }

            template <typename P, typename Result = std::conditional_t<std::is_pointer_v<P>, P, void>>
            DIRECTML_WIL_PRINTF(3)
            Result last_error_if_null(const P& pointer, const char* format = nullptr, ...) const
            {
                DIRECTML_WIL_FAIL_IF(!static_cast<bool>(pointer), last_error())
                return static_cast<Result>(pointer);
            }

            // The condition of a catch block, which is always met.
            HRESULT exception() const
            {
                std::string what;
                const HRESULT hr = caught(&what);
                this->fail(hr, what);
                return hr;
            }

            void fail(HRESULT hr, const std::string& message) const
            {
                if (SUCCEEDED(hr))
                {
                    // It is undefined how the program continues from here.
                    log(described(this, hr, "a success is reported as a failure"));
                    std::abort();
                }
                const std::string text = described(this, hr, message);
                if constexpr (verb == Verb::Throw)
                    throw ResultException(hr, text);
                log(text);
                if constexpr (verb == Verb::FailFast)
                    std::abort();
            }
        };

        // These do not return.
        template <Verb verb>
        struct Stop : Check<verb>
        {
            using Check<verb>::Check;

            [[noreturn]] DIRECTML_WIL_PRINTF(3) void always(HRESULT hr, const char* format = nullptr, ...) const
            {
                DIRECTML_WIL_FAIL_IF(true, hr)
                std::abort();
            }

            [[noreturn]] DIRECTML_WIL_PRINTF(3) void always_win32(DWORD error, const char* format = nullptr, ...) const
            {
                DIRECTML_WIL_FAIL_IF(true, HRESULT_FROM_WIN32(error))
                std::abort();
            }

            [[noreturn]] DIRECTML_WIL_PRINTF(2) void always_last_error(const char* format = nullptr, ...) const
            {
                DIRECTML_WIL_FAIL_IF(true, last_error())
                std::abort();
            }
        };

        // These return.
        template <Verb verb>
        struct Go : Check<verb>
        {
            using Check<verb>::Check;

            DIRECTML_WIL_PRINTF(3) HRESULT always(HRESULT hr, const char* format = nullptr, ...) const
            {
                DIRECTML_WIL_FAIL_IF(true, hr)
                return hr;
            }

            DIRECTML_WIL_PRINTF(3) HRESULT always_win32(DWORD error, const char* format = nullptr, ...) const
            {
                DIRECTML_WIL_FAIL_IF(true, HRESULT_FROM_WIN32(error))
                return HRESULT_FROM_WIN32(error);
            }

            DIRECTML_WIL_PRINTF(2) HRESULT always_last_error(const char* format = nullptr, ...) const
            {
                const HRESULT hr = last_error();
                DIRECTML_WIL_FAIL_IF(true, hr)
                return hr;
            }
        };

#undef DIRECTML_WIL_FAIL_IF
#undef DIRECTML_WIL_PRINTF

        using Throw = Stop<Verb::Throw>;
        using FailFast = Stop<Verb::FailFast>;
        using Log = Go<Verb::Log>;
        using Return = Go<Verb::Return>;
    }

    // In a catch block: the HRESULT of the caught exception.
    inline HRESULT ResultFromCaughtException()
    {
        std::string what;
        return details::caught(&what);
    }
}

#endif
