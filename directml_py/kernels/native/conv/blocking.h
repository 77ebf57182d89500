/* How a convolution, the product of its filters {m, k} and of the im2col matrix {k, n} of each image, is blocked: in
   panels of nr pixels, which are packed a slice of kc taps and channels at a time, and in blocks of mc filters and nc
   pixels. */

#pragma once

#include "../common/declarations.h"
#include "../common/dimensions.h"
#include "../context.h"
#include "window.h"

/* The most rows of a panel that are packed at a time, and the filters whose sums are kept meanwhile; both are on the
   stack. */
#define DML_CONV_MAX_KC 1024
#define DML_CONV_MAX_MC 384
#define DML_CONV_MAX_MR 8
/* The tail of n is the columns of the im2col matrix that fill no vector; it spans all of k if there are no others. */
#define DML_CONV_TAIL_FLOATS (DML_CONV_MAX_LANES / DML_CONV_TAIL_PART * DML_CONV_MAX_KC)
/* A thread does this many operations in the time that a byte of memory takes. */
#define DML_CONV_OPERATIONS_PER_BYTE 2.5
/* A block of this many filters pays for packing the panel once more. */
#define DML_CONV_MIN_MC 128
/* A block of this many filters does where threads would be idle. */
#define DML_CONV_IDLE_MC 48
/* For this many filters for each lane, or fewer, panels that can be read in place are not packed. */
#define DML_CONV_IN_PLACE_M 4
/* A remainder of less than this part of a vector is computed as dot products, unless k is so small that the horizontal
   sums, which take as long as some more rows, cost more. */
#define DML_CONV_TAIL_PART 4
#define DML_CONV_HORIZONTAL_SUM_K 240
/* Addresses that are this many bytes apart fall into the same set of the L1 cache. */
#define DML_CONV_PAGE_BYTES 4096
#define DML_CONV_LINE_BYTES 64
/* The most panels of a block whose results are stored row by row: less than a page costs as much as a page. */
#define DML_CONV_MAX_PANELS 8

/* The product of filters {m, k} and of the im2col matrix {k, n}: k is taps times channels, and n the pixels of the
   output, of which the last `n_tail` are in no panel of nr. A slice of k has `kc_taps` of `kc_channels`; all slices of
   a filter take `signed_row` signed bytes. Units of work are blocks of mc filters and nc pixels. */
typedef struct {
    int64_t n, k, taps, n_tail, nr, panels, kc_taps, kc_channels, signed_row, nc, n_blocks, mc, m_blocks, units;
    int32_t is_single_slice;
} dml_conv_blocking;

/* A padded image of bytes: its sizes, the lanes of a plane, the planes of a group's image, and the sums from the first
   pixel of a plane to its last one; 0 of them if images are not padded. */
typedef struct {
    int64_t sizes[DML_SPATIAL_DIMENSIONS], plane, planes, n;
} dml_conv_padded;

/* What was decided about a task: its params, whose image may have been flattened; the post-ops that remain; the
   blocking; whether sums are stored from registers; and whether the input is the im2col matrix as it lies. */
typedef struct {
    const dml_conv *task;
    dml_conv_params params;
    dml_post_ops post_ops;
    dml_conv_blocking blocking;
    dml_conv_padded padded;
    int is_direct, is_im2col;
} dml_conv_plan;

static int64_t dml_conv_size(int type)
{
    return type == DML_CONV_FLOATS || type == DML_CONV_INT32 ? 4 : type == DML_CONV_HALVES ? 2 : 1;
}

static int dml_conv_is_bytes(const dml_conv_params *params)
{
    return params->type == DML_CONV_UINT8 || params->type == DML_CONV_INT8;
}

/* The vectors of a panel: three where four would fit, since a last panel of four beats one of a single vector. A kernel
   that multiplies all of mc at once gains with each vector. */
static int64_t dml_conv_panel_vectors(const dml_conv_params *params)
{
    const dml_conv_table *kernels = dml_dispatch->conv;
    int is_shorter = kernels->vectors == 4 && !(dml_conv_is_bytes(params) && dml_dispatch->conv_multiply_bytes);
    return is_shorter ? 3 : kernels->vectors;
}

/* Flattens an image each of whose pixels is read once, in order, to a single row; returns whether it is the im2col
   matrix then. */
static int dml_conv_flatten(dml_conv_params *params)
{
    int64_t *strides = params->input_strides + 2, pixels = 1;
    for (int i = 2; i >= 0; i--) {
        int is_unpadded = params->window[i] == 1 && params->padding[i] == 0 && params->strides[i] == 1;
        if (!is_unpadded || params->output_sizes[i] != params->sizes[i] ||
            (params->sizes[i] > 1 && strides[i] != pixels * strides[2]))
            return 0;
        pixels *= params->sizes[i];
    }
    params->sizes[0] = params->sizes[1] = params->output_sizes[0] = params->output_sizes[1] = 1;
    params->sizes[2] = params->output_sizes[2] = pixels;
    return params->type != DML_CONV_HALVES && (strides[2] == 1 || pixels == 1);
}

/* The bytes that a slice of a signed filter takes: a lane for each group of taps. */
static int64_t dml_conv_signed_kc(int64_t kc)
{
    return dml_quotient_up(kc, dml_dispatch->conv_bytes->group) * 4;
}

