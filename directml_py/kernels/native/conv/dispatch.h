#pragma once

#include "../common/compiler.h"
#include "../elementwise/requantize.h"
#include "declarations.h"
#include "microkernel.h"

enum { DML_CONV_MAX_VECTORS = 4, DML_CONV_MR_COUNT = 4, DML_CONV_MAX_LANES = 16, DML_CONV_MAX_NR = 64 };
/* A cache line has this many elements of FLOAT32. */
enum { DML_CONV_LINE_ELEMENTS = 16 };

/* The epilogue of a register tile of FLOAT32. Its rows are stored at `target`, `stride` elements apart. Each row is
   added to a bias, normalized in FLOAT32, added to a row at `residual`, and activated; `bias`, `channels` and
   `residual` are NULL where a stage is absent. A row has `n` elements: those of one panel, whose last vector has
   `last_count`, or those of several full panels. The pixels that are read are also stored as a panel at `packed`,
   unless it is NULL. */
typedef struct {
    float *target, *packed;
    const float *residual;
    int64_t n, stride, last_count, bias_stride;
    const float *bias;
    const dml_batch_norm_channel *channels;
    const dml_post_ops *post_ops;
    int activation;
} dml_conv_epilogue;

/* A microkernel multiplies mr filters, which begin `row` elements apart, by a panel of nr pixels, whose k-th of `kc`
   rows is at `row_offsets[k]`. It accumulates in the tile if `adds`. If there is an `epilogue`, which bytes have none
   of, the sums go there instead of to the tile, and the panel may be several, packed one behind the other, as far as
   the rows of the epilogue reach. */
typedef void (*dml_conv_tile)(void *tile, const void *filters, int64_t row, const void *panel,
                              const int64_t *row_offsets, int64_t kc, int adds, const dml_conv_epilogue *epilogue);
typedef dml_conv_tile dml_conv_tiles[DML_CONV_MAX_VECTORS][DML_CONV_MR_COUNT];

/* The part of a panel's row that one row of the input fills: `count` lanes of a vector from `first` on, and the offset,
   in elements, that lane 0 would have in the input. */
typedef struct {
    int64_t offset;
    int32_t vector, first, count;
} dml_conv_run_of_pixels;

/* How a row of a panel is packed. Taps in one column of the window read rows of the input that are `tap_stride`
   elements apart, and have rows in the panel that are `tap_row` apart. */
typedef struct {
    int64_t channels, channel_stride, pixel_stride, row, taps, tap_stride, tap_row;
    int type, vectors, runs, zero;
    const dml_conv_run_of_pixels *run;
} dml_conv_packing;

/* A tile of m filters, the first of which is `channel`, and the offset of its n pixels in the output. */
typedef struct {
    const float *tile;
    int64_t vectors, m, n, offset, channel;
} dml_conv_tile_store;

/* What the sums of a filter of bytes are stored with: its zero point, the correction that is subtracted from each sum,
   and the requantization. */
typedef struct {
    dml_requantization to;
    int32_t zero;
    uint32_t correction;
} dml_conv_byte_filter;

/* `group` taps of a filter, and as many rows of a panel, share a lane of 32 bits. */
typedef struct {
    int group;
    dml_conv_tiles tiles;
    void (*interleave)(uint32_t *panel, const uint8_t *rows, int64_t row, int64_t width, int64_t count, int is_signed);
    int32_t (*sign)(void *filter, const uint8_t *bytes, int64_t kc, int is_signed);
    void (*store)(int32_t *output, const int32_t *tile, const int32_t *pixel_sums, int64_t count, int32_t filter_zero,
                  uint32_t correction);
} dml_conv_bytes_table;

extern DML_HIDDEN const dml_conv_bytes_table dml_conv_bytes_table_baseline, dml_conv_bytes_table_avx2,
    dml_conv_bytes_table_avx512, dml_conv_bytes_table_vnni;

/* Multiplies all `rows` of a panel's tile at once, by filters that begin `row` bytes apart; returns 0 if it cannot.
   Each sixteen of the `row_offsets` are equally far apart. */
typedef int (*dml_conv_multiply_bytes_kernel)(int32_t *tile, const int8_t *filters, int64_t row, int64_t rows,
                                              const uint32_t *panel, const int64_t *row_offsets, int64_t vectors,
                                              int64_t fours, int adds);
int dml_conv_multiply_bytes_amx(int32_t *tile, const int8_t *filters, int64_t row, int64_t rows, const uint32_t *panel,
                                const int64_t *row_offsets, int64_t vectors, int64_t fours, int adds);

/* A part of a row of the output: its offset in the channel, and the offset of its pixels in the rows that were
   computed. */
typedef struct {
    int64_t offset, from, count;
} dml_conv_piece;

typedef struct {
    int lanes, vectors;
    /* The rows of a panel of floats that are packed at a time. */
    int kc;
    /* The heights of the register tiles, largest first, and their microkernels, by the vectors of a panel, from 1 on.
     */
    int mr[DML_CONV_MAX_VECTORS][DML_CONV_MR_COUNT];
    dml_conv_tiles tiles;
    void (*dots)(float *sums, const float *filters, int64_t row, const float *column, int64_t kc, int64_t count,
                 int adds);
    void (*pack)(void *panel, const void *input, const dml_conv_packing *packing);
    void (*store)(const dml_conv_params *params, const dml_post_ops *post_ops,
                  const dml_conv_tile_store *tile_store);
    /* The transforms of Winograd's method (winograd_transform.h) of 3 by 3 filters, of 4 by 4 windows of the input, and
       of their products. The 16 numbers of a transform are `stride` elements apart. */
    void (*transform_filters)(float *transformed, int64_t stride, const float *filters, int64_t channels,
                              int is_rotated);
    void (*transform)(float *transformed, int64_t stride, const float *source, int64_t vectors);
    int (*transform_back)(const dml_conv_params *params, const dml_post_ops *post_ops, int64_t channel,
                          float *output, const float *products, int64_t stride, int64_t vectors,
                          const dml_conv_piece *pieces, int64_t count);
} dml_conv_table;

extern DML_HIDDEN const dml_conv_table dml_conv_table_baseline, dml_conv_table_avx2, dml_conv_table_avx512;
