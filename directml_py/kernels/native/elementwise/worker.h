/* The state of a thread that runs a program. */
#pragma once

#include "dispatch.h"

/* This many elements are written by streaming stores at a time, and others are prefetched this far ahead of them. */
#define DML_ELEMENTWISE_TILE 256
#define DML_ELEMENTWISE_FETCHED 512
/* The most elements of the parts of a tensor that threads share; how many parts there are at least, unless they would
   be smaller than a block; and the bytes that the inputs of a part take which are read across, half of which leave room
   in the L2 cache for what is read and written beside one. */
#define DML_ELEMENTWISE_PART 16384
#define DML_ELEMENTWISE_PARTS 16
#define DML_ELEMENTWISE_TRANSPOSED (400 << 10)
/* The most instructions that run without lanes, and the elements that they have at a time. */
#define DML_ELEMENTWISE_DIRECT 12
#define DML_ELEMENTWISE_DIRECT_TILE 2048

static const int64_t dml_elementwise_sizes[DML_ELEMENTWISE_TYPES] = {2, 4, 1, 2, 4, 1, 2, 4, 8};

/* A thread's view of a tensor: the part that is being computed, and the element that a value was filled with. */
typedef struct {
    char *first;
    int64_t line, stride;
    /* Elements that have not been loaded yet. */
    const char *later;
    const char *filled;
    int64_t filled_count;
} dml_elementwise_view;

/* The lanes of a value, and the bytes from one element's to the next; 0 for a uniform value, for which `is_one` is 1,
   or if lanes are loaded for each tile. */
typedef struct {
    char *address;
    int64_t moves;
    int is_one;
} dml_elementwise_lanes;

/* `other` is the input that is the second operand, or the number of inputs if there is none. */
typedef struct {
    dml_elementwise_direct call;
    float lanes[2];
    int other;
} dml_elementwise_direct_instruction;

typedef struct {
    const dml_elementwise *task;
    char *memory;
    /* The inputs that are read across, each in its own part of DML_ELEMENTWISE_TRANSPOSED bytes. */
    char *transposed;
    int stream;
    /* The instructions that run without lanes; `direct` is 0 if the program needs lanes. */
    dml_elementwise_direct_instruction instructions[DML_ELEMENTWISE_DIRECT];
    int direct;
    /* Whether the only instruction goes from tensors to a tensor in memory. */
    int is_in_place;
    /* The most columns of a block. */
    int64_t block;
    /* The memory that the block reads, as far as it is contiguous, and whether more of it is to be prefetched. */
    int following, fetches;
    dml_elementwise_ahead ahead[DML_ELEMENTWISE_MAX_TENSORS];
    dml_elementwise_lanes values[DML_ELEMENTWISE_MAX_VALUES];
    dml_elementwise_view views[DML_ELEMENTWISE_MAX_TENSORS];
} dml_elementwise_worker;
