/* Panels and tiles. A panel has a row for each tap of the window in each channel: what so many neighbouring steps see
   there. A tile has the sums of some filters at these steps, in registers while a panel goes by. */

#include "bytes.h"

typedef float LOOP(conv_floats) __attribute__((vector_size(4 * LOOP(conv_lanes))));
typedef float LOOP(conv_near_floats) __attribute__((vector_size(4 * LOOP(conv_lanes)), aligned(4), may_alias));

typedef int32_t LOOP(conv_choice) __attribute__((vector_size(4 * LOOP(conv_lanes))));

DML_INLINE LOOP(conv_floats) LOOP(conv_activated)(LOOP(conv_floats) sums, float slope, int activation)
{
    LOOP(conv_choice) bits;
    if (activation == DML_CONV_RELU) {
        /* Of what is above 0 alone: max(NaN, 0) is 0. */
        bits = (LOOP(conv_choice))sums & (sums > 0.0f);
        memcpy(&sums, &bits, sizeof sums);
    } else if (activation == DML_CONV_LEAKY_RELU) {
        LOOP(conv_floats) scaled = sums * slope;
        bits = sums < 0.0f;
        bits = ((LOOP(conv_choice))scaled & bits) | ((LOOP(conv_choice))sums & ~bits);
        memcpy(&sums, &bits, sizeof sums);
    }
    return sums;
}

/* The first lanes of a vector. */
DML_INLINE void LOOP(conv_store_some)(float *target, LOOP(conv_floats) values, int64_t count)
{
#if defined(DML_AVX512)
    _mm512_mask_storeu_ps(target, (__mmask16)((1u << count) - 1), (__m512)values);
#else
    memcpy(target, &values, (size_t)count * 4);
#endif
}

DML_INLINE void LOOP(conv_finish_floats)(const dml_conv_finish *finish, int row, const LOOP(conv_floats) *sums,
                                         const int vectors)
{
    const dml_rows_channel *channel = finish->channels ? finish->channels + row : NULL;
    float bias = finish->bias ? finish->bias[row * finish->bias_stride] : 0.0f;
    LOOP(conv_near_floats) *target = (LOOP(conv_near_floats) *)(finish->target + row * finish->apart);
    _Pragma("GCC unroll 16") for (int j = 0; j < vectors; j++)
    {
        LOOP(conv_floats) values = sums[j] + bias;
        if (channel)
            values = (LOOP(conv_floats))LOOP(rows_give_short)((LOOP(rows_lanes))values, channel);
        if (finish->relu)
            values = LOOP(conv_activated)(values, 0.0f, DML_CONV_RELU);
        if (j + 1 < vectors || finish->last == LOOP(conv_lanes))
            target[j] = values;
        else
            LOOP(conv_store_some)((float *)(target + j), values, finish->last);
    }
}

#define DML_CONV_STEP(SUMS, PIXELS, FILTER) SUMS += (PIXELS) * (FILTER)
#if defined(DML_AVX512)
DML_CONV_LONG_TILES(floats, float, DML_CONV_STEP)
#else
DML_CONV_SHORT_TILES(floats, float, DML_CONV_STEP)
#endif
#undef DML_CONV_STEP

DML_INLINE float LOOP(conv_total)(LOOP(conv_floats) parts)
{
#if defined(DML_AVX512)
    return _mm512_reduce_add_ps((__m512)parts);
#else
    for (int width = LOOP(conv_lanes) / 2; width > 0; width /= 2)
        for (int j = 0; j < width; j++)
            parts[j] += parts[j + width];
    return parts[0];
#endif
}

