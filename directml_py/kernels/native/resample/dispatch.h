#pragma once

#include "../common/compiler.h"
#include "declarations.h"

/* Outputs that are summed together, and the taps that all outputs of a row may have for that. */
#define DML_RESAMPLE_LANES 8
#define DML_RESAMPLE_TAPS (2 * DML_RESAMPLE_COLUMNS)

/* Rows of the output are ordered by blocks of this many channels, by regions, channels and rows: regions often share
   elements of the image, which are still in the cache if there are few channels in between. */
typedef struct {
    const dml_resample *task;
    int64_t channels;
} dml_resample_plan;

typedef struct {
    void (*rows)(void *plan, int64_t begin, int64_t end);
} dml_resample_table;

extern DML_HIDDEN const dml_resample_table dml_resample_table_baseline, dml_resample_table_avx2,
    dml_resample_table_avx512;
