#pragma once

#include "compiler.h"
#ifndef DML_UNIT
#include "declarations.h"
#endif

static int64_t dml_quotient_up(int64_t value, int64_t by)
{
    return (value + by - 1) / by;
}

static void dml_swap(dml_dimension *a, dml_dimension *b)
{
    dml_dimension one = *a;
    *a = *b;
    *b = one;
}

/* Leaves out dimensions of size 1 and joins those that are one in both layouts, outermost first; gives how many are
   left. */
static int dml_join(dml_dimension *dimensions, int count)
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

static int64_t dml_element_count(int rank, const int64_t *sizes)
{
    int64_t product = 1;
    for (int i = 0; i < rank; i++)
        product *= sizes[i];
    return product;
}
