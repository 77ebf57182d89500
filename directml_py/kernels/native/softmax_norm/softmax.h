/* Exponentials of a row minus its largest element, which is finite. */

#pragma once

#include "../common/exp.h"
#include "../common/vectors.h"
#include "../elementwise/float32_functions.h"
#include "../elementwise/float64_functions.h"
#include "../reduce/largest.h"
#include "dispatch.h"
#include "norm.h"

#if defined(__AVX2__)

/* The horizontal maximum of lanes, none of which is NaN. */
DML_INLINE float largest_lane(float_vector x)
{
#if defined(__AVX512F__)
    return _mm512_reduce_max_ps(x);
#else
    __m128 half = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    half = _mm_max_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_max_ss(half, _mm_movehdup_ps(half)));
#endif
}

static DML_ONCE float row_largest(const float *x, int64_t n)
{
    float_vector largest[4];
    float result;
    int64_t i = 0;
    for (int j = 0; j < 4; j++)
        largest[j] = DML_ALL(-INFINITY);
    /* If one of two operands is NaN, the second one is the result. */
    for (; i + 4 * DML_FLOAT_LANES <= n; i += 4 * DML_FLOAT_LANES)
        for (int j = 0; j < 4; j++)
            largest[j] = DML_F(max)(DML_F(loadu)(x + i + j * DML_FLOAT_LANES), largest[j]);
    for (; i + DML_FLOAT_LANES <= n; i += DML_FLOAT_LANES)
        largest[0] = DML_F(max)(DML_F(loadu)(x + i), largest[0]);
    largest[0] = DML_F(max)(DML_F(max)(largest[0], largest[1]), DML_F(max)(largest[2], largest[3]));
    result = largest_lane(largest[0]);
    for (; i < n; i++)
        result = x[i] > result ? x[i] : result;
    return result;
}

/* exp(x - largest) 2^raised of the exact difference: the error of its rounding is added to the exponential. Below
   `least` the result is 0, and NaN is lost there; there is no product to round, since products below the range of
   FLOAT32 are slow. */
DML_INLINE float_vector row_exp(float_vector x, float_vector largest, const float least, const float raised)
{
    float_vector rounded = x - largest, back = rounded - x, zero = DML_ALL(0.0f), k, less, r;
    mask_vector below = DML_IS(LE, rounded, DML_ALL(least));
    less = (largest + back) - (x - (rounded - back));
    less = DML_WHERE(below, zero, less);
    r = exp_reduced(DML_F(max)(DML_ALL(least), rounded), less, &k);
    if (raised != 0.0f)
        k = k + DML_ALL(raised);
    return float_scaled(DML_WHERE(below, zero, r + DML_ALL(1.0f)), k);
}

/* The exponentials of elements that are less than the largest, times 2^64, since they may be too small for FLOAT32 but
   not for the logarithm of their sum; the largest elements give 0. */
DML_INLINE float_vector row_exp_below(float_vector x, float_vector largest, mask_vector *is_largest)
{
    *is_largest = DML_IS(EQ, x, largest);
    return DML_WHERE(*is_largest, DML_ALL(0.0f), row_exp(x, largest, -150.0f, 64.0f));
}

/* The sum of the exponentials, which are stored in `out`; that may be `x`. If `logarithm`, only the sum of the others
   beside one largest element, whose exponential is 1. The next row is prefetched. */
DML_INLINE double row_exps(float *out, const float *x, int64_t n, const int logarithm, float largest,
                           dml_softmax_norm_next next)
{
    const float_vector top = DML_ALL(largest);
    dml_doubles sums[2] = {{0}, {0}};
    float_vector pair[2];
    mask_vector is_largest;
    float rest[DML_FLOAT_LANES];
    int64_t i = 0, others = -1;
    double sum;
    for (; i + 2 * DML_FLOAT_LANES <= n; i += 2 * DML_FLOAT_LANES) {
        DML_SOFTMAX_NORM_FETCH(next, i, 2 * DML_FLOAT_LANES)
        for (int j = 0; j < 2; j++) {
            pair[j] = DML_F(loadu)(x + i + j * DML_FLOAT_LANES);
            if (logarithm) {
                pair[j] = row_exp_below(pair[j], top, &is_largest);
                others += DML_COUNT(is_largest);
            } else {
                pair[j] = row_exp(pair[j], top, -104.0f, 0.0f);
                DML_F(storeu)(out + i + j * DML_FLOAT_LANES, pair[j]);
            }
        }
        pair[0] = pair[0] + pair[1];
        for (int j = 0; j < 2; j++)
            sums[j] += DML_HALF_OF(pair[0], j);
    }
    for (; i < n; i += DML_FLOAT_LANES) {
        int64_t count = dml_least(n - i, DML_FLOAT_LANES);
        for (int j = 0; j < DML_FLOAT_LANES; j++)
            rest[j] = j < count ? x[i + j] : -INFINITY;
        pair[0] = DML_F(loadu)(rest);
        if (logarithm) {
            pair[0] = row_exp_below(pair[0], top, &is_largest);
            others += DML_COUNT(is_largest);
        } else {
            pair[0] = row_exp(pair[0], top, -104.0f, 0.0f);
            DML_F(storeu)(rest, pair[0]);
            memcpy(out + i, rest, (size_t)count * sizeof(float));
        }
        for (int j = 0; j < 2; j++)
            sums[j] += DML_HALF_OF(pair[0], j);
    }
    sums[0] += sums[1];
#if defined(__AVX512F__)
    sum = _mm512_reduce_add_pd((__m512d)sums[0]);
#else
    sum = sums[0][0] + sums[0][1] + (sums[0][2] + sums[0][3]);
#endif
    return logarithm ? sum * 0x1p-64 + (double)others : sum;
}

