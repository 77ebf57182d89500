// What windows.h promises.

#include <Windows.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <iostream>
#include <pthread.h>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "cases.h"

#if defined(min) || defined(max)
#error
#endif

static_assert(HRESULT_FROM_WIN32(ERROR_SUCCESS) == S_OK);
static_assert(HRESULT_FROM_WIN32(ERROR_INVALID_HANDLE) == E_HANDLE);
static_assert(HRESULT_FROM_WIN32(ERROR_INVALID_PARAMETER) == E_INVALIDARG);
static_assert(HRESULT_FROM_WIN32(static_cast<DWORD>(E_FAIL)) == E_FAIL);
static_assert(HRESULT_FROM_WIN32(ERROR_INVALID_STATE) == E_NOT_VALID_STATE);
static_assert(DXGI_ERROR_SDK_COMPONENT_MISSING == MAKE_HRESULT(SEVERITY_ERROR, FACILITY_DXGI, 45));
static_assert(HRESULT_CODE(E_INVALIDARG) == 87 && HRESULT_FACILITY(E_INVALIDARG) == FACILITY_WIN32);
static_assert(MAXUINT64 == ~UINT64{0} && MAXDWORD == 0xffffffff);

namespace
{
    using Clock = std::chrono::steady_clock;

    int descriptor(HANDLE event)
    {
        return static_cast<int>(reinterpret_cast<intptr_t>(event));
    }

    HANDLE event(bool manual, bool signaled = false)
    {
        const HANDLE handle = CreateEvent(nullptr, manual, signaled, nullptr);
        CHECK(handle != nullptr);
        return handle;
    }

    bool taken(HANDLE handle)
    {
        const DWORD result = WaitForSingleObject(handle, 0);
        CHECK(result == WAIT_OBJECT_0 || result == WAIT_TIMEOUT);
        return result == WAIT_OBJECT_0;
    }

    bool fails_with(DWORD error)
    {
        const bool same = GetLastError() == error;
        SetLastError(0);
        return same;
    }

    long since(Clock::time_point start)
    {
        return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
    }

