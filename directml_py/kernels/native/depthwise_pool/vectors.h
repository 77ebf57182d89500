/* Windows over packed input. Its rows follow each other, and padding is packed, so that vectors run on over the ends of
   rows: what they compute between two rows is not stored. */

#pragma once

#include "../common/vectors.h"

#if defined(__AVX512F__)
#define DML_DEPTHWISE_POOL_LANES 16
#elif defined(__AVX2__)
#define DML_DEPTHWISE_POOL_LANES 8
#else
#define DML_DEPTHWISE_POOL_LANES 4
#endif
typedef float depthwise_pool_vector __attribute__((vector_size(4 * DML_DEPTHWISE_POOL_LANES), aligned(4), may_alias));
typedef int32_t depthwise_pool_mask __attribute__((vector_size(4 * DML_DEPTHWISE_POOL_LANES), aligned(4), may_alias));

/* The larger one, `best` where `value` is NaN. */
DML_INLINE depthwise_pool_vector depthwise_pool_larger(depthwise_pool_vector value, depthwise_pool_vector best)
{
#if defined(__AVX512F__)
    return (depthwise_pool_vector)_mm512_max_ps((__m512)value, (__m512)best);
#elif defined(__AVX2__)
    return (depthwise_pool_vector)_mm256_max_ps((__m256)value, (__m256)best);
#elif defined(__x86_64__)
    return (depthwise_pool_vector)_mm_max_ps((__m128)value, (__m128)best);
#else
    depthwise_pool_mask larger = value > best;
    return (depthwise_pool_vector)((larger & (depthwise_pool_mask)value) | (~larger & (depthwise_pool_mask)best));
#endif
}

/* Reduces `start` and all taps for `count` neighbouring outputs, and for up to a block beyond them. */
#define DML_DEPTHWISE_POOL_BLOCK 4
#define DML_DEPTHWISE_POOL_FLAT(NAME, STRIDE)                                                                          \
    static DML_ONCE void NAME(float *out, const float *in, float start, const int32_t *offsets, const float *weights,  \
                              int64_t taps, int64_t count)                                                             \
    {                                                                                                                  \
        (void)weights;                                                                                                 \
        for (int64_t i = 0; i < count; i += DML_DEPTHWISE_POOL_BLOCK * DML_DEPTHWISE_POOL_LANES) {                     \
            depthwise_pool_vector totals[DML_DEPTHWISE_POOL_BLOCK];                                                    \
            for (int j = 0; j < DML_DEPTHWISE_POOL_BLOCK; j++)                                                         \
                totals[j] = (depthwise_pool_vector){0} + start;                                                        \
            for (int64_t tap = 0; tap < taps; tap++) {                                                                 \
                const depthwise_pool_vector *source = (const depthwise_pool_vector *)(in + i + offsets[tap]);          \
                for (int j = 0; j < DML_DEPTHWISE_POOL_BLOCK; j++)                                                     \
                    totals[j] = STRIDE(totals[j], source[j]);                                                          \
            }                                                                                                          \
            memcpy(out + i, totals, sizeof totals);                                                                    \
        }                                                                                                              \
    }
#define DML_DEPTHWISE_POOL_ADD(total, value) (total) + (value)
#define DML_DEPTHWISE_POOL_ADD_PRODUCT(total, value) (total) + weights[tap] * (value)
#define DML_DEPTHWISE_POOL_TAKE_LARGER(best, value) depthwise_pool_larger(value, best)
DML_DEPTHWISE_POOL_FLAT(depthwise_pool_add, DML_DEPTHWISE_POOL_ADD)
DML_DEPTHWISE_POOL_FLAT(depthwise_pool_add_products, DML_DEPTHWISE_POOL_ADD_PRODUCT)
DML_DEPTHWISE_POOL_FLAT(depthwise_pool_maximum, DML_DEPTHWISE_POOL_TAKE_LARGER)

