/* Panels of the im2col matrix, {kc, nr}: a slice of a panel is packed from the input, and multiplied by the filters. */

#pragma once

#include "../context.h"
#include "../softmax_norm/dispatch.h"
#include "window.h"
#include "blocking.h"

/* A slice of k: `channels` from `channel` on, and in each of them `taps` from `tap` on. */
typedef struct {
    int64_t channel, channels, tap, taps;
} dml_conv_slice;

typedef struct {
    const char *input, *filters;
    int64_t output, channel, begin, m, n, n_tail;
} dml_conv_unit;

/* The scratch memory of a thread: a packed slice of a panel, which begins at `pc` of k, and the accumulators of all
   slices so far. Bytes also have `rows` to be interleaved, unless the rows are read in place, `byte_row` apart; the
   offset of the slice in a signed filter; and, behind the last row of the tile, the column sums of the panel. The tail
   of n has a column for each pixel, and a vector of sums for each filter. */
typedef struct {
    float panel[DML_CONV_MAX_KC * DML_CONV_MAX_NR] __attribute__((aligned(64)));
    float tile[(DML_CONV_MAX_MC + 1) * DML_CONV_MAX_NR] __attribute__((aligned(64)));
    union {
        uint8_t rows[DML_CONV_MAX_KC * DML_CONV_MAX_NR];
        float tail[DML_CONV_MAX_KC * DML_CONV_MAX_LANES];
    } __attribute__((aligned(64)));
    float columns[DML_CONV_TAIL_FLOATS];
    float tail_tile[DML_CONV_MAX_MC * DML_CONV_MAX_LANES] __attribute__((aligned(64)));
    int64_t row_offsets[DML_CONV_MAX_KC];
    const float *pixels;
    float *packed;
    const uint8_t *bytes;
    int64_t byte_row, vectors, pc, kc, signed_offset;
} dml_conv_work;

/* The epilogue of `n` pixels whose sums are stored from registers. */
static dml_conv_epilogue dml_conv_epilogue_of(const dml_conv_plan *plan, int64_t channel, int64_t output, int64_t n)
{
    const dml_conv_params *params = &plan->params;
    const dml_post_ops *post_ops = &plan->post_ops;
    dml_conv_epilogue epilogue = {.target = (float *)params->output + output,
                                  .n = n,
                                  .stride = params->output_strides[1],
                                  .last_count = ((n - 1) & (dml_dispatch->conv->lanes - 1)) + 1,
                                  .bias_stride = params->bias_stride,
                                  .channels = dml_batch_norm_channel_of(&post_ops->normalization, channel),
                                  .post_ops = post_ops,
                                  .activation = post_ops->activation};
    if (post_ops->normalization.relu)
        epilogue.activation = DML_ACTIVATION_RELU;
    if (post_ops->residual) {
        epilogue.residual = (const float *)post_ops->residual + output;
        epilogue.activation = post_ops->residual_activation;
    }
    if (params->bias)
        epilogue.bias = (const float *)params->bias + channel * params->bias_stride;
    return epilogue;
}

/* Multiplies a slice of a panel by the filters, in register tiles of mr by nr. */
static void dml_conv_multiply(const dml_conv_plan *plan, const dml_conv_unit *unit, dml_conv_work *work)
{
    const dml_conv_params *params = &plan->params;
    float floats[DML_CONV_MAX_MR * DML_CONV_MAX_KC];
    const dml_conv_table *kernels = dml_dispatch->conv;
    const int *mr = kernels->mr[work->vectors ? work->vectors - 1 : 0];
    int stores = plan->is_direct && work->pc + work->kc == plan->blocking.k;
    for (int64_t row = 0, size = 0; row < unit->m; row += mr[size]) {
        while (mr[size] > unit->m - row)
            size++;
        int64_t stride = params->filter_stride;
        const void *filters = unit->filters + (row * stride + work->pc) * dml_conv_size(params->type);
        if (params->type == DML_CONV_HALVES) {
            for (int i = 0; i < mr[size]; i++)
                dml_dispatch->half->widen(floats + i * work->kc, (const uint16_t *)filters + i * stride, work->kc);
            filters = floats;
            stride = work->kc;
        }
        dml_conv_epilogue epilogue =
            dml_conv_epilogue_of(plan, unit->channel + row, unit->output + row * params->output_strides[1], unit->n);
        epilogue.packed = work->packed;
        if (work->vectors)
            kernels->tiles[work->vectors - 1][size](work->tile + row * work->vectors * kernels->lanes, filters, stride,
                                                    work->pixels, work->row_offsets, work->kc, work->pc > 0,
                                                    stores ? &epilogue : NULL);
        for (int64_t i = 0; i < unit->n_tail; i++)
            kernels->dots(work->tail_tile + row * kernels->lanes + i, filters, stride, work->columns + i * work->kc,
                          work->kc, mr[size], work->pc > 0);
    }
}

