/* Batch normalization of channels that are neighbours in memory: each vector has channels of one pixel. */

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

DML_INLINE void batch_norm_wide(DML_DOUBLES *x, const batch_norm_channels *to, int64_t channel)
{
    DML_DOUBLES factor;
    memcpy(&factor, to->factor + channel, sizeof factor);
    *x = (*x - DML_SOFTMAX_NORM_LOAD(to->mean + channel)) * factor + DML_SOFTMAX_NORM_LOAD(to->shift + channel);
}

/* Normalizes the channels from `channel` on as one channel is normalized. */
DML_INLINE softmax_norm_lanes batch_norm_across(softmax_norm_lanes x, const batch_norm_channels *to, int64_t channel)
{
#if defined(__AVX2__)
    softmax_norm_lanes mean, factor, shift, result;
    memcpy(&mean, to->mean + channel, sizeof mean);
    memcpy(&factor, to->short_factor + channel, sizeof factor);
    memcpy(&shift, to->shift + channel, sizeof shift);
    result = DML_FMA(x - mean, factor, shift);
    if (to->is_long) {
        DML_DOUBLES low = DML_HALF_OF(x, 0), high = DML_HALF_OF(x, 1);
        batch_norm_wide(&low, to, channel);
        batch_norm_wide(&high, to, channel + DML_LANES);
        softmax_norm_lanes wide = DML_OF_HALVES(low, high);
        for (int i = 0; i < DML_SOFTMAX_NORM_LANES; i++)
            result[i] = to->is_short[channel + i] ? result[i] : wide[i];
    }
    return to->relu ? DML_F(max)(result, DML_ALL(0.0f)) : result;
#else
    DML_DOUBLES values = __builtin_convertvector(x, DML_DOUBLES);
    batch_norm_wide(&values, to, channel);
    values = __builtin_convertvector(__builtin_convertvector(values, softmax_norm_lanes), DML_DOUBLES);
    if (to->relu)
        values = DML_GATHER(values > 0.0, values, (DML_DOUBLES){0});
    return __builtin_convertvector(values, softmax_norm_lanes);
#endif
}

DML_INLINE void batch_norm_line(float *out, const float *x, int64_t m, const batch_norm_channels *to)
{
    softmax_norm_lanes values = {0};
    int64_t j = 0;
    for (; j + DML_SOFTMAX_NORM_LANES <= m; j += DML_SOFTMAX_NORM_LANES) {
        memcpy(&values, x + j, sizeof values);
        values = batch_norm_across(values, to, j);
        memcpy(out + j, &values, sizeof values);
    }
    if (j == m)
        return;
    memcpy(&values, x + j, (size_t)(m - j) * sizeof *x);
    values = batch_norm_across(values, to, j);
    memcpy(out + j, &values, (size_t)(m - j) * sizeof *x);
}

static void batch_norm_columns(const dml_softmax_norm *task, char *const *addresses, int64_t m, float *work)
{
    enum { PART = 512 };
    batch_norm_channels to = {.relu = task->relu};
    (void)work;
    for (int64_t j = 0; j < m; j++) {
        float numbers[4];
        for (int k = 0; k < 4; k++)
            numbers[k] = dml_load_float(addresses[2 + k] + j * task->strides[0][2 + k], task->is_half);
        const dml_batch_norm_channel one = dml_batch_norm_channel_by(
            numbers[0], dml_softmax_norm_factor(numbers[1], task->epsilon, numbers[2]), numbers[3], task->relu);
        to.factor[j] = one.factor;
        to.mean[j] = one.mean;
        to.shift[j] = one.shift;
        to.short_factor[j] = one.short_factor;
        to.is_short[j] = one.is_short;
        to.is_long |= !one.is_short;
    }
    /* Contiguous halves are converted together. */
    const int lie_together = task->column_strides[0] == m * 2 && task->column_strides[1] == m * 2;
    const int64_t most = task->is_half && lie_together ? PART / m : 1;
    for (int64_t i = 0, rows; i < task->count; i += rows) {
        const char *from = addresses[1] + i * task->column_strides[1];
        char *out = addresses[0] + i * task->column_strides[0];
        float part[PART];
        rows = task->count - i < most ? task->count - i : most;
        if (task->is_half)
            floats_of_halves(part, (const uint16_t *)from, rows * m);
        for (int64_t row = 0; row < rows; row++)
            batch_norm_line(task->is_half ? part + row * m : (float *)out,
                            task->is_half ? part + row * m : (const float *)from, m, &to);
        if (task->is_half)
            halves_of_floats((uint16_t *)out, part, rows * m);
    }
}
