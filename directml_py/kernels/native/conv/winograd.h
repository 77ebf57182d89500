/* Convolutions by Winograd's method: `windows` of the input, 4 by 4 with a stride of 2, are transformed. Each of the
   16 numbers of a transformed window is multiplied for itself, as a convolution of 1 by 1 would be. */

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
    /* This many channels are packed, and this many filters are multiplied, at a time. */
    DML_CONV_WINOGRAD_CHANNELS = 8,
    DML_CONV_WINOGRAD_MC = 16,
    /* A block of this many filters pays for transforming the input once more. */
    DML_CONV_WINOGRAD_MIN_MC = 64,
    /* The most windows times channels whose transforms are on the stack. */
    DML_CONV_PAIRS = DML_CONV_MOST_TRANSFORMED * 16
};

typedef struct {
    dml_conv_params windows;
    dml_conv_blocking blocking;
    const dml_conv_plan *plan;
    int32_t is_infinite;
} dml_conv_winograd;

typedef struct {
    float input[16 * DML_CONV_PAIRS] __attribute__((aligned(64)));
    float products[16 * DML_CONV_WINOGRAD_MC * DML_CONV_MAX_NR] __attribute__((aligned(64)));
    float windows[16 * DML_CONV_WINOGRAD_CHANNELS * DML_CONV_MAX_NR] __attribute__((aligned(64)));
    int64_t row_offsets[DML_CONV_MOST_TRANSFORMED];
    dml_conv_piece pieces[2 * DML_CONV_MAX_NR];
} dml_conv_transforms;

static void dml_conv_transform_filters(void *context, int64_t begin, int64_t end)
{
    const dml_conv *task = context;
    const dml_conv_params *params = &task->params;
    int64_t channels = params->channels, stride = params->groups * params->m * channels;
    for (; begin < end; begin++)
        dml_dispatch->conv->transform_filters((float *)task->scratch.transformed + begin * channels, stride,
                                              (const float *)params->filters + begin * params->filter_stride, channels,
                                              params->is_rotated);
}

void dml_conv_transform(const dml_conv *task)
{
    int64_t filters = task->params.groups * task->params.m, channels = task->params.channels;
    dml_parallel(dml_conv_transform_filters, (void *)task, filters, 1 + 2048 / channels, 64 * filters * channels);
}

/* Finds both rows of the results of lines of windows, as far as the output has them; the second row is computed behind
   the first. */
static int64_t dml_conv_find_pieces(const dml_conv_params *params, const dml_conv_line *lines, int count,
                                    dml_conv_piece *pieces)
{
    int64_t piece_count = 0;
    for (int i = 0; i < 2 * count; i++) {
        const dml_conv_line *line = lines + i / 2;
        int64_t y = line->y + params->padding[1] + i % 2, x = 2 * line->x;
        if (y < params->output_sizes[1])
            pieces[piece_count++] =
                (dml_conv_piece){y * params->output_sizes[2] + x, i % 2 * 2 * DML_CONV_MAX_NR + 2 * line->lane,
                                 dml_least(2 * line->count, params->output_sizes[2] - x)};
    }
    return piece_count;
}

static DML_ONCE int dml_conv_winograd_unit(const dml_conv_winograd *winograd, const dml_conv_unit *unit)
{
    const dml_conv_plan *plan = winograd->plan;
    const dml_conv_params *params = &plan->params, *windows = &winograd->windows;
    const float *filters = (const float *)plan->task->scratch.transformed;
    const dml_conv_table *kernels = dml_dispatch->conv;
    dml_conv_transforms work;
    dml_conv_line lines[DML_CONV_MAX_NR];
    int count = dml_conv_find_lines(windows, unit->begin, unit->n, lines), is_finite = 1;
    int64_t vectors = dml_quotient_up(unit->n, kernels->lanes), width = vectors * kernels->lanes;
    int64_t pieces = dml_conv_find_pieces(params, lines, count, work.pieces), stride = params->channels * width;
    int64_t behind = params->groups * params->m * params->channels;
    for (int64_t c = 0; c < params->channels; c += DML_CONV_WINOGRAD_CHANNELS) {
        dml_conv_slice slice = {c, dml_least(params->channels - c, DML_CONV_WINOGRAD_CHANNELS), 0, 16};
        dml_conv_pack_panel(windows, unit, lines, count, &slice, 0, work.windows, vectors);
        for (int64_t k = 0; k < slice.channels; k++)
            kernels->transform(work.input + (c + k) * width, stride, work.windows + k * 16 * width, vectors);
    }
    for (int64_t k = 0; k < params->channels; k++)
        work.row_offsets[k] = k * width;
    for (int64_t first = 0; first < unit->m; first += DML_CONV_WINOGRAD_MC) {
        int64_t rows = dml_least(unit->m - first, DML_CONV_WINOGRAD_MC), channel = unit->channel + first;
        const int *mr = kernels->mr[vectors - 1];
        for (int i = 0; i < 16; i++)
            for (int64_t row = 0, size = 0; row < rows; row += mr[size]) {
                while (mr[size] > rows - row)
                    size++;
                kernels->tiles[vectors - 1][size](work.products + (i * DML_CONV_WINOGRAD_MC + row) * width,
                                                  filters + i * behind + (channel + row) * params->channels,
                                                  params->channels, work.input + i * stride, work.row_offsets,
                                                  params->channels, 0, NULL);
            }
        for (int64_t row = 0; row < rows; row++)
            is_finite &= kernels->transform_back(
                params, &plan->post_ops, channel + row,
                (float *)params->output + unit->output + (first + row) * params->output_strides[1],
                work.products + row * width, DML_CONV_WINOGRAD_MC * width, vectors, work.pieces, pieces);
    }
    return is_finite;
}

