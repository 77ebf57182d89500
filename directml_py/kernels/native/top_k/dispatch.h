#pragma once

#include "../common/compiler.h"
#include "declarations.h"

typedef struct {
    /* Finds the indices of the first `count` elements of a row of `length`; arrays are indexed by type, and by whether
       the order is decreasing. */
    void (*find[DML_TYPES][2])(const char *row, int64_t length, int64_t count, int64_t *found);
} dml_top_k_table;

extern DML_HIDDEN const dml_top_k_table dml_top_k_table_baseline, dml_top_k_table_avx2;
