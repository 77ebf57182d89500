/* Convolutions by Winograd's method: the input is seen by windows of 4 by 4 that move 2 steps at a time, as `seen`.
   Each of the 16 numbers that stand for a window is multiplied by itself, as a convolution of 1 by 1 would be. */

#ifndef DML_UNIT
#include "../common/editor.h"
#include "window.h"
#include "blocking.h"
#include "panel.h"
#endif

enum {
    /* Channels that are gathered, and filters that are multiplied, at a time. */
    DML_CONV_GATHERED = 8,
    DML_CONV_MULTIPLIED = 16,
    /* To transform what is seen again is little against so many filters. */
    DML_CONV_ENOUGH = 64,
    /* Pairs of steps, times channels: what they see is on the stack. */
    DML_CONV_PAIRS = DML_CONV_MOST_TRANSFORMED * 48
};

typedef struct {
    dml_conv seen;
    const dml_conv *task;
    int32_t is_infinite;
} dml_conv_winograd;

typedef struct {
    float input[16 * DML_CONV_PAIRS] __attribute__((aligned(64)));
    float products[16 * DML_CONV_MULTIPLIED * DML_CONV_WIDEST] __attribute__((aligned(64)));
    float seen[16 * DML_CONV_GATHERED * DML_CONV_WIDEST] __attribute__((aligned(64)));
    int64_t places[DML_CONV_MOST_TRANSFORMED];
    dml_conv_piece pieces[2 * DML_CONV_WIDEST];
} dml_conv_transforms;

static void dml_conv_transform_filters(void *context, int64_t begin, int64_t end)
{
    const dml_conv *task = context;
    int64_t channels = task->channels, apart = task->groups * task->outputs * channels;
    for (; begin < end; begin++)
        dml_loop->conv->transform_filters((float *)task->transformed + begin * channels, apart,
                                          (const float *)task->filters + begin * task->filter_stride, channels,
                                          task->is_turned);
}

void dml_conv_transform(const dml_conv *task)
{
    int64_t filters = task->groups * task->outputs;
    dml_parallel(dml_conv_transform_filters, (void *)task, filters, 1 + 2048 / task->channels,
                 64 * filters * task->channels);
}

/* Both rows of the results of lines of pairs, as far as there are so many; the second row is made behind the first. */
static int64_t dml_conv_find_pieces(const dml_conv *task, const dml_conv_line *lines, int count, dml_conv_piece *pieces)
{
    int64_t found = 0;
    for (int i = 0; i < 2 * count; i++) {
        const dml_conv_line *line = lines + i / 2;
        int64_t y = line->y + task->padding[1] + i % 2, x = 2 * line->x;
        if (y < task->steps[1])
            pieces[found++] = (dml_conv_piece){y * task->steps[2] + x, i % 2 * 2 * DML_CONV_WIDEST + 2 * line->lane,
                                               dml_least(2 * line->count, task->steps[2] - x)};
    }
    return found;
}

static DML_ONCE int dml_conv_winograd_unit(const dml_conv_winograd *winograd, const dml_conv_unit *unit)
{
    const dml_conv *task = winograd->task, *seen = &winograd->seen;
    const dml_conv_table *loops = dml_loop->conv;
    dml_conv_transforms work;
    dml_conv_line lines[DML_CONV_WIDEST];
    int count = dml_conv_find_lines(seen, unit->begin, unit->count, lines), is_finite = 1;
    int64_t vectors = dml_quotient_up(unit->count, loops->lanes), width = vectors * loops->lanes;
    int64_t pieces = dml_conv_find_pieces(task, lines, count, work.pieces), apart = task->channels * width;
    int64_t behind = task->groups * task->outputs * task->channels;
    for (int64_t c = 0; c < task->channels; c += DML_CONV_GATHERED) {
        dml_conv_slice slice = {c, dml_least(task->channels - c, DML_CONV_GATHERED), 0, 16};
        dml_conv_gather(seen, unit, lines, count, &slice, work.seen, vectors);
        for (int64_t k = 0; k < slice.channels; k++)
            loops->transform(work.input + (c + k) * width, apart, work.seen + k * 16 * width, vectors);
    }
    for (int64_t k = 0; k < task->channels; k++)
        work.places[k] = k * width;
    for (int64_t first = 0; first < unit->rows; first += DML_CONV_MULTIPLIED) {
        int64_t rows = dml_least(unit->rows - first, DML_CONV_MULTIPLIED), channel = unit->channel + first;
        const int *heights = loops->rows[vectors - 1];
        for (int i = 0; i < 16; i++)
            for (int64_t row = 0, k = 0; row < rows; row += heights[k]) {
                while (heights[k] > rows - row)
                    k++;
                loops->tiles[vectors - 1][k](work.products + (i * DML_CONV_MULTIPLIED + row) * width,
                                             (const float *)task->transformed + i * behind +
                                                 (channel + row) * task->channels,
                                             task->channels, work.input + i * apart, work.places, task->channels, 0,
                                             NULL);
            }
        for (int64_t row = 0; row < rows; row++)
            is_finite &= loops->transform_back(
                task, channel + row, (float *)task->output + unit->output + (first + row) * task->output_strides[1],
                work.products + row * width, DML_CONV_MULTIPLIED * width, vectors, work.pieces, pieces);
    }
    return is_finite;
}

