/* How a convolution, the product of its filters {m, k} and of the im2col matrix {k, n} of each image, is blocked: in
   panels of nr pixels, which are packed a slice of kc taps and channels at a time, and in blocks of mc filters and nc
   pixels. */

#pragma once

#include "../common/declarations.h"
#include "../common/dimensions.h"
#include "../context.h"
#include "window.h"

/* Rows of a panel that are packed at a time, and filters whose sums are kept meanwhile. Both are on the stack. */
#define DML_CONV_KC 192
#define DML_CONV_MAX_KC 1024
#define DML_CONV_MAX_MC 384
#define DML_CONV_MAX_MR 8
/* The tail of n: columns of the im2col matrix that fill no vector, over all of k if they are all there is. */
#define DML_CONV_TAIL_FLOATS (DML_CONV_MAX_LANES / DML_CONV_TAIL_PART * DML_CONV_MAX_KC)
/* Operations that take as long as a byte of memory. */
#define DML_CONV_OPERATIONS_PER_BYTE 2.5
/* Filters of a block that pay for packing the panel once more, */
#define DML_CONV_MIN_MC 128
/* and those that do where threads would be idle. */
#define DML_CONV_IDLE_MC 48
/* For so few filters panels are not packed that can be read in place. */
#define DML_CONV_IN_PLACE_M 64
/* Remainders below such a part of a vector are computed as dot products, unless k is so small that the horizontal sums,
   which take as long as some more rows, cost more. */
#define DML_CONV_TAIL_PART 4
#define DML_CONV_HORIZONTAL_SUM_K 240
/* Addresses that are so many bytes apart fall into the same set of the L1 cache. */
#define DML_CONV_PAGE_BYTES 4096
#define DML_CONV_LINE_BYTES 64
/* Panels of a block whose results are stored row by row: what is short of a page costs as much as one. */
#define DML_CONV_MAX_PANELS 8

static int64_t dml_conv_size(int type)
{
    return type == DML_CONV_FLOATS || type == DML_CONV_INT32 ? 4 : type == DML_CONV_HALVES ? 2 : 1;
}

static int dml_conv_is_bytes(const dml_conv *task)
{
    return task->type == DML_CONV_UINT8 || task->type == DML_CONV_INT8;
}

/* Vectors of a panel: as many as fit, three where there may be four, since a last panel of four beats one of a single
   vector. Kernels that multiply all of mc at once gain with each. */
static int64_t dml_conv_panel_vectors(const dml_conv *task)
{
    const dml_conv_table *kernels = dml_dispatch->conv;
    int is_shorter = kernels->vectors == 4 && !(dml_conv_is_bytes(task) && dml_dispatch->conv_multiply_bytes);
    return is_shorter ? 3 : kernels->vectors;
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
    task->is_plain = task->type != DML_CONV_HALVES && strides[2] == 1;
}

/* What a slice of a filter takes in whole fours. */
static int64_t dml_conv_signed_kc(int64_t kc)
{
    return dml_quotient_up(kc, 4) * 4;
}

/* Panels of n, and its tail, in whose place there are no panels if it is all there is. */
static void dml_conv_plan_panels(const dml_conv *task, dml_conv_blocking *plan)
{
    int64_t lanes = dml_dispatch->conv->lanes, usual = dml_conv_panel_vectors(task), vectors;
    plan->nr = usual * lanes;
    plan->n_tail = plan->n % lanes;
    if (dml_conv_is_bytes(task) || plan->n_tail > lanes / DML_CONV_TAIL_PART ||
        (plan->n_tail < plan->n && plan->n_tail * (plan->k + DML_CONV_HORIZONTAL_SUM_K) > 8 * plan->k))
        plan->n_tail = 0;
    vectors = dml_quotient_up(plan->n - plan->n_tail, lanes);
    /* All of four, rather than a last one of two. */
    if (dml_conv_is_bytes(task) && dml_dispatch->conv->vectors == 4 && vectors % 4 == 0 && vectors % 3 == 2)
        plan->nr = (usual = 4) * lanes;
    plan->panels = vectors <= dml_dispatch->conv->vectors ? 1 : dml_quotient_up(vectors, usual);
    /* A last vector alone joins the panel before. */
    if (plan->panels > 1 && vectors % usual == 1 && dml_dispatch->conv->vectors > usual)
        plan->panels--;
}

