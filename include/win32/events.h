// MIT License, Copyright (c) the directml-py authors.
//
// Events and waits.
//
// The HANDLE of an event is an eventfd: (HANDLE)(intptr_t)fd. It is signaled while its counter is not 0, so writing an
// 8-byte 1 to it sets it: SetEvent does, and so does a fence after SetEventOnCompletion. A wait reads the counter of an
// auto-reset event, which no two threads can do at once, and only polls that of a manual-reset event. The kind is
// stored in the eventfd itself, as the status flag O_APPEND, which has no meaning for an eventfd: so there is no table,
// and every duplicate of the descriptor has it.
//
// Events have no names. One limit: a thread that waits for a manual-reset event can miss it if it is reset at once.

#ifndef DIRECTML_WIN32_EVENTS_H
#define DIRECTML_WIN32_EVENTS_H

#include "clock.h"
#include "errors.h"
#include "posix.h"
#include "types.h"

#define WAIT_OBJECT_0 0u
#define WAIT_ABANDONED 0x80u
#define WAIT_ABANDONED_0 0x80u
#define WAIT_IO_COMPLETION 0xc0u
#define WAIT_TIMEOUT 258u
#define WAIT_FAILED 0xffffffffu
#define MAXIMUM_WAIT_OBJECTS 64

#define CREATE_EVENT_MANUAL_RESET 0x1
#define CREATE_EVENT_INITIAL_SET 0x2
#define EVENT_MODIFY_STATE 0x2
#define SYNCHRONIZE 0x100000
#define EVENT_ALL_ACCESS 0x1f0003

DIRECTML_WIN32_FUNCTION BOOL directml_win32_fail(DWORD error)
{
    SetLastError(error);
    return FALSE;
}

// The descriptor of a handle; -1 for null, for INVALID_HANDLE_VALUE, and for the three standard streams.
DIRECTML_WIN32_FUNCTION int directml_win32_descriptor(HANDLE handle)
{
    const intptr_t value = (intptr_t)handle;
    return value > STDERR_FILENO && value <= INT_MAX ? (int)value : -1;
}

DIRECTML_WIN32_FUNCTION BOOL CloseHandle(HANDLE hObject)
{
    const int descriptor = directml_win32_descriptor(hObject);
    // Linux closes the descriptor even if close() is interrupted.
    if (descriptor < 0 || (close(descriptor) != 0 && errno != EINTR))
        return directml_win32_fail(ERROR_INVALID_HANDLE);
    return TRUE;
}

DIRECTML_WIN32_FUNCTION BOOL SetEvent(HANDLE hEvent)
{
    const uint64_t one = 1;
    const int descriptor = directml_win32_descriptor(hEvent);
    ssize_t written;
    do
        written = descriptor < 0 ? -1 : write(descriptor, &one, sizeof(one));
    while (written < 0 && descriptor >= 0 && errno == EINTR);
    // A full counter is signaled too.
    if (descriptor < 0 || (written < 0 && errno != EAGAIN))
        return directml_win32_fail(ERROR_INVALID_HANDLE);
    return TRUE;
}

// Reads the counter, which sets it to 0: returns 1 if it was not 0, -1 if this is not an event.
DIRECTML_WIN32_FUNCTION int directml_win32_consume(int descriptor)
{
    uint64_t counter;
    ssize_t count;
    do
        count = read(descriptor, &counter, sizeof(counter));
    while (count < 0 && errno == EINTR);
    return count == (ssize_t)sizeof(counter) ? 1 : count < 0 && errno == EAGAIN ? 0 : -1;
}

DIRECTML_WIN32_FUNCTION BOOL ResetEvent(HANDLE hEvent)
{
    const int descriptor = directml_win32_descriptor(hEvent);
    if (descriptor < 0 || directml_win32_consume(descriptor) < 0)
        return directml_win32_fail(ERROR_INVALID_HANDLE);
    return TRUE;
}