/* Whether the rows of a panel lie in the input as they would be packed: in one row, without padding. */
static int dml_conv_reads_in_place(const dml_conv_params *params, const dml_conv_unit *unit, const dml_conv_line *line,
                                   int line_count)
{
    int64_t x = line->x * params->strides[2] - params->padding[2], last[3] = {line->z, line->y, x + line->count - 1};
    const int64_t lanes = dml_dispatch->conv->lanes;
    if (params->type != DML_CONV_FLOATS || unit->m > DML_CONV_IN_PLACE_M * lanes || line_count != 1)
        return 0;
    if (x < 0 || line->z < 0 || line->y < 0)
        return 0;
    if (params->strides[2] * params->input_strides[4] != 1 || line->count % lanes != 0)
        return 0;
    for (int i = 0; i < 3; i++)
        if (last[i] + (params->window[i] - 1) * params->dilations[i] >= params->sizes[i])
            return 0;
    return params->channels == 1 || params->input_strides[1] * 4 % DML_CONV_PAGE_BYTES != 0;
}

/* Packs a slice of the panel of some lines of pixels; padding becomes `zero`. */
static void dml_conv_pack_panel(const dml_conv_params *params, const dml_conv_unit *unit, const dml_conv_line *lines,
                                int line_count, const dml_conv_slice *slice, uint8_t zero, void *panel, int64_t vectors)
{
    dml_conv_run_of_pixels runs[2 * DML_CONV_MAX_NR];
    int64_t width = vectors * dml_dispatch->conv->lanes, stride = params->input_strides[1];
    int64_t size = dml_conv_is_bytes(params) ? 1 : 4;
    dml_conv_packing packing = {.channels = slice->channels,
                                .channel_stride = stride,
                                .pixel_stride = params->strides[2] * params->input_strides[4],
                                .row = slice->taps * width,
                                .type = params->type,
                                .vectors = (int)vectors,
                                .zero = zero,
                                .run = runs};
    const void *input = unit->input + slice->channel * stride * dml_conv_size(params->type);
    int64_t columns = params->window[2];
    int is_inside = params->window[0] == 1 && slice->taps == params->window[1] * columns;
    for (const dml_conv_line *line = lines; line < lines + line_count; line++)
        is_inside = is_inside && line->z >= 0 && line->z < params->sizes[0] && line->y >= 0 &&
                    line->y + (params->window[1] - 1) * params->dilations[1] < params->sizes[1];
    packing.taps = is_inside ? params->window[1] : 1;
    packing.tap_stride = (params->is_rotated ? -1 : 1) * params->dilations[1] * params->input_strides[3];
    packing.tap_row = columns * width;
    dml_conv_tap tap = dml_conv_find_tap(params, slice->tap);
    for (int64_t i = 0; i < (is_inside ? columns : slice->taps); i++, dml_conv_next_tap(params, &tap)) {
        packing.runs = dml_conv_find_runs(params, &tap, lines, line_count, runs);
        dml_dispatch->conv->pack((char *)panel + i * width * size, input, &packing);
    }
}

/* Packs the tail of n by columns. */
static void dml_conv_pack_tail(const dml_conv_plan *plan, const dml_conv_unit *unit, const dml_conv_slice *slice,
                               dml_conv_work *work)
{
    const dml_conv_params *params = &plan->params;
    const float *input = (const float *)unit->input + unit->begin + unit->n;
    if (plan->is_im2col) {
        for (int64_t k = 0; k < work->kc; k++)
            for (int64_t i = 0; i < unit->n_tail; i++)
                work->columns[i * work->kc + k] = input[(slice->channel + k) * params->input_strides[1] + i];
        return;
    }
    dml_conv_line lines[DML_CONV_MAX_NR];
    int count = dml_conv_find_lines(params, unit->begin + unit->n, unit->n_tail, lines);
    int64_t together = DML_CONV_MAX_KC / slice->taps, behind = slice->channel + slice->channels, first = 0;
    dml_conv_slice part = *slice;
    for (; part.channel < behind; part.channel += together, first += together * slice->taps) {
        part.channels = dml_least(behind - part.channel, together);
        dml_conv_pack_panel(params, unit, lines, count, &part, 0, work->tail, 1);
        for (int64_t k = 0; k < part.channels * part.taps; k++)
            for (int64_t i = 0; i < unit->n_tail; i++)
                work->columns[i * work->kc + first + k] = work->tail[k * dml_dispatch->conv->lanes + i];
    }
}
