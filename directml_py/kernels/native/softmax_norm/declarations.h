#pragma once
#include "../reduce/declarations.h"
#include "../elementwise/declarations.h"

/* Functions of rows: SOFTMAX and its logarithm, RESPONSE, which divides an element by a power of the mean square of its
   neighbours, MEAN_VARIANCE, which normalizes by the row's mean and variance, BATCH_NORM, by those of a tensor, and the
   gradient of either, of FLOAT32. */
enum {
    DML_SOFTMAX_NORM_SOFTMAX,
    DML_SOFTMAX_NORM_LOG_SOFTMAX,
    DML_SOFTMAX_NORM_RESPONSE,
    DML_SOFTMAX_NORM_MEAN_VARIANCE,
    DML_SOFTMAX_NORM_BATCH_NORM,
    DML_SOFTMAX_NORM_GRADIENT
};
/* The tensors of a task: its output, its input, and up to four more: for MEAN_VARIANCE the scale and the bias, for
   BATCH_NORM the mean, the variance, the scale and the bias, for GRADIENT the incoming gradient, the mean, the variance
   and the scale. Two are further outputs, of one element for each row: of MEAN_VARIANCE the mean and the variance, of
   GRADIENT the gradients of the scale and the bias. */
enum {
    DML_SOFTMAX_NORM_INPUTS = 6,
    DML_SOFTMAX_NORM_TENSORS = 8,
    DML_SOFTMAX_NORM_LONGEST_HALVES = 8192,
    DML_SOFTMAX_NORM_LONGEST_COLUMN = 8192,
    DML_SOFTMAX_NORM_LONGEST_PACKED = 64 << 10
};
/* With `relu`, what is normalized becomes 0 where it is not above that; MEAN_VARIANCE also takes `leaky`, with which what
   is below 0 is multiplied by `slope`. */
typedef struct {
    int32_t relu, leaky;
    double slope;
} dml_norm_activation;

/* `rows` rows of `count` elements of FLOAT32, or FLOAT16 if `is_half`. In the output and the input these lie next to
   each other; in the others too where `moves` is not 0, else all are the same. Dimensions of rows begin with the
   innermost; strides are in bytes. Absent tensors are at 0. Output and input are apart in memory, or the same elements.
   Rows of FLOAT16 have up to DML_SOFTMAX_NORM_LONGEST_HALVES elements, but where the mean and the variance are given.
   GRADIENT is that through the mean and the variance too if `uses_mean`, as where they are the row's own.
   All but GRADIENT also take columns, RESPONSE nothing else, and MEAN_VARIANCE those of FLOAT32 whose scale and bias are
   the same for a column: `column_strides` is then not 0, but the bytes between the elements of a column in the output
   and the input; those of the innermost dimension of rows lie next to each other, or for SOFTMAX and LOG_SOFTMAX those
   of a column. SOFTMAX, LOG_SOFTMAX and RESPONSE take columns of up to DML_SOFTMAX_NORM_LONGEST_COLUMN elements. The
   divisor of RESPONSE is the sum of squares from `before` elements before to `behind` after, times `share`, plus
   `epsilon`, to the power of `exponent`.
   Rows of MEAN_VARIANCE of up to DML_SOFTMAX_NORM_LONGEST_PACKED bytes may be lines of `line` elements each, with gaps
   between them: `line_strides` are the bytes from each line to the next in the output and the input. */
typedef struct {
    int32_t function, is_half, uses_mean, uses_variance;
    dml_norm_activation activation;
    double epsilon, share, exponent;
    int64_t rows, count, column_strides[2], before, behind, line, line_strides[2];
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

/* What results become before they are stored. Sums of products are activated; those stored in FLOAT32 may then be
   normalized. If `residual` is not 0, the first program adds the tensor there, which has the layout of the output and
   is FLOAT32 like all others, to sums that are not activated, but may be normalized; `residual_activation` follows. A
   kernel that adds the residual itself leaves that program out. The epilogue is of the results as matrices. Tasks of
   kernels that have only some of these stages leave the others 0. */
typedef struct {
    int32_t activation, residual_activation;
    float slope, low, high;
    uintptr_t residual;
    dml_batch_norm_post_op normalization;
    dml_elementwise_epilogue epilogue;
} dml_post_ops;
