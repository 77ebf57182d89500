#pragma once
#include "../common/declarations.h"
/* The plan of a copy between two memory layouts of the same sizes, which dml_move_prepare makes of its arguments.
   Kernels copy the last two dimensions; there are always at least two. */
typedef struct {
    dml_dimension dimensions[DML_MAX_DIMENSIONS];
    uintptr_t output, input;
    int64_t item;
    int rank, kind;
    /* The work in equal units, which threads share: whole rows, pieces of long rows, or blocks of a plane. */
    int64_t units, pieces, bytes;
} dml_move;

/* Strides are in bytes; those of the input may be negative or 0. Items have 1, 2, 4 or 8 bytes; rank is at most 8.
   Input and output either do not overlap, or are the very same elements. */
void dml_move_prepare(dml_move *task, int64_t item, int rank, const int64_t *sizes, const int64_t *output_strides,
                      const int64_t *input_strides, uintptr_t output, uintptr_t input);
void dml_move_run(const dml_move *tasks, int64_t count);