// `named`: whether the program passed a name, which events cannot have.
DIRECTML_WIN32_FUNCTION HANDLE directml_win32_create_event(
    const SECURITY_ATTRIBUTES* attributes, int named, DWORD flags)
{
    const BOOL inherit = attributes != NULL && attributes->bInheritHandle;
    int descriptor;
    if (named)
    {
        SetLastError(ERROR_NOT_SUPPORTED);
        return NULL;
    }
    descriptor = eventfd(flags & CREATE_EVENT_INITIAL_SET ? 1 : 0, EFD_NONBLOCK | (inherit ? 0 : EFD_CLOEXEC));
    if (descriptor >= 0 && descriptor <= STDERR_FILENO)
    {
        // A program that closed its standard streams must not get a handle that looks like null.
        const int low = descriptor;
        descriptor = fcntl(low, F_DUPFD, STDERR_FILENO + 1);
        close(low);
        if (descriptor >= 0 && !inherit)
            fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    }
    if (descriptor < 0)
    {
        SetLastError(errno == EMFILE || errno == ENFILE ? ERROR_TOO_MANY_OPEN_FILES : ERROR_NOT_ENOUGH_MEMORY);
        return NULL;
    }
    if (flags & CREATE_EVENT_MANUAL_RESET)
        fcntl(descriptor, F_SETFL, O_NONBLOCK | O_APPEND);
    SetLastError(ERROR_SUCCESS);
    return (HANDLE)(intptr_t)descriptor;
}

DIRECTML_WIN32_FUNCTION HANDLE CreateEventExA(
    LPSECURITY_ATTRIBUTES lpEventAttributes, LPCSTR lpName, DWORD dwFlags, DWORD dwDesiredAccess)
{
    (void)dwDesiredAccess;
    return directml_win32_create_event(lpEventAttributes, lpName != NULL, dwFlags);
}

DIRECTML_WIN32_FUNCTION HANDLE CreateEventExW(
    LPSECURITY_ATTRIBUTES lpEventAttributes, LPCWSTR lpName, DWORD dwFlags, DWORD dwDesiredAccess)
{
    (void)dwDesiredAccess;
    return directml_win32_create_event(lpEventAttributes, lpName != NULL, dwFlags);
}

DIRECTML_WIN32_FUNCTION HANDLE CreateEventA(
    LPSECURITY_ATTRIBUTES lpEventAttributes, BOOL bManualReset, BOOL bInitialState, LPCSTR lpName)
{
    const DWORD manual = bManualReset ? CREATE_EVENT_MANUAL_RESET : 0;
    const DWORD initial = bInitialState ? CREATE_EVENT_INITIAL_SET : 0;
    return directml_win32_create_event(lpEventAttributes, lpName != NULL, manual | initial);
}

DIRECTML_WIN32_FUNCTION HANDLE CreateEventW(
    LPSECURITY_ATTRIBUTES lpEventAttributes, BOOL bManualReset, BOOL bInitialState, LPCWSTR lpName)
{
    const DWORD manual = bManualReset ? CREATE_EVENT_MANUAL_RESET : 0;
    const DWORD initial = bInitialState ? CREATE_EVENT_INITIAL_SET : 0;
    return directml_win32_create_event(lpEventAttributes, lpName != NULL, manual | initial);
}

#ifdef UNICODE
#define CreateEvent CreateEventW
#define CreateEventEx CreateEventExW
#else
#define CreateEvent CreateEventA
#define CreateEventEx CreateEventExA
#endif

// Whether the event, which poll() saw signaled, lets this thread through: 0 if another thread was faster, -1 on
// failure.
DIRECTML_WIN32_FUNCTION int directml_win32_pass(int descriptor)
{
    const int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0)
        return -1;
    return flags & O_APPEND ? 1 : directml_win32_consume(descriptor);
}

// poll() until one of the descriptors is signaled: returns their number, 0 on timeout, -1 on failure.
DIRECTML_WIN32_FUNCTION int directml_win32_poll(struct pollfd* events, DWORD count, int64_t deadline)
{
    for (;;)
    {
        const int left = directml_win32_remaining(deadline);
        const int ready = poll(events, count, left);
        if (ready < 0 && errno != EINTR)
            return -1;
        for (DWORD i = 0; ready > 0 && i < count; ++i)
            if (events[i].revents & POLLNVAL)
                return -1;
        if (ready > 0)
            return ready;
        if (left == 0)
            return 0;
    }
}

