/* Winograd's F(2x2, 3x3): 2 by 2 results of a filter of 3 by 3 take 16 products instead of 36, of sums and differences
   of the filter's elements and of the 4 by 4 elements of its window. Those of filters are multiples of a quarter, so
   that nothing is rounded if elements are whole numbers. */

#pragma once

#include "../common/lanes.h"
#include "../common/compiler.h"
#include "../softmax_norm/dispatch.h"
#include "../softmax_norm/norm.h"
#include "dispatch.h"
#include "tiles.h"

/* Transforms as many filters as there are lanes; each vector has one element of all of them. */
DML_INLINE void conv_transform_vectors(float *transformed, int64_t stride, const conv_floats *filter, int64_t count)
{
    conv_floats columns[4][3], results[4][4];
    for (int x = 0; x < 3; x++) {
        conv_floats ends = filter[x] + filter[6 + x];
        columns[0][x] = filter[x];
        columns[1][x] = (ends + filter[3 + x]) * 0.5f;
        columns[2][x] = (ends - filter[3 + x]) * 0.5f;
        columns[3][x] = filter[6 + x];
    }
    for (int y = 0; y < 4; y++) {
        conv_floats ends = columns[y][0] + columns[y][2];
        results[y][0] = columns[y][0];
        results[y][1] = (ends + columns[y][1]) * 0.5f;
        results[y][2] = (ends - columns[y][1]) * 0.5f;
        results[y][3] = columns[y][2];
    }
    for (int i = 0; i < 16; i++)
        dml_store_some(transformed + i * stride, results[i / 4][i % 4], count);
}

/* Transforms one filter for each channel; the transforms lie side by side. */
static DML_ONCE void conv_transform_filters(float *transformed, int64_t stride, const float *filters, int64_t channels,
                                            int is_rotated)
{
    for (int64_t c = 0; c < channels; c += DML_FLOAT_LANES) {
        float elements[9][DML_FLOAT_LANES] __attribute__((aligned(64)));
        int64_t count = dml_least(channels - c, DML_FLOAT_LANES);
        memset(elements, 0, sizeof elements);
        for (int64_t i = 0; i < count; i++)
            for (int k = 0; k < 9; k++)
                elements[is_rotated ? 8 - k : k][i] = filters[(c + i) * 9 + k];
        conv_transform_vectors(transformed + c, stride, (const conv_floats *)elements, count);
    }
}

/* Transforms neighbouring windows: `source` has a row for each of their 4 by 4 elements. */
static DML_ONCE void conv_transform(float *transformed, int64_t stride, const float *source, int64_t vectors)
{
    const conv_floats *rows = (const conv_floats *)source;
    for (int64_t j = 0; j < vectors; j++) {
        conv_floats columns[4][4];
        DML_UNROLLED for (int x = 0; x < 4; x++)
        {
            conv_floats second = rows[(4 + x) * vectors + j], third = rows[(8 + x) * vectors + j];
            columns[0][x] = rows[x * vectors + j] - third;
            columns[1][x] = second + third;
            columns[2][x] = third - second;
            columns[3][x] = second - rows[(12 + x) * vectors + j];
        }
        DML_UNROLLED for (int y = 0; y < 4; y++)
        {
            conv_floats *results = (conv_floats *)(transformed + 4 * y * stride) + j;
            int64_t next = stride / DML_FLOAT_LANES;
            results[0] = columns[y][0] - columns[y][2];
            results[next] = columns[y][1] + columns[y][2];
            results[2 * next] = columns[y][2] - columns[y][1];
            results[3 * next] = columns[y][1] - columns[y][3];
        }
    }
}

/* Interleaves the lanes of two vectors. */
DML_INLINE void conv_alternate(float *out, conv_floats evens, conv_floats odds)
{
    conv_floats *both = (conv_floats *)out;
#if defined(__AVX512F__)
    both[0] = __builtin_shufflevector(evens, odds, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    both[1] = __builtin_shufflevector(evens, odds, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
#elif defined(__AVX2__)
    both[0] = __builtin_shufflevector(evens, odds, 0, 8, 1, 9, 2, 10, 3, 11);
    both[1] = __builtin_shufflevector(evens, odds, 4, 12, 5, 13, 6, 14, 7, 15);
#else
    both[0] = __builtin_shufflevector(evens, odds, 0, 4, 1, 5);
    both[1] = __builtin_shufflevector(evens, odds, 2, 6, 3, 7);
#endif
}

/* Computes the results of a filter from its products, with its bias, activated and normalized; returns whether all sums
   are finite. */
static DML_ONCE int conv_transform_back(const dml_conv_params *params, const dml_post_ops *post_ops,
                                        int64_t channel, float *output, const float *products, int64_t stride,
                                        int64_t vectors, const dml_conv_piece *pieces, int64_t count)
{
    float made[2][2 * DML_CONV_MAX_NR] __attribute__((aligned(64)));
    float bias = params->bias ? ((const float *)params->bias)[channel * params->bias_stride] : 0.0f;
    conv_floats differences = {0};
    const dml_batch_norm_channel *normal = dml_batch_norm_channel_of(&post_ops->normalization, channel);
    for (int64_t j = 0; j < vectors; j++) {
        conv_floats columns[2][4], sums[2][2];
        DML_UNROLLED for (int x = 0; x < 4; x++)
        {
            conv_floats rows[4];
            DML_UNROLLED for (int y = 0; y < 4; y++) rows[y] =
                ((const conv_floats *)(products + (4 * y + x) * stride))[j];
            columns[0][x] = rows[0] + rows[1] + rows[2];
            columns[1][x] = rows[1] - rows[2] - rows[3];
        }
        DML_UNROLLED for (int y = 0; y < 2; y++)
        {
            sums[y][0] = columns[y][0] + columns[y][1] + columns[y][2];
            sums[y][1] = columns[y][1] - columns[y][2] - columns[y][3];
            /* The difference is 0, or NaN where a sum is infinite or NaN. */
            differences += (sums[y][0] - sums[y][0]) + (sums[y][1] - sums[y][1]);
            DML_UNROLLED for (int x = 0; x < 2; x++)
            {
                sums[y][x] = activated(sums[y][x] + bias, post_ops, post_ops->activation);
                if (normal)
                    sums[y][x] = (conv_floats)batch_norm_lanes((softmax_norm_lanes)sums[y][x], normal);
            }
            conv_alternate(made[y] + 2 * j * DML_FLOAT_LANES, sums[y][0], sums[y][1]);
        }
    }
    for (const dml_conv_piece *piece = pieces; piece < pieces + count; piece++)
        memcpy(output + piece->offset, made[0] + piece->from, (size_t)piece->count * 4);
    int is_finite = 1;
    for (int i = 0; i < DML_FLOAT_LANES; i++)
        is_finite &= differences[i] == 0.0f;
    return is_finite;
}
