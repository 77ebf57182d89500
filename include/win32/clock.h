// MIT License, Copyright (c) the directml-py authors.
//
// Time: Sleep, the performance counter, the tick count, the date.

#ifndef DIRECTML_WIN32_CLOCK_H
#define DIRECTML_WIN32_CLOCK_H

#include "posix.h"
#include "types.h"

#define INFINITE 0xffffffffu

// Nanoseconds of a monotonic clock.
DIRECTML_WIN32_FUNCTION int64_t directml_win32_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// The end of a wait of this many milliseconds from now.
DIRECTML_WIN32_FUNCTION int64_t directml_win32_deadline(DWORD milliseconds)
{
    return milliseconds == INFINITE ? INT64_MAX : directml_win32_now() + (int64_t)milliseconds * 1000000;
}

// The milliseconds until then, rounded up, as poll() takes them. Very long waits are split.
DIRECTML_WIN32_FUNCTION int directml_win32_remaining(int64_t deadline)
{
    if (deadline == INT64_MAX)
        return -1;
    const int64_t left = deadline - directml_win32_now();
    if (left <= 0)
        return 0;
    return left > (int64_t)INT_MAX * 1000000 ? INT_MAX : (int)((left + 999999) / 1000000);
}

DIRECTML_WIN32_FUNCTION void Sleep(DWORD dwMilliseconds)
{
    if (dwMilliseconds == 0)
    {
        sched_yield();
        return;
    }
    const int64_t deadline = directml_win32_deadline(dwMilliseconds);
    for (int left = directml_win32_remaining(deadline); left != 0; left = directml_win32_remaining(deadline))
        poll(NULL, 0, left);
}

DIRECTML_WIN32_FUNCTION BOOL QueryPerformanceCounter(LARGE_INTEGER* lpPerformanceCount)
{
    lpPerformanceCount->QuadPart = directml_win32_now();
    return TRUE;
}

DIRECTML_WIN32_FUNCTION BOOL QueryPerformanceFrequency(LARGE_INTEGER* lpFrequency)
{
    lpFrequency->QuadPart = 1000000000;
    return TRUE;
}

DIRECTML_WIN32_FUNCTION ULONGLONG GetTickCount64(void)
{
    return (ULONGLONG)(directml_win32_now() / 1000000);
}

DIRECTML_WIN32_FUNCTION DWORD GetTickCount(void)
{
    return (DWORD)GetTickCount64();
}

typedef struct _SYSTEMTIME
{
    WORD wYear;
    WORD wMonth;
    WORD wDayOfWeek;
    WORD wDay;
    WORD wHour;
    WORD wMinute;
    WORD wSecond;
    WORD wMilliseconds;
} SYSTEMTIME, *PSYSTEMTIME, *LPSYSTEMTIME;

// Steps of 100 nanoseconds since 1601.
typedef struct _FILETIME
{
    DWORD dwLowDateTime;
    DWORD dwHighDateTime;
} FILETIME, *PFILETIME, *LPFILETIME;

// A time in the zone that localtime_r or gmtime_r converts it to.
DIRECTML_WIN32_FUNCTION void directml_win32_date(
    struct timespec from, struct tm* (*convert)(const time_t* from, struct tm* date), SYSTEMTIME* time)
{
    struct tm date;
    convert(&from.tv_sec, &date);
    time->wYear = (WORD)(date.tm_year + 1900);
    time->wMonth = (WORD)(date.tm_mon + 1);
    time->wDayOfWeek = (WORD)date.tm_wday;
    time->wDay = (WORD)date.tm_mday;
    time->wHour = (WORD)date.tm_hour;
    time->wMinute = (WORD)date.tm_min;
    // Windows has no leap seconds here.
    time->wSecond = (WORD)(date.tm_sec < 60 ? date.tm_sec : 59);
    time->wMilliseconds = (WORD)(from.tv_nsec / 1000000);
}

DIRECTML_WIN32_FUNCTION struct timespec directml_win32_today(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now;
}

DIRECTML_WIN32_FUNCTION void GetLocalTime(SYSTEMTIME* lpSystemTime)
{
    directml_win32_date(directml_win32_today(), localtime_r, lpSystemTime);
}

DIRECTML_WIN32_FUNCTION void GetSystemTime(SYSTEMTIME* lpSystemTime)
{
    directml_win32_date(directml_win32_today(), gmtime_r, lpSystemTime);
}

DIRECTML_WIN32_FUNCTION void GetSystemTimeAsFileTime(FILETIME* lpSystemTimeAsFileTime)
{
    const struct timespec now = directml_win32_today();
    // 11644473600 s from 1601 to 1970.
    const uint64_t steps = ((uint64_t)now.tv_sec + 11644473600u) * 10000000u + (uint64_t)now.tv_nsec / 100;
    lpSystemTimeAsFileTime->dwLowDateTime = (DWORD)steps;
    lpSystemTimeAsFileTime->dwHighDateTime = (DWORD)(steps >> 32);
}

// Days from 1601 to a date of the Gregorian calendar, which repeats after 400 years of 146097 days. The year begins in
// March, so that the leap day is its last.
DIRECTML_WIN32_FUNCTION int64_t directml_win32_days(int year, int month, int day)
{
    year -= month <= 2;
    const int64_t century = (year % 400) / 100, in_century = year % 100;
    const int64_t in_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    return year / 400 * (int64_t)146097 + century * 36524 + in_century * 365 + in_century / 4 + in_year - 584694;
}

DIRECTML_WIN32_FUNCTION BOOL SystemTimeToFileTime(const SYSTEMTIME* lpSystemTime, FILETIME* lpFileTime)
{
    const int64_t days = directml_win32_days(lpSystemTime->wYear, lpSystemTime->wMonth, lpSystemTime->wDay);
    const int64_t minutes = days * 1440 + lpSystemTime->wHour * 60 + lpSystemTime->wMinute;
    const int64_t milliseconds = (minutes * 60 + lpSystemTime->wSecond) * 1000 + lpSystemTime->wMilliseconds;
    lpFileTime->dwLowDateTime = (DWORD)(milliseconds * 10000);
    lpFileTime->dwHighDateTime = (DWORD)((uint64_t)(milliseconds * 10000) >> 32);
    return TRUE;
}

DIRECTML_WIN32_FUNCTION BOOL FileTimeToSystemTime(const FILETIME* lpFileTime, SYSTEMTIME* lpSystemTime)
{
    const int64_t steps = (int64_t)((uint64_t)lpFileTime->dwHighDateTime << 32 | lpFileTime->dwLowDateTime);
    const struct timespec time = {(time_t)(steps / 10000000 - 11644473600), (long)(steps % 10000000 * 100)};
    directml_win32_date(time, gmtime_r, lpSystemTime);
    return TRUE;
}

DIRECTML_WIN32_FUNCTION void GetSystemTimePreciseAsFileTime(FILETIME* lpSystemTimeAsFileTime)
{
    GetSystemTimeAsFileTime(lpSystemTimeAsFileTime);
}

#endif
