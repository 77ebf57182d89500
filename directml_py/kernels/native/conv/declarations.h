#pragma once
#include "../half/declarations.h"
#include "../elementwise/declarations.h"
#include "../softmax_norm/declarations.h"

/* Convolutions: what a window sees of the input, times a filter, added up. */
enum { DML_CONV_FLOATS, DML_CONV_HALVES, DML_CONV_UINT8, DML_CONV_INT8, DML_CONV_INT32 };
/* How a convolution is blocked, as the product of filters {m, k} and of the im2col matrix {k, n}: k is taps times
   channels, and n the output's pixels, of which the last `n_tail` are in no panel of nr. A slice of k has `kc_taps` of
   `kc_channels`. Units of work are blocks of mc filters and nc pixels. */
typedef struct {
    int64_t n, k, taps, n_tail, nr, panels, kc_taps, kc_channels, signed_row, nc, n_blocks, mc, m_blocks, units;
    int32_t is_single_slice;
} dml_conv_blocking;

/* There are three spatial dimensions, outermost first; those that are missing have the size 1. `channels`, and `m`, the
   number of filters, are those of one group. Sizes are at least 1. Strides are in elements, and those of the input may
   be any: of batches, channels and spatial dimensions. An output's plane lies together; so does each of the filters,
   which begin `filter_stride` elements apart and are taken from their end if `is_turned`. The bias, one element an
   output channel, may be absent.

   Of floats, `type` is that of all but the output, which has its own. Activated sums of FLOAT32 may be normalized.

   The epilogue is of {batches, groups * m, pixels}. If `residual` is not 0, the first of its programs adds what is
   there, of the layout of the output and in FLOAT32 like all else, to sums that are not activated, but may be
   normalized; `residual_activation` is what then becomes of them. Kernels that do this themselves leave the program
   out.

   Of integers, `type` is that of the input, and there is no activation. Zero points have the type of what they belong
   to, and may be absent; those of filters lie `filter_zero_stride` elements apart. The output is INT32, of sums that
   wrap, without a bias, or quantized: sums with a bias in INT32, none of which is beyond that, times the scales of the
   input and the filter, by the scale of the output, and its zero point more. */
typedef struct {
    int32_t type, filter_type, output_type, activation, is_turned, is_transformed;
    float slope, low, high;
    int64_t batches, groups, channels, m;
    int64_t sizes[DML_SPATIAL_DIMENSIONS], steps[DML_SPATIAL_DIMENSIONS], window[DML_SPATIAL_DIMENSIONS],
        strides[DML_SPATIAL_DIMENSIONS], dilations[DML_SPATIAL_DIMENSIONS], padding[DML_SPATIAL_DIMENSIONS];
    int64_t input_strides[DML_IMAGE_DIMENSIONS], output_strides[2], filter_stride, bias_stride, filter_zero_stride,
        filter_scale_stride;
    uintptr_t input, filters, bias, output;
    uintptr_t input_zero, filter_zero, output_zero, input_scale, filter_scale, output_scale;
    dml_batch_norm_post_op normalization;
    dml_elementwise_epilogue epilogue;
    uintptr_t residual;
    int32_t residual_activation;
    uintptr_t signed_filters;
    /* Memory for filters of 3 by 3 that are multiplied by Winograd's method, 16 floats for each channel of each; or
       0. They are there already if `is_transformed`. */
    uintptr_t transformed;
    /* dml_conv_run finds these: whether sums are stored from registers, and whether the input is the im2col matrix. */
    dml_conv_blocking blocking;
    int32_t is_direct, is_plain;
} dml_conv;
/* Of integers, the bytes that `signed_filters` must have: the filters come there as they are multiplied. */
int64_t dml_conv_signed_size(const dml_conv *task);
/* What filters may be transformed: FLOAT32, 3 by 3, strides and dilations of 1, so many channels and filters a
   group. */
enum { DML_CONV_LEAST_TRANSFORMED = 16, DML_CONV_MOST_TRANSFORMED = 512 };
/* Of a task, what `transformed` is to hold. */
void dml_conv_transform(const dml_conv *task);
void dml_conv_run(const dml_conv *task);
