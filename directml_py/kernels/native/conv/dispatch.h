#pragma once

#include "../common/compiler.h"
#include "../elementwise/requantize.h"
#include "declarations.h"
#include "microkernel.h"

enum { DML_CONV_MAX_VECTORS = 4, DML_CONV_MR_COUNT = 4, DML_CONV_MAX_LANES = 16, DML_CONV_MAX_NR = 64 };
/* FLOAT32 elements of a cache line. */
enum { DML_CONV_LINE_ELEMENTS = 16 };

/* The epilogue of a register tile of FLOAT32: its rows are stored at `target`, `stride` elements apart, with a bias
   each, unless that is NULL, normalized in FLOAT32, unless `channels` is, added to what lies at `residual` as they do
   at `target`, unless that is, and then activated. A row has `n` elements: those of one panel, whose last vector has
   `last_count`, or those of several full ones. */
typedef struct {
    float *target;
    const float *residual;
    int64_t n, stride, last_count, bias_stride;
    const float *bias;
    const dml_batch_norm_channel *channels;
    const dml_conv *task;
    int activation;
} dml_conv_epilogue;

/* A microkernel: mr filters, `row` elements apart, times a panel of nr pixels, whose k-th of `kc` rows is at
   `places[k]`. It accumulates in the tile if `adds`. With an `epilogue` the sums go there, and not to the tile, and
   panels that are packed one behind the other may be as many as its rows take; of bytes it is NULL. */
typedef void (*dml_conv_tile)(void *tile, const void *filters, int64_t row, const void *panel, const int64_t *places,
                              int64_t kc, int adds, const dml_conv_epilogue *epilogue);
typedef dml_conv_tile dml_conv_tiles[DML_CONV_MAX_VECTORS][DML_CONV_MR_COUNT];

/* A part of a panel's row that comes from one row of the input: `count` pixels from `first` on, and where, in
   elements, the first pixel of its vector would lie. */
typedef struct {
    int64_t place;
    int32_t vector, first, count;
} dml_conv_run_of_pixels;

/* Taps one above the other see the same, `tap_stride` further in the input, and have rows that are `tap_row` apart. */
typedef struct {
    int64_t channels, channel_stride, step, row, taps, tap_stride, tap_row;
    int type, vectors, runs, zero;
    const dml_conv_run_of_pixels *run;
} dml_conv_packing;

/* A tile of m filters from `channel` on, and where in the output its n pixels go. */
typedef struct {
    const float *tile;
    int64_t vectors, m, n, place, channel;
} dml_conv_tile_store;

/* What finishes the sums of a filter of bytes: the zero point, what is taken off each, and how they become bytes. */
typedef struct {
    dml_requantization to;
    int32_t zero;
    uint32_t correction;
} dml_conv_byte_filter;

typedef struct {
    dml_conv_tiles tiles;
    void (*interleave)(uint32_t *panel, const uint8_t *rows, int64_t row, int64_t width, int64_t count, int is_signed);
    int32_t (*sign)(int8_t *filter, const uint8_t *bytes, int64_t kc, int is_signed);
    void (*store)(int32_t *output, const int32_t *tile, const int32_t *pixel_sums, int64_t count, int32_t filter_zero,
                  uint32_t correction);
} dml_conv_bytes_table;

extern DML_HIDDEN const dml_conv_bytes_table dml_conv_bytes_table_baseline, dml_conv_bytes_table_avx2,
    dml_conv_bytes_table_avx512, dml_conv_bytes_table_vnni;

/* All `rows` of a panel's tile at once, of filters that begin `row` bytes apart; gives 0 if that cannot be. */
typedef int (*dml_conv_multiply_bytes_kernel)(int32_t *tile, const int8_t *filters, int64_t row, int64_t rows,
                                              uint32_t *panel, int64_t vectors, int64_t fours, int adds);
int dml_conv_multiply_bytes_amx(int32_t *tile, const int8_t *filters, int64_t row, int64_t rows, uint32_t *panel,
                                int64_t vectors, int64_t fours, int adds);

/* A part of a row of the output: where in a channel it begins, and which of what is computed goes there. */
typedef struct {
    int64_t place, from, count;
} dml_conv_piece;

typedef struct {
    int lanes, vectors;
    /* By the vectors of a panel, from 1 on: the heights of the register tiles, largest first, and their
       microkernels. */
    int mr[DML_CONV_MAX_VECTORS][DML_CONV_MR_COUNT];
    dml_conv_tiles tiles;
    void (*dots)(float *sums, const float *filters, int64_t row, const float *column, int64_t kc, int64_t count,
                 int adds);
    void (*pack)(void *panel, const void *input, const dml_conv_packing *packing);
    void (*store)(const dml_conv *task, const dml_conv_tile_store *tile_store);
    /* Of 3 by 3 filters, 4 by 4 elements of the input, and their products: see winograd_transform.h. Each of the 16
       numbers that stand for one of them is `apart` from the next. */
    void (*transform_filters)(float *transformed, int64_t apart, const float *filters, int64_t channels, int is_turned);
    void (*transform)(float *transformed, int64_t apart, const float *seen, int64_t vectors);
    int (*transform_back)(const dml_conv *task, int64_t channel, float *output, const float *products, int64_t apart,
                          int64_t vectors, const dml_conv_piece *pieces, int64_t count);
} dml_conv_table;

extern DML_HIDDEN const dml_conv_table dml_conv_table_baseline, dml_conv_table_avx2, dml_conv_table_avx512;
