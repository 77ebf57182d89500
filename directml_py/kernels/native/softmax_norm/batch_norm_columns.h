/* Batch normalization of channels that are neighbours in memory: each vector has channels of one pixel. Lines with gaps
   between them are the same, with the pixels of a line as channels of equal statistics. */

#pragma once

#include "../half/convert.h"
#include "dispatch.h"
#include "norm.h"

/* Neighbouring channels, up to DML_SOFTMAX_NORM_STRIP of them. `is_long` if some need FLOAT64. */
typedef struct {
    double factor[DML_SOFTMAX_NORM_STRIP];
    float mean[DML_SOFTMAX_NORM_STRIP], shift[DML_SOFTMAX_NORM_STRIP], short_factor[DML_SOFTMAX_NORM_STRIP];
    int32_t is_short[DML_SOFTMAX_NORM_STRIP], is_long, relu;
} batch_norm_channels;

DML_INLINE void batch_norm_wide(dml_doubles *x, const batch_norm_channels *to, int64_t channel)
{
    dml_doubles factor;
    memcpy(&factor, to->factor + channel, sizeof factor);
    *x = (*x - DML_SOFTMAX_NORM_LOAD(to->mean + channel)) * factor + DML_SOFTMAX_NORM_LOAD(to->shift + channel);
}

/* Normalizes the channels from `channel` on as one channel is normalized. */
DML_INLINE softmax_norm_lanes batch_norm_across(softmax_norm_lanes x, const batch_norm_channels *to, int64_t channel)
{
    softmax_norm_lanes result;
#if defined(__AVX2__)
    softmax_norm_lanes mean, factor, shift;
    memcpy(&mean, to->mean + channel, sizeof mean);
    memcpy(&factor, to->short_factor + channel, sizeof factor);
    memcpy(&shift, to->shift + channel, sizeof shift);
    result = DML_FMA(x - mean, factor, shift);
    if (to->is_long) {
        dml_doubles low = DML_HALF_OF(x, 0), high = DML_HALF_OF(x, 1);
        batch_norm_wide(&low, to, channel);
        batch_norm_wide(&high, to, channel + DML_LANES);
        softmax_norm_lanes wide = DML_OF_HALVES(low, high);
        for (int i = 0; i < DML_SOFTMAX_NORM_LANES; i++)
            result[i] = to->is_short[channel + i] ? result[i] : wide[i];
    }
#else
    dml_doubles values = __builtin_convertvector(x, dml_doubles);
    batch_norm_wide(&values, to, channel);
    result = __builtin_convertvector(values, softmax_norm_lanes);
#endif
    return to->relu ? batch_norm_relu(result) : result;
}

/* Normalizes `count` elements of a line, from channel `j` on: by `one`, if it is not NULL, which is that of all. */
DML_INLINE void batch_norm_part(char *out, const char *from, int64_t j, int64_t count, const batch_norm_channels *to,
                                const dml_batch_norm_channel *one, const int is_half)
{
    const int64_t at = j * (is_half ? 2 : 4);
    const softmax_norm_lanes x = (softmax_norm_lanes)(is_half ? load_some_halves(from + at, count)
                                                              : dml_load_some((const float *)(from + at), count));
    const dml_floats made = (dml_floats)(one ? batch_norm_lanes(x, one) : batch_norm_across(x, to, j));
    if (is_half)
        store_some_halves(out + at, made, count);
    else
        dml_store_some((float *)(out + at), made, count);
}

DML_INLINE void batch_norm_lines(const dml_softmax_norm *task, char *const *addresses, int64_t m,
                                 const batch_norm_channels *to, const dml_batch_norm_channel *one, const int is_half)
{
    const int64_t rest = m % DML_SOFTMAX_NORM_LANES, whole = m - rest;
    const char *from = addresses[1];
    char *out = addresses[0];
    for (int64_t i = task->count; i > 0; i--, from += task->column_strides[1], out += task->column_strides[0]) {
        for (int64_t j = 0; j < whole; j += DML_SOFTMAX_NORM_LANES)
            batch_norm_part(out, from, j, DML_SOFTMAX_NORM_LANES, to, one, is_half);
        if (rest)
            batch_norm_part(out, from, whole, rest, to, one, is_half);
    }
}

static void batch_norm_columns(const dml_softmax_norm *task, char *const *addresses, int64_t m, float *work)
{
    batch_norm_channels to = {.relu = task->activation.relu};
    dml_batch_norm_channel one;
    const int64_t *strides = task->strides[0] + 2;
    const int are_equal = !(strides[0] | strides[1] | strides[2] | strides[3]);
    (void)work;
    for (int64_t j = 0; j < (are_equal ? 1 : m); j++) {
        float numbers[4];
        for (int k = 0; k < 4; k++)
            numbers[k] = dml_load_float(addresses[2 + k] + j * strides[k], task->is_half);
        one = dml_batch_norm_channel_by(numbers[0], dml_softmax_norm_factor(numbers[1], task->epsilon, numbers[2]),
                                        numbers[3], task->activation.relu);
        to.factor[j] = one.factor;
        to.mean[j] = one.mean;
        to.shift[j] = one.shift;
        to.short_factor[j] = one.short_factor;
        to.is_short[j] = one.is_short;
        to.is_long |= !one.is_short;
    }
    if (task->is_half)
        batch_norm_lines(task, addresses, m, &to, are_equal ? &one : NULL, 1);
    else
        batch_norm_lines(task, addresses, m, &to, are_equal ? &one : NULL, 0);
}