static void dml_conv_winograd_units(void *context, int64_t begin, int64_t end)
{
    dml_conv_winograd *winograd = context;
    const dml_conv_params *params = &winograd->plan->params;
    const dml_conv_blocking *blocking = &winograd->blocking;
    for (; begin < end; begin++) {
        int64_t ic = begin % blocking->m_blocks * blocking->mc, panel = begin / blocking->m_blocks % blocking->panels;
        int64_t image = begin / blocking->m_blocks / blocking->panels;
        int64_t group = image % params->groups, batch = image / params->groups;
        int64_t channel = group * params->m + ic;
        int64_t lanes = dml_dispatch->conv->lanes, vectors = dml_quotient_up(blocking->n, lanes);
        dml_conv_unit unit = {.begin = panel * vectors / blocking->panels * lanes, .channel = channel};
        unit.input = (const char *)((const float *)params->input + batch * params->input_strides[0] +
                                    group * params->channels * params->input_strides[1]);
        unit.n = dml_least(blocking->n, (panel + 1) * vectors / blocking->panels * lanes) - unit.begin;
        unit.m = dml_least(params->m - ic, blocking->mc);
        unit.output = batch * params->output_strides[0] + channel * params->output_strides[1];
        if (!dml_conv_winograd_unit(winograd, &unit))
            __atomic_store_n(&winograd->is_infinite, 1, __ATOMIC_RELAXED);
    }
}

/* Blocks the 16 products {m, channels} x {channels, n} of windows: all filters are in one block of m unless threads
   would be idle. */
static dml_conv_blocking dml_conv_winograd_blocking_of(const dml_conv_params *windows)
{
    int64_t max_vectors = dml_dispatch->conv->vectors, threads = dml_get_threads(),
            images = windows->batches * windows->groups;
    dml_conv_blocking blocking = {
        .n = windows->output_sizes[1] * windows->output_sizes[2], .k = windows->channels, .m_blocks = 1};
    int64_t vectors = dml_quotient_up(blocking.n, dml_dispatch->conv->lanes);
    while (max_vectors * dml_dispatch->conv->lanes * windows->channels > DML_CONV_PAIRS)
        max_vectors--;
    blocking.panels =
        vectors <= max_vectors ? 1 : dml_quotient_up(vectors, dml_least(max_vectors, dml_conv_panel_vectors(windows)));
    /* Each thread gets as many panels, of equal width: all transformed filters pass by each panel. */
    if (images % threads != 0 && vectors >= threads) {
        blocking.panels = dml_quotient_up(blocking.panels, threads) * threads;
        if (blocking.panels > threads && dml_quotient_up(vectors, blocking.panels - threads) <= max_vectors)
            blocking.panels -= threads;
        blocking.panels = dml_least(blocking.panels, vectors);
    }
    while (images * blocking.panels * blocking.m_blocks < threads &&
           windows->m >= DML_CONV_WINOGRAD_MIN_MC * blocking.m_blocks)
        blocking.m_blocks *= 2;
    blocking.mc = dml_quotient_up(dml_quotient_up(windows->m, blocking.m_blocks), DML_CONV_MAX_MR) * DML_CONV_MAX_MR;
    blocking.m_blocks = dml_quotient_up(windows->m, blocking.mc);
    blocking.units = images * blocking.panels * blocking.m_blocks;
    return blocking;
}

/* Gives 0 if a number is infinite or NaN: it would spread to pixels whose windows do not have it, so that results must
   be computed otherwise. */
static int dml_conv_run_winograd(const dml_conv_plan *plan)
{
    const dml_conv_params *params = &plan->params;
    dml_conv_winograd winograd = {.windows = *params, .plan = plan};
    dml_conv_params *windows = &winograd.windows;
    for (int i = 1; i < 3; i++) {
        windows->output_sizes[i] = dml_quotient_up(params->output_sizes[i], 2);
        windows->strides[i] = 2;
        windows->window[i] = 4;
    }
    windows->is_rotated = 0;
    winograd.blocking = dml_conv_winograd_blocking_of(windows);
    if (!plan->task->scratch.is_transformed)
        dml_conv_transform(plan->task);
    double products = 16.0 * (double)winograd.blocking.n * (double)(params->groups * params->m * params->batches);
    double work = 3.0 * products * (double)params->channels / DML_CONV_OPERATIONS_PER_BYTE;
    dml_parallel(dml_conv_winograd_units, &winograd, winograd.blocking.units, 1, (int64_t)work);
    return !winograd.is_infinite;
}
