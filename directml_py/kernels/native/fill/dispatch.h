#pragma once

#include "../common/compiler.h"
#include "declarations.h"

/* This many elements are computed at a time. */
#define DML_FILL_BLOCK 2048

typedef struct {
    /* By kind: computes at most DML_FILL_BLOCK elements, the first of which has this number. */
    void (*elements[DML_FILL_KINDS])(void *elements, const dml_fill *task, int64_t number, int64_t count);
} dml_fill_table;

extern DML_HIDDEN const dml_fill_table dml_fill_table_baseline, dml_fill_table_avx2;
