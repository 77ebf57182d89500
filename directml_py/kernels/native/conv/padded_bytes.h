/* Convolutions of 8-bit integers whose windows move by one pixel. The image is interleaved once, with its padding: a
   plane for each group of channels. Each tap of the window then reads its row of a panel from there as it lies, one
   offset further. Panels pass from one line of the image to the next, so that some of the sums are of no pixel; these
   are not stored. */

#pragma once

#include "quantized.h"

/* Padding the image saves packing each panel for each tap, but filters are reordered. Returns 0 sums if it does not
   pay. */
static dml_conv_padded dml_conv_pad(const dml_conv_params *params)
{
    const int64_t *output_sizes = params->output_sizes;
    dml_conv_padded padded = {.plane = 1};
    int64_t taps = 1, pixels = 1;
    int pays = dml_conv_is_bytes(params) && params->input_strides[4] == 1;
    for (int i = 0; i < DML_SPATIAL_DIMENSIONS; i++) {
        padded.sizes[i] = output_sizes[i] + (params->window[i] - 1) * params->dilations[i];
        padded.plane *= padded.sizes[i];
        pixels *= output_sizes[i];
        taps *= params->window[i];
        pays &= params->strides[i] == 1;
    }
    const int64_t n =
        ((output_sizes[0] - 1) * padded.sizes[1] + output_sizes[1] - 1) * padded.sizes[2] + output_sizes[2];
    padded.planes = params->channels / dml_dispatch->conv_bytes->group;
    /* All rows of a tile must be of one tap. */
    pays &= params->channels % (dml_dispatch->conv_multiply_bytes ? 64 : dml_dispatch->conv_bytes->group) == 0;
    pays &= taps > 1 && 2 * pixels >= params->m && 2 * n <= 3 * pixels && taps * params->channels <= DML_CONV_PADDED_K;
    padded.n = pays ? n : 0;
    return padded;
}

/* Blocks padded images as if each was a row, all of whose sums are stored. */
static dml_conv_blocking dml_conv_padded_blocking(const dml_conv_params *params, const dml_conv_padded *padded)
{
    dml_conv_params row = *params;
    row.output_sizes[0] = row.output_sizes[1] = 1;
    row.output_sizes[2] = padded->n;
    dml_conv_blocking blocking = dml_conv_blocking_of(&row);
    blocking.kc_taps = blocking.taps;
    blocking.kc_channels = params->channels;
    blocking.signed_row = dml_conv_signed_kc(blocking.k);
    return blocking;
}

/* The planes lie behind the filters, at a cache line. */
static uint32_t *dml_conv_padded_planes(const dml_conv_plan *plan)
{
    uintptr_t behind = (uintptr_t)(dml_conv_byte_filters(plan) + plan->params.groups * plan->params.m);
    return (uint32_t *)((behind + DML_CONV_LINE_BYTES - 1) / DML_CONV_LINE_BYTES * DML_CONV_LINE_BYTES);
}

int64_t dml_conv_signed_size(const dml_conv *task)
{
    dml_conv_params params = task->params;
    const dml_conv_padded padded = dml_conv_pad(&params);
    if (!padded.n)
        dml_conv_flatten(&params);
    const dml_conv_blocking blocking =
        padded.n ? dml_conv_padded_blocking(&params, &padded) : dml_conv_blocking_of(&params);
    const int64_t lanes = padded.n ? params.batches * params.groups * padded.planes * padded.plane : 0;
    /* Kernels may read to the end of a cache line, and a panel beyond the last plane. */
    return params.groups * params.m * (blocking.signed_row + (int64_t)sizeof(dml_conv_byte_filter)) +
           2 * DML_CONV_LINE_BYTES + (lanes + DML_CONV_MAX_NR) * 4;
}

/* Interleaves planes `begin` to `end`. */
static void dml_conv_pad_planes(void *context, int64_t begin, int64_t end)
{
    const dml_conv_plan *plan = context;
    const dml_conv_params *params = &plan->params;
    const dml_conv_bytes_table *bytes = dml_dispatch->conv_bytes;
    const int64_t *sizes = plan->padded.sizes, *strides = params->input_strides, left = params->padding[2];
    const int64_t inside = dml_least(params->sizes[2], sizes[2] - left);
    const uint32_t zero = (uint32_t)dml_conv_zero(plan->task->quantization.input_zero, 0, params->type, 1);
    const uint32_t padding = zero * (bytes->group == 4 ? 0x01010101u : 0x00010001u);
    for (; begin < end; begin++) {
        const int64_t image = begin / plan->padded.planes, channel = begin % plan->padded.planes * bytes->group;
        const uint8_t *input = (const uint8_t *)params->input + image / params->groups * strides[0] +
                               (image % params->groups * params->channels + channel) * strides[1];
        uint32_t *row = dml_conv_padded_planes(plan) + begin * plan->padded.plane;
        for (int64_t i = 0; i < sizes[0] * sizes[1]; i++, row += sizes[2]) {
            const int64_t z = i / sizes[1] - params->padding[0], y = i % sizes[1] - params->padding[1];
            for (int64_t x = 0; x < sizes[2]; x++)
                row[x] = padding;
            if (z >= 0 && z < params->sizes[0] && y >= 0 && y < params->sizes[1] && inside > 0)
                bytes->interleave(row + left, input + z * strides[2] + y * strides[3], strides[1], inside, 1,
                                  params->type == DML_CONV_INT8);
        }
    }
}

/* Multiplies a panel of a padded image by the filters, some rows of lanes at a time. */
static void dml_conv_multiply_padded(const dml_conv_plan *plan, const dml_conv_unit *unit, dml_conv_work *work)
{
    const dml_conv_padded *padded = &plan->padded;
    const int64_t lanes = plan->blocking.taps * padded->planes;
    work->pixels = (const float *)unit->input + unit->begin;
    for (int64_t lane = 0; lane < lanes; lane += DML_CONV_PADDED_LANES) {
        const int64_t part = dml_least(lanes - lane, DML_CONV_PADDED_LANES);
        dml_conv_tap tap = dml_conv_find_tap(&plan->params, lane / padded->planes);
        for (int64_t k = 0, plane = lane % padded->planes; k < part; k++) {
            work->row_offsets[k] =
                (tap.z * padded->sizes[1] + tap.y) * padded->sizes[2] + tap.x + plane * padded->plane;
            if (++plane == padded->planes) {
                plane = 0;
                dml_conv_next_tap(&plan->params, &tap);
            }
        }
        dml_conv_multiply_lanes(plan, unit, work, part * dml_dispatch->conv_bytes->group, lane > 0);
    }
}
