// What wil/result.h and wil/resource.h promise.

#include <wil/resource.h>
#include <wil/result.h>

#include <cstring>
#include <fcntl.h>
#include <memory>
#include <string>
#include <thread>

#include "cases.h"

static_assert(sizeof(wil::unique_event) == sizeof(HANDLE) && sizeof(wil::unique_handle) == sizeof(HANDLE));
static_assert(!std::is_copy_constructible_v<wil::unique_handle> && !std::is_copy_assignable_v<wil::unique_handle>);
static_assert(std::is_nothrow_move_constructible_v<wil::unique_handle>);
static_assert(std::is_nothrow_copy_constructible_v<wil::ResultException>);

namespace
{
    int evaluations = 0;

    template <typename T>
    T once(T value)
    {
        ++evaluations;
        return value;
    }

    // What the function throws; S_OK if it returns.
    template <typename Function>
    HRESULT thrown(Function function)
    {
        evaluations = 0;
        try
        {
            function();
        }
        catch (const wil::ResultException& e)
        {
            return e.GetErrorCode();
        }
        return S_OK;
    }

    // What the function returns.
    template <typename Function>
    HRESULT returned(Function function)
    {
        evaluations = 0;
        return function();
    }

    HANDLE event()
    {
        return ::CreateEvent(nullptr, TRUE, FALSE, nullptr);
    }

    const HRESULT no_such_error = HRESULT_FROM_WIN32(ERROR_NOT_FOUND);

    int closed = 0;

    void close_number(int number)
    {
        closed += number;
    }

    // Neither compiler misses a return here.
    [[noreturn]] int never()
    {
        THROW_HR(E_ABORT);
    }
}

CASE(throw_if_failed)
{
    CHECK(thrown([] { THROW_IF_FAILED(once(E_INVALIDARG)); }) == E_INVALIDARG);
    CHECK(evaluations == 1);
    CHECK(thrown([] { THROW_IF_FAILED(once(DXGI_ERROR_DEVICE_REMOVED)); }) == DXGI_ERROR_DEVICE_REMOVED);
    CHECK(thrown([] { CHECK(THROW_IF_FAILED(once(S_FALSE)) == S_FALSE); }) == S_OK);
    CHECK(evaluations == 1);
    CHECK(thrown([] { THROW_IF_FAILED_MSG(once(E_FAIL), "%s %d", "message", once(7)); }) == E_FAIL);
    CHECK(evaluations == 2);
    CHECK(THROW_IF_FAILED_MSG(S_OK, "%s", "message") == S_OK);
}

CASE(throw_always)
{
    CHECK(thrown([] { THROW_HR(once(E_POINTER)); }) == E_POINTER);
    CHECK(evaluations == 1);
    CHECK(thrown([] { THROW_HR_MSG(E_POINTER, "message"); }) == E_POINTER);
    CHECK(thrown([] { THROW_WIN32(ERROR_NOT_FOUND); }) == no_such_error);
    CHECK(thrown([] { never(); }) == E_ABORT);
    SetLastError(ERROR_NOT_FOUND);
    CHECK(thrown([] { THROW_LAST_ERROR(); }) == no_such_error);
    CHECK(thrown([] { THROW_LAST_ERROR_MSG("message"); }) == no_such_error);
    SetLastError(0);
    CHECK(thrown([] { THROW_LAST_ERROR(); }) == HRESULT_FROM_WIN32(ERROR_ASSERTION_FAILURE));
}

