/* Convolutions of 8-bit integers: filters as signed bytes, sums, and how sums are stored. */

#pragma once

#include "../common/dimensions.h"
#include "../context.h"
#include "window.h"
#include "blocking.h"
#include "panel.h"
#include "../move/dispatch.h"

/* The largest filter that is reordered on the stack, and the lanes that are multiplied at a time. */
enum { DML_CONV_PADDED_K = 1 << 15, DML_CONV_PADDED_LANES = 256 };

/* The signed filters, each of which is a row of slices. */
static char *dml_conv_signed(const dml_conv_plan *plan, int64_t channel)
{
    return (char *)plan->task->scratch.signed_filters + channel * plan->blocking.signed_row;
}

/* The table of what the sums of each filter are stored with; it lies behind the signed filters. */
static dml_conv_byte_filter *dml_conv_byte_filters(const dml_conv_plan *plan)
{
    uintptr_t behind = (uintptr_t)dml_conv_signed(plan, plan->params.groups * plan->params.m),
              size = _Alignof(dml_conv_byte_filter);
    return (dml_conv_byte_filter *)((behind + size - 1) / size * size);
}

static int32_t dml_conv_byte(uintptr_t bytes, int64_t offset, int type)
{
    if (!bytes)
        return 0;
    return type == DML_CONV_UINT8 ? ((const uint8_t *)bytes)[offset] : ((const int8_t *)bytes)[offset];
}

/* A zero point of a tensor that is unsigned, or shifted by 128 to be; or that is signed, or shifted by -128 to be. */
static int32_t dml_conv_zero(uintptr_t zero, int64_t offset, int type, int is_unsigned)
{
    int32_t value = dml_conv_byte(zero, offset, type);
    if (is_unsigned)
        return type == DML_CONV_UINT8 ? value : value + 128;
    return type == DML_CONV_INT8 ? value : value - 128;
}

/* `sum` is the sum of the filter's bytes. */
static dml_conv_byte_filter dml_conv_byte_filter_of(const dml_conv_plan *plan, int64_t channel, int32_t sum)
{
    const dml_conv_params *params = &plan->params;
    const dml_conv_quantization *quantization = &plan->task->quantization;
    const int64_t most = plan->blocking.k * UINT8_MAX * UINT8_MAX;
    dml_conv_byte_filter filter = {.zero = dml_conv_zero(quantization->filter_zero,
                                                         channel * quantization->filter_zero_stride,
                                                         params->filter_type, 0)};
    filter.correction = (uint32_t)dml_conv_zero(quantization->input_zero, 0, params->type, 1) *
                        ((uint32_t)sum - (uint32_t)plan->blocking.k * (uint32_t)filter.zero);
    if (params->output_type == DML_CONV_INT32)
        return filter;
    float filter_scale = ((const float *)quantization->filter_scale)[channel * quantization->filter_scale_stride];
    int32_t bias = params->bias ? ((const int32_t *)params->bias)[channel * params->bias_stride] : 0;
    filter.to = dml_requantization_of((double)*(const float *)quantization->input_scale * (double)filter_scale, 1.0,
                                      bias, most, *(const float *)quantization->output_scale,
                                      (float)dml_conv_byte(quantization->output_zero, 0, params->output_type),
                                      params->output_type == DML_CONV_INT8);
    return filter;
}

/* Of a padded image, filters have all channels of a tap, then those of the next one. */
static void dml_conv_sign_filters(void *context, int64_t begin, int64_t end)
{
    const dml_conv_plan *plan = context;
    const dml_conv_params *params = &plan->params;
    const dml_conv_blocking *blocking = &plan->blocking;
    uint8_t reordered[DML_CONV_PADDED_K];
    for (; begin < end; begin++) {
        const uint8_t *filter = (const uint8_t *)params->filters + begin * params->filter_stride;
        char *to = dml_conv_signed(plan, begin);
        int32_t sum = 0;
        if (plan->padded.n) {
            const dml_span span = {(char *)reordered, (const char *)filter, blocking->taps, params->channels, 1,
                                   params->channels,  1,                    blocking->taps};
            dml_dispatch->move->tiles[0](&span, 0);
            filter = reordered;
        }
        for (int64_t c = 0; c < params->channels; c += blocking->kc_channels)
            for (int64_t t = 0; t < blocking->taps; t += blocking->kc_taps) {
                int64_t kc = dml_least(params->channels - c, blocking->kc_channels) *
                             dml_least(blocking->taps - t, blocking->kc_taps);
                sum += dml_dispatch->conv_bytes->sign(to, filter, kc, params->filter_type == DML_CONV_INT8);
                filter += kc;
                to += dml_conv_signed_kc(kc);
            }
        dml_conv_byte_filters(plan)[begin] = dml_conv_byte_filter_of(plan, begin, sum);
    }
}

