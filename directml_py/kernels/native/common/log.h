#pragma once

#include "compiler.h"

/* Defines NAME: natural logarithms of a vector of FLOAT64 that are positive, normal and finite, in place. BITS is the
   vector of their encodings. With x = m 2^e, m between sqrt(1/2) and sqrt(2), and s = (m - 1) / (m + 1), log(m) is 2 (s
   + s^3/3 + s^5/5 ...): the terms after s^15 are less than 4e-14 of it, near 1 too. An integer in the fraction of 2^52
   is that number once 2^52 is subtracted. */
#define DML_DEFINE_LOG(NAME, VECTOR, BITS)                                                                             \
    DML_INLINE void NAME(VECTOR *values)                                                                               \
    {                                                                                                                  \
        const uint64_t one = 0x3ff0000000000000u, digits = 0x000fffffffffffffu;                                        \
        BITS x = (BITS)*values, above;                                                                                 \
        VECTOR m = (VECTOR)((x & digits) | one), e, s, z, sum;                                                         \
        e = (VECTOR)((x >> 52) | 0x4330000000000000u) - (0x1p52 + 1023.0);                                             \
        above = (BITS)(m > 0x1.6a09e667f3bcdp0);                                                                       \
        m = (VECTOR)((BITS)m - (above & 0x0010000000000000u));                                                         \
        e = e + (VECTOR)(above & one);                                                                                 \
        s = (m - 1.0) / (m + 1.0);                                                                                     \
        z = s * s;                                                                                                     \
        sum = z * (2.0 / 15) + 2.0 / 13;                                                                               \
        sum = sum * z + 2.0 / 11;                                                                                      \
        sum = sum * z + 2.0 / 9;                                                                                       \
        sum = sum * z + 2.0 / 7;                                                                                       \
        sum = sum * z + 2.0 / 5;                                                                                       \
        sum = sum * z + 2.0 / 3;                                                                                       \
        sum = sum * z + 2.0;                                                                                           \
        *values = e * 0x1.62e42fefa39efp-1 + sum * s;                                                                  \
    }
