/* Functions of one row, rounded once from FLOAT64 unless noted otherwise; `out` may be `x` itself. */

#pragma once

#include "../common/vectors.h"
#include "../elementwise/float32_functions.h"
#include "../elementwise/float64_functions.h"
#include "dispatch.h"

#define DML_SOFTMAX_NORM_LOAD(address) __builtin_convertvector(*(const elementwise_floats *)(address), dml_doubles)
#define DML_SOFTMAX_NORM_STORE(address, values)                                                                        \
    (*(elementwise_floats *)(address) = __builtin_convertvector(values, elementwise_floats))

#define DML_SOFTMAX_NORM_RELU(values) DML_GATHER((values) > 0.0, values, (dml_doubles){0})

/* Prefetches what is read after `count` elements from `first` on. */
#if defined(__x86_64__)
#define DML_SOFTMAX_NORM_FETCH(next, first, count)                                                                     \
    for (int64_t byte = 0; byte < (count) * (next).size; byte += 64)                                                   \
        _mm_prefetch((next).address + (first) * (next).size + byte, _MM_HINT_T1);
#else
#define DML_SOFTMAX_NORM_FETCH(next, first, count)
#endif

DML_INLINE double softmax_norm_total(const dml_doubles *sums)
{
    dml_doubles sum = sums[0] + sums[1] + (sums[2] + sums[3]);
    double total = 0.0;
    for (int j = 0; j < DML_LANES; j++)
        total += sum[j];
    return total;
}

/* Finds the variance about the mean from the mean square of a row's elements; returns 0 if the square of the mean is
   more than 1023/1024 of that, so that more than ten of FLOAT64's 52 bits are lost, or if it is NaN. */
static DML_ONCE int softmax_norm_knows_variance(double mean, double square, double *variance)
{
    *variance = square - mean * mean;
    return mean * mean <= square * (1.0 - 0x1p-10);
}

/* The factor of MEAN_VARIANCE for a known mean; `variance` is about it. For FLOAT16, both are rounded to FLOAT16. */
static DML_ONCE double softmax_norm_kept(const dml_softmax_norm *task, double *mean, double *variance)
{
    if (task->is_half) {
        double exact = *mean;
        *mean = dml_softmax_norm_half(exact);
        *variance = dml_softmax_norm_half(*variance + (exact - *mean) * (exact - *mean));
    }
    return 1.0 / sqrt(*variance + task->epsilon);
}

DML_INLINE void softmax_norm_activate(dml_norm_activation to, dml_doubles *values)
{
    if (to.relu)
        *values = DML_SOFTMAX_NORM_RELU(*values);
    else if (to.leaky)
        *values = DML_GATHER(*values < 0.0, *values * to.slope, *values);
}

/* (x - mean) * factor * scale + bias, with `scale` and `bias` where they are not NULL, activated. */
DML_INLINE void softmax_norm_affine(float *out, const float *x, int64_t n, double mean, double factor,
                                    const float *scale, const float *bias, double shift,
                                    dml_norm_activation to)
{
    int64_t i = 0;
    for (; i + DML_LANES <= n; i += DML_LANES) {
        dml_doubles values = (DML_SOFTMAX_NORM_LOAD(x + i) - mean) * factor;
        if (scale)
            values *= DML_SOFTMAX_NORM_LOAD(scale + i);
        if (bias)
            values += DML_SOFTMAX_NORM_LOAD(bias + i);
        else
            values += shift;
        softmax_norm_activate(to, &values);
        DML_SOFTMAX_NORM_STORE(out + i, values);
    }
    for (; i < n; i++) {
        double value = ((double)x[i] - mean) * factor;
        value = (scale ? value * (double)scale[i] : value) + (bias ? (double)bias[i] : shift);
        value = to.leaky && value < 0.0 ? value * to.slope : value;
        out[i] = (float)(to.relu && !(value > 0.0) ? 0.0 : value);
    }
}

