#pragma once

#include "../common/compiler.h"
#include "declarations.h"
#include "opcodes.h"
#include "requantize.h"

typedef void (*dml_elementwise_function)(void *result, const void *const *operands, int64_t count);

enum {
    DML_ELEMENTWISE_F16,
    DML_ELEMENTWISE_F32,
    DML_ELEMENTWISE_I8,
    DML_ELEMENTWISE_I16,
    DML_ELEMENTWISE_I32,
    DML_ELEMENTWISE_U8,
    DML_ELEMENTWISE_U16,
    DML_ELEMENTWISE_U32,
    DML_ELEMENTWISE_F64,
    DML_ELEMENTWISE_TYPES
};

/* The opcodes. */
#define DML_OPCODE_OF(NAME, ...) DML_OPCODE_##NAME,
#define DML_OPCODES_OF_LANES(NAME) DML_OPCODE_##NAME##_float32, DML_OPCODE_##NAME##_float64,
enum {
    DML_ELEMENTWISE_OPCODES(DML_OPCODE_OF, DML_OPCODE_OF, DML_OPCODE_OF, DML_OPCODE_OF, DML_OPCODE_OF,
                            DML_OPCODES_OF_LANES, DML_OPCODES_OF_LANES) DML_ELEMENTWISE_CODES
};
#undef DML_OPCODE_OF
#undef DML_OPCODES_OF_LANES

/* Rows of `count` narrow elements, which an instruction reads and writes in memory, and the bytes from each row to the
   next. The second operand is elements too, or one of FLOAT16 for each row if it `is_one`; or, if it is NULL, the first
   of two lanes. The other lane is the third operand. */
typedef struct {
    char *result;
    const char *first, *second;
    int64_t result_line, first_line, second_line;
    int64_t rows, count;
    int is_one;
    float lanes[2];
} dml_elementwise_rows;
typedef void (*dml_elementwise_direct)(const dml_elementwise_rows *rows);

/* Memory that will be read next, and how many bytes of it for 64 that are written. */
typedef struct {
    const char *from;
    int64_t stride;
} dml_elementwise_ahead;

/* `direct` has the steps, if there are, by the type of their operands; `direct_swapped` fmin and fmax of a lane, which
   is a number, and of elements after it. `load` makes lanes of contiguous elements, `store` elements of
   lanes; NULL where they are the same. The last type is that of lanes alone, which `store_wide` rounds to the others.
   `stream` writes by streaming stores, and prefetches the memory of `count` others meanwhile. `requantize` makes bytes
   of sums. */
typedef struct {
    const dml_elementwise_function *instructions;
    const dml_elementwise_direct (*direct)[DML_ELEMENTWISE_TYPES];
    dml_elementwise_direct direct_swapped[2];
    void (*load[DML_ELEMENTWISE_TYPES])(void *lanes, const void *elements, int64_t count);
    void (*store[DML_ELEMENTWISE_TYPES])(void *elements, const void *lanes, int64_t count);
    void (*store_wide[DML_ELEMENTWISE_TYPES])(void *elements, const void *lanes, int64_t count);
    void (*stream)(char *output, const char *results, int64_t bytes, const dml_elementwise_ahead *ahead, int count);
    void (*requantize)(uint8_t *output, const int32_t *sums, int64_t count, const dml_requantization *to);
} dml_elementwise_table;

extern DML_HIDDEN const dml_elementwise_table dml_elementwise_table_baseline, dml_elementwise_table_avx2,
    dml_elementwise_table_avx512;
