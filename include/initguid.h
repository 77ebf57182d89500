// MIT License, Copyright (c) the directml-py authors.
//
// <initguid.h>: DEFINE_GUID defines from here on, and several translation units may define the same.

#ifdef _WIN32
#include_next <initguid.h>
#else

#ifndef DIRECTML_INITGUID_H
#define DIRECTML_INITGUID_H

#include <windows.h>

#ifndef INITGUID
#define INITGUID
#endif

#undef DEFINE_GUID
#ifdef __cplusplus
#define DEFINE_GUID(name, l, w1, w2, b1, b2, b3, b4, b5, b6, b7, b8) \
    EXTERN_C const GUID __attribute__((weak)) name = {l, w1, w2, {b1, b2, b3, b4, b5, b6, b7, b8}}
#else
#define DEFINE_GUID(name, l, w1, w2, b1, b2, b3, b4, b5, b6, b7, b8) \
    const GUID __attribute__((weak)) name = {l, w1, w2, {b1, b2, b3, b4, b5, b6, b7, b8}}
#endif

#endif
#endif
