/* Panels of the im2col matrix: a slice of one is packed from the input, and multiplied by the filters. */

#ifndef DML_UNIT
#include "../common/editor.h"
#include "window.h"
#include "blocking.h"
#endif

/* `channels` from `channel` on, and in each of them `taps` from `tap` on. */
typedef struct {
    int64_t channel, channels, tap, taps;
} dml_conv_slice;

typedef struct {
    const char *input, *filters;
    int64_t output, channel, begin, count, rest, rows;
} dml_conv_unit;

/* What a thread works with: a slice of a panel, how much of it there is, and the sums of all slices so far. Of bytes
   there are also the rows before they are joined, where the slice begins in a signed filter, and after the last row
   of the tile those of what pixels see. Of the rest of the pixels, which fill no vector, there is a column for each,
   and for each filter a vector of sums. */
typedef struct {
    float panel[DML_CONV_DEEPEST * DML_CONV_WIDEST] __attribute__((aligned(64)));
    float tile[(DML_CONV_FILTERS + 1) * DML_CONV_WIDEST] __attribute__((aligned(64)));
    union {
        uint8_t rows[DML_CONV_DEEPEST * DML_CONV_WIDEST];
        float rest[DML_CONV_DEEPEST * DML_CONV_LONGEST];
    } __attribute__((aligned(64)));
    float columns[DML_CONV_COLUMNS];
    float rest_tile[DML_CONV_FILTERS * DML_CONV_LONGEST] __attribute__((aligned(64)));
    int64_t places[DML_CONV_DEEPEST];
    const float *pixels;
    int64_t vectors, first, depth, signed_place;
} dml_conv_work;

/* Where the sums of `count` pixels go if they go there from registers. */
static dml_conv_finish dml_conv_finish_of(const dml_conv *task, int64_t channel, int64_t output, int64_t count)
{
    dml_conv_finish finish = {.target = (float *)task->output + output,
                              .apart = task->output_strides[1],
                              .last = (count - 1) % dml_loop->conv->lanes + 1,
                              .bias_stride = task->bias_stride,
                              .channels = dml_batch_norm_channel_of(&task->normalization, channel),
                              .relu = task->activation == DML_CONV_RELU || task->normalization.relu};
    if (task->bias)
        finish.bias = (const float *)task->bias + channel * task->bias_stride;
    return finish;
}

/* A slice of a panel times the filters. */
static void dml_conv_multiply(const dml_conv *task, const dml_conv_unit *unit, dml_conv_work *work)
{
    float floats[DML_CONV_HIGHEST * DML_CONV_DEEPEST];
    const dml_conv_table *loops = dml_loop->conv;
    const int *heights = loops->rows[work->vectors ? work->vectors - 1 : 0];
    int finishes = task->is_direct && work->first + work->depth == task->depth;
    for (int64_t row = 0, k = 0; row < unit->rows; row += heights[k]) {
        while (heights[k] > unit->rows - row)
            k++;
        int64_t stride = task->filter_stride;
        const void *filters = unit->filters + (row * stride + work->first) * dml_conv_size(task->type);
        if (task->type == DML_CONV_HALVES) {
            for (int i = 0; i < heights[k]; i++)
                dml_loop->half->widen(floats + i * work->depth, (const uint16_t *)filters + i * stride, work->depth);
            filters = floats;
            stride = work->depth;
        }
        const dml_conv_finish finish =
            dml_conv_finish_of(task, unit->channel + row, unit->output + row * task->output_strides[1], unit->count);
        if (work->vectors)
            loops->tiles[work->vectors - 1][k](work->tile + row * work->vectors * loops->lanes, filters, stride,
                                               work->pixels, work->places, work->depth, work->first > 0,
                                               finishes ? &finish : NULL);
        for (int64_t i = 0; i < unit->rest; i++)
            loops->dots(work->rest_tile + row * loops->lanes + i, filters, stride, work->columns + i * work->depth,
                        work->depth, heights[k], work->first > 0);
    }
}

/* Whether all that a panel sees lies in the input as it would be gathered: in one row, without padding. */
static int dml_conv_lies_ready(const dml_conv *task, const dml_conv_unit *unit, const dml_conv_line *line, int lines)
{
    int64_t x = line->x * task->strides[2] - task->padding[2], last[3] = {line->z, line->y, x + line->count - 1};
    if (task->type != DML_CONV_FLOATS || unit->rows > DML_CONV_FEWER || lines != 1)
        return 0;
    if (x < 0 || line->z < 0 || line->y < 0)
        return 0;
    if (task->strides[2] * task->input_strides[4] != 1 || line->count % dml_loop->conv->lanes != 0)
        return 0;
    for (int i = 0; i < 3; i++)
        if (last[i] + (task->window[i] - 1) * task->dilations[i] >= task->sizes[i])
            return 0;
    return task->channels == 1 || task->input_strides[1] * 4 % DML_CONV_PAGE != 0;
}

/* Gathers a slice of the panel of some lines of pixels. */
static void dml_conv_gather(const dml_conv *task, const dml_conv_unit *unit, const dml_conv_line *lines, int line_count,
                            const dml_conv_slice *slice, void *panel, int64_t vectors)
{
    dml_conv_run_of_pixels runs[2 * DML_CONV_WIDEST];
    int64_t width = vectors * dml_loop->conv->lanes, stride = task->input_strides[1];
    int64_t size = dml_conv_is_bytes(task) ? 1 : 4;
    dml_conv_packing packing = {.channels = slice->channels,
                                .channel_stride = stride,
                                .step = task->strides[2] * task->input_strides[4],
                                .row = slice->taps * width,
                                .type = task->type,
                                .vectors = (int)vectors,
                                .zero = task->input_zero ? *(const uint8_t *)task->input_zero : 0,
                                .run = runs};
    const void *input = unit->input + slice->channel * stride * dml_conv_size(task->type);
    dml_conv_tap tap = dml_conv_find_tap(task, slice->tap);
    for (int64_t i = 0; i < slice->taps; i++, dml_conv_next_tap(task, &tap)) {
        packing.runs = dml_conv_find_runs(task, &tap, lines, line_count, runs);
        dml_loop->conv->pack((char *)panel + i * width * size, input, &packing);
    }
}

/* The rest of the pixels, as columns. */
static void dml_conv_gather_rest(const dml_conv *task, const dml_conv_unit *unit, const dml_conv_slice *slice,
                                 dml_conv_work *work)
{
    dml_conv_line lines[DML_CONV_WIDEST];
    int count = dml_conv_find_lines(task, unit->begin + unit->count, unit->rest, lines);
    int64_t together = DML_CONV_DEEPEST / slice->taps, behind = slice->channel + slice->channels, first = 0;
    dml_conv_slice part = *slice;
    for (; part.channel < behind; part.channel += together, first += together * slice->taps) {
        part.channels = dml_least(behind - part.channel, together);
        dml_conv_gather(task, unit, lines, count, &part, work->rest, 1);
        for (int64_t k = 0; k < part.channels * part.taps; k++)
            for (int64_t i = 0; i < unit->rest; i++)
                work->columns[i * work->depth + first + k] = work->rest[k * dml_loop->conv->lanes + i];
    }
}