/* Multiplies the next `kc` taps of filters by a panel, whose rows of lanes are at `row_offsets` from `pixels` on. */
static void dml_conv_multiply_lanes(const dml_conv_plan *plan, const dml_conv_unit *unit, dml_conv_work *work,
                                    int64_t kc, int adds)
{
    const dml_conv_bytes_table *bytes = dml_dispatch->conv_bytes;
    const char *filters = dml_conv_signed(plan, unit->channel) + work->signed_offset;
    const dml_conv_table *kernels = dml_dispatch->conv;
    const int *mr = kernels->mr[work->vectors - 1];
    const int64_t width = work->vectors * kernels->lanes, signed_row = plan->blocking.signed_row;
    const int64_t lanes = dml_quotient_up(kc, bytes->group);
    int32_t ones[DML_CONV_MAX_KC / 2], *tile = (int32_t *)work->tile;
    uint8_t one[DML_CONV_MAX_KC];
    int64_t row = 0, size = 0;
    if (dml_dispatch->conv_multiply_bytes &&
        dml_dispatch->conv_multiply_bytes(tile, (const int8_t *)filters, signed_row, unit->m,
                                          (const uint32_t *)work->pixels, work->row_offsets, work->vectors, lanes,
                                          adds))
        row = unit->m;
    for (; row < unit->m; row += mr[size]) {
        while (mr[size] > unit->m - row)
            size++;
        bytes->tiles[work->vectors - 1][size](tile + row * width, filters + row * signed_row, signed_row / 4,
                                              work->pixels, work->row_offsets, lanes, adds, NULL);
    }
    work->signed_offset += 4 * lanes;
    if (plan->params.filter_type == DML_CONV_INT8 && !plan->task->quantization.filter_zero)
        return;
    memset(one, 1, (size_t)kc);
    bytes->sign(ones, one, kc, 1);
    bytes->tiles[work->vectors - 1][DML_CONV_MR_COUNT - 1](tile + row * width, ones, lanes, work->pixels,
                                                           work->row_offsets, lanes, adds, NULL);
}

static void dml_conv_multiply_bytes(const dml_conv_plan *plan, const dml_conv_unit *unit, dml_conv_work *work)
{
    const int group = dml_dispatch->conv_bytes->group;
    const int64_t lanes = dml_quotient_up(work->kc, group), width = work->vectors * dml_dispatch->conv->lanes;
    memset(work->rows + work->kc * width, 0, (size_t)((group * lanes - work->kc) * width));
    dml_dispatch->conv_bytes->interleave((uint32_t *)work->panel, work->bytes,
                                         work->bytes == work->rows ? width : work->byte_row, width, lanes,
                                         plan->params.type == DML_CONV_INT8);
    dml_conv_multiply_lanes(plan, unit, work, work->kc, work->pc > 0);
}

/* Finds the parts of an output's channel that the sums from `begin` on are stored in: one, or those of the lines of a
   padded image. */
static int64_t dml_conv_find_parts(const dml_conv_plan *plan, int64_t begin, int64_t n, dml_conv_piece *pieces)
{
    const int64_t *sizes = plan->padded.sizes, *output_sizes = plan->params.output_sizes;
    int64_t count = 0, length;
    if (!plan->padded.n) {
        *pieces = (dml_conv_piece){begin, 0, n};
        return 1;
    }
    for (int64_t i = 0; i < n; i += length) {
        const int64_t x = (begin + i) % sizes[2], line = (begin + i) / sizes[2];
        length = dml_least(sizes[2] - x, n - i);
        if (x < output_sizes[2] && line % sizes[1] < output_sizes[1])
            pieces[count++] =
                (dml_conv_piece){(line / sizes[1] * output_sizes[1] + line % sizes[1]) * output_sizes[2] + x, i,
                                 dml_least(length, output_sizes[2] - x)};
    }
    return count;
}

/* Stores sums of (x - z) (f - y), where x and f may be shifted by 128 as their zero points z and y are. The tile has
   the sums of x f, which the sums of the pixels and of the filter correct. */
static void dml_conv_store_bytes(const dml_conv_plan *plan, const dml_conv_unit *unit, const dml_conv_work *work)
{
    const dml_conv_params *params = &plan->params;
    const int64_t width = work->vectors * dml_dispatch->conv->lanes, size = dml_conv_size(params->output_type);
    const int32_t *tile = (const int32_t *)work->tile, *pixel_sums = tile + unit->m * width;
    int32_t sums[DML_CONV_MAX_NR];
    uint8_t bytes[DML_CONV_MAX_NR];
    dml_conv_piece pieces[DML_CONV_MAX_NR];
    const int64_t count = dml_conv_find_parts(plan, unit->begin, unit->n, pieces);
    const char *results = size == 1 ? (const char *)bytes : (const char *)sums;
    for (int64_t row = 0; row < unit->m; row++) {
        const dml_conv_byte_filter *filter = dml_conv_byte_filters(plan) + unit->channel + row;
        char *output =
            (char *)params->output + (unit->output - unit->begin + row * params->output_strides[1]) * size;
        dml_dispatch->conv_bytes->store(sums, tile + row * width, pixel_sums, unit->n, filter->zero,
                                        filter->correction);
        if (size == 1)
            dml_dispatch->elementwise->requantize(bytes, sums, unit->n, &filter->to);
        for (int64_t i = 0; i < count; i++)
            memcpy(output + pieces[i].offset * size, results + pieces[i].from * size,
                   (size_t)(pieces[i].count * size));
    }
}
