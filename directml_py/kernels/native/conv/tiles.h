/* Microkernels of FLOAT32. A panel {kc, nr} has a row for each tap of the window in each channel, with the inputs of nr
   neighbouring pixels. A register tile {mr, nr} accumulates the products of mr filters while it reads a panel. */

#pragma once

#include "../common/vectors.h"
#include "../elementwise/float32_functions.h"
#include "../softmax_norm/norm.h"
#include "dispatch.h"
#include "lanes.h"

typedef float conv_floats __attribute__((vector_size(4 * conv_lanes)));
typedef float conv_unaligned_floats __attribute__((vector_size(4 * conv_lanes), aligned(4), may_alias));

typedef int32_t conv_mask __attribute__((vector_size(4 * conv_lanes)));

DML_INLINE conv_floats conv_chosen(conv_mask which, conv_floats values, conv_floats others)
{
    conv_mask bits = ((conv_mask)values & which) | ((conv_mask)others & ~which);
    memcpy(&values, &bits, sizeof values);
    return values;
}

/* max(x, low), which is `low` for NaN, and min(x, high), which is `high` for NaN. */
#if defined(__AVX2__)
#define DML_CONV_MAX(x, low) ((conv_floats)DML_F(max)((float_vector)(x), DML_ALL(low)))
#define DML_CONV_MIN(x, high) ((conv_floats)DML_F(min)((float_vector)(x), DML_ALL(high)))
#else
#define DML_CONV_MAX(x, low) conv_chosen((x) > (low), x, (conv_floats){0} + (low))
#define DML_CONV_MIN(x, high) conv_chosen((x) < (high), x, (conv_floats){0} + (high))
#endif
DML_INLINE conv_floats conv_activated(conv_floats sums, const dml_conv_post_ops *post_ops, int activation)
{
    if (activation == DML_ACTIVATION_RELU)
        sums = DML_CONV_MAX(sums, 0.0f);
    else if (activation == DML_ACTIVATION_LEAKY_RELU)
        sums = conv_chosen(sums < 0.0f, sums * post_ops->slope, sums);
    else if (activation == DML_ACTIVATION_CLIP)
        sums = DML_CONV_MAX(DML_CONV_MIN(sums, post_ops->high), post_ops->low);
    return sums;
}
#undef DML_CONV_MAX
#undef DML_CONV_MIN

/* Stores the remainder of a row, which is the first lanes of a vector. */
DML_INLINE void conv_store_remainder(float *target, conv_floats values, int64_t count)
{
#if defined(__AVX512F__)
    _mm512_mask_storeu_ps(target, (__mmask16)((1u << count) - 1), (__m512)values);
#else
    memcpy(target, &values, (size_t)count * 4);
#endif
}

/* Loads the first lanes of a vector. */
DML_INLINE conv_floats conv_load_remainder(const float *source, int64_t count)
{
#if defined(__AVX512F__)
    return (conv_floats)_mm512_maskz_loadu_ps((__mmask16)((1u << count) - 1), source);
#else
    conv_floats values = {0};
    memcpy(&values, source, (size_t)count * 4);
    return values;
#endif
}

DML_INLINE void conv_epilogue_floats(const dml_conv_epilogue *epilogue, int row, int64_t n, const conv_floats *sums,
                                     const int vectors)
{
    const dml_batch_norm_channel *channel = epilogue->channels ? epilogue->channels + row : NULL;
    float bias = epilogue->bias ? epilogue->bias[row * epilogue->bias_stride] : 0.0f;
    conv_floats values[DML_CONV_MAX_VECTORS];
    conv_unaligned_floats *target = (conv_unaligned_floats *)(epilogue->target + row * epilogue->stride + n);
    _Pragma("GCC unroll 16") for (int j = 0; j < vectors; j++) values[j] = sums[j] + bias;
    if (channel)
        _Pragma("GCC unroll 16") for (int j = 0; j < vectors; j++) values[j] =
            (conv_floats)batch_norm_short((softmax_norm_lanes)values[j], channel);
    if (epilogue->residual) {
        const conv_unaligned_floats *more =
            (const conv_unaligned_floats *)(epilogue->residual + row * epilogue->stride + n);
        _Pragma("GCC unroll 16") for (int j = 0; j + 1 < vectors; j++) values[j] += more[j];
        if (epilogue->last_count == conv_lanes)
            values[vectors - 1] += more[vectors - 1];
        else
            values[vectors - 1] += conv_load_remainder((const float *)(more + vectors - 1), epilogue->last_count);
    }
    if (epilogue->activation == DML_ACTIVATION_RELU)
        _Pragma("GCC unroll 16") for (int j = 0; j < vectors; j++) values[j] =
            conv_activated(values[j], epilogue->post_ops, DML_ACTIVATION_RELU);
    else if (epilogue->activation == DML_ACTIVATION_CLIP)
        _Pragma("GCC unroll 16") for (int j = 0; j < vectors; j++) values[j] =
            conv_activated(values[j], epilogue->post_ops, DML_ACTIVATION_CLIP);
    _Pragma("GCC unroll 16") for (int j = 0; j + 1 < vectors; j++) target[j] = values[j];
    if (epilogue->last_count == conv_lanes)
        target[vectors - 1] = values[vectors - 1];
    else
        conv_store_remainder((float *)(target + vectors - 1), values[vectors - 1], epilogue->last_count);
}

#define DML_CONV_MULTIPLY_ADD(SUMS, PIXELS, FILTER) SUMS += (PIXELS) * (FILTER)
#if defined(__AVX512F__)
DML_CONV_WIDE_TILES(floats, float, DML_CONV_MULTIPLY_ADD)
#else
DML_CONV_NARROW_TILES(floats, float, DML_CONV_MULTIPLY_ADD)
#endif
#undef DML_CONV_MULTIPLY_ADD

DML_INLINE float conv_horizontal_sum(conv_floats parts)
{
#if defined(__AVX512F__)
    return _mm512_reduce_add_ps((__m512)parts);
#else
    for (int width = conv_lanes / 2; width > 0; width /= 2)
        for (int j = 0; j < width; j++)
            parts[j] += parts[j + width];
    return parts[0];
#endif
}

/* The dot product of a filter and one pixel. */
DML_INLINE float conv_dot_product(const float *filter, const float *column, int64_t kc)
{
    conv_floats parts[4] = {{0}, {0}, {0}, {0}};
    float sum = 0.0f;
    int64_t k = 0;
    for (; k + 4 * conv_lanes <= kc; k += 4 * conv_lanes)
        _Pragma("GCC unroll 4") for (int i = 0; i < 4; i++) parts[i] +=
            *(const conv_unaligned_floats *)(column + k + i * conv_lanes) *
            *(const conv_unaligned_floats *)(filter + k + i * conv_lanes);
    for (; k + conv_lanes <= kc; k += conv_lanes)
        parts[0] += *(const conv_unaligned_floats *)(column + k) * *(const conv_unaligned_floats *)(filter + k);
    for (; k < kc; k++)
        sum += column[k] * filter[k];
    return sum + conv_horizontal_sum(parts[0] + parts[1] + (parts[2] + parts[3]));
}

/* Adds up dot products of filters; the sum of each filter is stored in the first lane of a vector. */
static DML_ONCE void conv_dots(float *sums, const float *filters, int64_t row, const float *column, int64_t kc,
                               int64_t count, int adds)
{
    for (int64_t i = 0; i < count; i++, sums += conv_lanes)
        *sums = (adds ? *sums : 0.0f) + conv_dot_product(filters + i * row, column, kc);
}
