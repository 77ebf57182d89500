#pragma once

#include "../common/compiler.h"
#include "declarations.h"

/* Items, or rows of bytes, from `x` plus each offset to `output` and every `step` bytes after it. `ahead` is where
   `reach` bytes begin that will be read next. Rows of what `is_far` are prefetched. */
typedef struct {
    char *output;
    const char *x, *ahead;
    const int64_t *offsets;
    int64_t count, step, bytes, reach;
    int is_far;
} dml_gather_items;

typedef struct {
    void (*rows)(const dml_gather_items *picks, int stream);
    void (*items[5])(const dml_gather_items *picks, int stream);
} dml_gather_table;

extern DML_HIDDEN const dml_gather_table dml_gather_table_baseline, dml_gather_table_avx2;
