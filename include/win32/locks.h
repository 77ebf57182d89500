// MIT License, Copyright (c) the directml-py authors.
//
// What threads share: the interlocked functions, all sequentially consistent, and critical sections.

#ifndef DIRECTML_WIN32_LOCKS_H
#define DIRECTML_WIN32_LOCKS_H

#include "types.h"

#include <pthread.h>

DIRECTML_WIN32_FUNCTION LONG InterlockedIncrement(volatile LONG* Addend)
{
    return __atomic_add_fetch(Addend, 1, __ATOMIC_SEQ_CST);
}

DIRECTML_WIN32_FUNCTION LONG InterlockedDecrement(volatile LONG* Addend)
{
    return __atomic_sub_fetch(Addend, 1, __ATOMIC_SEQ_CST);
}

DIRECTML_WIN32_FUNCTION LONG InterlockedAdd(volatile LONG* Addend, LONG Value)
{
    return __atomic_add_fetch(Addend, Value, __ATOMIC_SEQ_CST);
}

DIRECTML_WIN32_FUNCTION LONG InterlockedExchangeAdd(volatile LONG* Addend, LONG Value)
{
    return __atomic_fetch_add(Addend, Value, __ATOMIC_SEQ_CST);
}

DIRECTML_WIN32_FUNCTION LONG InterlockedExchange(volatile LONG* Target, LONG Value)
{
    return __atomic_exchange_n(Target, Value, __ATOMIC_SEQ_CST);
}

DIRECTML_WIN32_FUNCTION LONG InterlockedCompareExchange(volatile LONG* Destination, LONG Exchange, LONG Comperand)
{
    __atomic_compare_exchange_n(Destination, &Comperand, Exchange, FALSE, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return Comperand;
}

DIRECTML_WIN32_FUNCTION LONGLONG InterlockedIncrement64(volatile LONGLONG* Addend)
{
    return __atomic_add_fetch(Addend, 1, __ATOMIC_SEQ_CST);
}

DIRECTML_WIN32_FUNCTION LONGLONG InterlockedDecrement64(volatile LONGLONG* Addend)
{
    return __atomic_sub_fetch(Addend, 1, __ATOMIC_SEQ_CST);
}

DIRECTML_WIN32_FUNCTION PVOID InterlockedExchangePointer(PVOID volatile* Target, PVOID Value)
{
    return __atomic_exchange_n(Target, Value, __ATOMIC_SEQ_CST);
}

DIRECTML_WIN32_FUNCTION PVOID InterlockedCompareExchangePointer(
    PVOID volatile* Destination, PVOID Exchange, PVOID Comperand)
{
    __atomic_compare_exchange_n(Destination, &Comperand, Exchange, FALSE, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return Comperand;
}

// A lock that its thread may take again. C11 without extensions has no recursive mutexes of POSIX.
typedef struct _RTL_CRITICAL_SECTION
{
    pthread_mutex_t mutex;
    uintptr_t owner;
    unsigned depth;
} CRITICAL_SECTION, *PCRITICAL_SECTION, *LPCRITICAL_SECTION;

DIRECTML_WIN32_FUNCTION void InitializeCriticalSection(CRITICAL_SECTION* lpCriticalSection)
{
    pthread_mutex_init(&lpCriticalSection->mutex, NULL);
    lpCriticalSection->owner = 0;
    lpCriticalSection->depth = 0;
}

DIRECTML_WIN32_FUNCTION BOOL InitializeCriticalSectionAndSpinCount(
    CRITICAL_SECTION* lpCriticalSection, DWORD dwSpinCount)
{
    (void)dwSpinCount;
    InitializeCriticalSection(lpCriticalSection);
    return TRUE;
}

DIRECTML_WIN32_FUNCTION BOOL TryEnterCriticalSection(CRITICAL_SECTION* lpCriticalSection)
{
    const uintptr_t self = (uintptr_t)pthread_self();
    if (__atomic_load_n(&lpCriticalSection->owner, __ATOMIC_RELAXED) != self)
    {
        if (pthread_mutex_trylock(&lpCriticalSection->mutex) != 0)
            return FALSE;
        __atomic_store_n(&lpCriticalSection->owner, self, __ATOMIC_RELAXED);
    }
    ++lpCriticalSection->depth;
    return TRUE;
}

DIRECTML_WIN32_FUNCTION void EnterCriticalSection(CRITICAL_SECTION* lpCriticalSection)
{
    const uintptr_t self = (uintptr_t)pthread_self();
    if (__atomic_load_n(&lpCriticalSection->owner, __ATOMIC_RELAXED) != self)
    {
        pthread_mutex_lock(&lpCriticalSection->mutex);
        __atomic_store_n(&lpCriticalSection->owner, self, __ATOMIC_RELAXED);
    }
    ++lpCriticalSection->depth;
}

DIRECTML_WIN32_FUNCTION void LeaveCriticalSection(CRITICAL_SECTION* lpCriticalSection)
{
    if (--lpCriticalSection->depth != 0)
        return;
    __atomic_store_n(&lpCriticalSection->owner, 0, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lpCriticalSection->mutex);
}

DIRECTML_WIN32_FUNCTION void DeleteCriticalSection(CRITICAL_SECTION* lpCriticalSection)
{
    pthread_mutex_destroy(&lpCriticalSection->mutex);
}

#endif