    // Interrupts a thread's system calls every few milliseconds, for some time.
    void interrupt(std::thread& thread, int milliseconds, const std::atomic<bool>& done)
    {
        for (const auto start = Clock::now(); !done && since(start) < milliseconds;)
        {
            pthread_kill(thread.native_handle(), SIGUSR1);
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    }

    void let_signals_interrupt()
    {
        struct sigaction action = {};
        action.sa_handler = [](int) {};
        sigaction(SIGUSR1, &action, nullptr);
    }
}

CASE(auto_reset_lets_one_through)
{
    const HANDLE handle = event(false);
    CHECK(!taken(handle));
    CHECK(SetEvent(handle));
    CHECK(taken(handle));
    CHECK(!taken(handle));
    CHECK(SetEvent(handle) && SetEvent(handle));
    CHECK(taken(handle));
    CHECK(!taken(handle));
    CHECK(SetEvent(handle) && ResetEvent(handle));
    CHECK(!taken(handle));
}

CASE(manual_reset_stays_signalled)
{
    const HANDLE handle = event(true);
    CHECK(!taken(handle));
    CHECK(SetEvent(handle) && SetEvent(handle));
    CHECK(taken(handle) && taken(handle));
    CHECK(ResetEvent(handle));
    CHECK(!taken(handle));
    CHECK(ResetEvent(handle));
    CHECK(SetEvent(handle));
    CHECK(taken(handle));
}

CASE(initial_state_and_flags)
{
    CHECK(taken(event(true, true)));
    const HANDLE once = event(false, true);
    CHECK(taken(once) && !taken(once));
    const HANDLE stays = CreateEventExW(
        nullptr, nullptr, CREATE_EVENT_MANUAL_RESET | CREATE_EVENT_INITIAL_SET, EVENT_ALL_ACCESS);
    CHECK(taken(stays) && taken(stays));
    const HANDLE plain = CreateEventExA(nullptr, nullptr, 0, EVENT_ALL_ACCESS);
    CHECK(!taken(plain));
    CHECK(SetEvent(plain) && taken(plain) && !taken(plain));
    const HANDLE wide = CreateEventW(nullptr, TRUE, TRUE, nullptr);
    CHECK(taken(wide) && taken(wide));
}

// What the library does when a fence is reached.
CASE(plain_write_signals)
{
    for (const bool manual : {false, true})
    {
        const HANDLE handle = event(manual);
        std::thread library([handle] {
            std::this_thread::sleep_for(std::chrono::milliseconds(30));
            const uint64_t one = 1;
            CHECK(write(descriptor(handle), &one, sizeof(one)) == sizeof(one));
        });
        CHECK(WaitForSingleObjectEx(handle, INFINITE, FALSE) == WAIT_OBJECT_0);
        library.join();
        CHECK(taken(handle) == manual);
    }
}

CASE(timeout_is_kept)
{
    const HANDLE handle = event(false);
    const auto start = Clock::now();
    CHECK(WaitForSingleObject(handle, 120) == WAIT_TIMEOUT);
    CHECK(since(start) >= 120 && since(start) < 1000);
    const auto again = Clock::now();
    CHECK(WaitForSingleObject(handle, 0) == WAIT_TIMEOUT);
    CHECK(since(again) < 100);
}

CASE(signal_ends_a_long_wait)
{
    for (const DWORD timeout : {DWORD{5000}, DWORD{0xfffffffe}, DWORD{INFINITE}})
    {
        const HANDLE handle = event(false);
        const auto start = Clock::now();
        std::thread setter([handle] {
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            SetEvent(handle);
        });
        CHECK(WaitForSingleObject(handle, timeout) == WAIT_OBJECT_0);
        CHECK(since(start) >= 40 && since(start) < 2000);
        setter.join();
    }
}

CASE(interruptions_neither_end_nor_prolong_a_wait)
{
    let_signals_interrupt();
    for (const bool manual : {false, true})
    {
        const HANDLE handle = event(manual);
        std::atomic<bool> done{false};
        long elapsed = 0;
        DWORD result = 0;
        std::thread waiter([&] {
            const auto start = Clock::now();
            result = WaitForSingleObject(handle, 200);
            elapsed = since(start);
            done = true;
        });
        interrupt(waiter, 3000, done);
        waiter.join();
        CHECK(result == WAIT_TIMEOUT);
        CHECK(elapsed >= 200 && elapsed < 1500);
    }
}

CASE(interruptions_do_not_end_sleep)
{
    let_signals_interrupt();
    std::atomic<bool> done{false};
    long elapsed = 0;
    std::thread sleeper([&] {
        const auto start = Clock::now();
        Sleep(150);
        elapsed = since(start);
        done = true;
    });
    interrupt(sleeper, 3000, done);
    sleeper.join();
    CHECK(elapsed >= 150 && elapsed < 1500);
    Sleep(0);
}

CASE(one_signal_one_waiter)
{
    const HANDLE handle = event(false);
    std::atomic<int> through{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&] {
            CHECK(WaitForSingleObject(handle, INFINITE) == WAIT_OBJECT_0);
            ++through;
        });
    for (int signals = 1; signals <= 8; ++signals)
    {
        Sleep(40);
        CHECK(through == signals - 1);
        CHECK(SetEvent(handle));
        while (through < signals)
            Sleep(1);
    }
    for (auto& thread : threads)
        thread.join();
    CHECK(!taken(handle));
}

// Who sees the signal but does not get it still gives up in time.
CASE(losers_time_out)
{
    for (int round = 0; round < 20; ++round)
    {
        const HANDLE handle = event(false);
        std::atomic<int> through{0}, late{0};
        std::vector<std::thread> threads;
        const auto start = Clock::now();
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([&] { ++(WaitForSingleObject(handle, 60) == WAIT_OBJECT_0 ? through : late); });
        Sleep(20);
        CHECK(SetEvent(handle));
        for (auto& thread : threads)
            thread.join();
        CHECK(through == 1 && late == 3);
        CHECK(since(start) < 1500);
        CHECK(CloseHandle(handle));
    }
}

CASE(manual_reset_lets_all_through)
{
    const HANDLE handle = event(true);
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&] { CHECK(WaitForSingleObject(handle, INFINITE) == WAIT_OBJECT_0); });
    Sleep(20);
    CHECK(SetEvent(handle));
    for (auto& thread : threads)
        thread.join();
}

CASE(auto_reset_is_a_lock)
{
    const HANDLE lock = event(false, true);
    int counter = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            for (int step = 0; step < 5000; ++step)
            {
                CHECK(WaitForSingleObject(lock, INFINITE) == WAIT_OBJECT_0);
                ++counter;
                CHECK(SetEvent(lock));
            }
        });
    for (auto& thread : threads)
        thread.join();
    CHECK(counter == 20000);
}