/* softmax_norm_affine in FLOAT32, which has digits enough for FLOAT16 unless a bias takes most of a product away. */
static DML_ONCE void softmax_norm_affine_short(float *out, const float *x, int64_t n, float mean, float factor,
                                               const float *scale, float shift, int relu)
{
    DML_ALIKE for (int64_t i = 0; i < n; i++)
    {
        const float value = (x[i] - mean) * factor * (scale ? scale[i] : 1.0f) + shift;
        out[i] = relu && !(value > 0.0f) ? 0.0f : value;
    }
}

static DML_ONCE void softmax_norm_affine_row(float *out, const float *x, int64_t n, double mean, double factor,
                                             const float *scale, const float *bias, double shift,
                                             dml_norm_activation to, int is_short)
{
    if (is_short && !to.leaky)
        softmax_norm_affine_short(out, x, n, (float)mean, (float)factor, scale, (float)shift, to.relu);
    else
        softmax_norm_affine(out, x, n, mean, factor, scale, bias, shift, to);
}

/* Normalizes as many values as FLOAT32 has lanes. The difference, the factor and the result are rounded to FLOAT32
   where that is in range and products are fused with sums; else only the result is rounded. */
#if defined(__AVX2__)
#define DML_SOFTMAX_NORM_LANES DML_FLOAT_LANES
typedef float_vector softmax_norm_lanes;
DML_INLINE softmax_norm_lanes batch_norm_relu(softmax_norm_lanes x)
{
    /* For NaN and 0, the result is the second operand. */
    return DML_F(max)(x, DML_ALL(0.0f));
}

static DML_ONCE softmax_norm_lanes batch_norm_long(softmax_norm_lanes x, const dml_batch_norm_channel *to)
{
    dml_doubles low = DML_HALF_OF(x, 0), high = DML_HALF_OF(x, 1);
    low = (low - (double)to->mean) * to->factor + (double)to->shift;
    high = (high - (double)to->mean) * to->factor + (double)to->shift;
    return DML_OF_HALVES(low, high);
}

/* Normalizes in FLOAT32, without the RELU. */
DML_INLINE softmax_norm_lanes batch_norm_short(softmax_norm_lanes x, const dml_batch_norm_channel *to)
{
    return DML_FMA(x - DML_ALL(to->mean), DML_ALL(to->short_factor), DML_ALL(to->shift));
}
#else
#define DML_SOFTMAX_NORM_LANES DML_LANES
typedef elementwise_floats softmax_norm_lanes;
DML_INLINE softmax_norm_lanes batch_norm_relu(softmax_norm_lanes x)
{
    dml_doubles values = __builtin_convertvector(x, dml_doubles);
    return __builtin_convertvector(DML_SOFTMAX_NORM_RELU(values), softmax_norm_lanes);
}

DML_INLINE softmax_norm_lanes batch_norm_short(softmax_norm_lanes x, const dml_batch_norm_channel *to)
{
    dml_doubles values = __builtin_convertvector(x, dml_doubles);
    values = (values - (double)to->mean) * to->factor + (double)to->shift;
    return __builtin_convertvector(values, elementwise_floats);
}
/* FLOAT64 computes all channels. */
#define batch_norm_long batch_norm_short
#endif

DML_INLINE softmax_norm_lanes batch_norm_lanes(softmax_norm_lanes x, const dml_batch_norm_channel *to)
{
    x = to->is_short ? batch_norm_short(x, to) : batch_norm_long(x, to);
    return to->relu ? batch_norm_relu(x) : x;
}

/* Normalizes a channel, or part of it; `out` may be `x` itself. */
static DML_ONCE void softmax_norm_give(float *out, const float *x, int64_t n, const dml_batch_norm_channel *to)
{
    softmax_norm_lanes values;
    int64_t i = 0;
    for (; i + DML_SOFTMAX_NORM_LANES <= n; i += DML_SOFTMAX_NORM_LANES) {
        memcpy(&values, x + i, sizeof values);
        values = batch_norm_lanes(values, to);
        memcpy(out + i, &values, sizeof values);
    }
    if (i == n)
        return;
    memset(&values, 0, sizeof values);
    memcpy(&values, x + i, (size_t)(n - i) * sizeof *x);
    values = batch_norm_lanes(values, to);
    memcpy(out + i, &values, (size_t)(n - i) * sizeof *x);
}
