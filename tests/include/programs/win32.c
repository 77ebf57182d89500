/* windows.h in C: the same handles and the same last error as in the C++ part of the program. */

#include <windows.h>

#include <DirectML.h>

int use_in_c(HANDLE signalled);

int use_in_c(HANDLE signalled)
{
    LARGE_INTEGER now;
    const HANDLE event = CreateEvent(NULL, TRUE, FALSE, NULL);
    const HANDLE both[] = {event, signalled};
    if (event == NULL || WaitForSingleObject(event, 10) != WAIT_TIMEOUT)
        return 1;
    if (WaitForMultipleObjects(ARRAYSIZE(both), both, FALSE, INFINITE) != WAIT_OBJECT_0 + 1)
        return 2;
    if (!SetEvent(event) || WaitForSingleObject(event, 0) != WAIT_OBJECT_0 || !CloseHandle(event))
        return 3;
    if (HRESULT_FROM_WIN32(ERROR_INVALID_PARAMETER) != E_INVALIDARG || !QueryPerformanceCounter(&now))
        return 4;
    SYSTEMTIME date;
    GetLocalTime(&date);
    if (date.wYear < 2024 || date.wMonth < 1 || date.wMonth > 12)
        return 6;
    CRITICAL_SECTION section;
    InitializeCriticalSection(&section);
    EnterCriticalSection(&section);
    LeaveCriticalSection(&section);
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    LONG count = 0;
    if (InterlockedIncrement(&count) != 1 || info.dwNumberOfProcessors == 0)
        return 7;
    Sleep(1);
    if (GetCurrentThreadId() == 0 || IsDebuggerPresent())
        return 5;
    OutputDebugStringW(L"from C");
    SetLastError(ERROR_CANCELLED);
    return 0;
}