// Descriptors are used again; the kind of an event that had the number before must not stick to it.
CASE(kind_belongs_to_the_event)
{
    for (const bool manual : {true, false, true})
    {
        const HANDLE handle = event(manual, true);
        CHECK(taken(handle) && taken(handle) == manual);
        CHECK(CloseHandle(handle));
        const HANDLE other = event(!manual, true);
        CHECK(other == handle);
        CHECK(taken(other) && taken(other) == !manual);
        close(descriptor(other));
    }
    const HANDLE copy = reinterpret_cast<HANDLE>(static_cast<intptr_t>(dup(descriptor(event(true, true)))));
    CHECK(taken(copy) && taken(copy));
}

CASE(handles_are_never_null)
{
    for (const bool inherit : {false, true})
    {
        close(0);
        close(1);
        SECURITY_ATTRIBUTES attributes = {sizeof(attributes), nullptr, inherit};
        for (const bool manual : {false, true})
        {
            const HANDLE handle = CreateEvent(&attributes, manual, TRUE, nullptr);
            CHECK(descriptor(handle) > 2);
            CHECK(fcntl(0, F_GETFD) < 0 && fcntl(1, F_GETFD) < 0);
            CHECK(!(fcntl(descriptor(handle), F_GETFD) & FD_CLOEXEC) == inherit);
            CHECK(taken(handle) && taken(handle) == manual);
        }
    }
    CHECK(open("/dev/null", O_RDONLY) == 0);
    SECURITY_ATTRIBUTES attributes = {sizeof(attributes), nullptr, TRUE};
    CHECK(open("/dev/null", O_RDONLY) == 1);
    CHECK(!(fcntl(descriptor(CreateEvent(&attributes, FALSE, FALSE, nullptr)), F_GETFD) & FD_CLOEXEC));
    CHECK(fcntl(descriptor(event(false)), F_GETFD) & FD_CLOEXEC);
}

CASE(no_handle_is_reported)
{
    const HANDLE closed = event(true, true);
    CHECK(CloseHandle(closed));
    const HANDLE standard_error = reinterpret_cast<HANDLE>(intptr_t{2});
    for (const HANDLE handle : {closed, HANDLE{nullptr}, INVALID_HANDLE_VALUE, standard_error})
    {
        SetLastError(0);
        CHECK(WaitForSingleObject(handle, 0) == WAIT_FAILED && fails_with(ERROR_INVALID_HANDLE));
        CHECK(WaitForSingleObject(handle, INFINITE) == WAIT_FAILED && fails_with(ERROR_INVALID_HANDLE));
        CHECK(!SetEvent(handle) && fails_with(ERROR_INVALID_HANDLE));
        CHECK(!ResetEvent(handle) && fails_with(ERROR_INVALID_HANDLE));
        CHECK(!CloseHandle(handle) && fails_with(ERROR_INVALID_HANDLE));
    }
    CHECK(fcntl(2, F_GETFD) >= 0);
}

CASE(events_that_cannot_be)
{
    CHECK(CreateEventA(nullptr, FALSE, FALSE, "name") == nullptr && fails_with(ERROR_NOT_SUPPORTED));
    CHECK(CreateEventW(nullptr, FALSE, FALSE, L"name") == nullptr && fails_with(ERROR_NOT_SUPPORTED));
    const rlimit few = {16, 16};
    setrlimit(RLIMIT_NOFILE, &few);
    HANDLE last = nullptr;
    for (int i = 0; i < 20; ++i)
        last = CreateEvent(nullptr, TRUE, FALSE, nullptr);
    CHECK(last == nullptr && fails_with(ERROR_TOO_MANY_OPEN_FILES));
}

CASE(any_of_several)
{
    const HANDLE events[] = {event(false), event(false), event(true), event(false)};
    CHECK(WaitForMultipleObjects(4, events, FALSE, 20) == WAIT_TIMEOUT);
    for (const int i : {1, 2, 3})
        CHECK(SetEvent(events[i]));
    CHECK(WaitForMultipleObjects(4, events, FALSE, INFINITE) == WAIT_OBJECT_0 + 1);
    CHECK(WaitForMultipleObjects(4, events, FALSE, INFINITE) == WAIT_OBJECT_0 + 2);
    CHECK(ResetEvent(events[2]));
    CHECK(WaitForMultipleObjectsEx(4, events, FALSE, INFINITE, FALSE) == WAIT_OBJECT_0 + 3);
    CHECK(WaitForMultipleObjects(4, events, FALSE, 0) == WAIT_TIMEOUT);
}

