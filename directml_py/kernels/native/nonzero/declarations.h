#pragma once
#include "../move/declarations.h"

/* Where the elements of a tensor are whose bits are not all 0, but for those that `mask` leaves out. All is in bytes
   but sizes. Of the `rank` coordinates the last `width` are stored, as UINT32, in the order of the places; of `size`
   places those that are left over get 0. */
typedef struct {
    uintptr_t x, coordinates;
    int64_t item, size, row_step, column_step;
    uint64_t mask;
    int rank, width;
    int64_t sizes[DML_MAX_DIMENSIONS], strides[DML_MAX_DIMENSIONS];
} dml_nonzero;

/* Gives how many there are. */
int64_t dml_nonzero_run(const dml_nonzero *task);
