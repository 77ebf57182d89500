#pragma once

#include "../common/compiler.h"
#include "declarations.h"

/* Two dimensions of a copy: lines, and the items of a line. All strides are in bytes. */
typedef struct {
    char *output;
    const char *input;
    int64_t lines, output_line, input_line;
    int64_t length, output_stride, input_stride;
} dml_span;

/* Arrays are indexed by the logarithm of the item's size, up to 16 bytes. `stream` asks for streaming stores,
   which only `stream_end` makes visible to other threads. */
typedef struct {
    void (*rows)(const dml_span *span, int stream);
    void (*fill[5])(const dml_span *span, int stream);
    void (*strided[5])(const dml_span *span, int stream);
    void (*tiles[5])(const dml_span *span, int stream);
    void (*stream_end)(void);
} dml_move_table;

extern DML_HIDDEN const dml_move_table dml_move_table_baseline, dml_move_table_avx2;