CASE(throw_on_conditions)
{
    int number = 0;
    int* const pointer = &number;
    int* const null = nullptr;
    const std::unique_ptr<int> empty;
    const wil::unique_handle full(event());
    SetLastError(ERROR_NOT_FOUND);

    CHECK(thrown([] { THROW_HR_IF(once(E_FAIL), once(true)); }) == E_FAIL && evaluations == 2);
    CHECK(thrown([] { CHECK(!THROW_HR_IF(once(E_FAIL), once(false))); }) == S_OK && evaluations == 2);
    CHECK(thrown([&] { THROW_HR_IF(E_FAIL, !empty); }) == E_FAIL);
    CHECK(thrown([&] { THROW_HR_IF(E_FAIL, full); }) == E_FAIL);
    CHECK(thrown([&] { THROW_HR_IF_NULL(E_POINTER, once(null)); }) == E_POINTER && evaluations == 1);
    CHECK(thrown([&] { CHECK(THROW_HR_IF_NULL(E_POINTER, once(pointer)) == pointer); }) == S_OK && evaluations == 1);
    CHECK(thrown([&] { THROW_HR_IF_NULL(E_POINTER, empty); }) == E_POINTER);
    CHECK(thrown([&] { THROW_HR_IF_NULL(E_POINTER, full); }) == S_OK);
    CHECK(thrown([&] { THROW_IF_NULL_ALLOC(once(null)); }) == E_OUTOFMEMORY && evaluations == 1);
    CHECK(thrown([&] { CHECK(THROW_IF_NULL_ALLOC(once(pointer)) == pointer); }) == S_OK && evaluations == 1);

    CHECK(thrown([] { THROW_LAST_ERROR_IF(once(true)); }) == no_such_error && evaluations == 1);
    CHECK(thrown([] { CHECK(!THROW_LAST_ERROR_IF(once(false))); }) == S_OK && evaluations == 1);
    CHECK(thrown([&] { THROW_LAST_ERROR_IF_NULL(once(null)); }) == no_such_error && evaluations == 1);
    CHECK(thrown([&] { CHECK(THROW_LAST_ERROR_IF_NULL(once(pointer)) == pointer); }) == S_OK && evaluations == 1);
    CHECK(thrown([] { THROW_LAST_ERROR_IF_NULL(wil::unique_handle()); }) == no_such_error);
    CHECK(thrown([] { THROW_LAST_ERROR_IF_NULL(wil::unique_handle(INVALID_HANDLE_VALUE)); }) == no_such_error);
    CHECK(thrown([&] { THROW_LAST_ERROR_IF_NULL(full); }) == S_OK);
    CHECK(thrown([] { THROW_IF_WIN32_BOOL_FALSE(once(FALSE)); }) == no_such_error && evaluations == 1);
    CHECK(thrown([] { CHECK(THROW_IF_WIN32_BOOL_FALSE(once(BOOL{5})) == 5); }) == S_OK && evaluations == 1);
    CHECK(thrown([] { THROW_IF_WIN32_ERROR(once(ERROR_NOT_FOUND)); }) == no_such_error && evaluations == 1);
    CHECK(thrown([] { THROW_IF_WIN32_ERROR(once(ERROR_SUCCESS)); }) == S_OK);
    CHECK(thrown([] { THROW_WIN32_IF(ERROR_NOT_FOUND, true); }) == no_such_error);
}

CASE(what_says_where_and_why)
{
    std::string what;
    int line = 0;
    try
    {
        line = __LINE__ + 1;
        THROW_IF_FAILED_MSG(once(E_INVALIDARG), "tensor %d", 3);
    }
    catch (const std::exception& e)
    {
        what = e.what();
    }
    const std::string place = std::string(__FILE__) + "(" + std::to_string(line) + ")";
    for (const auto& part : {place, std::string("0x80070057"), std::string("E_INVALIDARG"), std::string("tensor 3"),
                             std::string("once(E_INVALIDARG)"), std::string("what_says_where_and_why")})
        CHECK(what.find(part) != std::string::npos);
    const std::string longer(3000, 'x');
    try
    {
        THROW_HR_MSG(E_FAIL, "%s", longer.c_str());
    }
    catch (const wil::ResultException& e)
    {
        const wil::ResultException copy = e;
        CHECK(std::string(copy.what()).find(longer) != std::string::npos);
    }
    CHECK(std::string(wil::ResultException(E_NOINTERFACE).what()).find("0x80004002") != std::string::npos);
}

