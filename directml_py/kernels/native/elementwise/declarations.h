#pragma once
#include "../half/declarations.h"
#include "../move/declarations.h"
/* The most values of a program, inputs and outputs in all, and the elements of a value that a thread has at a time. */
enum { DML_ELEMENTWISE_MAX_VALUES = 64, DML_ELEMENTWISE_MAX_TENSORS = 16, DML_ELEMENTWISE_BLOCK = 1024 };

/* An instruction of a program over values, each of which is a block of elements of one type: inputs are loaded,
   instructions compute values from values, and outputs are stored. `uniform` has a bit for each operand that is a
   constant, the lowest for the first. */
typedef struct {
    int32_t code, result, operands[3], uniform;
} dml_elementwise_instruction;

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

/* The rows and columns of the blocks that threads share, and their number. */
typedef struct {
    int64_t rows, columns, units;
} dml_elementwise_plan;

typedef struct {
    int32_t rank, inputs, outputs, constants, instructions, values;
    int64_t sizes[DML_MAX_DIMENSIONS];
    /* Inputs first. */
    const dml_elementwise_tensor *tensors;
    const dml_elementwise_constant *first_constant;
    const dml_elementwise_instruction *first_instruction;
    /* Whether a value has lanes of 8 bytes, and its offset in the `memory` bytes that a thread has for values. */
    const uint8_t *wide;
    const int64_t *value_offsets;
    int64_t memory;
    /* How much memory the work is worth, and the bytes of the outputs. */
    int64_t work, output_bytes;
    /* Whether inputs are read across. */
    int32_t across;
    dml_elementwise_plan plan;
} dml_elementwise;

/* Programs, one after the other, over {matrices, rows, columns}, a block of which another kernel stores: they run while
   the block is in its cache. Absent programs, which are last, are NULL. */
enum { DML_ELEMENTWISE_EPILOGUES = 2 };
typedef struct {
    const dml_elementwise *programs[DML_ELEMENTWISE_EPILOGUES];
} dml_elementwise_epilogue;

/* The names of opcodes and types by their numbers; NULL after the last. */
const char *dml_elementwise_opcode_name(int code);
const char *dml_elementwise_type_name(int type);
/* Sizes are at least 1; there are at least two, of which the last is the one that outputs are written along. With
   `across`, some inputs are read along the one before it. */
void dml_elementwise_prepare(dml_elementwise *task);
void dml_elementwise_run(const dml_elementwise *task);

/* The factor that corrects the bias of ADAM_OPTIMIZER's moments: for the training step, a UINT32, it stores three
   FLOAT32 parts, whose sum is the factor in FLOAT64. */
typedef struct {
    uintptr_t training_step, parts;
    double beta1, beta2;
} dml_adam_correction;
void dml_adam_correction_run(const dml_adam_correction *task);
