/* Microkernels of FLOAT32. A panel {kc, nr} has a row for each tap of the window in each channel, with the inputs of nr
   neighbouring pixels. A register tile {mr, nr} accumulates the products of mr filters while it reads a panel. */

#pragma once

#include "../common/lanes.h"
#include "../softmax_norm/activation.h"
#include "../softmax_norm/norm.h"
#include "dispatch.h"

typedef float conv_floats __attribute__((vector_size(4 * DML_FLOAT_LANES)));
typedef float conv_unaligned_floats __attribute__((vector_size(4 * DML_FLOAT_LANES), aligned(4), may_alias));

/* Each stage passes over all sums before the next does, so that whether there is one is asked once. */
#define DML_CONV_EACH_ROW _Pragma("GCC unroll 16") for (int i = 0; i < rows; i++)
#define DML_CONV_EACH_VECTOR _Pragma("GCC unroll 16") for (int j = 0; j < vectors; j++)

DML_INLINE void conv_activate_tile(conv_floats *sums, const dml_post_ops *post_ops, int activation, const int rows,
                                   const int vectors)
{
    DML_CONV_EACH_ROW DML_CONV_EACH_VECTOR sums[i * vectors + j] =
        activated(sums[i * vectors + j], post_ops, activation);
}

DML_INLINE void conv_epilogue_floats(const dml_conv_epilogue *epilogue, int64_t n, conv_floats *sums, const int rows,
                                     const int vectors)
{
    const int64_t stride = epilogue->stride, last_count = epilogue->last_count;
    DML_CONV_EACH_ROW
    {
        const float bias = epilogue->bias ? epilogue->bias[i * epilogue->bias_stride] : 0.0f;
        DML_CONV_EACH_VECTOR sums[i * vectors + j] += bias;
    }
    if (epilogue->channels)
        DML_CONV_EACH_ROW DML_CONV_EACH_VECTOR sums[i * vectors + j] = (conv_floats)batch_norm_short(
            (softmax_norm_lanes)sums[i * vectors + j], epilogue->channels + i);
    if (epilogue->residual)
        DML_CONV_EACH_ROW
        {
            const conv_unaligned_floats *more = (const conv_unaligned_floats *)(epilogue->residual + i * stride + n);
            _Pragma("GCC unroll 16") for (int j = 0; j + 1 < vectors; j++) sums[i * vectors + j] += more[j];
            sums[(i + 1) * vectors - 1] += dml_load_some((const float *)(more + vectors - 1), last_count);
        }
    if (epilogue->activation == DML_ACTIVATION_RELU)
        conv_activate_tile(sums, epilogue->post_ops, DML_ACTIVATION_RELU, rows, vectors);
    else if (epilogue->activation == DML_ACTIVATION_CLIP)
        conv_activate_tile(sums, epilogue->post_ops, DML_ACTIVATION_CLIP, rows, vectors);
    DML_CONV_EACH_ROW
    {
        conv_unaligned_floats *line = (conv_unaligned_floats *)(epilogue->target + n + i * stride);
        _Pragma("GCC unroll 16") for (int j = 0; j + 1 < vectors; j++) line[j] = sums[i * vectors + j];
        dml_store_some((float *)(line + vectors - 1), sums[(i + 1) * vectors - 1], last_count);
    }
}
#undef DML_CONV_EACH_ROW
#undef DML_CONV_EACH_VECTOR

#define DML_CONV_MULTIPLY_ADD(SUMS, PIXELS, FILTER) SUMS += (PIXELS) * (FILTER)
DML_CONV_ALL_TILES(floats, float, DML_CONV_MULTIPLY_ADD)
#undef DML_CONV_MULTIPLY_ADD

DML_INLINE float conv_horizontal_sum(conv_floats parts)
{
#if defined(__AVX512F__)
    return _mm512_reduce_add_ps((__m512)parts);
#else
    for (int width = DML_FLOAT_LANES / 2; width > 0; width /= 2)
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
    for (; k + 4 * DML_FLOAT_LANES <= kc; k += 4 * DML_FLOAT_LANES)
        _Pragma("GCC unroll 4") for (int i = 0; i < 4; i++) parts[i] +=
            *(const conv_unaligned_floats *)(column + k + i * DML_FLOAT_LANES) *
            *(const conv_unaligned_floats *)(filter + k + i * DML_FLOAT_LANES);
    for (; k + DML_FLOAT_LANES <= kc; k += DML_FLOAT_LANES)
        parts[0] += *(const conv_unaligned_floats *)(column + k) * *(const conv_unaligned_floats *)(filter + k);
    for (; k < kc; k++)
        sum += column[k] * filter[k];
    return sum + conv_horizontal_sum(parts[0] + parts[1] + (parts[2] + parts[3]));
}

/* Adds up dot products of filters; the sum of each filter is stored in the first lane of a vector. */
static DML_ONCE void conv_dots(float *sums, const float *filters, int64_t row, const float *column, int64_t kc,
                               int64_t count, int adds)
{
    for (int64_t i = 0; i < count; i++, sums += DML_FLOAT_LANES)
        *sums = (adds ? *sums : 0.0f) + conv_dot_product(filters + i * row, column, kc);
}