CASE(return_macros)
{
    int number = 0;
    int* const pointer = &number;
    int* const null = nullptr;
    SetLastError(ERROR_NOT_FOUND);
    const HRESULT end = HRESULT{77}; // where no macro returned

    CHECK(returned([&] { RETURN_IF_FAILED(once(E_FAIL)); return end; }) == E_FAIL && evaluations == 1);
    CHECK(returned([&] { RETURN_IF_FAILED(once(S_FALSE)); return end; }) == end && evaluations == 1);
    CHECK(returned([&] { RETURN_IF_FAILED_MSG(once(E_FAIL), "%d", once(1)); return end; }) == E_FAIL);
    CHECK(evaluations == 2);
    CHECK(returned([&] { RETURN_IF_FAILED_EXPECTED(once(E_FAIL)); return end; }) == E_FAIL && evaluations == 1);
    CHECK(returned([&]() -> HRESULT { RETURN_HR(once(S_FALSE)); }) == S_FALSE && evaluations == 1);
    CHECK(returned([&]() -> HRESULT { RETURN_HR(once(E_FAIL)); }) == E_FAIL && evaluations == 1);
    CHECK(returned([&]() -> HRESULT { RETURN_LAST_ERROR(); }) == no_such_error);
    CHECK(returned([&]() -> HRESULT { RETURN_WIN32(once(ERROR_NOT_FOUND)); }) == no_such_error && evaluations == 1);
    CHECK(returned([&] { RETURN_HR_IF(once(E_FAIL), once(true)); return end; }) == E_FAIL && evaluations == 2);
    CHECK(returned([&] { RETURN_HR_IF(S_FALSE, true); return end; }) == S_FALSE);
    CHECK(returned([&] { RETURN_HR_IF(once(E_FAIL), once(false)); return end; }) == end && evaluations == 1);
    CHECK(returned([&] { RETURN_HR_IF_NULL(E_FAIL, once(null)); return end; }) == E_FAIL && evaluations == 1);
    CHECK(returned([&] { RETURN_HR_IF_NULL(E_FAIL, once(pointer)); return end; }) == end && evaluations == 1);
    CHECK(returned([&] { RETURN_IF_NULL_ALLOC(once(null)); return end; }) == E_OUTOFMEMORY && evaluations == 1);
    CHECK(returned([&] { RETURN_IF_NULL_ALLOC(once(pointer)); return end; }) == end && evaluations == 1);
    CHECK(returned([&] { RETURN_LAST_ERROR_IF(once(true)); return end; }) == no_such_error && evaluations == 1);
    CHECK(returned([&] { RETURN_LAST_ERROR_IF(once(false)); return end; }) == end && evaluations == 1);
    CHECK(returned([&] { RETURN_LAST_ERROR_IF_NULL(once(null)); return end; }) == no_such_error && evaluations == 1);
    CHECK(returned([&] { RETURN_LAST_ERROR_IF_NULL(once(pointer)); return end; }) == end && evaluations == 1);
    CHECK(returned([&] { RETURN_IF_WIN32_BOOL_FALSE(once(FALSE)); return end; }) == no_such_error);
    CHECK(evaluations == 1);
    CHECK(returned([&] { RETURN_IF_WIN32_BOOL_FALSE(once(TRUE)); return end; }) == end && evaluations == 1);
    CHECK(returned([&] { RETURN_IF_WIN32_ERROR(once(ERROR_NOT_FOUND)); return end; }) == no_such_error);
    CHECK(evaluations == 1);
    CHECK(returned([&] { RETURN_IF_WIN32_ERROR(once(ERROR_SUCCESS)); return end; }) == end && evaluations == 1);
    CHECK(returned([&] {
        if (number != 0)
            RETURN_IF_FAILED(E_FAIL);
        else
            RETURN_IF_FAILED(E_ABORT);
        return end;
    }) == E_ABORT);
}

CASE(log_macros)
{
    evaluations = 0;
    CHECK(LOG_IF_FAILED(once(E_FAIL)) == E_FAIL && evaluations == 1);
    CHECK(LOG_IF_FAILED(S_FALSE) == S_FALSE);
    CHECK(LOG_HR(E_ABORT) == E_ABORT);
    CHECK(LOG_HR_IF(E_FAIL, true) && !LOG_HR_IF(E_FAIL, false));
    CHECK(!SUCCEEDED_LOG(E_FAIL) && SUCCEEDED_LOG(S_FALSE) && FAILED_LOG(E_FAIL) && !FAILED_LOG(S_OK));
    CHECK(!LOG_IF_WIN32_BOOL_FALSE(FALSE));
}

