#pragma once

#include "../common/compiler.h"
#include "declarations.h"

/* Adds `count` coordinates, one after another, to offsets into the array. */
typedef struct {
    const char *indices;
    int64_t stride, count, size, coordinate_stride;
    /* The array's own coordinate of an index tuple, for lengths. */
    int64_t position, position_stride;
    int64_t *offsets;
    /* Becomes 1 if a clamped coordinate is outside. */
    int *outside;
} dml_gather_scatter_nd_line;

/* Elements each of which one coordinate names; in the array they lie every `array_stride` bytes, plus
   `coordinate_stride` times the coordinate. */
typedef struct {
    dml_gather_scatter_nd_line line;
    char *array, *values;
    int64_t array_stride, values_stride;
} dml_gather_scatter_nd_single;

/* Copies of items, or of rows of `bytes`, from `array` plus each offset to `values` and every `values_stride` bytes
   after it. Rows are prefetched if memory `is_far`. */
typedef struct {
    char *values;
    const char *array;
    const int64_t *offsets;
    int64_t count, values_stride, bytes;
    int is_far;
} dml_gather_scatter_nd_reads;

typedef struct {
    /* By how an index is read, and by its type. */
    void (*add[3][4])(const dml_gather_scatter_nd_line *line);
    /* By the logarithm of the item's size, too; all lengths have the same own coordinate. */
    void (*single[3][4][4])(const dml_gather_scatter_nd_single *task);
    void (*read_rows)(const dml_gather_scatter_nd_reads *reads, int stream);
    void (*read[5])(const dml_gather_scatter_nd_reads *reads);
    /* Writes as many rows of `bytes`. `stream` is that of `dml_move_table`. */
    void (*write_rows)(char *array, const int64_t *offsets, const char *values, int64_t stride, int64_t count,
                       int64_t bytes, int stream);
    /* Writes `count` items, which lie every `stride` bytes, to the array plus each offset but DML_NOWHERE. */
    void (*write[5])(char *array, const int64_t *offsets, const char *values, int64_t stride, int64_t count);
} dml_gather_scatter_nd_table;

extern DML_HIDDEN const dml_gather_scatter_nd_table dml_gather_scatter_nd_table_baseline,
    dml_gather_scatter_nd_table_avx2;
