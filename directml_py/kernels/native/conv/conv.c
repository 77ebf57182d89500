/* Convolutions as products of matrices whose second one is never there as a whole: a panel of it is gathered from the
   input, is multiplied by the filters while it is in the nearest cache, and gives way to the next. */

/* Taps of a panel that are gathered at a time, and filters whose sums are kept meanwhile. Both are on the stack. */
#define DML_CONV_DEPTH 192
#define DML_CONV_DEEPEST 1024
/* Taps of all pixels that fill no vector. */
#define DML_CONV_COLUMNS (DML_CONV_LONGEST / DML_CONV_PART * DML_CONV_DEEPEST)
#define DML_CONV_FILTERS 384
#define DML_CONV_HIGHEST 8
/* Operations that are worth as much as a byte of memory. */
#define DML_CONV_WORTH 2.5
/* Gathering a panel again is nothing against so many filters. */
#define DML_CONV_FEW 128
/* Nor is it much against these, if threads have nothing to do otherwise. */
#define DML_CONV_LEAST 48
/* For so many, panels need not be gathered that lie in the input as they are. */
#define DML_CONV_FEWER 64
/* A last vector that has less than such a part of its pixels is not worth the others, unless there are so few taps that
   adding up the lanes of their sums, which takes as long as some more of them, is worth more. */
#define DML_CONV_PART 4
#define DML_CONV_ADDING 240
/* Places that are so many bytes apart have the same place in the nearest cache. */
#define DML_CONV_PAGE 4096
#define DML_CONV_LINE_BYTES 64
/* Panels side by side whose results are stored row by row: what is short of a page costs as much as one. */
#define DML_CONV_NEIGHBOURS 8

#include "window.h"

static int64_t dml_conv_size(int type)
{
    return type == DML_CONV_FLOATS || type == DML_CONV_INT32 ? 4 : type == DML_CONV_HALVES ? 2 : 1;
}

static int dml_conv_is_bytes(const dml_conv *task)
{
    return task->type == DML_CONV_UINT8 || task->type == DML_CONV_INT8;
}

/* Panels have as many vectors as fit, three where there may be four: a last one of four is better than one alone. Loops
   that multiply all rows at once have the more of them the better. */
static int64_t dml_conv_usual(const dml_conv *task)
{
    const dml_conv_table *loops = dml_loop->conv;
    int is_shorter = loops->vectors == 4 && !(dml_conv_is_bytes(task) && loops->bytes->multiply);
    return is_shorter ? 3 : loops->vectors;
}

/* An image of which each pixel is seen once, as it lies, has a single row. */
static void dml_conv_flatten(dml_conv *task)
{
    int64_t *strides = task->input_strides + 2, pixels = 1;
    task->is_plain = 0;
    for (int i = 2; i >= 0; i--) {
        int is_plain = task->window[i] == 1 && task->padding[i] == 0 && task->strides[i] == 1;
        if (!is_plain || task->steps[i] != task->sizes[i] || (task->sizes[i] > 1 && strides[i] != pixels * strides[2]))
            return;
        pixels *= task->sizes[i];
    }
    task->sizes[0] = task->sizes[1] = task->steps[0] = task->steps[1] = 1;
    task->sizes[2] = task->steps[2] = pixels;
    task->is_plain = task->type == DML_CONV_FLOATS && strides[2] == 1;
}

/* What a slice of a filter takes in whole fours. */
static int64_t dml_conv_signed_depth(int64_t depth)
{
    return dml_quotient_up(depth, 4) * 4;
}