static void dml_conv_winograd_units(void *context, int64_t begin, int64_t end)
{
    dml_conv_winograd *winograd = context;
    const dml_conv *task = winograd->task, *seen = &winograd->seen;
    for (; begin < end; begin++) {
        int64_t part = begin % seen->parts, panel = begin / seen->parts % seen->panels;
        int64_t image = begin / seen->parts / seen->panels, group = image % task->groups, batch = image / task->groups;
        int64_t row = part * seen->part_rows, channel = group * task->outputs + row;
        int64_t lanes = dml_loop->conv->lanes, vectors = dml_quotient_up(seen->pixels, lanes);
        dml_conv_unit unit = {.begin = panel * vectors / seen->panels * lanes, .channel = channel};
        unit.input = (const char *)((const float *)task->input + batch * task->input_strides[0] +
                                    group * task->channels * task->input_strides[1]);
        unit.count = dml_least(seen->pixels, (panel + 1) * vectors / seen->panels * lanes) - unit.begin;
        unit.rows = dml_least(task->outputs - row, seen->part_rows);
        unit.output = batch * task->output_strides[0] + channel * task->output_strides[1];
        if (!dml_conv_winograd_unit(winograd, &unit))
            __atomic_store_n(&winograd->is_infinite, 1, __ATOMIC_RELAXED);
    }
}

/* 0 if something is infinite or NaN, which spreads to what does not see it: results are then to be computed
   otherwise. */
static int dml_conv_run_winograd(const dml_conv *task)
{
    dml_conv_winograd winograd = {.seen = *task, .task = task};
    dml_conv *seen = &winograd.seen;
    int64_t most = dml_loop->conv->vectors, threads = dml_get_threads(), vectors, images, units;
    int64_t filters = task->groups * task->outputs;
    for (int i = 1; i < 3; i++) {
        seen->steps[i] = dml_quotient_up(task->steps[i], 2);
        seen->strides[i] = 2;
        seen->window[i] = 4;
    }
    seen->is_turned = 0;
    seen->taps = 16;
    seen->pixels = seen->steps[1] * seen->steps[2];
    while (most * dml_loop->conv->lanes * task->channels > DML_CONV_PAIRS)
        most--;
    vectors = dml_quotient_up(seen->pixels, dml_loop->conv->lanes);
    images = task->batches * task->groups;
    seen->panels = vectors <= most ? 1 : dml_quotient_up(vectors, dml_least(most, dml_conv_usual(task)));
    /* As many for each thread, and as wide: all transformed filters pass by each of them. */
    if (images % threads != 0 && vectors >= threads) {
        seen->panels = dml_quotient_up(seen->panels, threads) * threads;
        if (seen->panels > threads && dml_quotient_up(vectors, seen->panels - threads) <= most)
            seen->panels -= threads;
        seen->panels = dml_least(seen->panels, vectors);
    }
    seen->parts = 1;
    units = images * seen->panels;
    while (units * seen->parts < threads && task->outputs >= DML_CONV_ENOUGH * seen->parts)
        seen->parts *= 2;
    seen->part_rows = dml_quotient_up(dml_quotient_up(task->outputs, seen->parts), 8) * 8;
    seen->parts = dml_quotient_up(task->outputs, seen->part_rows);
    if (!task->is_transformed)
        dml_conv_transform(task);
    double products = 16.0 * (double)seen->pixels * (double)(filters * task->batches) * (double)task->channels;
    dml_parallel(dml_conv_winograd_units, &winograd, units * seen->parts, 1, (int64_t)(3.0 * products / DML_CONV_WORTH));
    return !winograd.is_infinite;
}
