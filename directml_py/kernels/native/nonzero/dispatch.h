#pragma once

#include "../common/compiler.h"
#include "declarations.h"

/* So many elements of a line are looked at together. */
#define DML_NONZERO_LINE 1024

/* By the logarithm of an item's bytes. */
typedef struct {
    int64_t (*count[4])(const char *items, int64_t count, uint64_t mask);
    /* Numbers of those that are not zero, of at most DML_NONZERO_LINE; gives how many these are. */
    int64_t (*find[4])(const char *items, int64_t count, uint64_t mask, uint32_t *found);
    /* `count` rows of coordinates, all of them `outer` but the last, which is `first` and a number more. */
    void (*spread)(uint32_t *rows, const uint32_t *found, int64_t count, const uint32_t *outer, int width,
                   uint32_t first);
    void (*write)(char *output, const char *input, int64_t bytes, int stream);
} dml_nonzero_table;

extern DML_HIDDEN const dml_nonzero_table dml_nonzero_table_baseline, dml_nonzero_table_avx2;
