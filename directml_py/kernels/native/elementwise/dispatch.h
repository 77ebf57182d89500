#pragma once

#include "../common/compiler.h"
#ifndef DML_UNIT
#include "declarations.h"
#endif

#include "opcodes.h"

typedef void (*dml_elementwise_function)(void *result, const void *const *operands, int64_t count);

enum { DML_ELEMENTWISE_F16, DML_ELEMENTWISE_F32, DML_ELEMENTWISE_I8, DML_ELEMENTWISE_I16, DML_ELEMENTWISE_I32, DML_ELEMENTWISE_U8, DML_ELEMENTWISE_U16, DML_ELEMENTWISE_U32, DML_ELEMENTWISE_F64, DML_ELEMENTWISE_TYPES };

/* The most inputs and outputs that a program has. */
#define DML_ELEMENTWISE_TENSORS 16

/* Memory that will be read next, and how many bytes of it for 64 that are written. */
typedef struct {
    const char *from;
    int64_t step;
} dml_elementwise_ahead;

/* `load` makes lanes of contiguous elements, `store` elements of lanes; NULL where they are the same. The last type is
   that of lanes alone, which `store_wide` rounds to the others. `stream` writes by streaming stores, and prefetches the
   memory of `count` others meanwhile. */
typedef struct {
    const dml_elementwise_function *steps;
    void (*load[DML_ELEMENTWISE_TYPES])(void *lanes, const void *elements, int64_t count);
    void (*store[DML_ELEMENTWISE_TYPES])(void *elements, const void *lanes, int64_t count);
    void (*store_wide[DML_ELEMENTWISE_TYPES])(void *elements, const void *lanes, int64_t count);
    void (*stream)(char *output, const char *results, int64_t bytes, const dml_elementwise_ahead *ahead, int count);
} dml_elementwise_table;
