// MIT License, Copyright (c) the directml-py authors.
//
// The machine and the program: processors, pages, memory, the path of the executable.

#ifndef DIRECTML_WIN32_SYSTEM_H
#define DIRECTML_WIN32_SYSTEM_H

#include "errors.h"
#include "memory.h"
#include "modules.h"
#include "posix.h"
#include "text.h"
#include "types.h"

#define PROCESSOR_ARCHITECTURE_INTEL 0
#define PROCESSOR_ARCHITECTURE_AMD64 9
#define PROCESSOR_ARCHITECTURE_ARM64 12
#define PROCESSOR_ARCHITECTURE_UNKNOWN 0xffff

typedef struct _SYSTEM_INFO
{
    WORD wProcessorArchitecture;
    WORD wReserved;
    DWORD dwPageSize;
    LPVOID lpMinimumApplicationAddress;
    LPVOID lpMaximumApplicationAddress;
    DWORD_PTR dwActiveProcessorMask;
    DWORD dwNumberOfProcessors;
    DWORD dwProcessorType;
    DWORD dwAllocationGranularity;
    WORD wProcessorLevel;
    WORD wProcessorRevision;
} SYSTEM_INFO, *LPSYSTEM_INFO;

DIRECTML_WIN32_FUNCTION void GetSystemInfo(SYSTEM_INFO* lpSystemInfo)
{
    memset(lpSystemInfo, 0, sizeof *lpSystemInfo);
#if defined(__x86_64__)
    lpSystemInfo->wProcessorArchitecture = PROCESSOR_ARCHITECTURE_AMD64;
#elif defined(__aarch64__)
    lpSystemInfo->wProcessorArchitecture = PROCESSOR_ARCHITECTURE_ARM64;
#else
    lpSystemInfo->wProcessorArchitecture = PROCESSOR_ARCHITECTURE_UNKNOWN;
#endif
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    lpSystemInfo->dwPageSize = (DWORD)sysconf(_SC_PAGESIZE);
    lpSystemInfo->lpMinimumApplicationAddress = (LPVOID)(uintptr_t)DIRECTML_WIN32_GRANULARITY;
    lpSystemInfo->lpMaximumApplicationAddress = (LPVOID)(uintptr_t)0x7ffffffeffff;
    lpSystemInfo->dwActiveProcessorMask = count < 64 ? ((DWORD_PTR)1 << count) - 1 : ~(DWORD_PTR)0;
    lpSystemInfo->dwNumberOfProcessors = (DWORD)count;
    lpSystemInfo->dwAllocationGranularity = DIRECTML_WIN32_GRANULARITY;
}

DIRECTML_WIN32_FUNCTION void GetNativeSystemInfo(SYSTEM_INFO* lpSystemInfo)
{
    GetSystemInfo(lpSystemInfo);
}

typedef struct _MEMORYSTATUSEX
{
    DWORD dwLength;
    DWORD dwMemoryLoad;
    DWORDLONG ullTotalPhys;
    DWORDLONG ullAvailPhys;
    DWORDLONG ullTotalPageFile;
    DWORDLONG ullAvailPageFile;
    DWORDLONG ullTotalVirtual;
    DWORDLONG ullAvailVirtual;
    DWORDLONG ullAvailExtendedVirtual;
} MEMORYSTATUSEX, *LPMEMORYSTATUSEX;

// There is no page file, and addresses do not run out.
DIRECTML_WIN32_FUNCTION BOOL GlobalMemoryStatusEx(MEMORYSTATUSEX* lpBuffer)
{
    if (lpBuffer->dwLength != sizeof *lpBuffer)
    {
        SetLastError(ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    const DWORDLONG page = (DWORDLONG)sysconf(_SC_PAGESIZE);
    lpBuffer->ullTotalPhys = lpBuffer->ullTotalPageFile = page * (DWORDLONG)sysconf(_SC_PHYS_PAGES);
    lpBuffer->ullAvailPhys = lpBuffer->ullAvailPageFile = page * (DWORDLONG)sysconf(_SC_AVPHYS_PAGES);
    lpBuffer->dwMemoryLoad = (DWORD)(100 - 100 * lpBuffer->ullAvailPhys / lpBuffer->ullTotalPhys);
    lpBuffer->ullTotalVirtual = lpBuffer->ullAvailVirtual = 0x7ffffffe0000;
    lpBuffer->ullAvailExtendedVirtual = 0;
    return TRUE;
}

#define DIRECTML_WIN32_LONGEST_PATH 4096

// The path of the executable, for a null module; those of libraries are unknown.
DIRECTML_WIN32_FUNCTION DWORD GetModuleFileNameA(HMODULE hModule, LPSTR lpFilename, DWORD nSize)
{
    const ssize_t length = hModule == NULL ? readlink("/proc/self/exe", lpFilename, nSize) : -1;
    if (length < 0 || nSize == 0)
    {
        SetLastError(nSize == 0 ? ERROR_INSUFFICIENT_BUFFER : ERROR_MOD_NOT_FOUND);
        return 0;
    }
    if ((DWORD)length == nSize)
    {
        // Cut, as on Windows.
        lpFilename[nSize - 1] = 0;
        SetLastError(ERROR_INSUFFICIENT_BUFFER);
        return nSize;
    }
    lpFilename[length] = 0;
    return (DWORD)length;
}

DIRECTML_WIN32_FUNCTION DWORD GetModuleFileNameW(HMODULE hModule, LPWSTR lpFilename, DWORD nSize)
{
    char path[DIRECTML_WIN32_LONGEST_PATH];
    const DWORD length = GetModuleFileNameA(hModule, path, sizeof path);
    if (length == 0 || nSize == 0)
        return 0;
    WCHAR wide[DIRECTML_WIN32_LONGEST_PATH];
    const DWORD needed = (DWORD)MultiByteToWideChar(CP_UTF8, 0, path, -1, wide, DIRECTML_WIN32_LONGEST_PATH);
    memcpy(lpFilename, wide, (needed < nSize ? needed : nSize) * sizeof(WCHAR));
    if (needed <= nSize)
        return needed - 1;
    lpFilename[nSize - 1] = 0;
    SetLastError(ERROR_INSUFFICIENT_BUFFER);
    return nSize;
}

#ifdef UNICODE
#define GetModuleFileName GetModuleFileNameW
#else
#define GetModuleFileName GetModuleFileNameA
#endif

#endif
