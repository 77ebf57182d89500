// MIT License, Copyright (c) the directml-py authors.
//
// VirtualAlloc and VirtualFree over mmap. Reserved pages are inaccessible; committing makes them accessible,
// decommitting discards their contents. Guard pages, copy-on-write, large pages and physical pages are refused.

#ifndef DIRECTML_WIN32_MEMORY_H
#define DIRECTML_WIN32_MEMORY_H

#include "errors.h"
#include "posix.h"
#include "types.h"

#include <stdlib.h>

#define MEM_COMMIT 0x1000
#define MEM_RESERVE 0x2000
#define MEM_DECOMMIT 0x4000
#define MEM_RELEASE 0x8000
#define MEM_RESET 0x80000
#define MEM_TOP_DOWN 0x100000
#define MEM_WRITE_WATCH 0x200000
#define MEM_PHYSICAL 0x400000
#define MEM_RESET_UNDO 0x1000000
#define MEM_LARGE_PAGES 0x20000000

#define PAGE_NOACCESS 0x1
#define PAGE_READONLY 0x2
#define PAGE_READWRITE 0x4
#define PAGE_WRITECOPY 0x8
#define PAGE_EXECUTE 0x10
#define PAGE_EXECUTE_READ 0x20
#define PAGE_EXECUTE_READWRITE 0x40
#define PAGE_EXECUTE_WRITECOPY 0x80
#define PAGE_GUARD 0x100
#define PAGE_NOCACHE 0x200
#define PAGE_WRITECOMBINE 0x400

// Windows places reservations at multiples of this.
#define DIRECTML_WIN32_GRANULARITY 0x10000u

// A reservation: VirtualFree receives its address, not its size.
struct directml_win32_region
{
    struct directml_win32_region* next;
    char* base;
    size_t size;
};

// The reservations of the process, including those of C translation units.
#ifdef __cplusplus
extern "C"
{
#endif
    __attribute__((weak)) struct directml_win32_region* directml_win32_regions;
    __attribute__((weak)) char directml_win32_regions_lock;
#ifdef __cplusplus
}
#endif

DIRECTML_WIN32_FUNCTION void directml_win32_lock_regions(void)
{
    while (__atomic_test_and_set(&directml_win32_regions_lock, __ATOMIC_ACQUIRE))
        sched_yield();
}

DIRECTML_WIN32_FUNCTION void directml_win32_unlock_regions(void)
{
    __atomic_clear(&directml_win32_regions_lock, __ATOMIC_RELEASE);
}

DIRECTML_WIN32_FUNCTION LPVOID directml_win32_no_memory(DWORD error)
{
    SetLastError(error);
    return NULL;
}

// mmap's protection for a PAGE_ constant; -1 if VirtualAlloc does not accept it.
DIRECTML_WIN32_FUNCTION int directml_win32_protection(DWORD protect)
{
    switch (protect & ~(DWORD)(PAGE_NOCACHE | PAGE_WRITECOMBINE))
    {
    case PAGE_NOACCESS: return PROT_NONE;
    case PAGE_READONLY: return PROT_READ;
    case PAGE_READWRITE: return PROT_READ | PROT_WRITE;
    case PAGE_EXECUTE: return PROT_EXEC;
    case PAGE_EXECUTE_READ: return PROT_READ | PROT_EXEC;
    case PAGE_EXECUTE_READWRITE: return PROT_READ | PROT_WRITE | PROT_EXEC;
    default: return -1;
    }
}

// The link to the region that contains all of these bytes; NULL if there is none. Called with the lock held.
DIRECTML_WIN32_FUNCTION struct directml_win32_region** directml_win32_find_region(const char* address, size_t size)
{
    struct directml_win32_region** link = &directml_win32_regions;
    for (; *link != NULL; link = &(*link)->next)
        if (address >= (*link)->base && size <= (*link)->size &&
            (size_t)(address - (*link)->base) <= (*link)->size - size)
            return link;
    return NULL;
}

// Inaccessible pages, at the address if one is given, which must be free.
DIRECTML_WIN32_FUNCTION char* directml_win32_map(char* address, size_t size)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    // The surplus at both ends is unmapped, so that the rest begins at a multiple.
    const size_t slack = address == NULL ? DIRECTML_WIN32_GRANULARITY : 0;
    char* const mapped = (char*)mmap(address, size + slack, PROT_NONE, flags, -1, 0);
    if (mapped == (char*)MAP_FAILED)
        return NULL;
    if (address != NULL)
    {
        // Without MAP_FIXED the address is a hint, which is followed if the pages are free.
        if (mapped != address)
            munmap(mapped, size);
        return mapped == address ? mapped : NULL;
    }
    const size_t before = -(size_t)mapped % DIRECTML_WIN32_GRANULARITY;
    if (before != 0)
        munmap(mapped, before);
    munmap(mapped + before + size, slack - before);
    return mapped + before;
}

