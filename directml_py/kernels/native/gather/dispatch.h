#pragma once

#include "../common/compiler.h"
#include "declarations.h"

/* Copies of items, or of rows of `bytes`, from `x` plus each offset to `output` and every `output_stride` bytes after
   it. Rows are prefetched if memory `is_far`. */
typedef struct {
    char *output;
    const char *x;
    const int64_t *offsets;
    int64_t count, output_stride, bytes;
    int is_far;
} dml_gather_items;

typedef struct {
    void (*rows)(const dml_gather_items *copies, int stream);
    void (*items[5])(const dml_gather_items *copies, int stream);
} dml_gather_table;

extern DML_HIDDEN const dml_gather_table dml_gather_table_baseline, dml_gather_table_avx2;
