// MIT License, Copyright (c) the directml-py authors.
//
// Debugging: OutputDebugString writes its text to the standard error stream, without adding a line end.

#ifndef DIRECTML_WIN32_DEBUG_H
#define DIRECTML_WIN32_DEBUG_H

#include "posix.h"
#include "text.h"
#include "types.h"

// Bypasses stdio, whose stream is either wide or narrow, depending on the program.
DIRECTML_WIN32_FUNCTION void directml_win32_write_error(const char* text, size_t length)
{
    while (length != 0)
    {
        const ssize_t written = write(STDERR_FILENO, text, length);
        if (written < 0 && errno != EINTR)
            return;
        if (written > 0)
        {
            text += written;
            length -= (size_t)written;
        }
    }
}

DIRECTML_WIN32_FUNCTION void OutputDebugStringA(LPCSTR lpOutputString)
{
    if (lpOutputString != NULL)
        directml_win32_write_error(lpOutputString, strlen(lpOutputString));
}

// As UTF-8, whatever the locale.
DIRECTML_WIN32_FUNCTION void OutputDebugStringW(LPCWSTR lpOutputString)
{
    char bytes[512];
    size_t used = 0;
    for (; lpOutputString != NULL && *lpOutputString != 0; ++lpOutputString)
    {
        used += (size_t)directml_win32_encode((uint32_t)*lpOutputString, (unsigned char*)bytes + used);
        if (used > sizeof(bytes) - 4)
        {
            directml_win32_write_error(bytes, used);
            used = 0;
        }
    }
    directml_win32_write_error(bytes, used);
}

#ifdef UNICODE
#define OutputDebugString OutputDebugStringW
#else
#define OutputDebugString OutputDebugStringA
#endif

DIRECTML_WIN32_FUNCTION BOOL IsDebuggerPresent(void)
{
    char status[4096];
    const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    const ssize_t length = file < 0 ? -1 : read(file, status, sizeof(status) - 1);
    if (file >= 0)
        close(file);
    if (length <= 0)
        return FALSE;
    status[length] = 0;
    const char* const tracer = strstr(status, "TracerPid:");
    return tracer != NULL && strtol(tracer + strlen("TracerPid:"), NULL, 10) != 0;
}

DIRECTML_WIN32_FUNCTION void DebugBreak(void)
{
    raise(SIGTRAP);
}

DIRECTML_WIN32_FUNCTION DWORD GetCurrentProcessId(void)
{
    return (DWORD)getpid();
}

DIRECTML_WIN32_FUNCTION DWORD GetCurrentThreadId(void)
{
    return (DWORD)syscall(SYS_gettid);
}

#endif
