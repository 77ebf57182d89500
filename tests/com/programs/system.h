/* What the programs need of the system: Direct3D's headers, events, and what this process uses. For C and C++. */

#ifndef TESTS_COM_SYSTEM_H
#define TESTS_COM_SYSTEM_H

#ifdef _WIN32

#include <windows.h>

#include <d3d12.h>
#include <d3d12sdklayers.h>
#include <psapi.h>

/* Programs for which MinGW's own headers do not suffice are compiled with the DirectX headers. */
#ifdef WITH_DIRECTX_HEADERS
#include <dxcore.h>

#include <dxguids/dxguids.h>
#endif

/* What the headers of MinGW 10, which Debian 12 has, lack. */
#ifndef __ID3D12Device2_INTERFACE_DEFINED__
#define D3D_FEATURE_LEVEL_1_0_CORE ((D3D_FEATURE_LEVEL)0x1000)
#define D3D_FEATURE_LEVEL_12_2 ((D3D_FEATURE_LEVEL)0xc200)
#define D3D12_MESSAGE_ID_CREATERESOURCE_STATE_IGNORED ((D3D12_MESSAGE_ID)1328)
static const GUID WKPDID_D3DDebugObjectNameW
    = {0x4cca5fd8, 0x921f, 0x42c8, {0x85, 0x66, 0x70, 0xca, 0xf2, 0xa9, 0xb7, 0x41}};
#endif

#define PROGRAM_SUFFIX ".exe"

/* An event that was set twice is not to be told from one that was set once. */
#define EVENTS_COUNT 0

static inline HANDLE new_event(void)
{
    return CreateEventW(NULL, FALSE, FALSE, NULL);
}

static inline void close_event(HANDLE event)
{
    CloseHandle(event);
}

/* How often the event was set since the last wait; 0 after a time without. */
static inline UINT64 wait_for(HANDLE event, int milliseconds)
{
    return WaitForSingleObject(event, (DWORD)milliseconds) == WAIT_OBJECT_0;
}

static inline size_t open_handles(void)
{
    DWORD count = 0;
    GetProcessHandleCount(GetCurrentProcess(), &count);
    return count;
}

static inline size_t resident_bytes(void)
{
    PROCESS_MEMORY_COUNTERS counters;
    return GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters) ? counters.WorkingSetSize : 0;
}

#else

#include <wsl/winadapter.h>

#include <directx/d3d12.h>
#include <directx/d3d12sdklayers.h>

#include <dirent.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define PROGRAM_SUFFIX ""
#define EVENTS_COUNT 1

static inline HANDLE new_event(void)
{
    return (HANDLE)(intptr_t)eventfd(0, EFD_NONBLOCK);
}

static inline void close_event(HANDLE event)
{
    close((int)(intptr_t)event);
}

/* How often the event was set since the last wait; 0 after a time without. */
static inline UINT64 wait_for(HANDLE event, int milliseconds)
{
    struct pollfd watched = {(int)(intptr_t)event, POLLIN, 0};
    uint64_t value = 0;
    if (poll(&watched, 1, milliseconds) != 1 || read(watched.fd, &value, sizeof value) != sizeof value)
        return 0;
    return value;
}

static inline size_t open_handles(void)
{
    DIR* const folder = opendir("/proc/self/fd");
    size_t count = 0;
    while (folder != NULL && readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

static inline size_t resident_bytes(void)
{
    long total = 0, resident = 0;
    FILE* const file = fopen("/proc/self/statm", "r");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%ld %ld", &total, &resident) != 2)
        resident = 0;
    fclose(file);
    return (size_t)resident * (size_t)sysconf(_SC_PAGESIZE);
}

#endif

#endif
