#pragma once
#include "../common/declarations.h"
/* The most elements that are kept of a row. */
enum { DML_TOP_K_MOST = 64 };

/* The first `count` elements, in order, of rows of `length` contiguous elements, and their indices, of 4 or 8 bytes. Of
   equal elements the one with the lower index comes first; NaN comes last. Strides are in bytes, by dimension of the
   rows. */
typedef struct {
    uintptr_t x, values, indices;
    int64_t length, count, value_axis_stride, index_axis_stride;
    int rank, type, decreasing, index_item;
    int64_t sizes[DML_MAX_DIMENSIONS], x_strides[DML_MAX_DIMENSIONS], value_strides[DML_MAX_DIMENSIONS],
        index_strides[DML_MAX_DIMENSIONS];
} dml_top_k;

void dml_top_k_run(const dml_top_k *task);
