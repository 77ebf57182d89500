/* Copies as parts of other kernels. */

#pragma once

#include "../context.h"
#include "dispatch.h"

enum { DML_MOVE_NOTHING, DML_MOVE_ROWS, DML_MOVE_FILL, DML_MOVE_STRIDED, DML_MOVE_TILES };

/* Fills in all of a task but the addresses, whose fields get the offsets that are to be added to these. */
void dml_move_layout(dml_move *task, int64_t item, int rank, const int64_t *sizes, const int64_t *output_strides,
                     const int64_t *input_strides);
/* Copies `lines` of `bytes` each, which begin `output_line` and `input_line` bytes apart. */
static inline void dml_move_lines(char *output, int64_t output_line, const char *input, int64_t input_line,
                                  int64_t lines, int64_t bytes, int stream)
{
    const dml_span span = {output, input, lines, output_line, input_line, bytes, 1, 1};
    dml_dispatch->move->rows(&span, stream);
}

/* Copies the units [begin, end) of a task whose memory begins at `output` and `input`. */
void dml_move_part(const dml_move *task, char *output, const char *input, int64_t begin, int64_t end, int stream);
