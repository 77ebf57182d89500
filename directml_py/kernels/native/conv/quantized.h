/* Convolutions of 8-bit integers: filters of signed bytes, sums, and what is stored of these. */

#ifndef DML_UNIT
#include "../common/editor.h"
#include "window.h"
#include "blocking.h"
#include "panel.h"
#endif

/* Signed filters, a row of slices each, and behind all of them their sums. */
static char *dml_conv_signed(const dml_conv *task, int64_t channel)
{
    return (char *)task->signed_filters + channel * task->signed_row;
}

static int32_t *dml_conv_filter_sums(const dml_conv *task)
{
    return (int32_t *)dml_conv_signed(task, task->groups * task->outputs);
}

static void dml_conv_sign_filters(void *context, int64_t begin, int64_t end)
{
    const dml_conv *task = context;
    for (; begin < end; begin++) {
        const uint8_t *filter = (const uint8_t *)task->filters + begin * task->filter_stride;
        int8_t *to = (int8_t *)dml_conv_signed(task, begin);
        int32_t sum = 0;
        for (int64_t c = 0; c < task->channels; c += task->slice_channels)
            for (int64_t t = 0; t < task->taps; t += task->slice_taps) {
                int64_t depth = dml_least(task->channels - c, task->slice_channels) *
                                dml_least(task->taps - t, task->slice_taps);
                sum += dml_loop->conv->bytes->sign(to, filter, depth, task->filter_type == DML_CONV_INT8);
                filter += depth;
                to += dml_conv_signed_depth(depth);
            }
        dml_conv_filter_sums(task)[begin] = sum;
    }
}

int64_t dml_conv_signed_size(const dml_conv *asked)
{
    dml_conv task = *asked;
    dml_conv_flatten(&task);
    dml_conv_cut(&task);
    /* Loops may read a line on. */
    return task.groups * task.outputs * (task.signed_row + (int64_t)sizeof(int32_t)) + DML_CONV_LINE_BYTES;
}

static void dml_conv_multiply_bytes(const dml_conv *task, const dml_conv_unit *unit, dml_conv_work *work)
{
    int32_t ones[DML_CONV_DEEPEST / 4], *tile = (int32_t *)work->tile;
    const char *filters = dml_conv_signed(task, unit->channel) + work->signed_place;
    const dml_conv_table *loops = dml_loop->conv;
    const int *heights = loops->rows[work->vectors - 1];
    int64_t fours = dml_quotient_up(work->depth, 4), width = work->vectors * loops->lanes, adds = work->first > 0;
    int64_t row = 0, k = 0;
    memset(work->rows + work->depth * width, 0, (size_t)((4 * fours - work->depth) * width));
    loops->bytes->join((uint32_t *)work->panel, work->rows, width, fours, task->type == DML_CONV_INT8);
    if (loops->bytes->multiply && loops->bytes->multiply(tile, (const int8_t *)filters, task->signed_row, unit->rows,
                                                         (uint32_t *)work->panel, work->vectors, fours, adds != 0))
        row = unit->rows;
    for (; row < unit->rows; row += heights[k]) {
        while (heights[k] > unit->rows - row)
            k++;
        loops->bytes->tiles[work->vectors - 1][k](tile + row * width, filters + row * task->signed_row,
                                                  task->signed_row / 4, work->pixels, work->places, fours, adds != 0,
                                                  NULL);
    }
    work->signed_place += 4 * fours;
    if (task->filter_type == DML_CONV_INT8 && !task->filter_zero)
        return;
    memset(ones, 1, (size_t)work->depth);
    memset((char *)ones + work->depth, 0, (size_t)(4 * fours - work->depth));
    loops->bytes->tiles[work->vectors - 1][DML_CONV_ROWS - 1](tile + row * width, ones, fours, work->pixels,
                                                              work->places, fours, adds != 0, NULL);
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

static dml_conv_quantum dml_conv_find_quantum(const dml_conv *task, int64_t channel)
{
    int is_signed = task->output_type == DML_CONV_INT8;
    float filter_scale = ((const float *)task->filter_scale)[channel * task->filter_scale_stride];
    dml_conv_quantum quantum = {.unit = (double)*(const float *)task->input_scale * (double)filter_scale,
                                .scale = *(const float *)task->output_scale,
                                .zero = (float)dml_conv_byte(task->output_zero, 0, task->output_type),
                                .low = is_signed ? -128.0f : 0.0f,
                                .high = is_signed ? 127.0f : 255.0f};
    if (task->bias)
        quantum.bias = ((const int32_t *)task->bias)[channel * task->bias_stride];
    return quantum;
}

/* Sums of (x - z) (f - y), where x and f may be 128 off as their zero points z and y are: those of x f, of which the
   tile has the rest taken. */
static void dml_conv_store_bytes(const dml_conv *task, const dml_conv_unit *unit, const dml_conv_work *work)
{
    int64_t width = work->vectors * dml_loop->conv->lanes, size = dml_conv_size(task->output_type);
    const int32_t *tile = (const int32_t *)work->tile, *seen = tile + unit->rows * width;
    uint32_t zero = (uint32_t)dml_conv_zero(task->input_zero, 0, task->type, 1);
    int32_t sums[DML_CONV_WIDEST];
    for (int64_t row = 0; row < unit->rows; row++) {
        int64_t channel = unit->channel + row;
        int32_t filter_zero =
            dml_conv_zero(task->filter_zero, channel * task->filter_zero_stride, task->filter_type, 0);
        uint32_t rest = zero * ((uint32_t)dml_conv_filter_sums(task)[channel] - (uint32_t)task->depth * (uint32_t)filter_zero);
        char *output = (char *)task->output + (unit->output + row * task->output_strides[1]) * size;
        int is_quantized = task->output_type != DML_CONV_INT32;
        dml_loop->conv->bytes->store(is_quantized ? sums : (int32_t *)output, tile + row * width, seen, unit->count,
                                     filter_zero, rest);
        if (is_quantized) {
            dml_conv_quantum quantum = dml_conv_find_quantum(task, channel);
            dml_loop->conv->bytes->quantize((uint8_t *)output, sums, unit->count, &quantum);
        }
    }
}
