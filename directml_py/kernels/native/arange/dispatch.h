#pragma once

#include "../common/compiler.h"
#include "declarations.h"

/* This many elements are computed at a time. */
#define DML_ARANGE_BLOCK 2048

typedef struct {
    /* Each call computes at most DML_ARANGE_BLOCK elements; both arrays are indexed by the logarithm of the item's
       size. */
    void (*integers[4])(void *elements, uint64_t first, uint64_t delta, int64_t count);
    void (*floats[4])(void *elements, double number, double start, double delta, int64_t count);
} dml_arange_table;

extern DML_HIDDEN const dml_arange_table dml_arange_table_baseline, dml_arange_table_avx2;
