/* Windows over packed input. Its rows follow each other, and padding is packed, so that vectors run on over the ends of
   rows: what they compute between two rows is not stored. */

#pragma once

#include "../common/lanes.h"
#include "../move/copy.h"

/* Reduces `start` and all taps for `count` neighbouring outputs, and for up to a block beyond them. */
#define DML_DEPTHWISE_POOL_BLOCK 4
#define DML_DEPTHWISE_POOL_FLAT(NAME, STRIDE)                                                                          \
    static DML_ONCE void NAME(float *out, const float *in, float start, const int32_t *offsets, const float *weights,  \
                              int64_t taps, int64_t count)                                                             \
    {                                                                                                                  \
        (void)weights;                                                                                                 \
        for (int64_t i = 0; i < count; i += DML_DEPTHWISE_POOL_BLOCK * DML_FLOAT_LANES) {                              \
            dml_floats totals[DML_DEPTHWISE_POOL_BLOCK];                                                               \
            for (int j = 0; j < DML_DEPTHWISE_POOL_BLOCK; j++)                                                         \
                totals[j] = (dml_floats){0} + start;                                                                   \
            for (int64_t tap = 0; tap < taps; tap++) {                                                                 \
                const dml_floats *source = (const dml_floats *)(in + i + offsets[tap]);                                \
                for (int j = 0; j < DML_DEPTHWISE_POOL_BLOCK; j++)                                                     \
                    totals[j] = STRIDE(totals[j], source[j]);                                                          \
            }                                                                                                          \
            memcpy(out + i, totals, sizeof totals);                                                                    \
        }                                                                                                              \
    }
#define DML_DEPTHWISE_POOL_ADD(total, value) (total) + (value)
#define DML_DEPTHWISE_POOL_ADD_PRODUCT(total, value) (total) + weights[tap] * (value)
#define DML_DEPTHWISE_POOL_TAKE_LARGER(best, value) dml_larger(value, best)
DML_DEPTHWISE_POOL_FLAT(depthwise_pool_add, DML_DEPTHWISE_POOL_ADD)
DML_DEPTHWISE_POOL_FLAT(depthwise_pool_add_products, DML_DEPTHWISE_POOL_ADD_PRODUCT)
DML_DEPTHWISE_POOL_FLAT(depthwise_pool_maximum, DML_DEPTHWISE_POOL_TAKE_LARGER)

/* Finds the largest elements, and the first tap that has each; -1 where no tap is larger than -infinity. */
static DML_ONCE void depthwise_pool_first(float *out, int32_t *which, const float *in, const int32_t *offsets,
                                          int64_t taps, int64_t count)
{
    for (int64_t i = 0; i < count; i += DML_DEPTHWISE_POOL_BLOCK * DML_FLOAT_LANES) {
        dml_floats best[DML_DEPTHWISE_POOL_BLOCK];
        dml_ints firsts[DML_DEPTHWISE_POOL_BLOCK];
        for (int j = 0; j < DML_DEPTHWISE_POOL_BLOCK; j++) {
            best[j] = (dml_floats){0} - INFINITY;
            firsts[j] = (dml_ints){0} - 1;
        }
        for (int64_t tap = 0; tap < taps; tap++) {
            const dml_floats *source = (const dml_floats *)(in + i + offsets[tap]);
            for (int j = 0; j < DML_DEPTHWISE_POOL_BLOCK; j++) {
                dml_ints larger = source[j] > best[j];
                firsts[j] = (larger & (int32_t)tap) | (~larger & firsts[j]);
                best[j] = dml_larger(source[j], best[j]);
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
        for (; i + DML_FLOAT_LANES <= count; i += DML_FLOAT_LANES) {                                                   \
            dml_floats total = (dml_floats){0} + start;                                                                \
            for (int64_t row = 0; row < height; row++)                                                                 \
                total = STRIDE(total, *(const dml_floats *)(rows[row] + i));                                           \
            *(dml_floats *)(line + i) = total;                                                                         \
        }                                                                                                              \
        if (i == count)                                                                                                \
            return;                                                                                                    \
        dml_floats total = (dml_floats){0} + start;                                                                    \
        for (int64_t row = 0; row < height; row++)                                                                     \
            total = STRIDE(total, dml_load_some(rows[row] + i, count - i));                                            \
        *(dml_floats *)(line + i) = total;                                                                             \
    }

DML_DEPTHWISE_POOL_JOIN(depthwise_pool_add_rows, DML_DEPTHWISE_POOL_ADD)
DML_DEPTHWISE_POOL_JOIN(depthwise_pool_maximum_rows, DML_DEPTHWISE_POOL_TAKE_LARGER)

/* Every second element of two vectors, from element I on. */
#if defined(__AVX512F__)
#define DML_DEPTHWISE_POOL_SECONDS(LOW, HIGH, I)                                                                       \
    __builtin_shufflevector(LOW, HIGH, I, 2 + I, 4 + I, 6 + I, 8 + I, 10 + I, 12 + I, 14 + I, 16 + I, 18 + I, 20 + I,  \
                            22 + I, 24 + I, 26 + I, 28 + I, 30 + I)
#elif defined(__AVX2__)
#define DML_DEPTHWISE_POOL_SECONDS(LOW, HIGH, I)                                                                       \
    __builtin_shufflevector(LOW, HIGH, I, 2 + I, 4 + I, 6 + I, 8 + I, 10 + I, 12 + I, 14 + I)
#else
#define DML_DEPTHWISE_POOL_SECONDS(LOW, HIGH, I) __builtin_shufflevector(LOW, HIGH, I, 2 + I, 4 + I, 6 + I)
#endif

/* Copies every second element; nothing behind the last one is read. */
DML_INLINE void depthwise_pool_halve(float *out, const float *from, int64_t count)
{
    int64_t i = 0;
    for (; i + DML_FLOAT_LANES < count; i += DML_FLOAT_LANES)
        *(dml_floats *)(out + i) = DML_DEPTHWISE_POOL_SECONDS(
            *(const dml_floats *)(from + 2 * i), *(const dml_floats *)(from + 2 * i + DML_FLOAT_LANES), 0);
#if defined(__AVX2__)
    const uint64_t source = (1ull << (2 * (count - i) - 1)) - 1;
    dml_floats low = dml_load_lanes((dml_floats){0}, dml_mask_of(source), from + 2 * i);
    dml_floats high = dml_load_lanes((dml_floats){0}, dml_mask_of(source >> DML_FLOAT_LANES),
                                     from + 2 * i + DML_FLOAT_LANES);
    dml_store_some(out + i, DML_DEPTHWISE_POOL_SECONDS(low, high, 0), count - i);
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
    begin = dml_least(begin, count);
    end = end < begin ? begin : dml_least(end, count);
    if (begin < end) {
        line += first + begin * stride;
        if (stride == 1)
            copy_bytes((char *)(out + begin), (const char *)line, (end - begin) * 4);
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
