#pragma once
#include "../move/declarations.h"

/* The coordinates of the elements of a tensor that are not 0; bits that `mask` leaves out do not count. All but sizes
   is in bytes. Of the `rank` coordinates, the last `width` are stored, as UINT32, in row-major order of the elements;
   of `size` rows of coordinates, those that are left over become 0. */
typedef struct {
    uintptr_t x, coordinates;
    int64_t item, size, row_stride, column_stride;
    uint64_t mask;
    int rank, width;
    int64_t sizes[DML_MAX_DIMENSIONS], strides[DML_MAX_DIMENSIONS];
} dml_nonzero;

/* Returns the number of elements that are not 0. */
int64_t dml_nonzero_run(const dml_nonzero *task);
