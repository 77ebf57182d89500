/* Convolutions by Winograd's method: the input is seen by windows of 4 by 4 that move 2 steps at a time, as `seen`.
   Each of the 16 numbers that stand for a window is multiplied by itself, as a convolution of 1 by 1 would be. */

#pragma once

#include "../common/compiler.h"
#include "../common/declarations.h"
#include "../common/dimensions.h"
#include "../context.h"
#include "../threads/parallel.h"
#include "window.h"
#include "blocking.h"
#include "panel.h"

enum {
    /* Channels that are packed, and filters that are multiplied, at a time. */
    DML_CONV_WINOGRAD_CHANNELS = 8,
    DML_CONV_WINOGRAD_MC = 16,
    /* Filters of a block that pay for transforming the input once more. */
    DML_CONV_WINOGRAD_MIN_MC = 64,
    /* Pairs of steps, times channels: what they see is on the stack. */
    DML_CONV_PAIRS = DML_CONV_MOST_TRANSFORMED * 16
};

typedef struct {
    dml_conv seen;
    const dml_conv *task;
    int32_t is_infinite;
} dml_conv_winograd;

typedef struct {
    float input[16 * DML_CONV_PAIRS] __attribute__((aligned(64)));
    float products[16 * DML_CONV_WINOGRAD_MC * DML_CONV_MAX_NR] __attribute__((aligned(64)));
    float seen[16 * DML_CONV_WINOGRAD_CHANNELS * DML_CONV_MAX_NR] __attribute__((aligned(64)));
    int64_t places[DML_CONV_MOST_TRANSFORMED];
    dml_conv_piece pieces[2 * DML_CONV_MAX_NR];
} dml_conv_transforms;

static void dml_conv_transform_filters(void *context, int64_t begin, int64_t end)
{
    const dml_conv *task = context;
    int64_t channels = task->channels, apart = task->groups * task->m * channels;
    for (; begin < end; begin++)
        dml_dispatch->conv->transform_filters((float *)task->transformed + begin * channels, apart,
                                              (const float *)task->filters + begin * task->filter_stride, channels,
                                              task->is_turned);
}

void dml_conv_transform(const dml_conv *task)
{
    int64_t filters = task->groups * task->m;
    dml_parallel(dml_conv_transform_filters, (void *)task, filters, 1 + 2048 / task->channels,
                 64 * filters * task->channels);
}

/* Both rows of the results of lines of pairs, as far as there are so many; the second row is made behind the first. */
static int64_t dml_conv_find_pieces(const dml_conv *task, const dml_conv_line *lines, int count, dml_conv_piece *pieces)
{
    int64_t piece_count = 0;
    for (int i = 0; i < 2 * count; i++) {
        const dml_conv_line *line = lines + i / 2;
        int64_t y = line->y + task->padding[1] + i % 2, x = 2 * line->x;
        if (y < task->steps[1])
            pieces[piece_count++] =
                (dml_conv_piece){y * task->steps[2] + x, i % 2 * 2 * DML_CONV_MAX_NR + 2 * line->lane,
                                 dml_least(2 * line->count, task->steps[2] - x)};
    }
    return piece_count;
}

static DML_ONCE int dml_conv_winograd_unit(const dml_conv_winograd *winograd, const dml_conv_unit *unit)
{
    const dml_conv *task = winograd->task, *seen = &winograd->seen;
    const dml_conv_table *kernels = dml_dispatch->conv;
    dml_conv_transforms work;
    dml_conv_line lines[DML_CONV_MAX_NR];
    int count = dml_conv_find_lines(seen, unit->begin, unit->n, lines), is_finite = 1;
    int64_t vectors = dml_quotient_up(unit->n, kernels->lanes), width = vectors * kernels->lanes;
    int64_t pieces = dml_conv_find_pieces(task, lines, count, work.pieces), apart = task->channels * width;
    int64_t behind = task->groups * task->m * task->channels;
    for (int64_t c = 0; c < task->channels; c += DML_CONV_WINOGRAD_CHANNELS) {
        dml_conv_slice slice = {c, dml_least(task->channels - c, DML_CONV_WINOGRAD_CHANNELS), 0, 16};
        dml_conv_pack_panel(seen, unit, lines, count, &slice, work.seen, vectors);
        for (int64_t k = 0; k < slice.channels; k++)
            kernels->transform(work.input + (c + k) * width, apart, work.seen + k * 16 * width, vectors);
    }
    for (int64_t k = 0; k < task->channels; k++)
        work.places[k] = k * width;
    for (int64_t first = 0; first < unit->m; first += DML_CONV_WINOGRAD_MC) {
        int64_t rows = dml_least(unit->m - first, DML_CONV_WINOGRAD_MC), channel = unit->channel + first;
        const int *mr = kernels->mr[vectors - 1];
        for (int i = 0; i < 16; i++)
            for (int64_t row = 0, size = 0; row < rows; row += mr[size]) {
                while (mr[size] > rows - row)
                    size++;
                kernels->tiles[vectors - 1][size](
                    work.products + (i * DML_CONV_WINOGRAD_MC + row) * width,
                    (const float *)task->transformed + i * behind + (channel + row) * task->channels, task->channels,
                    work.input + i * apart, work.places, task->channels, 0, NULL);
            }
        for (int64_t row = 0; row < rows; row++)
            is_finite &= kernels->transform_back(
                task, channel + row, (float *)task->output + unit->output + (first + row) * task->output_strides[1],
                work.products + row * width, DML_CONV_WINOGRAD_MC * width, vectors, work.pieces, pieces);
    }
    return is_finite;
}