CASE(all_of_several)
{
    const HANDLE events[] = {event(false), event(true), event(false)};
    CHECK(SetEvent(events[0]) && SetEvent(events[1]));
    CHECK(WaitForMultipleObjects(3, events, TRUE, 30) == WAIT_TIMEOUT);
    CHECK(taken(events[0]));
    std::thread setter([&] {
        for (const int i : {2, 0})
        {
            Sleep(30);
            SetEvent(events[i]);
        }
    });
    CHECK(WaitForMultipleObjects(3, events, TRUE, INFINITE) == WAIT_OBJECT_0);
    setter.join();
    CHECK(!taken(events[0]) && taken(events[1]) && !taken(events[2]));
}

// Two threads that take two events each way round neither block each other nor lose a signal.
CASE(all_is_all_or_nothing)
{
    const HANDLE a = event(false, true), b = event(false, true);
    int counter = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&, i] {
            const HANDLE both[] = {i % 2 ? a : b, i % 2 ? b : a};
            for (int step = 0; step < 1000; ++step)
            {
                CHECK(WaitForMultipleObjects(2, both, TRUE, INFINITE) == WAIT_OBJECT_0);
                ++counter;
                CHECK(SetEvent(a) && SetEvent(b));
            }
        });
    for (auto& thread : threads)
        thread.join();
    CHECK(counter == 4000);
    CHECK(taken(a) && taken(b));
}

CASE(several_wrongly)
{
    const HANDLE one = event(true, true);
    const std::vector<HANDLE> many(MAXIMUM_WAIT_OBJECTS + 1, one);
    CHECK(WaitForMultipleObjects(0, &one, FALSE, 0) == WAIT_FAILED && fails_with(ERROR_INVALID_PARAMETER));
    CHECK(WaitForMultipleObjects(65, many.data(), FALSE, 0) == WAIT_FAILED && fails_with(ERROR_INVALID_PARAMETER));
    CHECK(WaitForMultipleObjects(2, many.data(), TRUE, 0) == WAIT_FAILED && fails_with(ERROR_INVALID_PARAMETER));
    CHECK(WaitForMultipleObjects(64, many.data(), FALSE, 0) == WAIT_OBJECT_0);
    const HANDLE mixed[] = {event(false), event(true, true)};
    CHECK(CloseHandle(mixed[1]));
    CHECK(WaitForMultipleObjects(2, mixed, FALSE, 0) == WAIT_FAILED && fails_with(ERROR_INVALID_HANDLE));
    CHECK(WaitForMultipleObjects(2, mixed, TRUE, 0) != WAIT_OBJECT_0);
}

CASE(close_frees_the_descriptor)
{
    const int before = open_descriptors();
    for (int i = 0; i < 100; ++i)
        CHECK(CloseHandle(event(i % 2)));
    CHECK(open_descriptors() == before);
}

CASE(last_error_is_the_threads)
{
    SetLastError(5);
    std::thread([] {
        CHECK(GetLastError() == 0);
        SetLastError(6);
    }).join();
    CHECK(GetLastError() == 5);
    CHECK(event(false) != nullptr);
    CHECK(GetLastError() == 0);
}

CASE(clocks)
{
    LARGE_INTEGER frequency, start, end;
    CHECK(QueryPerformanceFrequency(&frequency) && frequency.QuadPart > 0);
    CHECK(QueryPerformanceCounter(&start));
    const ULONGLONG ticks = GetTickCount64();
    Sleep(100);
    CHECK(QueryPerformanceCounter(&end));
    const double seconds = static_cast<double>(end.QuadPart - start.QuadPart) / static_cast<double>(frequency.QuadPart);
    CHECK(seconds >= 0.1 && seconds < 1);
    CHECK(GetTickCount64() - ticks >= 99 && GetTickCount64() - ticks < 1000);
}

