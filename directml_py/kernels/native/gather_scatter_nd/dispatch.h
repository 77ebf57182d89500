#pragma once

#include "../common/compiler.h"
#include "declarations.h"

/* `count` coordinates, one after another, added to offsets into the array. */
typedef struct {
    const char *indices;
    int64_t stride, count, size, step;
    /* A place's own coordinate, for lengths. */
    int64_t own, own_step;
    int64_t *offsets;
    /* Set if a clamped coordinate is outside. */
    int *outside;
} dml_gather_scatter_nd_line;

/* Elements that one coordinate each names: they lie from every `own` bytes on in the array, plus `step` times the
   place. */
typedef struct {
    dml_gather_scatter_nd_line line;
    char *array, *values;
    int64_t own, values_step;
} dml_gather_scatter_nd_single;

typedef struct {
    /* By how an index is read, and by its type. */
    void (*add[3][4])(const dml_gather_scatter_nd_line *line);
    /* By the type of the index and by the logarithm of the item's size; lengths have the same own coordinate. */
    void (*single_clamped[4][4])(const dml_gather_scatter_nd_single *task);
    void (*single_exact[4][4])(const dml_gather_scatter_nd_single *task);
    void (*single_reversed[4][4])(const dml_gather_scatter_nd_single *task);
    /* As many rows of `bytes`. `stream` is that of `dml_move_table`. */
    void (*write_rows)(char *array, const int64_t *offsets, const char *values, int64_t step, int64_t count,
                       int64_t bytes, int stream);
    /* `count` items from every `step` bytes to an array plus each offset that is one. */
    void (*write[5])(char *array, const int64_t *offsets, const char *values, int64_t step, int64_t count);
} dml_gather_scatter_nd_table;

extern DML_HIDDEN const dml_gather_scatter_nd_table dml_gather_scatter_nd_table_baseline,
    dml_gather_scatter_nd_table_avx2;
