#pragma once
#include "../half/declarations.h"
#include "../move/declarations.h"

enum { DML_SCAN_ADD, DML_SCAN_MULTIPLY };
enum { DML_SCAN_FLOAT16, DML_SCAN_FLOAT32, DML_SCAN_FLOAT64, DML_SCAN_8, DML_SCAN_16, DML_SCAN_32, DML_SCAN_64 };

/* output[i] = function(x[0], x[1], ... x[i]) along a dimension of `length` elements, for all coordinates of the others.
   Strides are in bytes. An exclusive scan leaves x[i] itself out. `output` does not overlap `x`, or is the very same
   elements. */
typedef struct {
    uintptr_t x, output;
    int64_t length, x_axis_stride, output_axis_stride;
    int rank, type, function, exclusive;
    int64_t sizes[DML_MAX_DIMENSIONS], x_strides[DML_MAX_DIMENSIONS], output_strides[DML_MAX_DIMENSIONS];
} dml_scan;

void dml_scan_run(const dml_scan *task);