CASE(dates)
{
    // Five and a half hours east of Greenwich, all year.
    setenv("TZ", "XYZ-5:30", 1);
    tzset();
    const time_t before = time(nullptr);
    SYSTEMTIME local, universal;
    FILETIME file;
    GetSystemTime(&universal);
    GetLocalTime(&local);
    GetSystemTimeAsFileTime(&file);
    const time_t after = time(nullptr);
    tm date = {};
    date.tm_year = universal.wYear - 1900;
    date.tm_mon = universal.wMonth - 1;
    date.tm_mday = universal.wDay;
    date.tm_hour = universal.wHour;
    date.tm_min = universal.wMinute;
    date.tm_sec = universal.wSecond;
    const time_t seen = timegm(&date);
    CHECK(before <= seen && seen <= after);
    CHECK(date.tm_wday == universal.wDayOfWeek && universal.wMilliseconds < 1000);
    const int minutes = (local.wHour - universal.wHour) * 60 + local.wMinute - universal.wMinute;
    CHECK((minutes + 24 * 60) % (24 * 60) == 330 || (minutes + 24 * 60) % (24 * 60) == 331);
    const ULONGLONG steps = static_cast<ULONGLONG>(file.dwHighDateTime) << 32 | file.dwLowDateTime;
    // 1970 is 134774 days after 1601.
    const ULONGLONG seconds = steps / 10000000 - 134774ull * 86400;
    CHECK(static_cast<time_t>(seconds) >= before && static_cast<time_t>(seconds) <= after);
    CHECK(ceil(1.5) == 2 && log2(8.0) == 3);
}

CASE(converted_dates)
{
    // The 29th of February, and days around turns of centuries, beside the C library.
    const int days[][3] = {{1601, 1, 1}, {1699, 12, 31}, {1900, 3, 1}, {1970, 1, 1}, {2000, 2, 29}, {2100, 2, 28},
                           {2400, 12, 31}};
    for (const auto& [year, month, day] : days)
    {
        SYSTEMTIME from = {}, back;
        from.wYear = static_cast<WORD>(year);
        from.wMonth = static_cast<WORD>(month);
        from.wDay = static_cast<WORD>(day);
        from.wHour = 23;
        from.wMinute = 59;
        from.wSecond = 58;
        from.wMilliseconds = 999;
        tm date = {};
        date.tm_year = year - 1900;
        date.tm_mon = month - 1;
        date.tm_mday = day;
        FILETIME file;
        CHECK(SystemTimeToFileTime(&from, &file));
        const int64_t steps = static_cast<int64_t>(file.dwHighDateTime) << 32 | file.dwLowDateTime;
        const int64_t seconds = timegm(&date) + int64_t{134774} * 86400 + 86398;
        CHECK(steps == seconds * 10000000 + 9990000);
        CHECK(FileTimeToSystemTime(&file, &back));
        from.wDayOfWeek = static_cast<WORD>(date.tm_wday);
        CHECK(memcmp(&from, &back, sizeof from) == 0);
    }
}

CASE(locks)
{
    CRITICAL_SECTION section;
    InitializeCriticalSection(&section);
    EnterCriticalSection(&section);
    CHECK(TryEnterCriticalSection(&section));
    LeaveCriticalSection(&section);
    std::thread([&section] { CHECK(!TryEnterCriticalSection(&section)); }).join();
    LeaveCriticalSection(&section);
    LONG count = 0, plain = 0;
    const auto add = [&] {
        for (int i = 0; i < 10000; ++i)
        {
            InterlockedIncrement(&count);
            EnterCriticalSection(&section);
            ++plain;
            LeaveCriticalSection(&section);
        }
    };
    std::thread other(add);
    add();
    other.join();
    CHECK(count == 20000 && plain == 20000);
    DeleteCriticalSection(&section);
    CHECK(InterlockedDecrement(&count) == 19999 && InterlockedAdd(&count, 1) == 20000);
    CHECK(InterlockedExchangeAdd(&count, 2) == 20000 && InterlockedExchange(&count, 7) == 20002);
    CHECK(InterlockedCompareExchange(&count, 9, 8) == 7 && InterlockedCompareExchange(&count, 9, 7) == 7);
    CHECK(count == 9);
    PVOID pointer = &count;
    CHECK(InterlockedCompareExchangePointer(&pointer, nullptr, &plain) == &count);
    CHECK(InterlockedExchangePointer(&pointer, nullptr) == &count && pointer == nullptr);
}

