/* How a convolution is cut: into panels of pixels, parts of the filters, and slices of their depth. */

#ifndef DML_UNIT
#include "../common/editor.h"
#include "window.h"
#endif

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
/* A last vector that has less than such a part of its pixels is not worth the others, unless there are so few taps
   that adding up the lanes of their sums, which takes as long as some more of them, is worth more. */
#define DML_CONV_PART 4
#define DML_CONV_ADDING 240
/* Places that are so many bytes apart have the same place in the nearest cache. */
#define DML_CONV_PAGE 4096
#define DML_CONV_LINE_BYTES 64
/* Panels side by side whose results are stored row by row: what is short of a page costs as much as one. */
#define DML_CONV_NEIGHBOURS 8

static int64_t dml_conv_size(int type)
{
    return type == DML_CONV_FLOATS || type == DML_CONV_INT32 ? 4 : type == DML_CONV_HALVES ? 2 : 1;
}

static int dml_conv_is_bytes(const dml_conv *task)
{
    return task->type == DML_CONV_UINT8 || task->type == DML_CONV_INT8;
}

/* Panels have as many vectors as fit, three where there may be four: a last one of four is better than one alone.
   Loops that multiply all rows at once have the more of them the better. */
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