DIRECTML_WIN32_FUNCTION DWORD directml_win32_wait_any(struct pollfd* events, DWORD count, int64_t deadline)
{
    for (;;)
    {
        const int ready = directml_win32_poll(events, count, deadline);
        if (ready == 0)
            return WAIT_TIMEOUT;
        for (DWORD i = 0; ready > 0 && i < count; ++i)
        {
            const int passed = events[i].revents == 0 ? 0 : directml_win32_pass(events[i].fd);
            if (passed > 0)
                return WAIT_OBJECT_0 + i;
            if (passed < 0)
                return WAIT_FAILED;
        }
        if (ready < 0)
            return WAIT_FAILED;
        if (directml_win32_remaining(deadline) == 0)
            return WAIT_TIMEOUT;
    }
}

// Takes all events or none: if another thread was faster at one of them, the auto-reset events already taken are set
// again.
DIRECTML_WIN32_FUNCTION DWORD directml_win32_wait_all(struct pollfd* events, DWORD count, int64_t deadline)
{
    for (;;)
    {
        DWORD passed;
        for (DWORD i = 0; i < count; ++i)
        {
            const int ready = directml_win32_poll(&events[i], 1, deadline);
            if (ready <= 0)
                return ready == 0 ? WAIT_TIMEOUT : WAIT_FAILED;
        }
        // Some may have been taken since: poll all of them at once.
        const int ready = directml_win32_poll(events, count, 0);
        if (ready < 0)
            return WAIT_FAILED;
        for (passed = 0; ready == (int)count && passed < count; ++passed)
            if (directml_win32_pass(events[passed].fd) <= 0)
                break;
        if (passed == count)
            return WAIT_OBJECT_0;
        while (passed > 0)
            if (!(fcntl(events[--passed].fd, F_GETFL) & O_APPEND))
                SetEvent((HANDLE)(intptr_t)events[passed].fd);
        if (directml_win32_remaining(deadline) == 0)
            return WAIT_TIMEOUT;
    }
}

DIRECTML_WIN32_FUNCTION DWORD WaitForMultipleObjects(
    DWORD nCount, const HANDLE* lpHandles, BOOL bWaitAll, DWORD dwMilliseconds)
{
    const int64_t deadline = directml_win32_deadline(dwMilliseconds);
    struct pollfd events[MAXIMUM_WAIT_OBJECTS];
    DWORD error = nCount == 0 || nCount > MAXIMUM_WAIT_OBJECTS ? ERROR_INVALID_PARAMETER : ERROR_SUCCESS;
    for (DWORD i = 0; error == ERROR_SUCCESS && i < nCount; ++i)
    {
        events[i].fd = directml_win32_descriptor(lpHandles[i]);
        events[i].events = POLLIN;
        events[i].revents = 0;
        if (events[i].fd < 0)
            error = ERROR_INVALID_HANDLE;
        for (DWORD j = 0; bWaitAll && j < i; ++j)
            if (lpHandles[j] == lpHandles[i])
                error = ERROR_INVALID_PARAMETER;
    }
    if (error != ERROR_SUCCESS)
    {
        SetLastError(error);
        return WAIT_FAILED;
    }
    const DWORD result = bWaitAll ? directml_win32_wait_all(events, nCount, deadline)
                                  : directml_win32_wait_any(events, nCount, deadline);
    if (result == WAIT_FAILED)
        SetLastError(ERROR_INVALID_HANDLE);
    return result;
}

// Alertable waits are not supported.
DIRECTML_WIN32_FUNCTION DWORD WaitForMultipleObjectsEx(
    DWORD nCount, const HANDLE* lpHandles, BOOL bWaitAll, DWORD dwMilliseconds, BOOL bAlertable)
{
    (void)bAlertable;
    return WaitForMultipleObjects(nCount, lpHandles, bWaitAll, dwMilliseconds);
}

DIRECTML_WIN32_FUNCTION DWORD WaitForSingleObject(HANDLE hHandle, DWORD dwMilliseconds)
{
    return WaitForMultipleObjects(1, &hHandle, FALSE, dwMilliseconds);
}

DIRECTML_WIN32_FUNCTION DWORD WaitForSingleObjectEx(HANDLE hHandle, DWORD dwMilliseconds, BOOL bAlertable)
{
    (void)bAlertable;
    return WaitForSingleObject(hHandle, dwMilliseconds);
}

#endif