static DML_ONCE double row_exponentials(float *out, const float *x, int64_t n, float largest,
                                        dml_softmax_norm_next next)
{
    return row_exps(out, x, n, 0, largest, next);
}

static DML_ONCE double row_exp_sum(const float *x, int64_t n, float largest, dml_softmax_norm_next next)
{
    return row_exps(NULL, x, n, 1, largest, next);
}

/* The inverse is taken in two parts, so that products are rounded once. */
static DML_ONCE void row_divide(float *out, int64_t n, double divisor)
{
    const double inverse = 1.0 / divisor;
    const float high = (float)inverse, low = (float)(inverse - (double)high);
    int64_t i = 0;
    for (; i + DML_FLOAT_LANES <= n; i += DML_FLOAT_LANES) {
        float_vector values = DML_F(loadu)(out + i);
        DML_F(storeu)(out + i, DML_FMA(values, DML_ALL(high), values * DML_ALL(low)));
    }
    for (; i < n; i++)
        out[i] = __builtin_fmaf(out[i], high, out[i] * low);
}

/* The exponentials of sixteen columns, whose elements are `wide` elements apart: in place, or if `logarithm` the sum of
   the others beside one largest element of each column. */
static DML_ONCE void column_exponentials(float *x, int64_t n, int64_t wide, const float *largest, const int logarithm,
                                         double *sums)
{
    enum { VECTORS = 16 / DML_FLOAT_LANES };
    float_vector top[VECTORS], others[VECTORS];
    mask_vector is_largest;
    dml_doubles totals[2 * VECTORS];
    DML_UNROLLED for (int k = 0; k < VECTORS; k++)
    {
        top[k] = DML_F(loadu)(largest + k * DML_FLOAT_LANES);
        others[k] = DML_ALL(0.0f);
        totals[2 * k] = totals[2 * k + 1] = (dml_doubles){0};
    }
    for (int64_t i = 0; i < n; i++, x += wide)
        DML_UNROLLED for (int k = 0; k < VECTORS; k++)
        {
            float_vector value = DML_F(loadu)(x + k * DML_FLOAT_LANES);
            if (logarithm) {
                value = row_exp_below(value, top[k], &is_largest);
                others[k] = others[k] + DML_WHERE(is_largest, DML_ALL(1.0f), DML_ALL(0.0f));
            } else {
                value = row_exp(value, top[k], -104.0f, 0.0f);
                DML_F(storeu)(x + k * DML_FLOAT_LANES, value);
            }
            totals[2 * k] += DML_HALF_OF(value, 0);
            totals[2 * k + 1] += DML_HALF_OF(value, 1);
        }
    for (int k = 0; logarithm && k < 2 * VECTORS; k++)
        totals[k] = totals[k] * 0x1p-64 + (DML_HALF_OF(others[k / 2], k % 2) - 1.0);
    memcpy(sums, totals, sizeof totals);
}

#else

static float row_largest(const float *x, int64_t n)
{
    return max_f32_row(x, n);
}

static DML_ONCE double row_exponentials(float *out, const float *x, int64_t n, float largest,
                                        dml_softmax_norm_next next)
{
    dml_doubles sums[4] = {{0}, {0}, {0}, {0}}, values[4];
    float rest[16];
    (void)next;
    for (int64_t i = 0; i < n; i += 16) {
        int64_t count = dml_least(n - i, 16);
        DML_SOFTMAX_NORM_FETCH(next, i, 16)
        for (int j = 0; j < 16; j++)
            rest[j] = j < count ? x[i + j] : -INFINITY;
        for (int j = 0; j < 4; j++)
            values[j] = DML_SOFTMAX_NORM_LOAD(rest + 4 * j) - (double)largest;
        exp_sixteen(values);
        for (int j = 0; j < 4; j++) {
            DML_SOFTMAX_NORM_STORE(rest + 4 * j, values[j]);
            sums[j] += values[j];
        }
        memcpy(out + i, rest, (size_t)count * sizeof(float));
    }
    return softmax_norm_total(sums);
}