// The test looks at what comes out: one line each from the first four, nothing from the others.
CASE(log_lines)
{
    LOG_IF_FAILED_MSG(E_FAIL, "first %d", 1);
    CHECK([]() -> HRESULT { RETURN_HR_MSG(E_ABORT, "second"); }() == E_ABORT);
    try
    {
        throw std::runtime_error("third");
    }
    CATCH_LOG()
    CHECK([]() -> HRESULT { try { throw std::bad_alloc(); } CATCH_RETURN(); }() == E_OUTOFMEMORY);
    LOG_IF_FAILED_MSG(S_OK, "not");
    CHECK([]() -> HRESULT { RETURN_HR(S_FALSE); }() == S_FALSE);
    CHECK([]() -> HRESULT { RETURN_HR_IF(S_FALSE, true); return E_FAIL; }() == S_FALSE);
    CHECK([]() -> HRESULT { RETURN_IF_FAILED_EXPECTED(E_FAIL); return S_OK; }() == E_FAIL);
    CHECK(thrown([] { THROW_HR_MSG(E_FAIL, "not"); }) == E_FAIL);
    wil::g_fResultOutputDebugString = false;
    LOG_HR_MSG(E_FAIL, "not");
}

CASE(caught_exceptions)
{
    const auto result = [](auto exception) -> HRESULT {
        try
        {
            throw exception;
        }
        catch (...)
        {
            return wil::ResultFromCaughtException();
        }
    };
    CHECK(result(wil::ResultException(E_NOINTERFACE)) == E_NOINTERFACE);
    CHECK(result(std::bad_alloc()) == E_OUTOFMEMORY);
    CHECK(result(std::runtime_error("")) == HRESULT_FROM_WIN32(ERROR_UNHANDLED_EXCEPTION));
    CHECK(result(5) == HRESULT_FROM_WIN32(ERROR_UNHANDLED_EXCEPTION));
    const auto guarded = [](HRESULT hr) -> HRESULT {
        try
        {
            THROW_IF_FAILED(hr);
            return S_FALSE;
        }
        CATCH_RETURN();
    };
    CHECK(guarded(E_ACCESSDENIED) == E_ACCESSDENIED);
    CHECK(guarded(S_OK) == S_FALSE);
    const auto chosen = []() -> HRESULT {
        try
        {
            THROW_HR(E_FAIL);
        }
        CATCH_LOG_RETURN_HR(E_ABORT)
    };
    CHECK(chosen() == E_ABORT);
}

CASE(fail_fast_not)
{
    int number = 0;
    CHECK(FAIL_FAST_IF_FAILED(S_FALSE) == S_FALSE);
    CHECK(!FAIL_FAST_IF(false) && !FAIL_FAST_HR_IF(E_FAIL, false));
    CHECK(FAIL_FAST_IF_NULL(&number) == &number);
}

// These abort.
CASE(fail_fast_if_failed) { FAIL_FAST_IF_FAILED(E_FAIL); }
CASE(fail_fast_if) { FAIL_FAST_IF(true); }
CASE(fail_fast) { FAIL_FAST(); }
CASE(fail_fast_msg) { FAIL_FAST_MSG("message %d", 5); }
CASE(throw_a_success) { THROW_HR(S_OK); }
CASE(throw_a_success_if) { THROW_HR_IF(S_FALSE, true); }
CASE(wait_for_nothing) { wil::unique_event_nothrow().wait(0); }

CASE(handle_is_closed_once)
{
    const int before = open_descriptors();
    {
        wil::unique_handle handle(event());
        CHECK(handle && open_descriptors() == before + 1);
        const HANDLE number = handle.get();
        handle.reset();
        CHECK(!handle && handle.get() == nullptr && open_descriptors() == before);
        // A second close would hit whoever has the number now.
        wil::unique_handle next(event());
        CHECK(next.get() == number);
        handle.reset();
        handle = nullptr;
        CHECK(open_descriptors() == before + 1);
    }
    CHECK(open_descriptors() == before);
}

CASE(handle_moves)
{
    const int before = open_descriptors();
    {
        wil::unique_handle a(event()), b(event());
        const HANDLE first = a.get(), second = b.get();
        a.swap(b);
        CHECK(a.get() == second && b.get() == first);
        swap(a, b);
        CHECK(a.get() == first && a != b && a == a && a != nullptr);
        wil::unique_handle c(std::move(a));
        CHECK(!a && a == nullptr && c.get() == first && open_descriptors() == before + 2);
        c = std::move(b);
        CHECK(!b && c.get() == second && open_descriptors() == before + 1);
        wil::unique_handle& same = c;
        c = std::move(same);
        CHECK(c.get() == second && open_descriptors() == before + 1);
        c.reset(event());
        CHECK(open_descriptors() == before + 1);
        const HANDLE released = c.release();
        CHECK(!c && open_descriptors() == before + 1);
        CHECK(::CloseHandle(released));
    }
    CHECK(open_descriptors() == before);
}

