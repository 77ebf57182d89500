#pragma once
#include "../common/declarations.h"
#include "../move/declarations.h"

enum { DML_INDEX_UINT32, DML_INDEX_INT32, DML_INDEX_UINT64, DML_INDEX_INT64 };

/* The copy that one index, or one tuple of them, stands for. Indices are taken in blocks of this many. */
typedef struct {
    dml_move trail;
    int kind;
    int64_t block;
} dml_indexed_copy;

/* Elements gathered along one axis: output[lead, index, trail] = x[lead, indices[index], trail]. */
typedef struct {
    uintptr_t x, indices, output;
    int64_t axis_size, axis_stride;
    int index_type;
} dml_gather_params;

/* The leading and the index dimensions, joined into as few as possible. A copy is made at one coordinate of the leading
   dimensions or at all of them. */
typedef struct {
    dml_indexed_copy copy;
    int lead_rank, index_rank;
    dml_dimension lead[DML_MAX_DIMENSIONS], index[DML_MAX_DIMENSIONS];
    int64_t leads, count, bytes;
} dml_gather_plan;

typedef struct {
    dml_gather_params params;
    dml_gather_plan plan;
    /* Becomes 1 if an index is outside the axis; it then reads the first or the last element of the axis. */
    int outside;
} dml_gather;

/* Strides are in bytes; the output's sizes are those of x, with the index sizes in place of `axis`. Returns 0, and
   changes nothing, if there is no kernel for the combination. */
int dml_gather_prepare(dml_gather *task, int64_t item, int rank, const int64_t *x_sizes, const int64_t *x_strides,
                       int axis, int index_rank, const int64_t *index_sizes, const int64_t *index_strides,
                       int index_type, const int64_t *output_strides, uintptr_t x, uintptr_t indices, uintptr_t output);
void dml_gather_run(dml_gather *task);
