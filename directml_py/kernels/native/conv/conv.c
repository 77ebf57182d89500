/* Convolutions as products of matrices whose second one is never there as a whole: a panel of it is gathered from the
   input, is multiplied by the filters while it is in the nearest cache, and gives way to the next. */

#ifndef DML_UNIT
#include "../common/editor.h"
#endif

#include "window.h"
#include "blocking.h"
#include "panel.h"
#include "quantized.h"

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

/* Shapes, and what vectors and tables are loaded by. */
static void dml_conv_check(const dml_conv *task)
{
    DML_ASSERT(DML_IS_INDEX(task->type, DML_CONV_INT32) && DML_IS_INDEX(task->output_type, DML_CONV_INT32 + 1));
    DML_ASSERT(DML_IS_INDEX(task->activation, DML_CONV_LEAKY_RELU + 1));
    DML_ASSERT(task->batches >= 1 && task->groups >= 1 && task->channels >= 1 && task->outputs >= 1);
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