/* Exponentials that are 0 count as a little more than that. */
static double row_exp_sum(const float *x, int64_t n, float largest, dml_softmax_norm_next next)
{
    double sum;
    int64_t first = 0;
    (void)next;
    while (first < n - 1 && x[first] != largest)
        first++;
    sum = exp_sum(x, first, largest) + exp_sum(x + first + 1, n - first - 1, largest);
    return sum < (double)(n + 32) * 0x1p-1020 ? 0.0 : sum;
}

static DML_ONCE void column_exponentials(float *x, int64_t n, int64_t wide, const float *largest, const int logarithm,
                                         double *sums)
{
    dml_doubles totals[4] = {{0}, {0}, {0}, {0}}, others[4] = {{0}, {0}, {0}, {0}}, values[4];
    for (int64_t i = 0; i < n; i++, x += wide) {
        for (int j = 0; j < 4; j++)
            values[j] = DML_SOFTMAX_NORM_LOAD(x + 4 * j) - DML_SOFTMAX_NORM_LOAD(largest + 4 * j);
        for (int j = 0; logarithm && j < 4; j++) {
            others[j] -= (dml_doubles)((dml_bits)(values[j] == 0.0) & (dml_bits)((dml_doubles){0} - 1.0));
            values[j] = DML_GATHER(values[j] == 0.0, (dml_doubles){0} - INFINITY, values[j]);
        }
        exp_sixteen(values);
        for (int j = 0; j < 4; j++) {
            if (!logarithm)
                DML_SOFTMAX_NORM_STORE(x + 4 * j, values[j]);
            totals[j] += values[j];
        }
    }
    for (int j = 0; logarithm && j < 4; j++)
        totals[j] =
            DML_GATHER(totals[j] < (double)(n + 32) * 0x1p-1020, (dml_doubles){0}, totals[j]) + (others[j] - 1.0);
    memcpy(sums, totals, sizeof totals);
}

static DML_ONCE void row_divide(float *out, int64_t n, double divisor)
{
    const double inverse = 1.0 / divisor;
    for (int64_t i = 0; i < n; i++)
        out[i] = (float)((double)out[i] * inverse);
}

#endif

static DML_ONCE void row_fill(float *out, int64_t n, float value)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = value;
}

/* The sum of FLOAT16 is rounded to FLOAT16. An infinite largest element minus itself is NaN, and so is the sum. */
static DML_ONCE void row_softmax(float *out, const float *x, int64_t n, int is_half, dml_softmax_norm_next next)
{
    float largest = row_largest(x, n);
    double sum;
    if (isinf(largest)) {
        row_fill(out, n, NAN);
        return;
    }
    sum = row_exponentials(out, x, n, largest, next);
    row_divide(out, n, is_half ? dml_softmax_norm_half(sum) : sum);
}

/* -log(1 + x) in place, for x from 0 on; 1 + x may be rounded. A sum of exponentials that is NaN counts as 1e-20. `n`
   is a multiple of DML_LANES. */
static DML_ONCE void log_softmax_shifts(double *values, int64_t n, int is_half)
{
    for (int64_t i = 0; is_half && i < n; i++)
        values[i] = dml_softmax_norm_half(1.0 + values[i]) - 1.0;
    for (int64_t i = 0; i < n; i += DML_LANES) {
        dml_doubles x, sum, logarithm;
        memcpy(&x, values + i, sizeof x);
        logarithm = sum = x + 1.0;
        dml_log_positive(&logarithm);
        /* 0 is subtracted, not -0 added: the logarithm of 1 is 0. */
        logarithm = 0.0 - (logarithm + (x - (sum - 1.0)) / sum);
        logarithm = DML_GATHER(x == x, logarithm, (dml_doubles){0} + 46.051701859880914);
        memcpy(values + i, &logarithm, sizeof x);
    }
}

static DML_ONCE void row_log_softmax(float *out, const float *x, int64_t n, int is_half, dml_softmax_norm_next next)
{
    float largest = row_largest(x, n);
    double shift[DML_LANES] = {0};
    shift[0] = row_exp_sum(x, n, largest, next);
    log_softmax_shifts(shift, DML_LANES, is_half);
    softmax_norm_affine_row(out, x, n, largest, 1.0, NULL, NULL, shift[0], (dml_norm_activation){0}, is_half);
}
