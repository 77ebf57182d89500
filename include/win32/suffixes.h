// MIT License, Copyright (c) the directml-py authors.
//
// Visual C++'s suffixes of integer constants, ~3ui64, for g++ and C++. clang++ supports them with -fms-extensions.

#ifndef DIRECTML_WIN32_SUFFIXES_H
#define DIRECTML_WIN32_SUFFIXES_H

#if defined(__cplusplus) && defined(__GNUC__) && !defined(__clang__)

#include "types.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wliteral-suffix"

#define DIRECTML_WIN32_SUFFIX(suffix, type)                                  \
    constexpr type operator"" ##suffix(unsigned long long constant) noexcept \
    {                                                                        \
        return static_cast<type>(constant);                                  \
    }

extern "C++"
{
    DIRECTML_WIN32_SUFFIX(i8, int8_t)
    DIRECTML_WIN32_SUFFIX(i16, int16_t)
    DIRECTML_WIN32_SUFFIX(i32, int32_t)
    DIRECTML_WIN32_SUFFIX(i64, int64_t)
    DIRECTML_WIN32_SUFFIX(ui8, uint8_t)
    DIRECTML_WIN32_SUFFIX(ui16, uint16_t)
    DIRECTML_WIN32_SUFFIX(ui32, uint32_t)
    DIRECTML_WIN32_SUFFIX(ui64, uint64_t)
}

#undef DIRECTML_WIN32_SUFFIX
#pragma GCC diagnostic pop

#endif
#endif
