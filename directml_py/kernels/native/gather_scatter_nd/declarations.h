#pragma once
#include "../move/declarations.h"
#include "../gather/declarations.h"

/* What an index that is outside does: it becomes the nearest place, or nothing is written. Reversed places are no
   indices but lengths: of as many first elements along the dimension, the place is counted from the last one. */
enum { DML_GATHER_SCATTER_ND_CLAMPED, DML_GATHER_SCATTER_ND_EXACT, DML_GATHER_SCATTER_ND_REVERSED };

/* Reads and writes of an array at places that tensors of coordinates name. Strides and steps are in bytes. */
typedef struct {
    /* The places' dimensions: how far the array's own coordinate, and the elements that are read or written, go on. */
    int rank, is_write, mode, count;
    int64_t sizes[DML_MAX_DIMENSIONS], own[DML_MAX_DIMENSIONS], values_strides[DML_MAX_DIMENSIONS];
    uintptr_t array, values;
    /* One for each coordinate: types are those of pick. `along` is the dimension that it is for. */
    struct {
        uintptr_t indices;
        int64_t strides[DML_MAX_DIMENSIONS], size, step;
        int type, along;
    } given[DML_MAX_DIMENSIONS];
    /* A dimension whose places are all different, so that threads may share it. -1: there is none. */
    int apart;
    /* What follows is for dml_gather_scatter_nd_prepare: what one place moves. */
    dml_move trail;
    int kind;
    /* One coordinate names elements, or lengths reverse lines that they are the same for. */
    int is_single, is_lines;
    int64_t block, strip, bytes;
    /* The lowest offset of a place, and how far the highest one is behind it, and one more. */
    int64_t lowest, extent;
    /* Set once a clamped index is outside. */
    int outside;
} dml_gather_scatter_nd;

/* Gives 0, having done nothing, for what there is no kernel for. */
int dml_gather_scatter_nd_prepare(dml_gather_scatter_nd *task, int64_t item, int rank, const int64_t *sizes,
                                  const int64_t *array_strides, const int64_t *values_strides);
void dml_gather_scatter_nd_run(dml_gather_scatter_nd *task);
