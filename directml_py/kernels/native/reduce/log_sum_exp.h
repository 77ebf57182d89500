/* log(sum(exp(x))) as a running sum, for x of any range: `state` has the largest element so far, `second` the sum of
   exp(x - largest). The largest element is that of a chunk that fits into the L1 cache, so that memory is read once.
   Nothing is subtracted if the largest element is infinite, since infinity minus itself is NaN; nor is exp computed if
   it is +infinity, other than to find NaN. */

#pragma once

#include "../common/exp.h"
#include "largest.h"

/* The sum where the largest element is infinity: NaN if there is a NaN, else any other number. */
static double exp_infinite(const char *element, int64_t n, int64_t stride)
{
    double sum = 1.0;
    for (int64_t i = 0; i < n; i++, element += stride)
        sum = *(const float *)element == *(const float *)element ? sum : NAN;
    return sum;
}

static inline double exp_one(double x)
{
    dml_doubles values[DML_EXP_VECTORS] = {{x}};
    exp_sixteen(values);
    return values[0][0];
}

static void exp_rows(void *state, void *second, const char *source, int64_t m, int64_t kept_stride, int64_t n,
                     int64_t reduced_stride, int64_t index)
{
    enum { CHUNK = 4096 };
    float *largest = state;
    double *sum = second;
    for (int64_t i = 0; i < m; i++) {
        const float *row = (const float *)(source + i * kept_stride);
        for (int64_t j = 0; j < n; j += CHUNK) {
            int64_t length = dml_least(n - j, CHUNK);
            float before = largest[i], now = max_f32_row(row + j, length);
            if (now == INFINITY || before == INFINITY) {
                largest[i] = INFINITY;
                sum[i] += exp_infinite((const char *)(row + j), length, 4);
                continue;
            }
            if (now > before) {
                sum[i] *= before == -INFINITY ? 0.0 : exp_one((double)before - (double)now);
                largest[i] = before = now;
            }
            sum[i] += exp_sum(row + j, length, isinf(before) ? 0.0 : before);
        }
    }
}

/* The same for columns, a few rows at a time. */
static void exp_columns(void *state, void *second, const char *source, int64_t m, int64_t kept_stride, int64_t n,
                        int64_t reduced_stride, int64_t index)
{
    typedef dml_doubles vector;
    enum { COLUMNS = 128, ROWS = 32 };
    int64_t across = (m + COLUMNS - 1) / COLUMNS, tiles = (n + ROWS - 1) / ROWS * across;
    for (int64_t tile = 0; tile < tiles; tile++) {
        int64_t first = tile % across * COLUMNS, i = tile / across * ROWS, length = dml_least(n - i, ROWS);
        int64_t width = dml_least(m - first, COLUMNS), filled = (width + 15) / 16 * 16;
        float *largest = (float *)state + first;
        double *sum = (double *)second + first;
        double sums[COLUMNS], shift[COLUMNS], scale[COLUMNS];
        float before[COLUMNS], edge[16] = {0};
        const char *chunk = source + 4 * first + i * reduced_stride;
        memcpy(before, largest, width * sizeof *before);
        max_f32_fold(largest, chunk, width, length, reduced_stride);
        for (int64_t j = 0; j < filled; j++) {
            scale[j] = j >= width || largest[j] == before[j] ? 0.0 : (double)before[j] - (double)largest[j];
            shift[j] = j >= width || isinf(largest[j]) ? 0.0 : largest[j];
            sums[j] = j >= width ? 0.0 : sum[j];
        }
        for (int64_t j = 0; j < filled; j += 16) {
            vector total[DML_EXP_VECTORS], values[DML_EXP_VECTORS];
            for (int k = 0; k < DML_EXP_VECTORS; k++)
                values[k] = ((vector *)(scale + j))[k];
            exp_sixteen(values);
            for (int k = 0; k < DML_EXP_VECTORS; k++)
                total[k] = ((vector *)(sums + j))[k] * values[k];
            for (int64_t l = 0; l < length; l++) {
                const float *row = (const float *)(chunk + l * reduced_stride) + j;
                if (j + 16 > width) {
                    memcpy(edge, row, (size_t)(width - j) * sizeof *edge);
                    row = edge;
                }
                for (int k = 0; k < DML_EXP_VECTORS; k++)
                    values[k] = DML_EXP_DOUBLES(row + DML_LANES * k) - ((vector *)(shift + j))[k];
                exp_sixteen(values);
                for (int k = 0; k < DML_EXP_VECTORS; k++)
                    total[k] += values[k];
            }
            for (int k = 0; k < DML_EXP_VECTORS; k++)
                ((vector *)(sums + j))[k] = total[k];
        }
        for (int64_t j = 0; j < width; j++)
            sum[j] = largest[j] == INFINITY ? sum[j] + exp_infinite(chunk + 4 * j, length, reduced_stride) : sums[j];
    }
}
