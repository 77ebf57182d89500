#pragma once
#include "../half/declarations.h"
#include "../elementwise/declarations.h"
#include "../softmax_norm/declarations.h"

/* Windows that slide over one channel at a time: sums of products with a filter for each channel (depthwise
   convolution), means, and the largest element, with its index if `indices` is not 0. */
enum { DML_DEPTHWISE_POOL_PRODUCTS, DML_DEPTHWISE_POOL_MEAN, DML_DEPTHWISE_POOL_MAXIMUM };
/* The most elements of a window. */
enum { DML_DEPTHWISE_POOL_TAPS = 1024 };
/* The most weights of a channel where products read channels that are neighbours in memory. */
enum { DML_DEPTHWISE_POOL_LAST_TAPS = 25 };
/* Tensors have a batch, a channel and three spatial dimensions, of which the last is the innermost; strides are in
   bytes. Elements of a row, or of a pixel, are neighbours in memory. `channels` are those of the output; `multiplier`
   of them see the same channel of `x`. All tensors are FLOAT32, or FLOAT16 if `is_half`; so is the output if
   `stores_half`. `weights` have a filter for each channel: their strides are those of channels and of the window.
   `bias`, which may be absent, has one element for each. Means are divided by the product of `counts`, which have an
   element for each step along each spatial dimension. Indices run on from one channel to the next; they have
   `index_item` bytes. Of post-operations, products have all but a residual, and are normalized where neighbouring
   elements of rows are stored side by side; the others have programs, over {batches, channels, steps}. */

/* The quantization of means and products of bytes, which are INT8 if `is_signed`, or UINT8, as are the output and the
   weights. A byte stands for its difference from the zero point, times its scale; padding is 0. Scales are FLOAT32.
   Strides, in bytes, are from one channel to the next. The bias of products, in INT32, has the scale of their product.
   Windows of products have up to DML_DEPTHWISE_POOL_BYTE_TAPS elements, whose sums FLOAT32 represents. */
enum { DML_DEPTHWISE_POOL_BYTE_TAPS = 256 };
typedef struct {
    int32_t is_there, is_signed, stores_signed, weighs_signed;
    uintptr_t scale, zero, stored_scale, stored_zero, weight_scale, weight_zero;
    int64_t scale_stride, zero_stride, stored_scale_stride, stored_zero_stride, weight_scale_stride, weight_zero_stride;
} dml_depthwise_pool_bytes;

typedef struct {
    int32_t function, is_half, stores_half, index_item;
    int64_t batches, channels, multiplier;
    int64_t sizes[DML_SPATIAL_DIMENSIONS], output_sizes[DML_SPATIAL_DIMENSIONS], window[DML_SPATIAL_DIMENSIONS],
        strides[DML_SPATIAL_DIMENSIONS], dilations[DML_SPATIAL_DIMENSIONS], padding[DML_SPATIAL_DIMENSIONS];
    int64_t x_strides[DML_IMAGE_DIMENSIONS], output_strides[DML_IMAGE_DIMENSIONS], index_strides[DML_IMAGE_DIMENSIONS],
        weight_strides[4], bias_stride;
    uintptr_t x, output, indices, weights, bias, counts[DML_SPATIAL_DIMENSIONS];
    dml_post_ops post_ops;
    dml_depthwise_pool_bytes bytes;
} dml_depthwise_pool;

/* Gradients of the pixels of a window are added up in FLOAT64: each element of the output gets those whose index is its
   own. Indices have 64 bits and are packed, as are the `sums`. Gradients and output, of `sizes`, are FLOAT32, or
   FLOAT16 if `is_half`; strides are in bytes. */
typedef struct {
    int32_t is_half;
    int64_t batches, channels, sizes[DML_SPATIAL_DIMENSIONS], output_sizes[DML_SPATIAL_DIMENSIONS],
        gradient_strides[DML_IMAGE_DIMENSIONS], output_strides[DML_IMAGE_DIMENSIONS];
    uintptr_t indices, gradients, sums, output;
} dml_depthwise_pool_gradients;

/* Returns 0 if there is no kernel, because windows reach too far. */
int dml_depthwise_pool_check(const dml_depthwise_pool *task);
void dml_depthwise_pool_run(const dml_depthwise_pool *task);
void dml_depthwise_pool_add(const dml_depthwise_pool_gradients *task);
