// MIT License, Copyright (c) the directml-py authors.
//
// COM without a registry: apartments are irrelevant, memory is malloc's, and no class is registered.

#ifndef DIRECTML_WIN32_COM_H
#define DIRECTML_WIN32_COM_H

#include "posix.h"
#include "types.h"

#include <stdlib.h>

// Visual C++'s older spelling, which the first DirectML samples use.
#if defined(__cplusplus) && !defined(_uuidof)
#ifdef __clang__
// With -fms-extensions it is a keyword, which knows no smart pointers.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wkeyword-macro"
#endif
#define _uuidof(type) __uuidof(type)
#ifdef __clang__
#pragma clang diagnostic pop
#endif
#endif

// With clang++ -fms-extensions, in which __ptr64 is a keyword, a program's own interface keeps its identifier.
#if defined(__cplusplus) && defined(__clang__) && defined(__is_identifier)
#if !__is_identifier(__ptr64)
#undef MIDL_INTERFACE
#undef DECLSPEC_UUID
#define DECLSPEC_UUID(text) __declspec(uuid(text))
#define MIDL_INTERFACE(text) struct DECLSPEC_UUID(text)
#endif
#endif

#ifndef RPC_E_CHANGED_MODE
#define RPC_E_CHANGED_MODE ((HRESULT)0x80010106)
#endif
#ifndef RPC_E_WRONG_THREAD
#define RPC_E_WRONG_THREAD ((HRESULT)0x8001010e)
#endif

typedef enum tagCOINIT
{
    COINIT_MULTITHREADED = 0x0,
    COINIT_APARTMENTTHREADED = 0x2,
    COINIT_DISABLE_OLE1DDE = 0x4,
    COINIT_SPEED_OVER_MEMORY = 0x8
} COINIT;

typedef enum tagCLSCTX
{
    CLSCTX_INPROC_SERVER = 0x1,
    CLSCTX_INPROC_HANDLER = 0x2,
    CLSCTX_LOCAL_SERVER = 0x4,
    CLSCTX_REMOTE_SERVER = 0x10
} CLSCTX;

#define CLSCTX_ALL (CLSCTX_INPROC_SERVER | CLSCTX_INPROC_HANDLER | CLSCTX_LOCAL_SERVER | CLSCTX_REMOTE_SERVER)

DIRECTML_WIN32_FUNCTION HRESULT CoInitializeEx(LPVOID pvReserved, DWORD dwCoInit)
{
    (void)dwCoInit;
    return pvReserved == NULL ? S_OK : E_INVALIDARG;
}

DIRECTML_WIN32_FUNCTION HRESULT CoInitialize(LPVOID pvReserved)
{
    return CoInitializeEx(pvReserved, COINIT_APARTMENTTHREADED);
}

DIRECTML_WIN32_FUNCTION void CoUninitialize(void)
{
}

DIRECTML_WIN32_FUNCTION LPVOID CoTaskMemAlloc(SIZE_T cb)
{
    return malloc(cb != 0 ? cb : 1);
}

DIRECTML_WIN32_FUNCTION LPVOID CoTaskMemRealloc(LPVOID pv, SIZE_T cb)
{
    if (cb != 0 || pv == NULL)
        return realloc(pv, cb != 0 ? cb : 1);
    free(pv);
    return NULL;
}

DIRECTML_WIN32_FUNCTION void CoTaskMemFree(LPVOID pv)
{
    free(pv);
}

DIRECTML_WIN32_FUNCTION HRESULT
CoCreateInstance(REFCLSID rclsid, IUnknown* pUnkOuter, DWORD dwClsContext, REFIID riid, LPVOID* ppv)
{
    (void)rclsid;
    (void)pUnkOuter;
    (void)dwClsContext;
    (void)riid;
    if (ppv == NULL)
        return E_POINTER;
    *ppv = NULL;
    return (HRESULT)0x80040154; // REGDB_E_CLASSNOTREG
}

// A random identifier, of version 4.
DIRECTML_WIN32_FUNCTION HRESULT CoCreateGuid(GUID* pguid)
{
    if (pguid == NULL)
        return E_POINTER;
    if (syscall(SYS_getrandom, pguid, sizeof *pguid, 0) != (long)sizeof *pguid)
        return E_FAIL;
    pguid->Data3 = (unsigned short)((pguid->Data3 & 0x0fff) | 0x4000);
    pguid->Data4[0] = (unsigned char)((pguid->Data4[0] & 0x3f) | 0x80);
    return S_OK;
}

#ifndef IsEqualGUID
#ifdef __cplusplus
#define IsEqualGUID(first, second) (memcmp(&(first), &(second), sizeof(GUID)) == 0)
#else
#define IsEqualGUID(first, second) (memcmp((first), (second), sizeof(GUID)) == 0)
#endif
#define IsEqualIID(first, second) IsEqualGUID(first, second)
#define IsEqualCLSID(first, second) IsEqualGUID(first, second)
#endif

#endif
