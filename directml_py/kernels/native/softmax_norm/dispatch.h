#pragma once

#include "../common/compiler.h"
#include "../half/scalar.h"
#include "declarations.h"

/* What is read after a row, and how many bytes of it to prefetch for each element: 0 if it is in a cache anyway. */
typedef struct {
    const char *place;
    int64_t size;
} dml_softmax_norm_next;

/* What the kernels of rows are called with: where the tensors' elements of a row begin, and whether what lies behind
   its input is to be prefetched. */
typedef void (*dml_softmax_norm_kernel)(const dml_softmax_norm *task, char *const *places, int fetches);

/* The same of `m` rows, or columns, one after the other, up to DML_SOFTMAX_NORM_STRIP of them, with `work` for as many
   floats as they have, each column or row by itself being completed to 16. */
typedef void (*dml_softmax_norm_strip)(const dml_softmax_norm *task, char *const *places, int64_t m, float *work);
#define DML_SOFTMAX_NORM_STRIP 64

typedef struct {
    dml_softmax_norm_kernel floats, halves;
    dml_softmax_norm_strip short_rows, columns, batch_norm_columns;
} dml_softmax_norm_table;

/* As FLOAT16 has it. */
static inline double dml_softmax_norm_half(double value)
{
    return (double)dml_float_of_half(dml_half_of_float((float)value));
}

static inline double dml_softmax_norm_factor(float variance, double epsilon, float scale)
{
    return 1.0 / sqrt((double)variance + epsilon) * (double)scale;
}

static inline dml_batch_norm_channel dml_batch_norm_channel_by(float mean, double factor, float shift, int32_t relu)
{
    int is_short = fabs((double)mean) <= 0x1p100 && fabs(factor) >= 0x1p-100 && fabs(factor) <= 0x1p100;
    return (dml_batch_norm_channel){factor, mean, shift, (float)factor, is_short, relu};
}

/* Before channels of this run are normalized; whether FLOAT32 does for all of them. */
static inline int dml_softmax_norm_prepare(const dml_batch_norm_post_op *given)
{
    dml_batch_norm_channel *channels = (dml_batch_norm_channel *)given->prepared;
    int is_short = 1;
    for (int64_t i = 0; channels && i < given->channels; i++) {
        float numbers[4];
        for (int k = 0; k < 4; k++)
            numbers[k] = *(const float *)(given->memory[k] + (uintptr_t)(i * given->strides[k]));
        channels[i] = dml_batch_norm_channel_by(
            numbers[0], dml_softmax_norm_factor(numbers[1], given->epsilon, numbers[2]), numbers[3], given->relu);
        is_short &= channels[i].is_short;
    }
    return is_short;
}

/* NULL if there is nothing to do. */
static inline const dml_batch_norm_channel *dml_batch_norm_channel_of(const dml_batch_norm_post_op *given,
                                                                      int64_t channel)
{
    return given->prepared ? (const dml_batch_norm_channel *)given->prepared + channel : NULL;
}

extern DML_HIDDEN const dml_softmax_norm_table dml_softmax_norm_table_baseline, dml_softmax_norm_table_avx2,
    dml_softmax_norm_table_avx512;
