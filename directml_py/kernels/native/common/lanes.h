/* Vectors of 32 bits in each lane, as long as those of the instruction set, and of 64 bits in half as many lanes, but no
   fewer than four; in memory they may begin at any element. */

#pragma once

#include "vectors.h"

#if defined(__AVX512F__)
#define DML_FLOAT_LANES 16
#define DML_LANES 8
#elif defined(__AVX2__)
#define DML_FLOAT_LANES 8
#define DML_LANES 4
#else
#define DML_FLOAT_LANES 4
#define DML_LANES 4
#endif
typedef float dml_floats __attribute__((vector_size(4 * DML_FLOAT_LANES), aligned(4), may_alias));
typedef int32_t dml_ints __attribute__((vector_size(4 * DML_FLOAT_LANES), aligned(4), may_alias));
typedef double dml_doubles __attribute__((vector_size(8 * DML_LANES), aligned(8), may_alias));
typedef uint64_t dml_bits __attribute__((vector_size(8 * DML_LANES), aligned(8), may_alias));

/* Adds coefficients of a polynomial by Horner's rule. */
#define DML_POLYNOMIAL(sum, x, ...)                                                                                    \
    do {                                                                                                               \
        static const double coefficients[] = {__VA_ARGS__};                                                            \
        DML_UNROLLED for (int i = 0; i < (int)(sizeof coefficients / sizeof *coefficients); i++) sum =                 \
            sum * x + coefficients[i];                                                                                 \
    } while (0)

/* The larger one, `best` where `value` is NaN. */
DML_INLINE dml_floats dml_larger(dml_floats value, dml_floats best)
{
#if defined(__AVX512F__)
    return (dml_floats)_mm512_max_ps((__m512)value, (__m512)best);
#elif defined(__AVX2__)
    return (dml_floats)_mm256_max_ps((__m256)value, (__m256)best);
#elif defined(__x86_64__)
    return (dml_floats)_mm_max_ps((__m128)value, (__m128)best);
#else
    dml_ints larger = value > best;
    return (dml_floats)((larger & (dml_ints)value) | (~larger & (dml_ints)best));
#endif
}

/* Loads and stores the lanes that a mask, one bit or one integer for each, has; the memory of others is not touched, and
   they are loaded from `others`. */
#if defined(__AVX512F__)
typedef __mmask16 dml_mask;

DML_INLINE dml_mask dml_mask_of(uint64_t bits)
{
    return (dml_mask)bits;
}

DML_INLINE dml_floats dml_load_lanes(dml_floats others, dml_mask mask, const float *from)
{
    return (dml_floats)_mm512_mask_loadu_ps((__m512)others, mask, from);
}

DML_INLINE void dml_store_lanes(float *to, dml_mask mask, dml_floats values)
{
    _mm512_mask_storeu_ps(to, mask, (__m512)values);
}

DML_INLINE uint64_t dml_equal_lanes(dml_floats one, dml_floats other)
{
    return _mm512_cmp_ps_mask((__m512)one, (__m512)other, _CMP_EQ_OQ);
}
#elif defined(__AVX2__)
typedef dml_ints dml_mask;

DML_INLINE dml_mask dml_mask_of(uint64_t bits)
{
    const dml_ints lanes = {1, 2, 4, 8, 16, 32, 64, 128};
    return (((dml_ints){0} + (int32_t)bits) & lanes) == lanes;
}

DML_INLINE dml_floats dml_load_lanes(dml_floats others, dml_mask mask, const float *from)
{
    return (dml_floats)((dml_ints)_mm256_maskload_ps(from, (__m256i)mask) | (~mask & (dml_ints)others));
}

DML_INLINE void dml_store_lanes(float *to, dml_mask mask, dml_floats values)
{
    _mm256_maskstore_ps(to, (__m256i)mask, (__m256)values);
}

DML_INLINE uint64_t dml_equal_lanes(dml_floats one, dml_floats other)
{
    return (uint64_t)_mm256_movemask_ps((__m256)(one == other));
}
#endif

/* Loads and stores the first `count` lanes, without touching the memory behind them. */
DML_INLINE dml_floats dml_load_some(const float *from, int64_t count)
{
#if defined(__AVX2__)
    return dml_load_lanes((dml_floats){0}, dml_mask_of((1u << count) - 1), from);
#else
    dml_floats values = {0};
    memcpy(&values, from, (size_t)count * sizeof *from);
    return values;
#endif
}

DML_INLINE void dml_store_some(float *to, dml_floats values, int64_t count)
{
#if defined(__AVX2__)
    /* On AMD's processors a masked store takes as long as ten others. */
    if (DML_FLOAT_LANES == 8 && count == DML_FLOAT_LANES)
        *(dml_floats *)to = values;
    else
        dml_store_lanes(to, dml_mask_of((1u << count) - 1), values);
#else
    memcpy(to, &values, (size_t)count * sizeof *to);
#endif
}
