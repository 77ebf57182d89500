#pragma once
#include "../common/declarations.h"
#include "../move/declarations.h"

/* Elements gathered along one axis: output[lead, index, trail] = x[lead, indices[index], trail]. */
typedef struct {
    /* The copy that one index stands for, at one coordinate of the leading dimensions or at all of them. */
    dml_move trail;
    uintptr_t x, indices, output;
    int64_t axis_size, axis_stride;
    int index_type, kind, lead_rank, index_rank;
    dml_dimension lead[DML_MAX_DIMENSIONS], index[DML_MAX_DIMENSIONS];
    /* Indices are taken in blocks of this many. */
    int64_t leads, count, block, bytes;
    /* Becomes 1 if an index is outside the axis; it then reads the first or the last element of the axis. */
    int outside;
} dml_gather;

/* Types of indices: 0 is UINT32, 1 INT32, 2 UINT64, 3 INT64. Strides are in bytes; the output's sizes are those of x,
   with the index sizes in place of `axis`. Returns 0, and changes nothing, if there is no kernel for the combination.
   */
int dml_gather_prepare(dml_gather *task, int64_t item, int rank, const int64_t *x_sizes, const int64_t *x_strides,
                       int axis, int index_rank, const int64_t *index_sizes, const int64_t *index_strides,
                       int index_type, const int64_t *output_strides, uintptr_t x, uintptr_t indices, uintptr_t output);
void dml_gather_run(dml_gather *task);
