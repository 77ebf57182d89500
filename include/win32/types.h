// MIT License, Copyright (c) the directml-py authors.
//
// The Windows types, and the macros on them that the DirectX headers lack.

#ifndef DIRECTML_WIN32_TYPES_H
#define DIRECTML_WIN32_TYPES_H

#if defined(__has_include)
#if !__has_include(<wsl/winadapter.h>) || !__has_include(<unknwn.h>)
#error "windows.h needs the DirectX headers: install directx-headers-dev, add `pkg-config --cflags DirectX-Headers`"
#endif
#endif

#include <wsl/winadapter.h>

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// The linkage of the functions in this folder: no library is needed, and in C++ all translation units share them.
#ifdef __cplusplus
#define DIRECTML_WIN32_FUNCTION inline
#else
#define DIRECTML_WIN32_FUNCTION static inline
#endif

typedef BOOL* LPBOOL;
typedef unsigned char byte;
typedef UINT_PTR WPARAM;
typedef LONG_PTR LPARAM, LRESULT;
typedef BYTE *PBYTE, *LPBYTE;
typedef DWORD *PDWORD, *LPDWORD;
typedef HANDLE *PHANDLE, *LPHANDLE;
typedef SECURITY_ATTRIBUTES *PSECURITY_ATTRIBUTES, *LPSECURITY_ATTRIBUTES;
typedef uint64_t DWORD64, DWORDLONG;
typedef uintptr_t DWORD_PTR;

#define INVALID_HANDLE_VALUE ((HANDLE)(intptr_t)-1)

#ifndef ARRAYSIZE
#define ARRAYSIZE(array) (sizeof(array) / sizeof((array)[0]))
#endif

#ifndef ZeroMemory
#define ZeroMemory(destination, length) ((void)memset((destination), 0, (length)))
#define FillMemory(destination, length, fill) ((void)memset((destination), (fill), (length)))
#define CopyMemory(destination, source, length) ((void)memcpy((destination), (source), (length)))
#define MoveMemory(destination, source, length) ((void)memmove((destination), (source), (length)))
#endif

#ifndef MAXUINT
#define MAXUINT8 UINT8_MAX
#define MAXINT8 INT8_MAX
#define MININT8 INT8_MIN
#define MAXUINT16 UINT16_MAX
#define MAXINT16 INT16_MAX
#define MININT16 INT16_MIN
#define MAXUINT32 UINT32_MAX
#define MAXINT32 INT32_MAX
#define MININT32 INT32_MIN
#define MAXUINT64 UINT64_MAX
#define MAXINT64 INT64_MAX
#define MININT64 INT64_MIN
#define MAXUINT UINT32_MAX
#define MAXINT INT32_MAX
#define MININT INT32_MIN
#define MAXULONG UINT32_MAX
#define MAXLONG INT32_MAX
#define MINLONG INT32_MIN
#define MAXULONGLONG UINT64_MAX
#define MAXLONGLONG INT64_MAX
#define MAXBYTE 0xff
#define MAXWORD 0xffff
#define MAXDWORD UINT32_MAX
#define MAXDWORD64 UINT64_MAX
#define MAXSIZE_T SIZE_MAX
#endif

#endif