static void dml_conv_winograd_units(void *context, int64_t begin, int64_t end)
{
    dml_conv_winograd *winograd = context;
    const dml_conv *task = winograd->task;
    const dml_conv_blocking *plan = &winograd->seen.blocking;
    for (; begin < end; begin++) {
        int64_t ic = begin % plan->m_blocks * plan->mc, panel = begin / plan->m_blocks % plan->panels;
        int64_t image = begin / plan->m_blocks / plan->panels;
        int64_t group = image % task->groups, batch = image / task->groups;
        int64_t channel = group * task->m + ic;
        int64_t lanes = dml_dispatch->conv->lanes, vectors = dml_quotient_up(plan->n, lanes);
        dml_conv_unit unit = {.begin = panel * vectors / plan->panels * lanes, .channel = channel};
        unit.input = (const char *)((const float *)task->input + batch * task->input_strides[0] +
                                    group * task->channels * task->input_strides[1]);
        unit.n = dml_least(plan->n, (panel + 1) * vectors / plan->panels * lanes) - unit.begin;
        unit.m = dml_least(task->m - ic, plan->mc);
        unit.output = batch * task->output_strides[0] + channel * task->output_strides[1];
        if (!dml_conv_winograd_unit(winograd, &unit))
            __atomic_store_n(&winograd->is_infinite, 1, __ATOMIC_RELAXED);
    }
}

/* The 16 products {m, channels} x {channels, n} of windows, all filters in one block of m unless threads would be
   idle. */
static dml_conv_blocking dml_conv_plan_winograd_blocking(const dml_conv *seen)
{
    int64_t max_vectors = dml_dispatch->conv->vectors, threads = dml_get_threads(),
            images = seen->batches * seen->groups;
    dml_conv_blocking plan = {.n = seen->steps[1] * seen->steps[2], .k = seen->channels, .m_blocks = 1};
    int64_t vectors = dml_quotient_up(plan.n, dml_dispatch->conv->lanes);
    while (max_vectors * dml_dispatch->conv->lanes * seen->channels > DML_CONV_PAIRS)
        max_vectors--;
    plan.panels =
        vectors <= max_vectors ? 1 : dml_quotient_up(vectors, dml_least(max_vectors, dml_conv_panel_vectors(seen)));
    /* As many for each thread, and as wide: all transformed filters pass by each of them. */
    if (images % threads != 0 && vectors >= threads) {
        plan.panels = dml_quotient_up(plan.panels, threads) * threads;
        if (plan.panels > threads && dml_quotient_up(vectors, plan.panels - threads) <= max_vectors)
            plan.panels -= threads;
        plan.panels = dml_least(plan.panels, vectors);
    }
    while (images * plan.panels * plan.m_blocks < threads && seen->m >= DML_CONV_WINOGRAD_MIN_MC * plan.m_blocks)
        plan.m_blocks *= 2;
    plan.mc = dml_quotient_up(dml_quotient_up(seen->m, plan.m_blocks), DML_CONV_MAX_MR) * DML_CONV_MAX_MR;
    plan.m_blocks = dml_quotient_up(seen->m, plan.mc);
    plan.units = images * plan.panels * plan.m_blocks;
    return plan;
}

/* 0 if something is infinite or NaN, which spreads to what does not see it: results are then to be computed
   otherwise. */
static int dml_conv_run_winograd(const dml_conv *task)
{
    dml_conv_winograd winograd = {.seen = *task, .task = task};
    dml_conv *seen = &winograd.seen;
    for (int i = 1; i < 3; i++) {
        seen->steps[i] = dml_quotient_up(task->steps[i], 2);
        seen->strides[i] = 2;
        seen->window[i] = 4;
    }
    seen->is_turned = 0;
    seen->blocking = dml_conv_plan_winograd_blocking(seen);
    if (!task->is_transformed)
        dml_conv_transform(task);
    double products = 16.0 * (double)seen->blocking.n * (double)(task->groups * task->m * task->batches);
    double work = 3.0 * products * (double)task->channels / DML_CONV_OPERATIONS_PER_BYTE;
    dml_parallel(dml_conv_winograd_units, &winograd, seen->blocking.units, 1, (int64_t)work);
    return !winograd.is_infinite;
}
