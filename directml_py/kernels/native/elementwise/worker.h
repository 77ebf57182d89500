/* What a thread that runs a program knows of it. */
#pragma once

#include "dispatch.h"

/* Elements that are written by streaming stores at a time, and how far ahead of them others are prefetched. */
#define DML_ELEMENTWISE_TILE 256
#define DML_ELEMENTWISE_FETCHED 512
/* The most elements of the parts of a tensor that threads share, how many parts there are at least if they are not
   smaller than a block by that, and the side of a part that is read across. */
#define DML_ELEMENTWISE_PART 16384
#define DML_ELEMENTWISE_PARTS 16
#define DML_ELEMENTWISE_SIDE 128
/* The most steps that are done without lanes. */
#define DML_ELEMENTWISE_DIRECT 4

static const int64_t dml_elementwise_sizes[DML_ELEMENTWISE_TYPES] = {2, 4, 1, 2, 4, 1, 2, 4, 8};

/* What a thread knows of a tensor: the part that is being worked on, and the element that a value was filled with. */
typedef struct {
    char *first;
    int64_t line, step;
    /* Elements that are not lanes yet. */
    const char *later;
    const char *filled;
    int64_t filled_count;
} dml_elementwise_view;

/* Where lanes of a value are, and how many bytes further those of the next element are; 0 for what is the same for
   all, which `is_one` is 1 for, or made anew for each tile. */
typedef struct {
    char *place;
    int64_t moves;
    int is_one;
} dml_elementwise_lanes;

typedef struct {
    dml_elementwise_direct call;
    float lanes[2];
} dml_elementwise_direct_step;

typedef struct {
    const dml_elementwise *task;
    char *memory;
    /* For inputs that are read across: DML_ELEMENTWISE_SIDE * DML_ELEMENTWISE_SIDE elements each; NULL if there is no
       memory. */
    char *turned;
    int stream;
    /* The steps that are done without lanes; `direct` is 0 if the program needs these. */
    dml_elementwise_direct_step steps[DML_ELEMENTWISE_DIRECT];
    int direct;
    /* Whether the only step goes from tensors to a tensor as they lie. */
    int is_in_place;
    /* The most columns of a block. */
    int64_t block;
    /* What the block reads, as far as that lies together, and whether more of it is to be prefetched. */
    int following, fetches;
    dml_elementwise_ahead ahead[DML_ELEMENTWISE_MAX_TENSORS];
    dml_elementwise_lanes values[DML_ELEMENTWISE_MAX_VALUES];
    dml_elementwise_view views[DML_ELEMENTWISE_MAX_TENSORS];
} dml_elementwise_worker;
