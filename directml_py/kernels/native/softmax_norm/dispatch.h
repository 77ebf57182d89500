#pragma once

#include "../common/compiler.h"
#include "../half/scalar.h"
#include "declarations.h"

/* The memory that is read after a row, and how many bytes of it to prefetch for each element: 0 if it is in a cache
   anyway. */
typedef struct {
    const char *address;
    int64_t size;
} dml_softmax_norm_next;

/* A kernel of rows is called with the addresses of a row's elements in the tensors, and whether to prefetch what is
   behind the input. */
typedef void (*dml_softmax_norm_kernel)(const dml_softmax_norm *task, char *const *addresses, int fetches);

/* A kernel of `m` rows or columns, up to DML_SOFTMAX_NORM_STRIP, with `work` for as many floats as they have, each row
   or column padded to 16. */
typedef void (*dml_softmax_norm_strip)(const dml_softmax_norm *task, char *const *addresses, int64_t m, float *work);
#define DML_SOFTMAX_NORM_STRIP 64
/* The columns of MEAN_VARIANCE, whose sums stay in the L1 cache. */
#define DML_SOFTMAX_NORM_COLUMNS 16

typedef struct {
    dml_softmax_norm_kernel floats, halves;
    dml_softmax_norm_strip short_rows, columns, response_columns, batch_norm_columns, mean_variance_columns;
} dml_softmax_norm_table;

/* Rounds to FLOAT16. */
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

/* Prepares the channels before they are normalized; returns whether FLOAT32 is enough for all of them. */
static inline int dml_softmax_norm_prepare(const dml_batch_norm_post_op *post_op)
{
    dml_batch_norm_channel *channels = (dml_batch_norm_channel *)post_op->prepared;
    int is_short = 1;
    for (int64_t i = 0; channels && i < post_op->channels; i++) {
        float numbers[4];
        for (int k = 0; k < 4; k++)
            numbers[k] = *(const float *)(post_op->memory[k] + (uintptr_t)(i * post_op->strides[k]));
        channels[i] = dml_batch_norm_channel_by(
            numbers[0], dml_softmax_norm_factor(numbers[1], post_op->epsilon, numbers[2]), numbers[3], post_op->relu);
        is_short &= channels[i].is_short;
    }
    return is_short;
}

/* The preparation of a channel; NULL if there is no normalization. */
static inline const dml_batch_norm_channel *dml_batch_norm_channel_of(const dml_batch_norm_post_op *post_op,
                                                                      int64_t channel)
{
    return post_op->prepared ? (const dml_batch_norm_channel *)post_op->prepared + channel : NULL;
}

extern DML_HIDDEN const dml_softmax_norm_table dml_softmax_norm_table_baseline, dml_softmax_norm_table_avx2,
    dml_softmax_norm_table_avx512;
