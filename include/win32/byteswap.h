// MIT License, Copyright (c) the directml-py authors.
//
// The byte-swapping functions of Visual C++'s <stdlib.h>. As everywhere in these headers, Windows' unsigned long has 32
// bits.

#ifndef DIRECTML_WIN32_BYTESWAP_H
#define DIRECTML_WIN32_BYTESWAP_H

#include "types.h"

#ifndef _byteswap_ushort
DIRECTML_WIN32_FUNCTION USHORT _byteswap_ushort(USHORT value)
{
    return __builtin_bswap16(value);
}
#endif

#ifndef _byteswap_ulong
DIRECTML_WIN32_FUNCTION ULONG _byteswap_ulong(ULONG value)
{
    return __builtin_bswap32(value);
}
#endif

#ifndef _byteswap_uint64
DIRECTML_WIN32_FUNCTION UINT64 _byteswap_uint64(UINT64 value)
{
    return __builtin_bswap64(value);
}
#endif

#endif
