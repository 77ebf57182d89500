/* Convolutions of 8-bit integers: filters as signed bytes, sums, and how sums are stored. */

#pragma once

#include "../common/dimensions.h"
#include "../context.h"
#include "window.h"
#include "blocking.h"
#include "panel.h"

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

static void dml_conv_sign_filters(void *context, int64_t begin, int64_t end)
{
    const dml_conv_plan *plan = context;
    const dml_conv_params *params = &plan->params;
    const dml_conv_blocking *blocking = &plan->blocking;
    for (; begin < end; begin++) {
        const uint8_t *filter = (const uint8_t *)params->filters + begin * params->filter_stride;
        int8_t *to = (int8_t *)dml_conv_signed(plan, begin);
        int32_t sum = 0;
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

int64_t dml_conv_signed_size(const dml_conv *task)
{
    dml_conv_params params = task->params;
    dml_conv_flatten(&params);
    dml_conv_blocking blocking = dml_conv_blocking_of(&params);
    /* Kernels may read to the end of a cache line. */
    return params.groups * params.m * (blocking.signed_row + (int64_t)sizeof(dml_conv_byte_filter)) +
           2 * DML_CONV_LINE_BYTES;
}

static void dml_conv_multiply_bytes(const dml_conv_plan *plan, const dml_conv_unit *unit, dml_conv_work *work)
{
    int32_t ones[DML_CONV_MAX_KC / 4], *tile = (int32_t *)work->tile;
    const char *filters = dml_conv_signed(plan, unit->channel) + work->signed_offset;
    const dml_conv_table *kernels = dml_dispatch->conv;
    const int *mr = kernels->mr[work->vectors - 1];
    int64_t fours = dml_quotient_up(work->kc, 4), width = work->vectors * kernels->lanes, adds = work->pc > 0;
    int64_t row = 0, size = 0, signed_row = plan->blocking.signed_row;
    memset(work->rows + work->kc * width, 0, (size_t)((4 * fours - work->kc) * width));
    dml_dispatch->conv_bytes->interleave((uint32_t *)work->panel, work->bytes,
                                         work->bytes == work->rows ? width : work->byte_row, width, fours,
                                         plan->params.type == DML_CONV_INT8);
    if (dml_dispatch->conv_multiply_bytes &&
        dml_dispatch->conv_multiply_bytes(tile, (const int8_t *)filters, signed_row, unit->m, (uint32_t *)work->panel,
                                          work->vectors, fours, adds != 0))
        row = unit->m;
    for (; row < unit->m; row += mr[size]) {
        while (mr[size] > unit->m - row)
            size++;
        dml_dispatch->conv_bytes->tiles[work->vectors - 1][size](tile + row * width, filters + row * signed_row,
                                                                 signed_row / 4, work->pixels, work->row_offsets, fours,
                                                                 adds != 0, NULL);
    }
    work->signed_offset += 4 * fours;
    if (plan->params.filter_type == DML_CONV_INT8 && !plan->task->quantization.filter_zero)
        return;
    memset(ones, 1, (size_t)work->kc);
    memset((char *)ones + work->kc, 0, (size_t)(4 * fours - work->kc));
    dml_dispatch->conv_bytes->tiles[work->vectors - 1][DML_CONV_MR_COUNT - 1](
        tile + row * width, ones, fours, work->pixels, work->row_offsets, fours, adds != 0, NULL);
}

/* Stores sums of (x - z) (f - y), where x and f may be shifted by 128 as their zero points z and y are. The tile has
   the sums of x f, which the sums of the pixels and of the filter correct. */
static void dml_conv_store_bytes(const dml_conv_plan *plan, const dml_conv_unit *unit, const dml_conv_work *work)
{
    const dml_conv_params *params = &plan->params;
    int64_t width = work->vectors * dml_dispatch->conv->lanes, size = dml_conv_size(params->output_type);
    const int32_t *tile = (const int32_t *)work->tile, *pixel_sums = tile + unit->m * width;
    int32_t sums[DML_CONV_MAX_NR];
    for (int64_t row = 0; row < unit->m; row++) {
        const dml_conv_byte_filter *filter = dml_conv_byte_filters(plan) + unit->channel + row;
        char *output = (char *)params->output + (unit->output + row * params->output_strides[1]) * size;
        int is_quantized = params->output_type != DML_CONV_INT32;
        dml_dispatch->conv_bytes->store(is_quantized ? sums : (int32_t *)output, tile + row * width, pixel_sums,
                                        unit->n, filter->zero, filter->correction);
        if (is_quantized)
            dml_dispatch->elementwise->requantize((uint8_t *)output, sums, unit->n, &filter->to);
    }
}
