/* The dispatch table of reductions. */

#pragma once

#include "../common/compiler.h"
#include "declarations.h"

enum {
    DML_REDUCE_SUM,
    DML_REDUCE_ABSOLUTE,
    DML_REDUCE_SQUARE,
    DML_REDUCE_PRODUCT,
    DML_REDUCE_MIN,
    DML_REDUCE_MAX,
    DML_REDUCE_EXP,
    DML_REDUCE_ARGMIN,
    DML_REDUCE_ARGMAX,
    DML_REDUCE_ARGMIN_LAST,
    DML_REDUCE_ARGMAX_LAST,
    DML_FOLDS
};

/* This many elements are packed at a time, and this many accumulators are kept at a time. */
#define DML_REDUCE_TILE 4096
#define DML_REDUCE_BLOCK 4096
/* The bytes of the accumulators of a long row: enough registers to hide the latency of an addition. */
#define DML_REDUCE_LANES 256

/* Folds n elements into each of m accumulators, which are in `state`, and in `second` where an accumulator is two
   numbers. `index` is the number of the first of the n among the reduced elements. */
typedef void (*dml_reduce_loop)(void *state, void *second, const char *source, int64_t m, int64_t kept_stride,
                                int64_t n, int64_t reduced_stride, int64_t index);

/* `rows` takes contiguous reduced elements, and `columns` contiguous kept ones, as does `across`, which adds up each
   accumulator's elements in the order of `rows`: more than DML_REDUCE_SHORT of them, for up to DML_REDUCE_ACROSS
   accumulators. They are NULL where a type must be converted first, or there is no such kernel. */
enum { DML_REDUCE_ACROSS = 96, DML_REDUCE_SHORT = 512 };
typedef struct {
    dml_reduce_loop rows, columns, across;
} dml_reduce_kernel;

typedef struct {
    const dml_reduce_kernel (*kernels)[DML_TYPES];
    void (*pack)(void *packed, const char *source, int type, int widen, int64_t outer, int64_t outer_stride,
                 int64_t inner, int64_t inner_stride);
} dml_reduce_table;

/* Sums and sums of exponentials of FLOAT32, which the other table leaves out, and logarithms. */
typedef struct {
    dml_reduce_kernel sum, exp;
    void (*logs)(double *values, int64_t count);
} dml_reduce_float32_table;

extern DML_HIDDEN const dml_reduce_table dml_reduce_table_baseline, dml_reduce_table_avx2;
extern DML_HIDDEN const dml_reduce_float32_table dml_reduce_float32_table_baseline, dml_reduce_float32_table_avx2,
    dml_reduce_float32_table_avx512;
