#pragma once
#include "../half/declarations.h"
#include "../elementwise/declarations.h"

/* Images resampled: each element of the output is a sum of elements where some rows and columns of the image meet,
   times the weights of both; or their norm, or the largest of them, whatever the weights. A number is larger than
   NaN; the largest of nothing is 0. */
enum { DML_RESAMPLE_SUM, DML_RESAMPLE_NORM, DML_RESAMPLE_MAXIMUM };
enum { DML_RESAMPLE_COLUMNS = 4096, DML_RESAMPLE_DIMENSIONS = 4 };
/* Of no FLOAT32 is a power up to this one beyond FLOAT64. */
enum { DML_RESAMPLE_ORDER = 6 };
/* The elements along one axis that an output is made of, of up to DML_RESAMPLE_COLUMNS elements: those of step number
   i begin at `starts[i]` of the `indices`, with `weights`. Each region has `steps`, and its own if `is_own`. */
typedef struct {
    uintptr_t starts, indices, weights;
    int64_t steps;
    int32_t is_own;
    /* If they are not 0: how many samples each step has, and how many of them are inside the image. */
    uintptr_t counts, inside;
} dml_resample_axis;

/* A region of the image, of batch `batches[region]`, or of its own number if they are 0, becomes an image of the
   output, channel by channel. Sums are divided by the number of samples, of which those outside have the value
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
