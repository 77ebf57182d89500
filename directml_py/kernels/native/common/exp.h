/* Exponentials of numbers that are not larger than 0, sixteen at a time. */

#pragma once

#include "compiler.h"
#include "lanes.h"

#define DML_EXP_VECTORS (16 / DML_LANES)

/* A number is never less than -708, whose exponential is not 0 but too small to count; NaN stays. */
#if defined(__AVX512F__)
#define DML_EXP_BOUND(to, x) to = (dml_doubles)_mm512_max_pd(_mm512_set1_pd(-708.0), (__m512d)(x))
#define DML_EXP_DOUBLES(x) ((dml_doubles)_mm512_cvtps_pd(_mm256_loadu_ps(x)))
#elif defined(__AVX2__)
#define DML_EXP_BOUND(to, x) to = (dml_doubles)_mm256_max_pd(_mm256_set1_pd(-708.0), (__m256d)(x))
#define DML_EXP_DOUBLES(x) ((dml_doubles)_mm256_cvtps_pd(_mm_loadu_ps(x)))
#else
#define DML_EXP_BOUND(to, x)                                                                                           \
    for (int j = 0; j < 4; j++)                                                                                        \
    (to)[j] = (x)[j] < -708.0 ? -708.0 : (x)[j]
#define DML_EXP_DOUBLES(x) ((dml_doubles){(x)[0], (x)[1], (x)[2], (x)[3]})
#endif

/* Computes sixteen exponentials of numbers that are not larger than 0: x = k ln 2 + r, with exp(r) from a polynomial
   that is exact to 5e-12, fitted at Chebyshev's nodes such that exp(0) is 1. Each operation is done for all sixteen
   before the next, because of its latency. */
DML_INLINE void exp_sixteen(dml_doubles *values)
{
    typedef dml_doubles vector;
    typedef dml_bits bits;
    /* Added to a number, this leaves no bits for a fraction, and has the integer in the lowest bits. */
    const double magic = 0x1.8p52;
    vector r[DML_EXP_VECTORS], shifted[DML_EXP_VECTORS], cube[DML_EXP_VECTORS], low[DML_EXP_VECTORS],
        high[DML_EXP_VECTORS];
#define DML_EACH for (int i = 0; i < DML_EXP_VECTORS; i++)
    DML_EACH DML_EXP_BOUND(r[i], values[i]);
    DML_EACH shifted[i] = r[i] * 0x1.71547652b82fep0 + magic;
    DML_EACH r[i] = r[i] - (shifted[i] - magic) * 0x1.62e42fefa39efp-1;
    DML_EACH high[i] = 2.485963629411109e-05 * r[i] + 0.00019899332056564083;
    DML_EACH low[i] = 0.008333298413941455 * r[i] + 0.04166666671913807;
    DML_EACH cube[i] = r[i] * r[i];
    DML_EACH high[i] = high[i] * r[i] + 0.001388885397983235;
    DML_EACH low[i] = low[i] * r[i] + 0.166666667191548;
    DML_EACH cube[i] = cube[i] * r[i];
    DML_EACH low[i] = high[i] * cube[i] + low[i];
    DML_EACH low[i] = low[i] * r[i] + 0.5;
    DML_EACH low[i] = low[i] * r[i] + 1.0;
    DML_EACH low[i] = low[i] * r[i] + 1.0;
    DML_EACH values[i] = low[i] * (vector)(((bits)shifted[i] + 1023) << 52);
#undef DML_EACH
}

DML_INLINE double exp_sum(const float *x, int64_t n, double shift)
{
    typedef dml_doubles vector;
    vector sums[DML_EXP_VECTORS] = {{0}}, values[DML_EXP_VECTORS];
    float rest[16];
    for (int64_t i = 0; i < n; i += 16) {
        const float *part = x + i;
        if (n - i < 16) {
            for (int j = 0; j < 16; j++)
                rest[j] = j < n - i ? part[j] : -INFINITY;
            part = rest;
        }
        for (int j = 0; j < DML_EXP_VECTORS; j++)
            values[j] = DML_EXP_DOUBLES(part + DML_LANES * j) - shift;
        exp_sixteen(values);
        for (int j = 0; j < DML_EXP_VECTORS; j++)
            sums[j] += values[j];
    }
#if DML_EXP_VECTORS == 4
    sums[0] = sums[0] + sums[1] + (sums[2] + sums[3]);
    return sums[0][0] + sums[0][1] + (sums[0][2] + sums[0][3]);
#else
    return _mm512_reduce_add_pd((__m512d)(sums[0] + sums[1]));
#endif
}
