/* Element-wise programs as parts of other kernels. */

#pragma once

#include "dispatch.h"

/* Computes the units [begin, end) of a program, which is the `context`, in this thread. */
void dml_elementwise_parts(void *context, int64_t begin, int64_t end);
/* Runs the epilogue of a whole tensor. */
void dml_elementwise_finish(const dml_elementwise_epilogue *epilogue);
/* Runs the epilogue of a block of `rows` and `columns` of a matrix. */
void dml_elementwise_finish_block(const dml_elementwise_epilogue *epilogue, int64_t matrix, int64_t row, int64_t rows,
                                  int64_t column, int64_t columns);
