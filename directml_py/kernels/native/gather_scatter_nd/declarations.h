#pragma once
#include "../move/declarations.h"

/* What an index outside its dimension does: it is clamped to the nearest one, or nothing is written. Reversed
   coordinates come from lengths instead of indices: of the first `length` elements along the dimension, the coordinate
   is counted from the last one. */
enum { DML_GATHER_SCATTER_ND_CLAMPED, DML_GATHER_SCATTER_ND_EXACT, DML_GATHER_SCATTER_ND_REVERSED };

enum { DML_INDEX_UINT32, DML_INDEX_INT32, DML_INDEX_UINT64, DML_INDEX_INT64 };

/* The indices of one coordinate. `along` is its dimension of the array. */
typedef struct {
    uintptr_t indices;
    int64_t strides[DML_MAX_DIMENSIONS], size, array_stride;
    int type, along;
} dml_gather_scatter_nd_coordinate;

/* Reads and writes of an array at coordinates that other tensors hold. Strides are in bytes. */
typedef struct {
    /* The dimensions of the index tuples: how far the array's own coordinate, and the elements that are read or
       written, advance. */
    int rank, is_write, mode, count;
    int64_t sizes[DML_MAX_DIMENSIONS], array_strides[DML_MAX_DIMENSIONS], values_strides[DML_MAX_DIMENSIONS];
    uintptr_t array, values;
    dml_gather_scatter_nd_coordinate coordinates[DML_MAX_DIMENSIONS];
    /* A dimension along which all index tuples differ, so that threads may share it; -1 if there is none. */
    int apart;
} dml_gather_scatter_nd_params;

typedef struct {
    /* The copy that an index tuple stands for. Tuples are taken in blocks of this many. */
    dml_move trail;
    int kind;
    int64_t block, bytes;
    /* Whether one coordinate names single elements, whether lengths reverse whole lines, and whether all lines read the
       same indices, which fit into one block. */
    int is_single, is_lines, is_repeated;
    /* The lowest offset that an index tuple may have, and the distance to the highest one, plus one. */
    int64_t lowest, extent;
} dml_gather_scatter_nd_plan;

typedef struct {
    dml_gather_scatter_nd_params params;
    dml_gather_scatter_nd_plan plan;
    /* Becomes 1 if a clamped index is outside. */
    int outside;
} dml_gather_scatter_nd;

/* Makes the plan. Returns 0, and changes nothing, if there is no kernel for the combination. */
int dml_gather_scatter_nd_prepare(dml_gather_scatter_nd *task, int64_t item, int rank, const int64_t *sizes,
                                  const int64_t *array_strides, const int64_t *values_strides);
void dml_gather_scatter_nd_run(dml_gather_scatter_nd *task);
