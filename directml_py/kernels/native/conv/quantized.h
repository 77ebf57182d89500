/* Convolutions of 8-bit integers: filters of signed bytes, sums, and what is stored of these. */

#pragma once

#include "../common/dimensions.h"
#include "../context.h"
#include "window.h"
#include "blocking.h"
#include "panel.h"

/* Signed filters, a row of slices each. */
static char *dml_conv_signed(const dml_conv *task, int64_t channel)
{
    return (char *)task->signed_filters + channel * task->blocking.signed_row;
}

/* Behind all of them what their sums take, of each. */
static dml_conv_byte_filter *dml_conv_byte_filters(const dml_conv *task)
{
    uintptr_t behind = (uintptr_t)dml_conv_signed(task, task->groups * task->m), size = _Alignof(dml_conv_byte_filter);
    return (dml_conv_byte_filter *)((behind + size - 1) / size * size);
}

static int32_t dml_conv_byte(uintptr_t bytes, int64_t place, int type)
{
    if (!bytes)
        return 0;
    return type == DML_CONV_UINT8 ? ((const uint8_t *)bytes)[place] : ((const int8_t *)bytes)[place];
}

/* A zero point of what is unsigned or made so by 128 more, or of what is signed or made so by 128 less. */
static int32_t dml_conv_zero(uintptr_t zero, int64_t place, int type, int is_unsigned)
{
    int32_t value = dml_conv_byte(zero, place, type);
    if (is_unsigned)
        return type == DML_CONV_UINT8 ? value : value + 128;
    return type == DML_CONV_INT8 ? value : value - 128;
}

/* `sum` is that of the filter's bytes. */
static dml_conv_byte_filter dml_conv_byte_filter_of(const dml_conv *task, int64_t channel, int32_t sum)
{
    const int64_t most = task->blocking.k * UINT8_MAX * UINT8_MAX;
    dml_conv_byte_filter filter = {
        .zero = dml_conv_zero(task->filter_zero, channel * task->filter_zero_stride, task->filter_type, 0)};
    filter.correction = (uint32_t)dml_conv_zero(task->input_zero, 0, task->type, 1) *
                        ((uint32_t)sum - (uint32_t)task->blocking.k * (uint32_t)filter.zero);
    if (task->output_type == DML_CONV_INT32)
        return filter;
    float filter_scale = ((const float *)task->filter_scale)[channel * task->filter_scale_stride];
    int32_t bias = task->bias ? ((const int32_t *)task->bias)[channel * task->bias_stride] : 0;
    filter.to = dml_requantization_of((double)*(const float *)task->input_scale * (double)filter_scale, 1.0, bias, most,
                                      *(const float *)task->output_scale,
                                      (float)dml_conv_byte(task->output_zero, 0, task->output_type),
                                      task->output_type == DML_CONV_INT8);
    return filter;
}

static void dml_conv_sign_filters(void *context, int64_t begin, int64_t end)
{
    const dml_conv *task = context;
    const dml_conv_blocking *plan = &task->blocking;
    for (; begin < end; begin++) {
        const uint8_t *filter = (const uint8_t *)task->filters + begin * task->filter_stride;
        int8_t *to = (int8_t *)dml_conv_signed(task, begin);
        int32_t sum = 0;
        for (int64_t c = 0; c < task->channels; c += plan->kc_channels)
            for (int64_t t = 0; t < plan->taps; t += plan->kc_taps) {
                int64_t kc =
                    dml_least(task->channels - c, plan->kc_channels) * dml_least(plan->taps - t, plan->kc_taps);
                sum += dml_dispatch->conv_bytes->sign(to, filter, kc, task->filter_type == DML_CONV_INT8);
                filter += kc;
                to += dml_conv_signed_kc(kc);
            }
        dml_conv_byte_filters(task)[begin] = dml_conv_byte_filter_of(task, begin, sum);
    }
}

int64_t dml_conv_signed_size(const dml_conv *asked)
{
    dml_conv task = *asked;
    dml_conv_flatten(&task);
    task.blocking = dml_conv_plan_blocking(&task);
    /* Kernels may read to the end of a cache line. */
    return task.groups * task.m * (task.blocking.signed_row + (int64_t)sizeof(dml_conv_byte_filter)) +
           2 * DML_CONV_LINE_BYTES;
}

static void dml_conv_multiply_bytes(const dml_conv *task, const dml_conv_unit *unit, dml_conv_work *work)
{
    int32_t ones[DML_CONV_MAX_KC / 4], *tile = (int32_t *)work->tile;
    const char *filters = dml_conv_signed(task, unit->channel) + work->signed_place;
    const dml_conv_table *kernels = dml_dispatch->conv;
    const int *mr = kernels->mr[work->vectors - 1];
    int64_t fours = dml_quotient_up(work->kc, 4), width = work->vectors * kernels->lanes, adds = work->pc > 0;
    int64_t row = 0, size = 0, signed_row = task->blocking.signed_row;
    memset(work->rows + work->kc * width, 0, (size_t)((4 * fours - work->kc) * width));
    dml_dispatch->conv_bytes->interleave((uint32_t *)work->panel, work->bytes,
                                         work->bytes == work->rows ? width : work->byte_row, width, fours,
                                         task->type == DML_CONV_INT8);
    if (dml_dispatch->conv_multiply_bytes &&
        dml_dispatch->conv_multiply_bytes(tile, (const int8_t *)filters, signed_row, unit->m, (uint32_t *)work->panel,
                                          work->vectors, fours, adds != 0))
        row = unit->m;
    for (; row < unit->m; row += mr[size]) {
        while (mr[size] > unit->m - row)
            size++;
        dml_dispatch->conv_bytes->tiles[work->vectors - 1][size](tile + row * width, filters + row * signed_row,
                                                                 signed_row / 4, work->pixels, work->places, fours,
                                                                 adds != 0, NULL);
    }
    work->signed_place += 4 * fours;
    if (task->filter_type == DML_CONV_INT8 && !task->filter_zero)
        return;
    memset(ones, 1, (size_t)work->kc);
    memset((char *)ones + work->kc, 0, (size_t)(4 * fours - work->kc));
    dml_dispatch->conv_bytes->tiles[work->vectors - 1][DML_CONV_MR_COUNT - 1](
        tile + row * width, ones, fours, work->pixels, work->places, fours, adds != 0, NULL);
}

/* Sums of (x - z) (f - y), where x and f may be 128 off as their zero points z and y are: the tile has those of x f,
   which the sums of the pixels and of the filter correct. */
static void dml_conv_store_bytes(const dml_conv *task, const dml_conv_unit *unit, const dml_conv_work *work)
{
    int64_t width = work->vectors * dml_dispatch->conv->lanes, size = dml_conv_size(task->output_type);
    const int32_t *tile = (const int32_t *)work->tile, *pixel_sums = tile + unit->m * width;
    int32_t sums[DML_CONV_MAX_NR];
    for (int64_t row = 0; row < unit->m; row++) {
        const dml_conv_byte_filter *filter = dml_conv_byte_filters(task) + unit->channel + row;
        char *output = (char *)task->output + (unit->output + row * task->output_strides[1]) * size;
        int is_quantized = task->output_type != DML_CONV_INT32;
        dml_dispatch->conv_bytes->store(is_quantized ? sums : (int32_t *)output, tile + row * width, pixel_sums,
                                        unit->n, filter->zero, filter->correction);
        if (is_quantized)
            dml_dispatch->elementwise->requantize((uint8_t *)output, sums, unit->n, &filter->to);
    }
}
