/* Implicit GEMM convolution: the im2col matrix is never there as a whole. A panel of it is packed from the input, is
   multiplied by the filters while it is in the L1 cache, and gives way to the next. */

#include "../common/assert.h"
#include "../common/compiler.h"
#include "../common/dimensions.h"
#include "../context.h"
#include "../elementwise/elementwise.h"
#include "../softmax_norm/dispatch.h"
#include "../threads/parallel.h"
#include "window.h"
#include "blocking.h"
#include "panel.h"
#include "quantized.h"

/* A panel times mc filters, a slice of k at a time. */
static DML_ONCE void dml_conv_panel(const dml_conv *task, const dml_conv_unit *unit)
{
    dml_conv_work work;
    dml_conv_line lines[DML_CONV_MAX_NR];
    const dml_conv_blocking *plan = &task->blocking;
    const dml_conv_table *kernels = dml_dispatch->conv;
    int count = dml_conv_find_lines(task, unit->begin, unit->n, lines), is_bytes = dml_conv_is_bytes(task);
    int reads_in_place = dml_conv_reads_in_place(task, unit, lines, count);
    work.vectors = dml_quotient_up(unit->n, kernels->lanes);
    work.pixels = reads_in_place ? (const float *)unit->input : work.panel;
    work.signed_place = 0;
    work.byte_row = task->input_strides[1];
    for (int64_t c = 0; c < task->channels; c += plan->kc_channels)
        for (int64_t t = 0; t < plan->taps; t += plan->kc_taps) {
            dml_conv_slice slice = {c, dml_least(task->channels - c, plan->kc_channels), t,
                                    dml_least(plan->taps - t, plan->kc_taps)};
            work.pc = c * plan->taps + t;
            work.kc = slice.channels * slice.taps;
            if (reads_in_place) {
                dml_conv_tap tap = dml_conv_find_tap(task, t);
                for (int64_t i = 0; i < slice.taps; i++, dml_conv_next_tap(task, &tap)) {
                    int64_t place = dml_conv_place(task, lines, &tap);
                    for (int64_t k = 0; k < slice.channels; k++)
                        work.places[k * slice.taps + i] = place + (c + k) * task->input_strides[1];
                }
            } else {
                void *panel = is_bytes ? (void *)work.rows : work.panel;
                const int is_packed = !is_bytes || !task->is_plain || unit->n % kernels->lanes != 0 || work.kc % 4 != 0;
                work.bytes = is_packed ? work.rows : (const uint8_t *)unit->input + c * work.byte_row + unit->begin;
                if (work.vectors && is_packed)
                    dml_conv_pack_panel(task, unit, lines, count, &slice, panel, work.vectors);
                for (int64_t k = 0; work.vectors && k < work.kc; k++)
                    work.places[k] = k * work.vectors * kernels->lanes;
            }
            if (unit->n_tail)
                dml_conv_pack_tail(task, unit, &slice, &work);
            (is_bytes ? dml_conv_multiply_bytes : dml_conv_multiply)(task, unit, &work);
        }
    if (is_bytes)
        dml_conv_store_bytes(task, unit, &work);
    else if (work.vectors && !task->is_direct)
        kernels->store(task,
                       &(dml_conv_tile_store){work.tile, work.vectors, unit->m, unit->n, unit->output, unit->channel});
    if (unit->n_tail)
        kernels->store(task, &(dml_conv_tile_store){work.tail_tile, 1, unit->m, unit->n_tail, unit->output + unit->n,
                                                    unit->channel});
}

/* Full panels, side by side, where the input is the im2col matrix: channel by channel, so that the prefetcher sees long
   runs. */
static void dml_conv_copy_panels(const dml_conv *task, const dml_conv_unit *unit, int64_t count, float *panel)
{
    int64_t nr = unit->n;
    const float *input = (const float *)unit->input + unit->begin;
    for (int64_t c = 0; c < task->channels; c++, input += task->input_strides[1])
        for (int64_t i = 0; i < count; i++)
            memcpy(panel + (i * task->channels + c) * nr, input + i * nr, (size_t)nr * sizeof *panel);
}

/* Full panels of a block, of a single slice of k: a register tile of filters goes by all of them before the next. */
static DML_ONCE void dml_conv_block(const dml_conv *task, const dml_conv_unit *unit, int64_t count)
{
    dml_conv_work work;
    const dml_conv_blocking *plan = &task->blocking;
    const dml_conv_table *kernels = dml_dispatch->conv;
    const dml_conv_slice slice = {0, task->channels, 0, plan->taps};
    int64_t nr = unit->n, panel_size = plan->k * nr, mr = kernels->mr[nr / kernels->lanes - 1][0];
    dml_conv_unit tile = *unit;
    work.vectors = nr / kernels->lanes;
    work.kc = plan->k;
    work.pc = 0;
    if (task->is_plain)
        dml_conv_copy_panels(task, unit, count, work.panel);
    for (int64_t i = 0; i < count && !task->is_plain; i++) {
        dml_conv_line lines[DML_CONV_MAX_NR];
        int line_count = dml_conv_find_lines(task, unit->begin + i * nr, nr, lines);
        dml_conv_pack_panel(task, unit, lines, line_count, &slice, work.panel + i * panel_size, work.vectors);
    }
    for (int64_t k = 0; k < work.kc; k++)
        work.places[k] = k * nr;
    int64_t together = task->is_direct ? count : 1;
    tile.n = together * nr;
    for (int64_t ir = 0; ir < unit->m; ir += mr) {
        tile.m = dml_least(unit->m - ir, mr);
        tile.channel = unit->channel + ir;
        tile.filters = unit->filters + ir * task->filter_stride * dml_conv_size(task->type);
        for (int64_t i = 0; i < count; i += together) {
            work.pixels = work.panel + i * panel_size;
            tile.output = unit->output + ir * task->output_strides[1] + i * nr;
            dml_conv_multiply(task, &tile, &work);
            if (!task->is_direct)
                kernels->store(task,
                               &(dml_conv_tile_store){work.tile, work.vectors, tile.m, nr, tile.output, tile.channel});
        }
    }
}

