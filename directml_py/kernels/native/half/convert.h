/* Rows of FLOAT16 and FLOAT32, one made of the other. */

#pragma once

#include "../common/lanes.h"

#include "scalar.h"

DML_INLINE void floats_of_halves(float *restrict floats, const uint16_t *restrict halves, int64_t count)
{
    int64_t i = 0;
#if defined(__AVX512F__)
    for (; i + 16 <= count; i += 16)
        _mm512_storeu_ps(floats + i, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(halves + i))));
#endif
#if defined(__AVX2__)
    for (; i + 8 <= count; i += 8)
        _mm256_storeu_ps(floats + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(halves + i))));
#endif
    for (; i < count; i++)
        floats[i] = dml_float_of_half(halves[i]);
}

DML_INLINE void halves_of_floats(uint16_t *restrict halves, const float *restrict floats, int64_t count)
{
    int64_t i = 0;
#if defined(__AVX512F__)
    for (; i + 16 <= count; i += 16)
        _mm256_storeu_si256((__m256i *)(halves + i),
                            _mm512_cvtps_ph(_mm512_loadu_ps(floats + i), _MM_FROUND_TO_NEAREST_INT));
#endif
#if defined(__AVX2__)
    for (; i + 8 <= count; i += 8)
        _mm_storeu_si128((__m128i *)(halves + i),
                         _mm256_cvtps_ph(_mm256_loadu_ps(floats + i), _MM_FROUND_TO_NEAREST_INT));
#endif
    for (; i < count; i++)
        halves[i] = dml_half_of_float(floats[i]);
}

/* Loads and stores the first `count` halves of a vector, without touching those behind them. */
DML_INLINE dml_floats load_some_halves(const void *from, int64_t count)
{
#if defined(__AVX512F__)
    return (dml_floats)_mm512_cvtph_ps(_mm256_maskz_loadu_epi16((__mmask16)((1u << count) - 1), from));
#else
    uint16_t some[DML_FLOAT_LANES] = {0};
    dml_floats values;
    memcpy(some, from, (size_t)count * sizeof *some);
    floats_of_halves((float *)&values, some, DML_FLOAT_LANES);
    return values;
#endif
}

DML_INLINE void store_some_halves(void *to, dml_floats values, int64_t count)
{
#if defined(__AVX512F__)
    const __m256i halves = _mm512_cvtps_ph((__m512)values, _MM_FROUND_TO_NEAREST_INT);
    _mm256_mask_storeu_epi16(to, (__mmask16)((1u << count) - 1), halves);
#else
    uint16_t some[DML_FLOAT_LANES];
    halves_of_floats(some, (const float *)&values, DML_FLOAT_LANES);
    memcpy(to, some, (size_t)count * sizeof *some);
#endif
}

/* Elements `begin` to `end` of a row of a tensor as floats: themselves, or in `floats`. */
DML_INLINE const float *floats_of_row(float *floats, const char *row, int64_t stride, int64_t begin, int64_t end,
                                      int is_half)
{
    row += begin * stride;
    if (!is_half && stride == 4)
        return (const float *)row;
    if (is_half && stride == 2) {
        floats_of_halves(floats, (const uint16_t *)row, end - begin);
        return floats;
    }
    for (int64_t i = 0; i < end - begin; i++)
        floats[i] = dml_load_float(row + i * stride, is_half);
    return floats;
}
