/* Element-wise programs as parts of other kernels. */

#pragma once

#include "dispatch.h"

/* Units [begin, end) of a program, which `context` is, in this thread. */
void dml_elementwise_parts(void *context, int64_t begin, int64_t end);
/* An epilogue of all that is stored. */
void dml_elementwise_finish(const dml_elementwise_epilogue *epilogue);
/* An epilogue of `rows` and `columns` of a matrix, from those on that are given. */
void dml_elementwise_finish_block(const dml_elementwise_epilogue *epilogue, int64_t matrix, int64_t row, int64_t rows,
                                  int64_t column, int64_t columns);