static void dml_conv_units(void *context, int64_t begin, int64_t end)
{
    const dml_conv *task = context;
    const dml_conv_blocking *plan = &task->blocking;
    int64_t size = dml_conv_size(task->type), last = (plan->panels - 1) * plan->nr;
    for (; begin < end; begin++) {
        int64_t image = begin / plan->n_blocks, group = image % task->groups;
        int64_t batch = image / task->groups % task->batches;
        int64_t ic = image / task->groups / task->batches * plan->mc, channel = group * task->m + ic;
        int64_t jc = begin % plan->n_blocks * plan->nc, block_end = dml_least(jc + plan->nc, last + plan->nr);
        int64_t full = (dml_least(block_end, last) - jc) / plan->nr, first = jc;
        dml_conv_unit unit = {.begin = jc, .channel = channel, .m = dml_least(task->m - ic, plan->mc), .n = plan->nr};
        unit.input = (const char *)task->input +
                     size * (batch * task->input_strides[0] + group * task->channels * task->input_strides[1]);
        unit.filters = (const char *)task->filters + size * channel * task->filter_stride;
        unit.output = batch * task->output_strides[0] + channel * task->output_strides[1] + jc;
        if (full > 1 || (full == 1 && plan->is_single_slice && unit.m >= DML_CONV_IN_PLACE_M / 2)) {
            dml_conv_block(task, &unit, full);
            jc += full * plan->nr;
        }
        for (; jc < block_end; jc += plan->nr) {
            unit.output += jc - unit.begin;
            unit.begin = jc;
            unit.n_tail = jc == last ? plan->n_tail : 0;
            unit.n = jc == last ? plan->n - plan->n_tail - jc : plan->nr;
            dml_conv_panel(task, &unit);
        }
        dml_elementwise_finish_block(&task->epilogue, batch, channel, unit.m, first,
                                     (block_end > last ? plan->n : block_end) - first);
    }
}

#include "winograd.h"

/* Shapes, and what vectors and tables are loaded by. */
static void dml_conv_check(const dml_conv *task)
{
    DML_ASSERT(DML_IS_INDEX(task->type, DML_CONV_INT32) && DML_IS_INDEX(task->output_type, DML_CONV_INT32 + 1));
    DML_ASSERT(DML_IS_INDEX(task->activation, DML_ACTIVATION_CLIP + 1));
    DML_ASSERT(!task->residual ||
               (task->type == DML_CONV_FLOATS && task->output_type == DML_CONV_FLOATS &&
                task->activation == DML_ACTIVATION_IDENTITY && !task->normalization.relu && task->epilogue.programs[0] &&
                DML_IS_INDEX(task->residual_activation, DML_ACTIVATION_CLIP + 1)));
    DML_ASSERT(task->batches >= 1 && task->groups >= 1 && task->channels >= 1 && task->m >= 1);
    DML_ASSERT_EACH(i, 3, task->sizes[i] >= 1 && task->steps[i] >= 1 && task->window[i] >= 1);
    DML_ASSERT_EACH(i, 3, task->strides[i] >= 1 && task->dilations[i] >= 1);
    DML_ASSERT(DML_IS_ALIGNED(task->input, dml_conv_size(task->type)));
    DML_ASSERT(dml_conv_is_bytes(task) || DML_IS_ALIGNED(task->filters, dml_conv_size(task->type)));
    DML_ASSERT(DML_IS_ALIGNED(task->output, dml_conv_size(task->output_type)));
    DML_ASSERT(!dml_conv_is_bytes(task) || task->signed_filters);
    DML_ASSERT(!task->transformed || (task->type == DML_CONV_FLOATS && task->window[1] == 3 && task->window[2] == 3));
    DML_ASSERT(!task->transformed || task->channels <= DML_CONV_MOST_TRANSFORMED);
    (void)task;
}

void dml_conv_run(const dml_conv *asked)
{
    dml_conv_check(asked);
    dml_conv task = *asked;
    int is_short = dml_softmax_norm_prepare(&task.normalization), is_normal = task.normalization.prepared != 0;
    task.is_direct = task.type == DML_CONV_FLOATS && task.output_type == DML_CONV_FLOATS && is_short &&
                     (task.activation == DML_ACTIVATION_IDENTITY || (task.activation != DML_ACTIVATION_LEAKY_RELU && !is_normal));
    if (task.transformed && dml_conv_run_winograd(&task)) {
        dml_elementwise_finish(&task.epilogue);
        return;
    }
    if (task.residual) {
        task.epilogue.programs[0] = task.epilogue.programs[1];
        task.epilogue.programs[1] = NULL;
    }
    dml_conv_flatten(&task);
    task.blocking = dml_conv_plan_blocking(&task);
    if (dml_conv_is_bytes(&task)) {
        int64_t rows = task.groups * task.m;
        dml_parallel(dml_conv_sign_filters, &task, rows, 8, rows * task.blocking.k);
    }
    double operations = 2.0 * (double)task.blocking.k * (double)task.blocking.n *
                        (double)(task.m * task.groups * task.batches) / DML_CONV_OPERATIONS_PER_BYTE;
    double bytes = (double)(task.groups * task.m * task.blocking.k * dml_conv_size(task.type));
    dml_parallel(dml_conv_units, &task, task.blocking.units, 1, (int64_t)(operations > bytes ? operations : bytes));
}
