#pragma once

#include "compiler.h"
#include "lanes.h"

/* Natural logarithms of FLOAT64 that are positive, normal and finite, in place. With x = m 2^e, m between sqrt(1/2) and
   sqrt(2), and s = (m - 1) / (m + 1), log(m) is 2 (s + s^3/3 + s^5/5 ...): the terms after s^15 are less than 4e-14 of
   it, near 1 too. An integer in the fraction of 2^52 is that number once 2^52 is subtracted. */
DML_INLINE void dml_log_positive(dml_doubles *values)
{
    const uint64_t one = 0x3ff0000000000000u, digits = 0x000fffffffffffffu;
    dml_bits x = (dml_bits)*values, above;
    dml_doubles m = (dml_doubles)((x & digits) | one), e, s, z, sum;
    e = (dml_doubles)((x >> 52) | 0x4330000000000000u) - (0x1p52 + 1023.0);
    above = (dml_bits)(m > 0x1.6a09e667f3bcdp0);
    m = (dml_doubles)((dml_bits)m - (above & 0x0010000000000000u));
    e = e + (dml_doubles)(above & one);
    s = (m - 1.0) / (m + 1.0);
    z = s * s;
    sum = z * (2.0 / 15) + 2.0 / 13;
    DML_POLYNOMIAL(sum, z, 2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3, 2.0);
    *values = e * 0x1.62e42fefa39efp-1 + sum * s;
}
