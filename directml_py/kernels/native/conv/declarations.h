#pragma once
#include "../half/declarations.h"
#include "../elementwise/declarations.h"
#include "../softmax_norm/declarations.h"

/* Convolutions: sums of products of a filter with the window of the input around each pixel. */
enum { DML_CONV_FLOATS, DML_CONV_HALVES, DML_CONV_UINT8, DML_CONV_INT8, DML_CONV_INT32 };

/* What is convolved. There are three spatial dimensions, outermost first; missing ones have size 1. `channels`, and
   `m`, the number of filters, are those of one group. Sizes are at least 1. Strides are in elements; those of the
   input, which may be any, are of batches, channels and spatial dimensions. Each plane of the output is contiguous, and
   so is each filter; filters begin `filter_stride` elements apart, and are rotated by 180 degrees if `is_rotated`. The
   bias, which may be absent, has one element for each output channel. Of floats, `type` is that of all tensors but the
   output; of integers, it is that of the input. Programs are over {batches, groups * m, pixels}. */
typedef struct {
    int32_t type, filter_type, output_type, is_rotated;
    int64_t batches, groups, channels, m;
    int64_t sizes[DML_SPATIAL_DIMENSIONS], output_sizes[DML_SPATIAL_DIMENSIONS], window[DML_SPATIAL_DIMENSIONS],
        strides[DML_SPATIAL_DIMENSIONS], dilations[DML_SPATIAL_DIMENSIONS], padding[DML_SPATIAL_DIMENSIONS];
    int64_t input_strides[DML_IMAGE_DIMENSIONS], output_strides[2], filter_stride, bias_stride;
    uintptr_t input, filters, bias, output;
} dml_conv_params;

/* What bytes stand for. Zero points have the type of their tensor, and may be absent; those of filters lie
   `filter_zero_stride` elements apart. An output of INT32 holds sums that wrap, without a bias. An output of bytes is
   quantized: the sum and its bias, which does not leave INT32, times the scales of the input and the filter, divided by
   the scale of the output, plus its zero point. */
typedef struct {
    uintptr_t input_zero, filter_zero, output_zero, input_scale, filter_scale, output_scale;
    int64_t filter_zero_stride, filter_scale_stride;
} dml_conv_quantization;

/* Memory that the caller provides. `signed_filters`, of integers, has the bytes of `dml_conv_signed_size`.
   `transformed`, for Winograd's method, has 16 floats for each channel of each filter of 3 by 3, or is 0; it has been
   filled if `is_transformed`. */
typedef struct {
    uintptr_t signed_filters, transformed;
    int32_t is_transformed;
} dml_conv_scratch;

typedef struct {
    dml_conv_params params;
    dml_post_ops post_ops;
    dml_conv_quantization quantization;
    dml_conv_scratch scratch;
} dml_conv;

int64_t dml_conv_signed_size(const dml_conv *task);
/* Winograd's method is for filters of FLOAT32 of 3 by 3, with strides and dilations of 1, and so many channels and
   filters a group. */
enum { DML_CONV_LEAST_TRANSFORMED = 16, DML_CONV_MOST_TRANSFORMED = 512 };
/* Fills `transformed`. */
void dml_conv_transform(const dml_conv *task);
void dml_conv_run(const dml_conv *task);
