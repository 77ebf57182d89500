#pragma once

#include "compiler.h"
#include "declarations.h"

static inline int64_t dml_quotient_up(int64_t value, int64_t by)
{
    return (value + by - 1) / by;
}

static inline int64_t dml_round_up(int64_t count, int64_t multiple)
{
    return dml_quotient_up(count, multiple) * multiple;
}

static inline void dml_swap(dml_dimension *a, dml_dimension *b)
{
    dml_dimension one = *a;
    *a = *b;
    *b = one;
}

/* Drops dimensions of size 1 and joins those that are one dimension in both layouts, outermost first; returns how many
   are left. */
static inline int dml_join(dml_dimension *dimensions, int count)
{
    int joined = 0;
    for (int i = 0; i < count; i++) {
        dml_dimension inner = dimensions[i];
        if (inner.size == 1)
            continue;
        if (joined > 0 && dimensions[joined - 1].output == inner.output * inner.size &&
            dimensions[joined - 1].input == inner.input * inner.size)
            inner.size *= dimensions[--joined].size;
        dimensions[joined++] = inner;
    }
    return joined;
}

static inline int64_t dml_element_count(int rank, const int64_t *sizes)
{
    int64_t product = 1;
    for (int i = 0; i < rank; i++)
        product *= sizes[i];
    return product;
}

static inline int64_t dml_magnitude(int64_t value)
{
    return value < 0 ? -value : value;
}

/* `count` by `part` of `whole`, rounded down. */
static inline int64_t dml_portion(int64_t count, int64_t part, int64_t whole)
{
    return part >= whole ? count : part <= 0 ? 0 : (int64_t)((__int128)count * part / whole);
}