/* Products of ROWS filters and one pixel, whose sums go to the first lane of a vector each. */
DML_INLINE void LOOP(conv_dots_of)(float *sums, const float *filters, int64_t row, const float *column, int64_t depth,
                                   const int rows, int adds)
{
    LOOP(conv_floats) parts[4] = {{0}, {0}, {0}, {0}};
    int64_t k = 0;
    for (; k + LOOP(conv_lanes) <= depth; k += LOOP(conv_lanes)) {
        LOOP(conv_floats) seen = *(const LOOP(conv_near_floats) *)(column + k);
        for (int i = 0; i < rows; i++)
            DML_CONV_FETCH(filters + (i + rows) * row + k);
        for (int i = 0; i < rows; i++)
            parts[i] += seen * *(const LOOP(conv_near_floats) *)(filters + i * row + k);
    }
    for (int i = 0; i < rows; i++) {
        float sum = adds ? sums[i * LOOP(conv_lanes)] : 0.0f;
        for (int64_t j = k; j < depth; j++)
            sum += column[j] * filters[i * row + j];
        sums[i * LOOP(conv_lanes)] = sum + LOOP(conv_total)(parts[i]);
    }
}

static DML_ONCE void LOOP(conv_dots)(float *sums, const float *filters, int64_t row, const float *column, int64_t depth,
                                     int64_t count, int adds)
{
    int64_t i = 0;
    for (; i + 4 <= count; i += 4)
        LOOP(conv_dots_of)(sums + i * LOOP(conv_lanes), filters + i * row, row, column, depth, 4, adds);
    for (; i < count; i++)
        LOOP(conv_dots_of)(sums + i * LOOP(conv_lanes), filters + i * row, row, column, depth, 1, adds);
}

#include "gather.h"

DML_INLINE void LOOP(conv_store_as)(const dml_conv *task, const dml_conv_storing *storing, int activation, int type)
{
    int64_t width = storing->vectors * LOOP(conv_lanes);
    for (int64_t row = 0; row < storing->rows; row++) {
        const LOOP(conv_floats) *sums = (const LOOP(conv_floats) *)(storing->tile + row * width);
        int64_t place = storing->place + row * task->output_strides[1], channel = storing->channel + row, i = 0;
        float *target = (float *)task->output + place, bias = 0.0f;
        const dml_rows_channel *normal = dml_rows_channel_of(&task->normalization, channel);
        if (task->bias)
            bias = LOOP(conv_element)((const void *)task->bias, channel * task->bias_stride, task->type);
        for (int64_t j = 0; j < storing->vectors; j++, i += LOOP(conv_lanes)) {
            LOOP(conv_floats) values = LOOP(conv_activated)(sums[j] + bias, task->slope, activation);
            int64_t left = storing->count - i < LOOP(conv_lanes) ? storing->count - i : LOOP(conv_lanes);
            if (type == DML_CONV_HALVES) {
                LOOP(halves_of_floats)((uint16_t *)task->output + place + i, (const float *)&values, left);
                continue;
            }
            if (normal)
                values = (LOOP(conv_floats))LOOP(rows_give_lanes)((LOOP(rows_lanes))values, normal);
            if (left == LOOP(conv_lanes))
                *(LOOP(conv_near_floats) *)(target + i) = values;
            else
                LOOP(conv_store_some)(target + i, values, left);
        }
    }
}

static DML_ONCE void LOOP(conv_store)(const dml_conv *task, const dml_conv_storing *storing)
{
    if (task->output_type == DML_CONV_HALVES)
        LOOP(conv_store_as)(task, storing, task->activation, DML_CONV_HALVES);
    else if (task->activation == DML_CONV_IDENTITY)
        LOOP(conv_store_as)(task, storing, DML_CONV_IDENTITY, DML_CONV_FLOATS);
    else
        LOOP(conv_store_as)(task, storing, task->activation, DML_CONV_FLOATS);
}

#include "transforms.h"

static const dml_conv_table LOOP(conv_table) = {
#if defined(DML_AVX512)
    LOOP(conv_lanes), 4, DML_CONV_LONG_ROWS, DML_CONV_LONG_NAMES(floats),
#else
    LOOP(conv_lanes), 2, DML_CONV_SHORT_ROWS, DML_CONV_SHORT_NAMES(floats),
#endif
    LOOP(conv_dots), LOOP(conv_pack), LOOP(conv_store), LOOP(conv_transform_filters),
    LOOP(conv_transform), LOOP(conv_transform_back), &LOOP(conv_bytes_table),
};