/* Finds the largest elements, and the first tap that has each; -1 where no tap is larger than -infinity. */
static DML_ONCE void depthwise_pool_first(float *out, int32_t *which, const float *in, const int32_t *offsets,
                                          int64_t taps, int64_t count)
{
    for (int64_t i = 0; i < count; i += DML_DEPTHWISE_POOL_BLOCK * DML_DEPTHWISE_POOL_LANES) {
        depthwise_pool_vector best[DML_DEPTHWISE_POOL_BLOCK];
        depthwise_pool_mask firsts[DML_DEPTHWISE_POOL_BLOCK];
        for (int j = 0; j < DML_DEPTHWISE_POOL_BLOCK; j++) {
            best[j] = (depthwise_pool_vector){0} - INFINITY;
            firsts[j] = (depthwise_pool_mask){0} - 1;
        }
        for (int64_t tap = 0; tap < taps; tap++) {
            const depthwise_pool_vector *source = (const depthwise_pool_vector *)(in + i + offsets[tap]);
            for (int j = 0; j < DML_DEPTHWISE_POOL_BLOCK; j++) {
#if defined(__AVX512F__)
                __mmask16 larger = _mm512_cmp_ps_mask((__m512)source[j], (__m512)best[j], _CMP_GT_OQ);
                firsts[j] = (depthwise_pool_mask)_mm512_mask_set1_epi32((__m512i)firsts[j], larger, (int)tap);
#else
                depthwise_pool_mask larger = source[j] > best[j];
                firsts[j] = (larger & (int32_t)tap) | (~larger & firsts[j]);
#endif
                best[j] = depthwise_pool_larger(source[j], best[j]);
            }
        }
        memcpy(out + i, best, sizeof best);
        memcpy(which + i, firsts, sizeof firsts);
    }
}

/* Reduces `start` and all rows to `line`; up to a vector behind its end is overwritten. */
#define DML_DEPTHWISE_POOL_JOIN(NAME, STRIDE)                                                                          \
    static DML_ONCE void NAME(float *line, float start, const float *const *rows, int64_t height, int64_t count)       \
    {                                                                                                                  \
        int64_t i = 0;                                                                                                 \
        for (; i + DML_DEPTHWISE_POOL_LANES <= count; i += DML_DEPTHWISE_POOL_LANES) {                                 \
            depthwise_pool_vector total = (depthwise_pool_vector){0} + start;                                          \
            for (int64_t row = 0; row < height; row++)                                                                 \
                total = STRIDE(total, *(const depthwise_pool_vector *)(rows[row] + i));                                \
            *(depthwise_pool_vector *)(line + i) = total;                                                              \
        }                                                                                                              \
        if (i == count)                                                                                                \
            return;                                                                                                    \
        depthwise_pool_vector total = (depthwise_pool_vector){0} + start;                                              \
        for (int64_t row = 0; row < height; row++)                                                                     \
            total = STRIDE(total, depthwise_pool_begin(rows[row] + i, count - i));                                     \
        *(depthwise_pool_vector *)(line + i) = total;                                                                  \
    }

/* Loads the first elements of a vector; nothing behind them is read. */
DML_INLINE depthwise_pool_vector depthwise_pool_begin(const float *from, int64_t count)
{
#if defined(__AVX512F__)
    return (depthwise_pool_vector)_mm512_maskz_loadu_ps((__mmask16)((1u << count) - 1), from);
#else
    depthwise_pool_vector values = {0};
    for (int64_t i = 0; i < count; i++)
        values[i] = from[i];
    return values;
#endif
}

DML_DEPTHWISE_POOL_JOIN(depthwise_pool_add_rows, DML_DEPTHWISE_POOL_ADD)
DML_DEPTHWISE_POOL_JOIN(depthwise_pool_maximum_rows, DML_DEPTHWISE_POOL_TAKE_LARGER)