/* Slices of k: all taps of some channels, or some taps of one. */
static void dml_conv_plan_slices(const dml_conv *task, dml_conv_blocking *plan)
{
    int64_t kc = dml_conv_is_bytes(task) ? DML_CONV_MAX_KC : DML_CONV_KC;
    /* Without panels filters are read once, and best from end to end. */
    if (plan->n_tail == plan->n)
        kc = task->type == DML_CONV_FLOATS ? DML_CONV_TAIL_FLOATS / plan->n : DML_CONV_MAX_KC;
    plan->kc_taps = plan->taps < DML_CONV_MAX_KC ? plan->taps : DML_CONV_MAX_KC;
    plan->kc_channels = plan->kc_taps < plan->taps || kc < plan->taps ? 1 : kc / plan->taps;
    plan->is_single_slice =
        !dml_conv_is_bytes(task) && plan->kc_channels >= task->channels && plan->kc_taps == plan->taps;
    for (int64_t c = 0; c < task->channels; c += plan->kc_channels)
        for (int64_t t = 0; t < plan->taps; t += plan->kc_taps)
            plan->signed_row += dml_conv_signed_kc(dml_least(task->channels - c, plan->kc_channels) *
                                                   dml_least(plan->taps - t, plan->kc_taps));
}

/* Blocks of n: several panels where all of k fits into the memory for one, as long as all threads have units. */
static void dml_conv_plan_n_blocks(const dml_conv *task, dml_conv_blocking *plan, int64_t threads)
{
    int64_t images = task->batches * task->groups, panels = 1;
    if (plan->is_single_slice && (plan->taps > 1 || task->m >= DML_CONV_IN_PLACE_M / 2)) {
        int64_t room = DML_CONV_MAX_KC * DML_CONV_MAX_NR / (plan->k * plan->nr);
        panels = dml_least(dml_least(DML_CONV_MAX_PANELS, room), images * plan->panels / (4 * threads));
        panels = panels < 1 ? 1 : dml_least(panels, plan->panels);
    }
    plan->nc = panels * plan->nr;
    plan->n_blocks = dml_quotient_up(plan->panels, panels);
}

/* Blocks of m: as few as keep the sums of one on the stack, and threads busy. */
static void dml_conv_plan_m_blocks(const dml_conv *task, dml_conv_blocking *plan, int64_t threads)
{
    int64_t units = task->batches * task->groups * plan->n_blocks, blocks = dml_quotient_up(task->m, DML_CONV_MAX_MC);
    while (units * blocks < 4 * threads && task->m >= 2 * DML_CONV_MIN_MC * blocks)
        blocks *= 2;
    while (threads > 1 && units * blocks < 2 * threads && task->m >= 2 * DML_CONV_IDLE_MC * blocks)
        blocks *= 2;
    plan->mc = dml_quotient_up(dml_quotient_up(task->m, blocks), DML_CONV_MAX_MR) * DML_CONV_MAX_MR;
    plan->m_blocks = dml_quotient_up(task->m, plan->mc);
}

static dml_conv_blocking dml_conv_plan_blocking(const dml_conv *task)
{
    int64_t threads = dml_get_threads();
    dml_conv_blocking plan = {.taps = task->window[0] * task->window[1] * task->window[2],
                              .n = task->steps[0] * task->steps[1] * task->steps[2]};
    plan.k = plan.taps * task->channels;
    dml_conv_plan_panels(task, &plan);
    dml_conv_plan_slices(task, &plan);
    dml_conv_plan_n_blocks(task, &plan, threads);
    dml_conv_plan_m_blocks(task, &plan, threads);
    plan.units = task->batches * task->groups * plan.n_blocks * plan.m_blocks;
    return plan;
}