static void dml_conv_cut(dml_conv *task)
{
    int64_t usual = dml_conv_usual(task), vectors, units, depth, threads = dml_get_threads();
    task->taps = task->window[0] * task->window[1] * task->window[2];
    task->depth = task->taps * task->channels;
    task->pixels = task->steps[0] * task->steps[1] * task->steps[2];
    task->rest = task->pixels % dml_loop->conv->lanes;
    if (dml_conv_is_bytes(task) || task->rest > dml_loop->conv->lanes / DML_CONV_PART ||
        (task->rest < task->pixels && task->rest * (task->depth + DML_CONV_ADDING) > 8 * task->depth))
        task->rest = 0;
    depth = dml_conv_is_bytes(task) ? DML_CONV_DEEPEST : DML_CONV_DEPTH;
    /* Without panels filters are read once, and best from end to end. */
    if (task->rest == task->pixels)
        depth = task->type == DML_CONV_FLOATS ? DML_CONV_COLUMNS / task->pixels : DML_CONV_DEEPEST;
    task->slice_taps = task->taps < DML_CONV_DEEPEST ? task->taps : DML_CONV_DEEPEST;
    task->slice_channels = task->slice_taps < task->taps || depth < task->taps ? 1 : depth / task->taps;
    vectors = dml_quotient_up(task->pixels - task->rest, dml_loop->conv->lanes);
    task->panels = vectors <= dml_loop->conv->vectors ? 1 : dml_quotient_up(vectors, usual);
    if (task->panels > 1 && vectors % usual == 1 && dml_loop->conv->vectors > usual)
        task->panels--;
    task->parts = dml_quotient_up(task->outputs, DML_CONV_FILTERS);
    units = task->batches * task->groups * task->panels;
    task->neighbours = 1;
    task->is_whole = !dml_conv_is_bytes(task) && task->slice_channels >= task->channels &&
                     task->slice_taps == task->taps;
    if (task->is_whole && (task->taps > 1 || task->outputs >= DML_CONV_FEWER / 2)) {
        int64_t room = DML_CONV_DEEPEST * DML_CONV_WIDEST / (task->depth * usual * dml_loop->conv->lanes);
        task->neighbours = dml_least(dml_least(DML_CONV_NEIGHBOURS, room), units / (4 * threads));
        task->neighbours = task->neighbours < 1 ? 1 : dml_least(task->neighbours, task->panels);
    }
    units = task->batches * task->groups * dml_quotient_up(task->panels, task->neighbours);
    while (units * task->parts < 4 * threads && task->outputs >= 2 * DML_CONV_FEW * task->parts)
        task->parts *= 2;
    while (threads > 1 && units * task->parts < 2 * threads && task->outputs >= 2 * DML_CONV_LEAST * task->parts)
        task->parts *= 2;
    task->part_rows = dml_quotient_up(dml_quotient_up(task->outputs, task->parts), 8) * 8;
    task->parts = dml_quotient_up(task->outputs, task->part_rows);
    task->signed_row = 0;
    for (int64_t c = 0; c < task->channels; c += task->slice_channels)
        for (int64_t t = 0; t < task->taps; t += task->slice_taps)
            task->signed_row += dml_conv_signed_depth(dml_least(task->channels - c, task->slice_channels) *
                                                      dml_least(task->taps - t, task->slice_taps));
}

/* `channels` from `channel` on, and in each of them `taps` from `tap` on. */
typedef struct {
    int64_t channel, channels, tap, taps;
} dml_conv_slice;

typedef struct {
    const char *input, *filters;
    int64_t output, channel, begin, count, rest, rows;
} dml_conv_unit;

/* What a thread works with: a slice of a panel, how much of it there is, and the sums of all slices so far. Of bytes
   there are also the rows before they are joined, where the slice begins in a signed filter, and after the last row of
   the tile those of what pixels see. Of the rest of the pixels, which fill no vector, there is a column for each, and
   for each filter a vector of sums. */
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

#include "quantized.h"

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

