#pragma once

#include "../common/compiler.h"
#include "declarations.h"

/* The elements of a line that are searched at once. */
#define DML_NONZERO_LINE 1024

/* Arrays are indexed by the logarithm of an item's bytes. */
typedef struct {
    int64_t (*count[4])(const char *items, int64_t count, uint64_t mask);
    /* Finds the numbers of items that are not 0, among at most DML_NONZERO_LINE; returns how many there are. */
    int64_t (*find[4])(const char *items, int64_t count, uint64_t mask, uint32_t *found);
    /* Writes `count` rows of coordinates, all of which are `outer` but the last, which is `first` plus a number. */
    void (*spread)(uint32_t *rows, const uint32_t *found, int64_t count, const uint32_t *outer, int width,
                   uint32_t first);
} dml_nonzero_table;

extern DML_HIDDEN const dml_nonzero_table dml_nonzero_table_baseline, dml_nonzero_table_avx2;