/* Cuts n into panels and a tail. If the tail is all of n, there are no panels. */
static void dml_conv_plan_panels(const dml_conv_params *params, dml_conv_blocking *blocking)
{
    int64_t lanes = dml_dispatch->conv->lanes, usual = dml_conv_panel_vectors(params), vectors;
    blocking->nr = usual * lanes;
    blocking->n_tail = blocking->n % lanes;
    if (dml_conv_is_bytes(params) || blocking->n_tail > lanes / DML_CONV_TAIL_PART ||
        (blocking->n_tail < blocking->n &&
         blocking->n_tail * (blocking->k + DML_CONV_HORIZONTAL_SUM_K) > 8 * blocking->k))
        blocking->n_tail = 0;
    vectors = dml_quotient_up(blocking->n - blocking->n_tail, lanes);
    /* Four vectors a panel leave no last panel of two. */
    if (dml_conv_is_bytes(params) && dml_dispatch->conv->vectors == 4 && vectors % 4 == 0 && vectors % 3 == 2)
        blocking->nr = (usual = 4) * lanes;
    blocking->panels = vectors <= dml_dispatch->conv->vectors ? 1 : dml_quotient_up(vectors, usual);
    /* A last vector alone joins the panel before it. */
    if (blocking->panels > 1 && vectors % usual == 1 && dml_dispatch->conv->vectors > usual)
        blocking->panels--;
}

/* Cuts k into slices: all taps of some channels, or some taps of one channel. */
static void dml_conv_plan_slices(const dml_conv_params *params, dml_conv_blocking *blocking)
{
    int64_t kc = dml_conv_is_bytes(params) ? DML_CONV_MAX_KC / 4 * dml_dispatch->conv_bytes->group
                                           : dml_dispatch->conv->kc;
    /* Without panels each filter is read once, and best from end to end. */
    if (blocking->n_tail == blocking->n)
        kc = params->type == DML_CONV_FLOATS ? DML_CONV_TAIL_FLOATS / blocking->n : DML_CONV_MAX_KC;
    blocking->kc_taps = dml_least(blocking->taps, DML_CONV_MAX_KC);
    blocking->kc_channels = blocking->kc_taps < blocking->taps || kc < blocking->taps ? 1 : kc / blocking->taps;
    blocking->is_single_slice =
        !dml_conv_is_bytes(params) && blocking->kc_channels >= params->channels && blocking->kc_taps == blocking->taps;
    for (int64_t c = 0; c < params->channels; c += blocking->kc_channels)
        for (int64_t t = 0; t < blocking->taps; t += blocking->kc_taps)
            blocking->signed_row += dml_conv_signed_kc(dml_least(params->channels - c, blocking->kc_channels) *
                                                       dml_least(blocking->taps - t, blocking->kc_taps));
}

/* Whether `m` filters pay for packing panels that could be read in place. */
static int dml_conv_packs_for(int64_t m)
{
    return m >= DML_CONV_IN_PLACE_M / 2 * dml_dispatch->conv->lanes;
}

/* Cuts n into blocks: several panels where all of k fits into the memory for one, as long as all threads have units. */
static void dml_conv_plan_n_blocks(const dml_conv_params *params, dml_conv_blocking *blocking, int64_t threads)
{
    int64_t images = params->batches * params->groups, panels = 1;
    if (blocking->is_single_slice && (blocking->taps > 1 || dml_conv_packs_for(params->m))) {
        int64_t room = DML_CONV_MAX_KC * DML_CONV_MAX_NR / (blocking->k * blocking->nr);
        panels = dml_least(dml_least(DML_CONV_MAX_PANELS, room), images * blocking->panels / (4 * threads));
        panels = panels < 1 ? 1 : dml_least(panels, blocking->panels);
    }
    blocking->nc = panels * blocking->nr;
    blocking->n_blocks = dml_quotient_up(blocking->panels, panels);
}

/* Cuts m into as few blocks as keep the sums of one on the stack, and all threads busy. */
static void dml_conv_plan_m_blocks(const dml_conv_params *params, dml_conv_blocking *blocking, int64_t threads)
{
    int64_t units = params->batches * params->groups * blocking->n_blocks,
            blocks = dml_quotient_up(params->m, DML_CONV_MAX_MC);
    while (units * blocks < 4 * threads && params->m >= 2 * DML_CONV_MIN_MC * blocks)
        blocks *= 2;
    while (threads > 1 && units * blocks < 2 * threads && params->m >= 2 * DML_CONV_IDLE_MC * blocks)
        blocks *= 2;
    blocking->mc = dml_quotient_up(dml_quotient_up(params->m, blocks), DML_CONV_MAX_MR) * DML_CONV_MAX_MR;
    blocking->m_blocks = dml_quotient_up(params->m, blocking->mc);
}

static dml_conv_blocking dml_conv_blocking_of(const dml_conv_params *params)
{
    int64_t threads = dml_get_threads();
    dml_conv_blocking blocking = {.taps = params->window[0] * params->window[1] * params->window[2],
                                  .n = params->output_sizes[0] * params->output_sizes[1] * params->output_sizes[2]};
    blocking.k = blocking.taps * params->channels;
    dml_conv_plan_panels(params, &blocking);
    dml_conv_plan_slices(params, &blocking);
    dml_conv_plan_n_blocks(params, &blocking, threads);
    dml_conv_plan_m_blocks(params, &blocking, threads);
    blocking.units = params->batches * params->groups * blocking.n_blocks * blocking.m_blocks;
    return blocking;
}
