/* Implicit GEMM convolution: the im2col matrix never exists as a whole. A panel of it is packed from the input,
   multiplied by the filters while it is in the L1 cache, and replaced by the next. */

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
#include "padded_bytes.h"

/* Multiplies a panel by mc filters, a slice of k at a time. */
static DML_ONCE void dml_conv_panel(const dml_conv_plan *plan, const dml_conv_unit *unit)
{
    dml_conv_work work;
    dml_conv_line lines[DML_CONV_MAX_NR];
    const dml_conv_params *params = &plan->params;
    const dml_conv_blocking *blocking = &plan->blocking;
    const dml_conv_table *kernels = dml_dispatch->conv;
    uintptr_t input_zero = plan->task->quantization.input_zero;
    uint8_t zero = input_zero ? *(const uint8_t *)input_zero : 0;
    int count = dml_conv_find_lines(params, unit->begin, unit->n, lines), is_bytes = dml_conv_is_bytes(params);
    int reads_in_place = dml_conv_reads_in_place(params, unit, lines, count);
    work.vectors = dml_quotient_up(unit->n, kernels->lanes);
    work.pixels = reads_in_place ? (const float *)unit->input : work.panel;
    work.packed = NULL;
    work.signed_offset = 0;
    work.byte_row = params->input_strides[1];
    if (plan->padded.n)
        dml_conv_multiply_padded(plan, unit, &work);
    for (int64_t c = 0; c < params->channels && !plan->padded.n; c += blocking->kc_channels)
        for (int64_t t = 0; t < blocking->taps; t += blocking->kc_taps) {
            dml_conv_slice slice = {c, dml_least(params->channels - c, blocking->kc_channels), t,
                                    dml_least(blocking->taps - t, blocking->kc_taps)};
            work.pc = c * blocking->taps + t;
            work.kc = slice.channels * slice.taps;
            if (reads_in_place) {
                dml_conv_tap tap = dml_conv_find_tap(params, t);
                for (int64_t i = 0; i < slice.taps; i++, dml_conv_next_tap(params, &tap)) {
                    int64_t offset = dml_conv_tap_offset(params, lines, &tap);
                    for (int64_t k = 0; k < slice.channels; k++)
                        work.row_offsets[k * slice.taps + i] = offset + (c + k) * params->input_strides[1];
                }
            } else {
                void *panel = is_bytes ? (void *)work.rows : work.panel;
                const int is_packed = !is_bytes || !plan->is_im2col || unit->n % kernels->lanes != 0 ||
                                      work.kc % dml_dispatch->conv_bytes->group != 0;
                work.bytes = is_packed ? work.rows : (const uint8_t *)unit->input + c * work.byte_row + unit->begin;
                if (work.vectors && is_packed)
                    dml_conv_pack_panel(params, unit, lines, count, &slice, zero, panel, work.vectors);
                for (int64_t k = 0; work.vectors && k < work.kc; k++)
                    work.row_offsets[k] = k * work.vectors * kernels->lanes;
            }
            if (unit->n_tail)
                dml_conv_pack_tail(plan, unit, &slice, &work);
            (is_bytes ? dml_conv_multiply_bytes : dml_conv_multiply)(plan, unit, &work);
        }
    if (is_bytes)
        dml_conv_store_bytes(plan, unit, &work);
    else if (work.vectors && !plan->is_direct)
        kernels->store(params, &plan->post_ops,
                       &(dml_conv_tile_store){work.tile, work.vectors, unit->m, unit->n, unit->output, unit->channel});
    if (unit->n_tail)
        kernels->store(
            params, &plan->post_ops,
            &(dml_conv_tile_store){work.tail_tile, 1, unit->m, unit->n_tail, unit->output + unit->n, unit->channel});
}

/* Multiplies the full panels of a block, which has a single slice of k: a register tile of filters passes all of them
   before the next tile does. If the input is the im2col matrix, the first tile reads it in place, and packs it. */