/* A panel times some filters, a slice of the panel at a time. */
static DML_ONCE void dml_conv_panel(const dml_conv *task, const dml_conv_unit *unit)
{
    dml_conv_work work;
    dml_conv_line lines[DML_CONV_WIDEST];
    const dml_conv_table *loops = dml_loop->conv;
    int count = dml_conv_find_lines(task, unit->begin, unit->count, lines), is_bytes = dml_conv_is_bytes(task);
    int lies_ready = dml_conv_lies_ready(task, unit, lines, count);
    work.vectors = dml_quotient_up(unit->count, loops->lanes);
    work.pixels = lies_ready ? (const float *)unit->input : work.panel;
    work.signed_place = 0;
    for (int64_t c = 0; c < task->channels; c += task->slice_channels)
        for (int64_t t = 0; t < task->taps; t += task->slice_taps) {
            dml_conv_slice slice = {c, dml_least(task->channels - c, task->slice_channels), t,
                                    dml_least(task->taps - t, task->slice_taps)};
            work.first = c * task->taps + t;
            work.depth = slice.channels * slice.taps;
            if (lies_ready) {
                dml_conv_tap tap = dml_conv_find_tap(task, t);
                for (int64_t i = 0; i < slice.taps; i++, dml_conv_next_tap(task, &tap)) {
                    int64_t place = dml_conv_place(task, lines, &tap);
                    for (int64_t k = 0; k < slice.channels; k++)
                        work.places[k * slice.taps + i] = place + (c + k) * task->input_strides[1];
                }
            } else {
                void *panel = is_bytes ? (void *)work.rows : work.panel;
                if (work.vectors)
                    dml_conv_gather(task, unit, lines, count, &slice, panel, work.vectors);
                for (int64_t k = 0; work.vectors && k < work.depth; k++)
                    work.places[k] = k * work.vectors * loops->lanes;
            }
            if (unit->rest)
                dml_conv_gather_rest(task, unit, &slice, &work);
            (is_bytes ? dml_conv_multiply_bytes : dml_conv_multiply)(task, unit, &work);
        }
    if (is_bytes)
        dml_conv_store_bytes(task, unit, &work);
    else if (work.vectors && !task->is_direct)
        loops->store(task, &(dml_conv_storing){work.tile, work.vectors, unit->rows, unit->count, unit->output,
                                               unit->channel});
    if (unit->rest)
        loops->store(task, &(dml_conv_storing){work.rest_tile, 1, unit->rows, unit->rest, unit->output + unit->count,
                                               unit->channel});
}

/* Full panels, side by side, of what lies in the input as it is: one channel after the other, so that what comes from
   far away comes in long runs. */
static void dml_conv_gather_plain(const dml_conv *task, const dml_conv_unit *unit, int64_t count, float *panel)
{
    int64_t width = unit->count;
    const float *input = (const float *)unit->input + unit->begin;
    for (int64_t c = 0; c < task->channels; c++, input += task->input_strides[1])
        for (int64_t i = 0; i < count; i++)
            memcpy(panel + (i * task->channels + c) * width, input + i * width, (size_t)width * sizeof *panel);
}

/* Full panels, side by side if there are several, of a single slice: some filters at a time go by all of them. */
static DML_ONCE void dml_conv_neighbours(const dml_conv *task, const dml_conv_unit *unit, int64_t count)
{
    dml_conv_work work;
    const dml_conv_table *loops = dml_loop->conv;
    const dml_conv_slice slice = {0, task->channels, 0, task->taps};
    int64_t width = unit->count, apart = task->depth * width, most = loops->rows[width / loops->lanes - 1][0];
    dml_conv_unit some = *unit;
    work.vectors = width / loops->lanes;
    work.depth = task->depth;
    work.first = 0;
    if (task->is_plain)
        dml_conv_gather_plain(task, unit, count, work.panel);
    for (int64_t i = 0; i < count && !task->is_plain; i++) {
        dml_conv_line lines[DML_CONV_WIDEST];
        int found = dml_conv_find_lines(task, unit->begin + i * width, width, lines);
        dml_conv_gather(task, unit, lines, found, &slice, work.panel + i * apart, work.vectors);
    }
    for (int64_t k = 0; k < work.depth; k++)
        work.places[k] = k * width;
    for (int64_t row = 0; row < unit->rows; row += most) {
        some.rows = dml_least(unit->rows - row, most);
        some.channel = unit->channel + row;
        some.filters = unit->filters + row * task->filter_stride * dml_conv_size(task->type);
        for (int64_t i = 0; i < count; i++) {
            work.pixels = work.panel + i * apart;
            some.output = unit->output + row * task->output_strides[1] + i * width;
            dml_conv_multiply(task, &some, &work);
            if (!task->is_direct)
                loops->store(task, &(dml_conv_storing){work.tile, work.vectors, some.rows, width, some.output,
                                                       some.channel});
        }
    }
}