CASE(the_machine)
{
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    CHECK(info.dwNumberOfProcessors >= 1 && info.dwPageSize == static_cast<DWORD>(sysconf(_SC_PAGESIZE)));
    MEMORYSTATUSEX memory = {};
    CHECK(!GlobalMemoryStatusEx(&memory) && GetLastError() == ERROR_INVALID_PARAMETER);
    memory.dwLength = sizeof memory;
    CHECK(GlobalMemoryStatusEx(&memory));
    CHECK(memory.ullAvailPhys < memory.ullTotalPhys && memory.dwMemoryLoad <= 100);
    GUID first, second;
    CHECK(CoCreateGuid(&first) == S_OK && CoCreateGuid(&second) == S_OK && CoCreateGuid(nullptr) == E_POINTER);
    CHECK(!IsEqualGUID(first, second) && first.Data3 >> 12 == 4 && first.Data4[0] >> 6 == 2);
}

CASE(the_programs_path)
{
    char path[4096] = {}, link[4096], cut[8];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    CHECK(GetModuleFileNameA(nullptr, link, sizeof link) == static_cast<DWORD>(length));
    CHECK(std::string(link) == path);
    CHECK(GetModuleFileNameA(nullptr, cut, sizeof cut) == sizeof cut && GetLastError() == ERROR_INSUFFICIENT_BUFFER);
    CHECK(std::string(cut) == std::string(path, 7));
    WCHAR wide[4096];
    CHECK(GetModuleFileNameW(nullptr, wide, 4096) > 0 && wide[0] == L'/');
    CHECK(GetModuleFileNameW(nullptr, wide, 4) == 4 && GetLastError() == ERROR_INSUFFICIENT_BUFFER);
    CHECK(std::wstring(wide) == L"/" + std::wstring(path + 1, path + 3));
    CHECK(GetModuleFileNameA(LoadLibraryA("libc.so.6"), link, sizeof link) == 0);
}

CASE(process)
{
    CHECK(GetCurrentProcessId() == static_cast<DWORD>(getpid()));
    const DWORD mine = GetCurrentThreadId();
    std::thread([mine] { CHECK(GetCurrentThreadId() != mine); }).join();
    CHECK(GetCurrentThreadId() == mine);
}

CASE(memory)
{
    char text[4] = {'a', 'b', 'c', 0};
    static_assert(ARRAYSIZE(text) == 4);
    MoveMemory(text + 1, text, 2);
    CHECK(std::string(text) == "aab");
    CopyMemory(text, "xyz", ARRAYSIZE(text));
    CHECK(std::string(text) == "xyz");
    ZeroMemory(text, sizeof(text));
    CHECK(text[0] == 0 && text[2] == 0);
}

// The test looks at what comes out.
CASE(debug_output)
{
    std::wcerr << L"wide ";
    OutputDebugStringA("narrow ");
    OutputDebugString("default ");
    OutputDebugStringW(L"\u00e9\u2713\U0001f600 ");
    OutputDebugStringA(nullptr);
    OutputDebugStringW(nullptr);
    OutputDebugStringW((std::wstring(1000, L'\u20ac') + L"|").c_str());
    std::wcerr << L"wide";
}

CASE(debugger)
{
    CHECK(!IsDebuggerPresent());
    signal(SIGTRAP, [](int) { _exit(0); });
    DebugBreak();
    CHECK(false);
}

// With a libdirectml.so on the loader's path.
CASE(modules)
{
    for (const auto name : {L"DirectML.dll", L"d3d12.dll", L"DXCore.dll", L"DXGI", L"C:\\Windows\\D3D12.DLL"})
    {
        const HMODULE module = LoadLibraryW(name);
        CHECK(module != nullptr);
        const auto answer = reinterpret_cast<int (*)()>(GetProcAddress(module, "Answer"));
        CHECK(answer != nullptr && answer() == 42);
        CHECK(GetProcAddress(module, "Question") == nullptr && fails_with(ERROR_PROC_NOT_FOUND));
        CHECK(FreeLibrary(module));
    }
    CHECK(LoadLibrary("directml.dll") != nullptr);
    CHECK(LoadLibrary("d3d12core.dll") == nullptr && fails_with(ERROR_MOD_NOT_FOUND));
    CHECK(LoadLibraryW(L"caf\u00e9.dll") == nullptr && fails_with(ERROR_MOD_NOT_FOUND));
    CHECK(LoadLibraryA(nullptr) == nullptr && LoadLibraryW(nullptr) == nullptr);
    CHECK(!FreeLibrary(nullptr));
}
