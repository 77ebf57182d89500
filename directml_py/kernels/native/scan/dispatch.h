#pragma once

#include "../common/compiler.h"
#include "declarations.h"

/* Rows that are scanned side by side: no addition waits for that of another row. The accumulator of each row, which has
   at most eight bytes, goes on from `kept` and is left there. Outputs may be absent. */
#define DML_SCAN_ROWS 4
typedef struct {
    const char *x[DML_SCAN_ROWS];
    char *output[DML_SCAN_ROWS];
    char *kept[DML_SCAN_ROWS];
    int64_t length;
    int count, stream;
    const dml_scan *task;
} dml_scan_rows;

/* Neighbouring columns along the dimension `across`, which are scanned together, from their beginning. */
#define DML_SCAN_COLUMNS 1024
typedef struct {
    const char *x;
    char *output;
    int64_t count;
    int across, stream;
    const dml_scan *task;
} dml_scan_columns;

typedef struct {
    void (*rows)(const dml_scan_rows *rows);
    void (*columns)(const dml_scan_columns *columns);
    /* Stores the accumulator before the first element. */
    void (*start)(char *kept, int exclusive);
    /* Replaces the accumulators at the end of each of `count` parts, every `stride` bytes, by those before it; `value`
       goes on behind all parts. */
    void (*carry)(char *kept, int64_t count, int64_t stride, char *value);
} dml_scan_kernels;

typedef struct {
    dml_scan_kernels kernels[2][7];
} dml_scan_table;

extern DML_HIDDEN const dml_scan_table dml_scan_table_baseline, dml_scan_table_avx2;
