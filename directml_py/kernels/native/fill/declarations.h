#pragma once
#include "../move/declarations.h"

/* What elements are: integers by their bits, floats, and random words of 32 bits. */
enum {
    DML_FILL_INTEGER8,
    DML_FILL_INTEGER16,
    DML_FILL_INTEGER32,
    DML_FILL_INTEGER64,
    DML_FILL_FLOAT16,
    DML_FILL_FLOAT32,
    DML_FILL_FLOAT64,
    DML_FILL_PHILOX,
    DML_FILL_KINDS
};

/* `count` contiguous elements, computed from their numbers, which begin with `first`. Integers, which wrap, advance by
   `delta` from `start`, and floats by `float_delta` from `float_start`: their products and sums are rounded to their
   type, or to FLOAT32 if that is FLOAT16. Random words are four of each value of a counter from `start` and `high` on,
   under a key; their first number is 0. */
typedef struct {
    uintptr_t elements;
    int64_t first, count;
    uint64_t start, delta, high;
    double float_start, float_delta;
    uint32_t key[2];
    int32_t kind;
} dml_fill;

void dml_fill_run(const dml_fill *task);