static DML_ONCE void dml_conv_block(const dml_conv_plan *plan, const dml_conv_unit *unit, int64_t count)
{
    dml_conv_work work;
    const dml_conv_params *params = &plan->params;
    const dml_conv_blocking *blocking = &plan->blocking;
    const dml_conv_table *kernels = dml_dispatch->conv;
    const dml_conv_slice slice = {0, params->channels, 0, blocking->taps};
    const int is_packed_late = plan->is_im2col && plan->is_direct;
    int64_t nr = unit->n, panel_size = blocking->k * nr, mr = kernels->mr[nr / kernels->lanes - 1][0];
    dml_conv_unit tile = *unit;
    work.vectors = nr / kernels->lanes;
    work.kc = blocking->k;
    work.pc = 0;
    for (int64_t i = 0; i < count && !is_packed_late; i++) {
        dml_conv_line lines[DML_CONV_MAX_NR];
        int line_count = dml_conv_find_lines(params, unit->begin + i * nr, nr, lines);
        dml_conv_pack_panel(params, unit, lines, line_count, &slice, 0, work.panel + i * panel_size, work.vectors);
    }
    for (int64_t ir = 0; ir < unit->m; ir += mr) {
        const int packs = ir == 0 && is_packed_late;
        int64_t together = plan->is_direct && !packs ? count : 1;
        for (int64_t k = 0; ir <= (is_packed_late ? mr : 0) && k < work.kc; k++)
            work.row_offsets[k] = k * (packs ? params->input_strides[1] : nr);
        tile.n = together * nr;
        tile.m = dml_least(unit->m - ir, mr);
        tile.channel = unit->channel + ir;
        tile.filters = unit->filters + ir * params->filter_stride * dml_conv_size(params->type);
        for (int64_t i = 0; i < count; i += together) {
            float *panel = work.panel + i * panel_size;
            work.pixels = packs ? (const float *)unit->input + unit->begin + i * nr : panel;
            work.packed = packs ? panel : NULL;
            tile.output = unit->output + ir * params->output_strides[1] + i * nr;
            dml_conv_multiply(plan, &tile, &work);
            if (!plan->is_direct)
                kernels->store(params, &plan->post_ops,
                               &(dml_conv_tile_store){work.tile, work.vectors, tile.m, nr, tile.output, tile.channel});
        }
    }
}

static void dml_conv_units(void *context, int64_t begin, int64_t end)
{
    const dml_conv_plan *plan = context;
    const dml_conv_params *params = &plan->params;
    const dml_conv_blocking *blocking = &plan->blocking;
    int64_t size = dml_conv_size(params->type), last = (blocking->panels - 1) * blocking->nr;
    for (; begin < end; begin++) {
        int64_t image = begin / blocking->n_blocks, group = image % params->groups;
        int64_t batch = image / params->groups % params->batches;
        int64_t ic = image / params->groups / params->batches * blocking->mc, channel = group * params->m + ic;
        int64_t jc = begin % blocking->n_blocks * blocking->nc,
                block_end = dml_least(jc + blocking->nc, last + blocking->nr);
        int64_t full = (dml_least(block_end, last) - jc) / blocking->nr, first = jc;
        dml_conv_unit unit = {
            .begin = jc, .channel = channel, .m = dml_least(params->m - ic, blocking->mc), .n = blocking->nr};
        unit.input = (const char *)params->input +
                     size * (batch * params->input_strides[0] + group * params->channels * params->input_strides[1]);
        if (plan->padded.n)
            unit.input = (const char *)(dml_conv_padded_planes(plan) +
                                        (batch * params->groups + group) * plan->padded.planes * plan->padded.plane);
        unit.filters = (const char *)params->filters + size * channel * params->filter_stride;
        unit.output = batch * params->output_strides[0] + channel * params->output_strides[1] + jc;
        if (full > 1 || (full == 1 && blocking->is_single_slice && dml_conv_packs_for(unit.m))) {
            dml_conv_block(plan, &unit, full);
            jc += full * blocking->nr;
        }
        for (; jc < block_end; jc += blocking->nr) {
            unit.output += jc - unit.begin;
            unit.begin = jc;
            unit.n_tail = jc == last ? blocking->n_tail : 0;
            unit.n = jc == last ? blocking->n - blocking->n_tail - jc : blocking->nr;
            dml_conv_panel(plan, &unit);
        }
        dml_conv_piece pieces[DML_CONV_MAX_NR];
        int64_t count =
            dml_conv_find_parts(plan, first, (block_end > last ? blocking->n : block_end) - first, pieces);
        for (int64_t i = 0; i < count; i++)
            dml_elementwise_finish_block(&plan->post_ops.epilogue, batch, channel, unit.m, pieces[i].offset,
                                         pieces[i].count);
    }
}

#include "winograd.h"

