#pragma once
#include "../half/declarations.h"
#include "../move/declarations.h"
/* The most values of a program, inputs and outputs in all, and the elements of a value that a thread has at a time. */
enum { DML_ELEMENTWISE_MAX_VALUES = 64, DML_ELEMENTWISE_MAX_TENSORS = 16, DML_ELEMENTWISE_BLOCK = 1024 };

/* A program over values, each a block of elements of one type: inputs are loaded, steps make values of values,
   outputs are stored. `uniform` has a bit for each operand that is a constant, the lowest for the first. */
typedef struct {
    int32_t code, result, operands[3], uniform;
} dml_elementwise_step;

/* A value that is the same everywhere: `bits` of a lane with 4 or 8 bytes. */
typedef struct {
    int32_t value, bytes;
    uint64_t bits;
} dml_elementwise_constant;

/* An input or output and the value that it is loaded to or stored from. Strides are in bytes, may be negative, and of
   inputs 0. */
typedef struct {
    int64_t strides[DML_MAX_DIMENSIONS];
    uintptr_t memory;
    int32_t type, value;
} dml_elementwise_tensor;

typedef struct {
    int32_t rank, inputs, outputs, constants, steps, values;
    int64_t sizes[DML_MAX_DIMENSIONS];
    /* Inputs first. */
    const dml_elementwise_tensor *tensors;
    const dml_elementwise_constant *first_constant;
    const dml_elementwise_step *first_step;
    /* Whether a value has lanes of 8 bytes, and where it lies in the `memory` bytes that a thread has for them. */
    const uint8_t *wide;
    const int64_t *places;
    int64_t memory;
    /* How much memory the work is worth, and what the outputs have. */
    int64_t work, output_bytes;
    /* Rows and columns of the blocks that threads share; whether inputs lie across. */
    int64_t rows, columns, units;
    int32_t across;
} dml_elementwise;

/* Programs, one after the other, over {matrices, rows, columns} of which another kernel stores some: they run while
   these are in its cache. Those that are not there are NULL, and the last. */
enum { DML_ELEMENTWISE_EPILOGUES = 2 };
typedef struct {
    const dml_elementwise *programs[DML_ELEMENTWISE_EPILOGUES];
} dml_elementwise_epilogue;

/* The names of steps and types, whose codes are their places; NULL after the last. */
const char *dml_elementwise_step_name(int code);
const char *dml_elementwise_type_name(int type);
/* Sizes are at least 1; there are at least two, of which the last is the one that outputs are written along. With
   `across`, some inputs are read along the one before it. */
void dml_elementwise_prepare(dml_elementwise *task);
void dml_elementwise_run(const dml_elementwise *task);