/* Copies in two parts, which overlap where there is less to copy than both hold. */
DML_INLINE void depthwise_pool_copy_ends(float *out, const float *from, int64_t count, const int64_t part)
{
    memcpy(out, from, (size_t)part * 4);
    memcpy(out + count - part, from + count - part, (size_t)part * 4);
}

/* Storing parts of vectors is slow on some processors. */
DML_INLINE void depthwise_pool_copy(float *out, const float *from, int64_t count)
{
    if (count >= DML_DEPTHWISE_POOL_LANES) {
        for (int64_t i = 0; i < count - DML_DEPTHWISE_POOL_LANES; i += DML_DEPTHWISE_POOL_LANES)
            *(depthwise_pool_vector *)(out + i) = *(const depthwise_pool_vector *)(from + i);
        memcpy(out + count - DML_DEPTHWISE_POOL_LANES, from + count - DML_DEPTHWISE_POOL_LANES,
               4 * DML_DEPTHWISE_POOL_LANES);
    } else if (count >= 8) {
        depthwise_pool_copy_ends(out, from, count, 8);
    } else if (count >= 4) {
        depthwise_pool_copy_ends(out, from, count, 4);
    } else {
        for (int64_t i = 0; i < count; i++)
            out[i] = from[i];
    }
}

/* Every second element of two vectors. */
DML_INLINE depthwise_pool_vector depthwise_pool_evens(depthwise_pool_vector low, depthwise_pool_vector high)
{
#if defined(__AVX512F__)
    return __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
#elif defined(__AVX2__)
    return __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14);
#else
    return __builtin_shufflevector(low, high, 0, 2, 4, 6);
#endif
}

/* Copies every second element; nothing behind the last one is read. */
DML_INLINE void depthwise_pool_halve(float *out, const float *from, int64_t count)
{
    int64_t i = 0;
    for (; i + DML_DEPTHWISE_POOL_LANES < count; i += DML_DEPTHWISE_POOL_LANES)
        *(depthwise_pool_vector *)(out + i) =
            depthwise_pool_evens(*(const depthwise_pool_vector *)(from + 2 * i),
                                 *(const depthwise_pool_vector *)(from + 2 * i + DML_DEPTHWISE_POOL_LANES));
#if defined(__AVX512F__)
    uint32_t source = (uint32_t)((1ull << (2 * (count - i) - 1)) - 1);
    __m512 low = _mm512_maskz_loadu_ps((__mmask16)source, from + 2 * i);
    __m512 high = _mm512_maskz_loadu_ps((__mmask16)(source >> 16), from + 2 * i + DML_DEPTHWISE_POOL_LANES);
    depthwise_pool_vector rest = depthwise_pool_evens((depthwise_pool_vector)low, (depthwise_pool_vector)high);
    depthwise_pool_copy(out + i, (const float *)&rest, count - i);
#else
    for (; i < count; i++)
        out[i] = from[2 * i];
#endif
}

/* Packs elements from `first` on, a stride apart, of a line of `size`; those that are not in it become `outside`,
   unless it is known that there are none. */
DML_INLINE void depthwise_pool_pack(float *out, const float *line, int64_t size, int64_t first, int64_t stride,
                                    int64_t count, float outside, int has_outside)
{
    int64_t begin = first >= 0 ? 0 : stride == 1 ? -first : (-first + stride - 1) / stride;
    int64_t end = first >= size ? 0 : stride == 1 ? size - first : (size - first + stride - 1) / stride;
    begin = begin < count ? begin : count;
    end = end < begin ? begin : end < count ? end : count;
    if (begin < end) {
        line += first + begin * stride;
        if (stride == 1)
            depthwise_pool_copy(out + begin, line, end - begin);
        else if (stride == 2)
            depthwise_pool_halve(out + begin, line, end - begin);
        else
            for (int64_t i = 0; i < end - begin; i++)
                out[begin + i] = line[i * stride];
    }
    if (has_outside)
        return;
    for (int64_t i = 0; i < begin; i++)
        out[i] = outside;
    for (int64_t i = end; i < count; i++)
        out[i] = outside;
}
