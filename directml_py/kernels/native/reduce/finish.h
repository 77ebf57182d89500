/* From what a fold keeps to what the tensor holds. */

#pragma once

#include "../common/compiler.h"
#include "../context.h"
#include "../half/scalar.h"

static const uint8_t dml_type_sizes[DML_TYPES] = {2, 4, 1, 2, 4, 8, 1, 2, 4, 8, 8};

/* One step of the reduced dimensions from `inner` on: counts on in `at` and gives where `source` then stands. */
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

/* The place of the first element that is `value`, counted over the reduced elements in their order; -1 if there is
   none. Of FLOAT16 and FLOAT32 alone. */
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
    int64_t stride = task->kept[0].output;
    switch (dml_type_sizes[task->output_type]) {
    case 1:
        for (int64_t i = 0; i < m; i++)
            *(uint8_t *)(output + i * stride) = ((const uint8_t *)values)[i];
        break;
    case 2:
        for (int64_t i = 0; i < m; i++)
            *(uint16_t *)(output + i * stride) = ((const uint16_t *)values)[i];
        break;
    case 4:
        for (int64_t i = 0; i < m; i++)
            *(uint32_t *)(output + i * stride) = ((const uint32_t *)values)[i];
        break;
    default:
        for (int64_t i = 0; i < m; i++)
            *(uint64_t *)(output + i * stride) = ((const uint64_t *)values)[i];
    }
}

static void dml_reduce_store_floats(const dml_reduce *task, char *output, int64_t m, const float *values)
{
    if (task->type == DML_TYPE_FLOAT32)
        dml_reduce_store(task, output, m, values);
    else
        for (int64_t i = 0; i < m; i++)
            *(uint16_t *)(output + i * task->kept[0].output) = dml_half_of_float(values[i]);
}

/* A sum of squares beyond the range of FLOAT32, or below it: it is not kept there, but is not to be larger either. */
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

/* Everything is computed in FLOAT64, of FLOAT16 too: per result it costs nothing that could be seen. */
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

/* NaN never became a result. If nothing else is there, it is the result; whether there is can be doubted only where
   the result is the infinity that the fold began with. */
static void dml_reduce_finish_extremes(const dml_reduce *task, const char *input, char *output, int64_t m,
                                       float *values)
{
    float worst = task->fold == DML_REDUCE_MIN ? INFINITY : -INFINITY;
    for (int64_t i = 0; i < m; i++)
        if (values[i] == worst && dml_reduce_search(task, input + i * task->kept[0].input, worst) < 0)
            values[i] = NAN;
    dml_reduce_store_floats(task, output, m, values);
}

/* Whether the first of the reduced elements is NaN, which no comparison takes that place from. */
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
        /* Where nothing was better than the worst that there can be, the first is that, or NaN. */
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
