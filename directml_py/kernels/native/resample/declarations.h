#pragma once
#include "../half/declarations.h"
#include "../elementwise/declarations.h"

/* Resampled images: each element of the output is a sum of the elements where some rows and columns of the image meet,
   times the weights of both; or their norm; or the largest of them, for which weights do not matter. A number is larger
   than NaN; the largest of no elements is 0. */
enum { DML_RESAMPLE_SUM, DML_RESAMPLE_NORM, DML_RESAMPLE_MAXIMUM };
enum { DML_RESAMPLE_COLUMNS = 4096, DML_RESAMPLE_DIMENSIONS = 4 };
/* Up to this order, no power of a FLOAT32 is beyond FLOAT64. */
enum { DML_RESAMPLE_ORDER = 6 };
/* The taps along one axis in compressed sparse rows (CSR), over up to DML_RESAMPLE_COLUMNS elements: output i has the
   taps from `starts[i]` on, each with one of the `indices` and `weights`. Each region has `output_size` outputs, and
   its own taps if `is_per_region`. */
typedef struct {
    uintptr_t starts, indices, weights;
    int64_t output_size;
    int32_t is_per_region;
    /* If they are not 0: how many samples each output has, and how many of them are inside the image. */
    uintptr_t counts, inside;
} dml_resample_axis;

/* Each region of the image of batch `batches[region]`, or of the region's number if they are 0, becomes an image of the
   output, channel by channel. Sums are divided by the number of samples; those outside the image have the value
   `outside`. Strides are in bytes: of batches or regions, channels, rows and columns. Tensors are FLOAT32, or FLOAT16
   if `is_half`; a channel of the image has `plane_bytes`. Norms have an `order`. */
typedef struct {
    int32_t is_half, function, order;
    int64_t regions, channels, plane_bytes;
    int64_t x_strides[DML_RESAMPLE_DIMENSIONS], output_strides[DML_RESAMPLE_DIMENSIONS];
    uintptr_t x, output, batches;
    double outside;
    dml_resample_axis rows, columns;
} dml_resample;

void dml_resample_run(const dml_resample *task);