/* Asserts what sizes are used for without a check, and what vectors and tables are loaded by. */
static void dml_conv_check(const dml_conv *task)
{
    const dml_conv_params *params = &task->params;
    const dml_post_ops *post_ops = &task->post_ops;
    DML_ASSERT(DML_IS_INDEX(params->type, DML_CONV_INT32) && DML_IS_INDEX(params->output_type, DML_CONV_INT32 + 1));
    DML_ASSERT(DML_IS_INDEX(post_ops->activation, DML_ACTIVATION_CLIP + 1));
    DML_ASSERT(!post_ops->residual || (params->type == DML_CONV_FLOATS && params->output_type == DML_CONV_FLOATS));
    DML_ASSERT(!post_ops->residual ||
               (post_ops->activation == DML_ACTIVATION_IDENTITY && !post_ops->normalization.relu));
    DML_ASSERT(!post_ops->residual || (post_ops->epilogue.programs[0] &&
                                       DML_IS_INDEX(post_ops->residual_activation, DML_ACTIVATION_CLIP + 1)));
    DML_ASSERT(params->batches >= 1 && params->groups >= 1 && params->channels >= 1 && params->m >= 1);
    DML_ASSERT_EACH(i, 3, params->sizes[i] >= 1 && params->output_sizes[i] >= 1 && params->window[i] >= 1);
    DML_ASSERT_EACH(i, 3, params->strides[i] >= 1 && params->dilations[i] >= 1);
    DML_ASSERT(DML_IS_ALIGNED(params->input, dml_conv_size(params->type)));
    DML_ASSERT(dml_conv_is_bytes(params) || DML_IS_ALIGNED(params->filters, dml_conv_size(params->type)));
    DML_ASSERT(DML_IS_ALIGNED(params->output, dml_conv_size(params->output_type)));
    DML_ASSERT(!dml_conv_is_bytes(params) || task->scratch.signed_filters);
    DML_ASSERT(!task->scratch.transformed ||
               (params->type == DML_CONV_FLOATS && params->window[1] == 3 && params->window[2] == 3));
    DML_ASSERT(!task->scratch.transformed || params->channels <= DML_CONV_MOST_TRANSFORMED);
    (void)params, (void)post_ops;
}

/* Sums are stored from registers unless their activation or normalization takes more than a register tile has. */
static int dml_conv_is_direct(const dml_conv *task)
{
    const dml_post_ops *post_ops = &task->post_ops;
    int is_short = dml_softmax_norm_prepare(&post_ops->normalization);
    return task->params.type == DML_CONV_FLOATS && task->params.output_type == DML_CONV_FLOATS && is_short &&
           (post_ops->activation == DML_ACTIVATION_IDENTITY ||
            (post_ops->activation != DML_ACTIVATION_LEAKY_RELU && post_ops->normalization.prepared == 0));
}

void dml_conv_run(const dml_conv *task)
{
    dml_conv_check(task);
    dml_conv_plan plan = {.task = task, .params = task->params, .post_ops = task->post_ops};
    const dml_conv_params *params = &plan.params;
    const dml_conv_blocking *blocking = &plan.blocking;
    plan.is_direct = dml_conv_is_direct(task);
    if (task->scratch.transformed && dml_conv_run_winograd(&plan)) {
        dml_elementwise_finish(&plan.post_ops.epilogue);
        return;
    }
    if (plan.post_ops.residual) {
        plan.post_ops.epilogue.programs[0] = plan.post_ops.epilogue.programs[1];
        plan.post_ops.epilogue.programs[1] = NULL;
    }
    plan.padded = dml_conv_pad(params);
    plan.is_im2col = !plan.padded.n && dml_conv_flatten(&plan.params);
    plan.blocking = plan.padded.n ? dml_conv_padded_blocking(params, &plan.padded) : dml_conv_blocking_of(params);
    if (dml_conv_is_bytes(params)) {
        int64_t rows = params->groups * params->m;
        dml_parallel(dml_conv_sign_filters, &plan, rows, 8, rows * blocking->k);
    }
    if (plan.padded.n) {
        int64_t planes = params->batches * params->groups * plan.padded.planes;
        dml_parallel(dml_conv_pad_planes, &plan, planes, 1, planes * plan.padded.plane * 8);
    }
    double operations = 2.0 * (double)blocking->k * (double)blocking->n *
                        (double)(params->m * params->groups * params->batches) / DML_CONV_OPERATIONS_PER_BYTE;
    double bytes = (double)(params->groups * params->m * blocking->k * dml_conv_size(params->type));
    dml_parallel(dml_conv_units, &plan, blocking->units, 1, (int64_t)(operations > bytes ? operations : bytes));
}