DIRECTML_WIN32_FUNCTION char* directml_win32_reserve(char* address, size_t size)
{
    struct directml_win32_region* const region = (struct directml_win32_region*)malloc(sizeof *region);
    char* const base = region == NULL ? NULL : directml_win32_map(address, size);
    if (base == NULL)
    {
        free(region);
        SetLastError(address == NULL ? ERROR_NOT_ENOUGH_MEMORY : ERROR_INVALID_ADDRESS);
        return NULL;
    }
    region->base = base;
    region->size = size;
    directml_win32_lock_regions();
    region->next = directml_win32_regions;
    directml_win32_regions = region;
    directml_win32_unlock_regions();
    return base;
}

DIRECTML_WIN32_FUNCTION LPVOID
VirtualAlloc(LPVOID lpAddress, SIZE_T dwSize, DWORD flAllocationType, DWORD flProtect)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const DWORD kind = flAllocationType & ~(DWORD)MEM_TOP_DOWN;
    const int protection = directml_win32_protection(flProtect);
    if (kind & MEM_LARGE_PAGES)
        return directml_win32_no_memory(ERROR_PRIVILEGE_NOT_HELD);
    if (dwSize == 0 || dwSize > SIZE_MAX / 2 || protection < 0 || kind == 0 ||
        ((kind & ~(DWORD)(MEM_COMMIT | MEM_RESERVE)) != 0 && kind != MEM_RESET))
        return directml_win32_no_memory(ERROR_INVALID_PARAMETER);

    const size_t step = kind & MEM_RESERVE ? DIRECTML_WIN32_GRANULARITY : page;
    const size_t offset = (size_t)lpAddress % step;
    char* address = (char*)lpAddress - offset;
    const size_t size = (dwSize + offset + page - 1) / page * page;
    if ((kind & MEM_RESERVE) || (kind == MEM_COMMIT && lpAddress == NULL))
    {
        address = directml_win32_reserve(lpAddress == NULL ? NULL : address, size);
        if (address == NULL)
            return NULL;
    }
    directml_win32_lock_regions();
    const BOOL reserved = directml_win32_find_region(address, size) != NULL;
    const BOOL granted = reserved && (!(kind & MEM_COMMIT) || mprotect(address, size, protection) == 0);
    directml_win32_unlock_regions();
    if (!granted)
        return directml_win32_no_memory(reserved ? ERROR_NOT_ENOUGH_MEMORY : ERROR_INVALID_ADDRESS);
    return address;
}

// VirtualFree of the region of this link; returns an ERROR_ code. Called with the lock held.
DIRECTML_WIN32_FUNCTION DWORD
directml_win32_free(struct directml_win32_region** link, char* address, size_t size, DWORD kind)
{
    struct directml_win32_region* const region = link == NULL ? NULL : *link;
    // Without a size the whole region is meant, identified by its first address.
    if (region == NULL || (size == 0 && address != region->base))
        return ERROR_INVALID_ADDRESS;
    if (kind == MEM_DECOMMIT)
    {
        const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
        const size_t bytes = size == 0 ? region->size : size;
        return mmap(address, bytes, PROT_NONE, flags, -1, 0) == MAP_FAILED ? ERROR_NOT_ENOUGH_MEMORY : ERROR_SUCCESS;
    }
    munmap(region->base, region->size);
    *link = region->next;
    free(region);
    return ERROR_SUCCESS;
}

DIRECTML_WIN32_FUNCTION BOOL VirtualFree(LPVOID lpAddress, SIZE_T dwSize, DWORD dwFreeType)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    DWORD error = ERROR_INVALID_PARAMETER;
    if (dwSize <= SIZE_MAX / 2 && (dwFreeType == MEM_DECOMMIT || (dwFreeType == MEM_RELEASE && dwSize == 0)))
    {
        const size_t offset = (size_t)lpAddress % page;
        char* const address = (char*)lpAddress - offset;
        const size_t size = dwSize == 0 ? 0 : (dwSize + offset + page - 1) / page * page;
        directml_win32_lock_regions();
        error = directml_win32_free(directml_win32_find_region(address, size), address, size, dwFreeType);
        directml_win32_unlock_regions();
    }
    if (error != ERROR_SUCCESS)
        SetLastError(error);
    return error == ERROR_SUCCESS;
}

#endif
