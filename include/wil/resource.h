// MIT License, Copyright (c) the directml-py authors.
//
// The resource wrappers of the Windows Implementation Library (WIL) that programs need for handles, events and modules,
// and scope_exit; for Linux and C++17. They have unique ownership, and are no larger than what they own.

#ifndef DIRECTML_WIL_RESOURCE_H
#define DIRECTML_WIL_RESOURCE_H

#include "result_macros.h"

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace wil
{
    namespace details
    {
        // The invalid values, and the value of an empty wrapper.
        template <typename T>
        struct NullIsEmpty
        {
            static T empty() noexcept
            {
                return T{};
            }

            static bool is_valid(T value) noexcept
            {
                return value != T{};
            }
        };

        struct NullOrInvalidIsEmpty : NullIsEmpty<HANDLE>
        {
            static bool is_valid(HANDLE value) noexcept
            {
                return value != nullptr && value != INVALID_HANDLE_VALUE;
            }
        };

        struct InvalidIsEmpty : NullOrInvalidIsEmpty
        {
            static HANDLE empty() noexcept
            {
                return INVALID_HANDLE_VALUE;
            }
        };

        template <typename T, typename CloseFunction, CloseFunction close, typename Empty = NullIsEmpty<T>>
        class UniqueStorage
        {
        public:
            using pointer = T;

            UniqueStorage() = default;

            explicit UniqueStorage(T value) noexcept : m_value(value)
            {
            }

            UniqueStorage(UniqueStorage&& other) noexcept : m_value(other.release())
            {
            }

            UniqueStorage& operator=(UniqueStorage&& other) noexcept
            {
                if (this != std::addressof(other))
                    reset(other.release());
                return *this;
            }

            ~UniqueStorage()
            {
                reset();
            }

            T get() const noexcept
            {
                return m_value;
            }

            bool is_valid() const noexcept
            {
                return Empty::is_valid(m_value);
            }

            [[nodiscard]] T release() noexcept
            {
                return std::exchange(m_value, Empty::empty());
            }

            // Preserves the last error.
            void reset(T value = Empty::empty()) noexcept
            {
                const T old = std::exchange(m_value, value);
                if (Empty::is_valid(old))
                {
                    const DWORD error = GetLastError();
                    close(old);
                    SetLastError(error);
                }
            }

            void reset(std::nullptr_t) noexcept
            {
                reset();
            }

            // For functions that may write to it; the current resource stays unless they do.
            T* addressof() noexcept
            {
                return &m_value;
            }

        private:
            T m_value = Empty::empty();
        };
    }

    template <typename Storage>
    class unique_any_t : public Storage
    {
    public:
        using pointer = typename Storage::pointer;

        using Storage::Storage;

        unique_any_t() = default;
        unique_any_t(unique_any_t&&) = default;
        unique_any_t& operator=(unique_any_t&&) = default;

        unique_any_t(std::nullptr_t) noexcept
        {
        }

        unique_any_t& operator=(std::nullptr_t) noexcept
        {
            this->reset();
            return *this;
        }

        void swap(unique_any_t& other) noexcept
        {
            std::swap(*this->addressof(), *other.addressof());
        }

        explicit operator bool() const noexcept
        {
            return this->is_valid();
        }

        // For functions that return a resource: closes the current one.
        pointer* put() noexcept
        {
            this->reset();
            return this->addressof();
        }

        pointer* operator&() noexcept
        {
            return put();
        }
    };

    template <typename Storage>
    void swap(unique_any_t<Storage>& left, unique_any_t<Storage>& right) noexcept
    {
        left.swap(right);
    }

    template <typename Storage>
    bool operator==(const unique_any_t<Storage>& left, const unique_any_t<Storage>& right) noexcept
    {
        return left.get() == right.get();
    }

    template <typename Storage>
    bool operator!=(const unique_any_t<Storage>& left, const unique_any_t<Storage>& right) noexcept
    {
        return left.get() != right.get();
    }

    template <typename Storage>
    bool operator==(const unique_any_t<Storage>& left, std::nullptr_t) noexcept
    {
        return !left;
    }

    template <typename Storage>
    bool operator!=(const unique_any_t<Storage>& left, std::nullptr_t) noexcept
    {
        return static_cast<bool>(left);
    }

    template <typename T, typename CloseFunction, CloseFunction close>
    using unique_any = unique_any_t<details::UniqueStorage<T, CloseFunction, close>>;

    // Empty is null, and INVALID_HANDLE_VALUE is invalid too.
    using unique_handle = unique_any_t<
        details::UniqueStorage<HANDLE, decltype(&::CloseHandle), ::CloseHandle, details::NullOrInvalidIsEmpty>>;

    // Empty is INVALID_HANDLE_VALUE, and null is invalid too.
    using unique_hfile =
        unique_any_t<details::UniqueStorage<HANDLE, decltype(&::CloseHandle), ::CloseHandle, details::InvalidIsEmpty>>;

    using unique_hmodule = unique_any<HMODULE, decltype(&::FreeLibrary), ::FreeLibrary>;

    // Calls a function when it goes out of scope; reset() calls it now, release() never.
    template <typename Function>
    class scope_exit_t
    {
    public:
        explicit scope_exit_t(Function function) : m_function(std::move(function))
        {
        }

        scope_exit_t(scope_exit_t&& other) noexcept(std::is_nothrow_move_constructible_v<Function>)
            : m_function(std::move(other.m_function)), m_armed(std::exchange(other.m_armed, false))
        {
        }

        scope_exit_t& operator=(scope_exit_t&&) = delete;

        ~scope_exit_t()
        {
            reset();
        }

        void release() noexcept
        {
            m_armed = false;
        }

        void reset() noexcept
        {
            if (std::exchange(m_armed, false))
                m_function();
        }

        explicit operator bool() const noexcept
        {
            return m_armed;
        }

    private:
        Function m_function;
        bool m_armed = true;
    };

    template <typename Function>
    [[nodiscard]] scope_exit_t<std::decay_t<Function>> scope_exit(Function&& function)
    {
        return scope_exit_t<std::decay_t<Function>>(std::forward<Function>(function));
    }

    // The reaction to a failing operation of an event or a com_ptr: throw, return, abort.
    struct err_exception_policy
    {
        using result = void;

        static result LastErrorIfFalse(bool succeeded)
        {
            THROW_IF_WIN32_BOOL_FALSE(succeeded);
        }

        static result HResult(HRESULT hr)
        {
            THROW_IF_FAILED(hr);
        }
    };

    struct err_returncode_policy
    {
        using result = HRESULT;

        static result LastErrorIfFalse(bool succeeded)
        {
            RETURN_IF_WIN32_BOOL_FALSE(succeeded);
            return S_OK;
        }

        static result HResult(HRESULT hr)
        {
            RETURN_IF_FAILED(hr);
            return S_OK;
        }
    };

    struct err_failfast_policy
    {
        using result = void;

        static result LastErrorIfFalse(bool succeeded)
        {
            FAIL_FAST_IF_WIN32_BOOL_FALSE(succeeded);
        }

        static result HResult(HRESULT hr)
        {
            FAIL_FAST_IF_FAILED(hr);
        }
    };

    enum class EventOptions
    {
        None = 0,
        ManualReset = 1,
        Signaled = 2
    };
    DEFINE_ENUM_FLAG_OPERATORS(EventOptions)

    [[nodiscard]] inline auto SetEvent_scope_exit(HANDLE event)
    {
        return scope_exit([event] { FAIL_FAST_IF_WIN32_BOOL_FALSE(::SetEvent(event)); });
    }

    [[nodiscard]] inline auto ResetEvent_scope_exit(HANDLE event)
    {
        return scope_exit([event] { FAIL_FAST_IF_WIN32_BOOL_FALSE(::ResetEvent(event)); });
    }

    // Whether it was signalled in time.
    inline bool handle_wait(HANDLE handle, DWORD milliseconds = INFINITE, BOOL alertable = FALSE)
    {
        const DWORD status = ::WaitForSingleObjectEx(handle, milliseconds, alertable);
        FAIL_FAST_LAST_ERROR_IF(status == WAIT_FAILED);
        return status == WAIT_OBJECT_0;
    }

    // For manual-reset events: looking resets an auto-reset one.
    inline bool event_is_signaled(HANDLE event)
    {
        return handle_wait(event, 0);
    }

    template <typename Storage, typename ErrorPolicy>
    class event_t : public Storage
    {
    public:
        using result = typename ErrorPolicy::result;

        using Storage::Storage;

        event_t() = default;

        event_t(EventOptions options)
        {
            static_assert(std::is_void_v<result>, "this event reports errors in HRESULTs: use create()");
            create(options);
        }

        bool try_create(
            EventOptions options,
            PCWSTR name,
            LPSECURITY_ATTRIBUTES attributes = nullptr,
            bool* already_exists = nullptr)
        {
            const bool manual = (options & EventOptions::ManualReset) != EventOptions::None;
            const bool signaled = (options & EventOptions::Signaled) != EventOptions::None;
            const HANDLE event = ::CreateEventExW(
                attributes,
                name,
                (manual ? CREATE_EVENT_MANUAL_RESET : 0u) | (signaled ? CREATE_EVENT_INITIAL_SET : 0u),
                EVENT_ALL_ACCESS);
            if (already_exists != nullptr)
                *already_exists = false;
            if (event == nullptr)
                return false;
            this->reset(event);
            return true;
        }

        result create(
            EventOptions options = EventOptions::None,
            PCWSTR name = nullptr,
            LPSECURITY_ATTRIBUTES attributes = nullptr,
            bool* already_exists = nullptr)
        {
            return ErrorPolicy::LastErrorIfFalse(try_create(options, name, attributes, already_exists));
        }

        void SetEvent() const
        {
            FAIL_FAST_IF_WIN32_BOOL_FALSE(::SetEvent(this->get()));
        }

        void ResetEvent() const
        {
            FAIL_FAST_IF_WIN32_BOOL_FALSE(::ResetEvent(this->get()));
        }

        [[nodiscard]] auto SetEvent_scope_exit() const
        {
            return wil::SetEvent_scope_exit(this->get());
        }

        [[nodiscard]] auto ResetEvent_scope_exit() const
        {
            return wil::ResetEvent_scope_exit(this->get());
        }

        bool is_signaled() const
        {
            return wil::event_is_signaled(this->get());
        }

        bool wait(DWORD milliseconds = INFINITE, BOOL alertable = FALSE) const
        {
            return wil::handle_wait(this->get(), milliseconds, alertable);
        }
    };

    namespace details
    {
        using EventStorage = UniqueStorage<HANDLE, decltype(&::CloseHandle), ::CloseHandle, NullOrInvalidIsEmpty>;
    }

    using unique_event = unique_any_t<event_t<details::EventStorage, err_exception_policy>>;
    using unique_event_nothrow = unique_any_t<event_t<details::EventStorage, err_returncode_policy>>;
    using unique_event_failfast = unique_any_t<event_t<details::EventStorage, err_failfast_policy>>;
}

#endif
