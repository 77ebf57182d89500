#pragma once
#include "../reduce/declarations.h"
#include "../elementwise/declarations.h"

/* Functions of rows: SOFTMAX and its logarithm, MEAN_VARIANCE, which normalizes by the row's mean and variance, and
   BATCH_NORM, by those of a tensor. */
enum {
    DML_SOFTMAX_NORM_SOFTMAX,
    DML_SOFTMAX_NORM_LOG_SOFTMAX,
    DML_SOFTMAX_NORM_MEAN_VARIANCE,
    DML_SOFTMAX_NORM_BATCH_NORM
};
/* The tensors of a task: its output, its input, and up to four more: for MEAN_VARIANCE the scale and the bias, for
   BATCH_NORM the mean, the variance, the scale and the bias. */
enum { DML_SOFTMAX_NORM_TENSORS = 6, DML_SOFTMAX_NORM_LONGEST_HALVES = 8192, DML_SOFTMAX_NORM_LONGEST_COLUMN = 8192 };
/* `rows` rows of `count` elements of FLOAT32, or FLOAT16 if `is_half`. In the output and the input these lie next to
   each other; in the others too where `moves` is not 0, else all are the same. Dimensions of rows begin with the
   innermost; strides are in bytes. Absent tensors are at 0. With `relu`, what is normalized becomes 0 where it is not
   above that. Output and input are apart in memory, or the same elements. Rows of FLOAT16 have up to
   DML_SOFTMAX_NORM_LONGEST_HALVES elements, but where the mean and the variance are given.
   All but MEAN_VARIANCE also take columns: `column_strides` is then not 0, but the bytes between the elements of a
   column in the output and the input; those of the innermost dimension of rows lie next to each other. SOFTMAX and
   LOG_SOFTMAX take columns of up to DML_SOFTMAX_NORM_LONGEST_COLUMN elements. */
typedef struct {
    int32_t function, is_half, uses_mean, uses_variance, relu;
    double epsilon;
    int64_t rows, count, column_strides[2];
    int32_t rank;
    int32_t moves[DML_SOFTMAX_NORM_TENSORS];
    int64_t sizes[DML_MAX_DIMENSIONS], strides[DML_MAX_DIMENSIONS][DML_SOFTMAX_NORM_TENSORS];
    uintptr_t memory[DML_SOFTMAX_NORM_TENSORS];
} dml_softmax_norm;
void dml_softmax_norm_run(const dml_softmax_norm *task);
/* How a channel is normalized: (x - mean) * factor + shift. `is_short` if FLOAT32 is enough, with its own factor, for
   any x: neither the difference nor the product leaves its range before the result does. */
typedef struct {
    double factor;
    float mean, shift, short_factor;
    int32_t is_short, relu;
} dml_batch_norm_channel;
/* BATCH_NORM as a post-op, of what other kernels store in FLOAT32: a mean, a variance, a scale and a bias for each
   channel, with strides in bytes. `prepared` has memory for one dml_batch_norm_channel for each, and is 0 if there is
   no normalization. */
typedef struct {
    int32_t relu;
    double epsilon;
    int64_t channels, strides[4];
    uintptr_t memory[4], prepared;
} dml_batch_norm_post_op;