CASE(handle_as_an_out_parameter)
{
    const auto give = [](HANDLE* out) { *out = event(); };
    const int before = open_descriptors();
    {
        wil::unique_handle handle(event());
        give(handle.put());
        CHECK(handle && open_descriptors() == before + 1);
        give(&handle);
        CHECK(handle && open_descriptors() == before + 1);
        const HANDLE kept = handle.get();
        CHECK(*handle.addressof() == kept && handle.get() == kept);
    }
    CHECK(open_descriptors() == before);
}

CASE(what_is_no_handle)
{
    SetLastError(5);
    {
        const wil::unique_handle null, invalid(INVALID_HANDLE_VALUE);
        CHECK(!null && !invalid && null.get() == nullptr && invalid.get() == INVALID_HANDLE_VALUE);
        wil::unique_hfile file;
        const wil::unique_hfile null_file(nullptr);
        CHECK(!file && file.get() == INVALID_HANDLE_VALUE && !null_file);
        file.reset(event());
        CHECK(file);
        file.reset();
        CHECK(file.get() == INVALID_HANDLE_VALUE);
    }
    CHECK(GetLastError() == 0); // event() set it; closing nothing did not
    SetLastError(5);
    {
        const wil::unique_handle gone(reinterpret_cast<HANDLE>(intptr_t{1000}));
    }
    CHECK(GetLastError() == 5);
}

CASE(any_resource)
{
    {
        using Unique = wil::unique_any<int, decltype(&close_number), &close_number>;
        Unique ten(10), other(std::move(ten));
        const Unique none;
    }
    CHECK(closed == 10);
}

CASE(events)
{
    const int before = open_descriptors();
    {
        wil::unique_event manual(wil::EventOptions::ManualReset);
        CHECK(!manual.is_signaled() && !manual.wait(20));
        manual.SetEvent();
        CHECK(manual.is_signaled() && manual.is_signaled() && manual.wait());
        manual.ResetEvent();
        CHECK(!manual.is_signaled());
        manual.create(wil::EventOptions::ManualReset | wil::EventOptions::Signaled);
        CHECK(manual.is_signaled() && manual.is_signaled());

        wil::unique_event once(wil::EventOptions::Signaled);
        CHECK(once.wait(0) && !once.wait(0));
        std::thread setter([&] { const auto set = once.SetEvent_scope_exit(); });
        CHECK(once.wait());
        setter.join();
        {
            const auto reset = manual.ResetEvent_scope_exit();
            CHECK(manual.is_signaled());
        }
        CHECK(!manual.is_signaled());

        wil::unique_event_nothrow quiet;
        CHECK(!quiet && quiet.create() == S_OK && quiet);
        CHECK(quiet.create(wil::EventOptions::None, L"name") == HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED));
        CHECK(quiet);
        CHECK(thrown([&] { once.create({}, L"name"); }) == HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED));
        wil::unique_event_failfast loud(wil::EventOptions::None);
        wil::unique_event adopted(::CreateEvent(nullptr, FALSE, TRUE, nullptr)), moved(std::move(adopted));
        CHECK(!adopted && moved.wait(0));
        CHECK(open_descriptors() == before + 5);
    }
    CHECK(open_descriptors() == before);
}

CASE(scope_exit)
{
    int calls = 0;
    {
        auto first = wil::scope_exit([&] { ++calls; });
        CHECK(calls == 0 && first);
        auto second = std::move(first);
        CHECK(!first && second);
    }
    CHECK(calls == 1);
    {
        auto released = wil::scope_exit([&] { ++calls; });
        released.release();
        auto early = wil::scope_exit([&] { ++calls; });
        early.reset();
        CHECK(calls == 2);
        early.reset();
    }
    CHECK(calls == 2);
    CHECK(thrown([&] {
        const auto always = wil::scope_exit([&] { ++calls; });
        THROW_HR(E_FAIL);
    }) == E_FAIL);
    CHECK(calls == 3);
}
