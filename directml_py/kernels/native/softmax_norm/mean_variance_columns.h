/* Mean-variance normalization of rows of FLOAT32 that lie side by side, as do planes of channels that are neighbours in
   memory: each vector has elements of neighbouring rows. Every row is added up in the order of a packed row. */

#pragma once

#include "dispatch.h"
#include "norm.h"

/* The sums of a packed row are in so many lanes, and those of the elements behind the last vector in one more. */
enum { NORM_LANES = 4 * DML_LANES };
typedef double norm_lanes[NORM_LANES + 1][DML_SOFTMAX_NORM_COLUMNS];

/* What is subtracted from the elements of each column, the factor of the difference, and what is added to it. */
typedef struct {
    double mean[DML_SOFTMAX_NORM_COLUMNS], variance[DML_SOFTMAX_NORM_COLUMNS], factor[DML_SOFTMAX_NORM_COLUMNS],
        shift[DML_SOFTMAX_NORM_COLUMNS];
} norm_columns;

/* So many lines ahead are prefetched: the hardware does not foresee short ones. */
#define NORM_AHEAD 16

/* The elements of `m` columns, followed by others up to the end of a vector. */
DML_INLINE const float *norm_columns_line(float *line, const char *x, int64_t m)
{
    if (m % DML_LANES == 0)
        return (const float *)x;
    memcpy(line, x, (size_t)m * sizeof *line);
    return line;
}

/* Adds up the differences from the mean, and their squares. */
static DML_ONCE void norm_columns_add(const dml_softmax_norm *task, const char *x, int64_t m, const double *mean,
                                      norm_lanes sums, norm_lanes squares)
{
    const int64_t whole = task->count / NORM_LANES * NORM_LANES;
    float line[DML_SOFTMAX_NORM_COLUMNS] = {0};
    memset(sums, 0, sizeof(norm_lanes));
    memset(squares, 0, sizeof(norm_lanes));
    for (int64_t i = 0; i < task->count; i++, x += task->column_strides[1]) {
        const int64_t lane = i < whole ? i % NORM_LANES : NORM_LANES;
        const float *from = norm_columns_line(line, x, m);
        __builtin_prefetch(x + NORM_AHEAD * task->column_strides[1]);
        for (int64_t j = 0; j < m; j += DML_LANES) {
            const dml_doubles value = DML_SOFTMAX_NORM_LOAD(from + j) - *(const dml_doubles *)(mean + j);
            *(dml_doubles *)(sums[lane] + j) += value;
            *(dml_doubles *)(squares[lane] + j) += value * value;
        }
    }
}

/* The sum of a column's lanes, as `softmax_norm_total` adds them up. */
static double norm_columns_total(norm_lanes lanes, int64_t j)
{
    double total = 0.0;
    for (int l = 0; l < DML_LANES; l++)
        total += lanes[l][j] + lanes[DML_LANES + l][j] + (lanes[2 * DML_LANES + l][j] + lanes[3 * DML_LANES + l][j]);
    return total + lanes[NORM_LANES][j];
}

/* Finds means and variances about them. */
static void norm_columns_find(const dml_softmax_norm *task, const char *x, int64_t m, norm_columns *to,
                              norm_lanes sums, norm_lanes squares)
{
    const double n = (double)task->count;
    int are_known[DML_SOFTMAX_NORM_COLUMNS], are_all_known = 1;
    norm_columns_add(task, x, m, to->mean, sums, squares);
    for (int64_t j = 0; j < m; j++) {
        double mean = task->uses_mean ? norm_columns_total(sums, j) / n : 0.0;
        double square = norm_columns_total(squares, j) / n;
        to->mean[j] = mean;
        to->variance[j] = task->uses_variance ? square : 0.0;
        are_known[j] = !task->uses_mean || !task->uses_variance;
        if (!are_known[j])
            are_known[j] = softmax_norm_knows_variance(mean, square, to->variance + j);
        are_all_known &= are_known[j];
    }
    if (!are_all_known)
        norm_columns_add(task, x, m, to->mean, sums, squares);
    for (int64_t j = 0; j < m; j++)
        if (!are_known[j])
            to->variance[j] = norm_columns_total(squares, j) / n;
}

static void norm_columns_normalize(const dml_softmax_norm *task, char *const *addresses, int64_t m,
                                   const norm_columns *to)
{
    const char *x = addresses[1];
    char *out = addresses[0];
    float line[DML_SOFTMAX_NORM_COLUMNS] = {0}, made[DML_SOFTMAX_NORM_COLUMNS];
    const dml_norm_activation activation = task->activation;
    for (int64_t i = 0; i < task->count; i++, x += task->column_strides[1], out += task->column_strides[0]) {
        const float *from = norm_columns_line(line, x, m);
        __builtin_prefetch(x + NORM_AHEAD * task->column_strides[1]);
        __builtin_prefetch(out + NORM_AHEAD * task->column_strides[0], 1);
        float *results = m % DML_LANES == 0 ? (float *)out : made;
        for (int64_t j = 0; j < m; j += DML_LANES) {
            dml_doubles values = DML_SOFTMAX_NORM_LOAD(from + j) - *(const dml_doubles *)(to->mean + j);
            values *= *(const dml_doubles *)(to->factor + j);
            values += *(const dml_doubles *)(to->shift + j);
            softmax_norm_activate(activation, &values);
            DML_SOFTMAX_NORM_STORE(results + j, values);
        }
        if (results == made)
            memcpy(out, made, (size_t)m * sizeof *made);
    }
}

static void mean_variance_columns(const dml_softmax_norm *task, char *const *addresses, int64_t m, float *work)
{
    norm_lanes *lanes = (norm_lanes *)work;
    norm_columns to = {.mean = {0}};
    norm_columns_find(task, addresses[1], m, &to, lanes[0], lanes[1]);
    for (int64_t j = 0; j < m; j++) {
        const int64_t *strides = task->strides[0];
        const float results[] = {(float)to.mean[j], (float)to.variance[j]};
        to.factor[j] = task->uses_variance ? softmax_norm_kept(task, to.mean + j, to.variance + j) : 1.0;
        if (addresses[2])
            to.factor[j] *= *(const float *)(addresses[2] + j * strides[2]);
        to.shift[j] = addresses[3] ? *(const float *)(addresses[3] + j * strides[3]) : -0.0;
        for (int k = DML_SOFTMAX_NORM_INPUTS; k < DML_SOFTMAX_NORM_TENSORS; k++)
            if (addresses[k])
                *(float *)(addresses[k] + j * strides[k]) = results[k - DML_SOFTMAX_NORM_INPUTS];
    }
    norm_columns_normalize(task, addresses, m, &to);
}