static void dml_conv_units(void *context, int64_t begin, int64_t end)
{
    const dml_conv *task = context;
    int64_t size = dml_conv_size(task->type), width = dml_conv_usual(task) * dml_loop->conv->lanes;
    int64_t places = dml_quotient_up(task->panels, task->neighbours);
    for (; begin < end; begin++) {
        int64_t part = begin / (task->batches * task->groups * places), panel = begin % places * task->neighbours;
        int64_t image = begin / places, group = image % task->groups, batch = image / task->groups % task->batches;
        int64_t row = part * task->part_rows, channel = group * task->outputs + row;
        dml_conv_unit unit;
        unit.input = (const char *)task->input + size * (batch * task->input_strides[0] +
                                                         group * task->channels * task->input_strides[1]);
        unit.filters = (const char *)task->filters + size * channel * task->filter_stride;
        unit.rows = task->outputs - row < task->part_rows ? task->outputs - row : task->part_rows;
        unit.channel = channel;
        int64_t behind = dml_least(panel + task->neighbours, task->panels), full = behind - panel;
        full -= behind == task->panels;
        unit.begin = panel * width;
        unit.output = batch * task->output_strides[0] + channel * task->output_strides[1] + unit.begin;
        unit.count = width;
        unit.rest = 0;
        if (full > 1 || (full == 1 && task->is_whole && unit.rows >= DML_CONV_FEWER / 2)) {
            dml_conv_neighbours(task, &unit, full);
            panel += full;
        }
        for (; panel < behind; panel++) {
            unit.output += panel * width - unit.begin;
            unit.begin = panel * width;
            unit.rest = panel == task->panels - 1 ? task->rest : 0;
            unit.count = panel == task->panels - 1 ? task->pixels - task->rest - unit.begin : width;
            dml_conv_panel(task, &unit);
        }
    }
}

#include "winograd.h"

void dml_conv_run(const dml_conv *asked)
{
    dml_conv task = *asked;
    int is_short = dml_softmax_norm_prepare(&task.normalization), is_normal = task.normalization.prepared != 0;
    task.is_direct = task.type == DML_CONV_FLOATS && task.output_type == DML_CONV_FLOATS && is_short &&
                     (task.activation == DML_CONV_IDENTITY || (task.activation == DML_CONV_RELU && !is_normal));
    if (task.transformed && dml_conv_run_winograd(&task))
        return;
    dml_conv_flatten(&task);
    dml_conv_cut(&task);
    if (dml_conv_is_bytes(&task)) {
        int64_t rows = task.groups * task.outputs;
        dml_parallel(dml_conv_sign_filters, &task, rows, 8, rows * task.depth);
    }
    double results = (double)task.pixels * (double)(task.outputs * task.groups * task.batches);
    double operations = 2.0 * (double)task.depth * results;
    double bytes = (double)(task.groups * task.outputs * task.depth * dml_conv_size(task.type));
    double work = operations / DML_CONV_WORTH > bytes ? operations / DML_CONV_WORTH : bytes;
    int64_t places = dml_quotient_up(task.panels, task.neighbours);
    dml_parallel(dml_conv_units, &task, task.batches * task.groups * places * task.parts, 1,
                 (int64_t)work);
}
