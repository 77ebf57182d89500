/* What accumulators become in the output. */

#pragma once

#include "../common/compiler.h"
#include "../common/element_types.h"
#include "../context.h"
#include "../half/scalar.h"

/* Advances the reduced dimensions from `inner` on: counts in `at`, and returns the address that `source` then has. */
static const char *dml_reduce_next(const dml_reduce *task, int inner, int64_t *at, const char *source)
{
    for (int i = inner; i < task->reduced_rank; i++) {
        source += task->reduced[i].input;
        if (++at[i] < task->reduced[i].size)
            break;
        source -= at[i] * task->reduced[i].input;
        at[i] = 0;
    }
    return source;
}

/* The index of the first element that is `value`, counted over the reduced elements in their order; -1 if there is
   none. It takes FLOAT16 and FLOAT32 only. */
static int64_t dml_reduce_search(const dml_reduce *task, const char *source, float value)
{
    int64_t at[DML_MAX_DIMENSIONS] = {0};
    uint16_t half = dml_half_of_float(value);
    for (int64_t index = 0; index < task->count; index++) {
        if (task->type == DML_TYPE_FLOAT16 ? *(const uint16_t *)source == half : *(const float *)source == value)
            return index;
        source = dml_reduce_next(task, 0, at, source);
    }
    return -1;
}

static void dml_reduce_store(const dml_reduce *task, char *output, int64_t m, const void *values)
{
    const int64_t size = dml_type_sizes[task->output_type];
    const dml_span span = {output, values, 1, 0, 0, m, task->kept[0].output, size};
    dml_dispatch->move->strided[__builtin_ctzll((uint64_t)size)](&span, 0);
}

static void dml_reduce_store_floats(const dml_reduce *task, char *output, int64_t m, const float *values)
{
    if (task->type == DML_TYPE_FLOAT32)
        dml_reduce_store(task, output, m, values);
    else
        for (int64_t i = 0; i < m; i++)
            *(uint16_t *)(output + i * task->kept[0].output) = dml_half_of_float(values[i]);
}

/* A sum of squares beyond the range of FLOAT32, which FLOAT32 would not hold, must not give a larger result either. */
static double dml_reduce_in_range(double sum)
{
    float narrow = (float)sum;
    return isinf(narrow) || narrow == 0.0f ? (double)narrow : sum;
}

/* The logarithm of such a sum of exponentials, which is rounded to infinity from 2^128 - 2^103 on and to 0 up to
   2^-150. */
static double dml_reduce_log_in_range(double value)
{
    if (value <= -103.97207708399179)
        return -INFINITY;
    return value >= 88.72283908187067 ? INFINITY : value;
}

/* Results are computed in FLOAT64, those of FLOAT16 too, which costs nothing measurable for a result. */
static void dml_reduce_finish_doubles(const dml_reduce *task, char *output, int64_t m, double *values,
                                      const float *largest)
{
    float rounded[DML_REDUCE_BLOCK];
    switch (task->function) {
    case DML_FUNCTION_AVERAGE:
        for (int64_t i = 0; i < m; i++)
            values[i] /= (double)task->count;
        break;
    case DML_FUNCTION_L2:
        for (int64_t i = 0; i < m; i++)
            values[i] = sqrt(dml_reduce_in_range(values[i]));
        break;
    case DML_FUNCTION_LOG_SUM:
        dml_dispatch->reduce_float32->logs(values, m);
        break;
    case DML_FUNCTION_LOG_SUM_EXP:
        dml_dispatch->reduce_float32->logs(values, m);
        for (int64_t i = 0; i < m; i++)
            values[i] =
                isinf(largest[i]) && !isnan(values[i]) ? largest[i] : dml_reduce_log_in_range(values[i] + largest[i]);
        break;
    }
    for (int64_t i = 0; i < m; i++)
        rounded[i] = (float)values[i];
    dml_reduce_store_floats(task, output, m, rounded);
}

/* No accumulator ever became NaN. If all elements are NaN, so is the result; that is possible only where the
   accumulator is still the infinity that it began with. */
static void dml_reduce_finish_extremes(const dml_reduce *task, const char *input, char *output, int64_t m,
                                       float *values)
{
    float worst = task->fold == DML_REDUCE_MIN ? INFINITY : -INFINITY;
    for (int64_t i = 0; i < m; i++)
        if (values[i] == worst && dml_reduce_search(task, input + i * task->kept[0].input, worst) < 0)
            values[i] = NAN;
    dml_reduce_store_floats(task, output, m, values);
}

/* Whether the first of the reduced elements is NaN, whose index no comparison replaces. */
static int dml_reduce_begins_with_nan(const dml_reduce *task, const char *source)
{
    if (task->type == DML_TYPE_FLOAT16)
        return (*(const uint16_t *)source & 0x7fffu) > 0x7c00u;
    return task->type == DML_TYPE_FLOAT32 && isnan(*(const float *)source);
}

static void dml_reduce_finish_indices(const dml_reduce *task, const char *input, char *output, int64_t m,
                                      const void *found)
{
    int wide = dml_type_sizes[task->computed_type] == 8;
    for (int64_t i = 0; i < m; i++) {
        int64_t index = wide ? ((const int64_t *)found)[i] : ((const int32_t *)found)[i];
        char *target = output + i * task->kept[0].output;
        /* Where nothing was better than the worst value, the first element is that, or NaN. */
        if (index < 0 || dml_reduce_begins_with_nan(task, input + i * task->kept[0].input))
            index = 0;
        if (dml_type_sizes[task->output_type] == 8)
            *(int64_t *)target = index;
        else
            *(int32_t *)target = (int32_t)index;
    }
}

static void dml_reduce_finish(const dml_reduce *task, const char *input, char *output, int64_t m, void *state,
                              void *second)
{
    if (task->fold >= DML_REDUCE_ARGMIN)
        dml_reduce_finish_indices(task, input, output, m, second);
    else if (task->fold == DML_REDUCE_EXP)
        dml_reduce_finish_doubles(task, output, m, second, state);
    else if (task->state_type == DML_TYPE_FLOAT64)
        dml_reduce_finish_doubles(task, output, m, state, NULL);
    else if (task->state_type == DML_TYPE_FLOAT32)
        dml_reduce_finish_extremes(task, input, output, m, state);
    else
        dml_reduce_store(task, output, m, state);
}
