/* Products, means and maxima over planes of FLOAT32 whose channels are neighbours in memory: each vector has channels
   of one pixel. A channel's elements are added up and compared in the same order as those of a packed plane. */

#pragma once

#include "../common/dimensions.h"
#include "dispatch.h"
#include "packed.h"
#include "vectors.h"

enum { DML_CHANNELS_LAST = DML_DEPTHWISE_POOL_BLOCK * DML_FLOAT_LANES };
/* The pixels of a row whose products are added up at the same time: an addition waits for the one before it. */
enum { DML_CHANNELS_LAST_PIXELS = 4 };

/* A pixel of the output, and the first of the channels. */
typedef struct {
    const dml_depthwise_pool *task;
    const char *x;
    int64_t top, left;
} channels_last_pixel;

/* The weights of each tap, and the bias, of a block of channels. */
typedef struct {
    dml_floats weights[DML_DEPTHWISE_POOL_LAST_TAPS][DML_DEPTHWISE_POOL_BLOCK],
        bias[DML_DEPTHWISE_POOL_BLOCK];
} channels_last_filters;

/* The address of a tap's channels; NULL if the tap is outside. */
DML_INLINE const dml_floats *channels_last_tap(const channels_last_pixel *pixel, int64_t row, int64_t column)
{
    const dml_depthwise_pool *task = pixel->task;
    int64_t y = pixel->top + row * task->dilations[1], x = pixel->left + column * task->dilations[2];
    if (y < 0 || y >= task->sizes[1] || x < 0 || x >= task->sizes[2])
        return NULL;
    return (const dml_floats *)(pixel->x + y * task->x_strides[3] + x * task->x_strides[4]);
}

/* Adds up the sums of the window's columns, and divides by the number of elements. */
DML_INLINE void channels_last_means(const channels_last_pixel *pixel, float *out, float count, const int vectors)
{
    dml_floats totals[DML_DEPTHWISE_POOL_BLOCK] = {{0}};
    for (int64_t column = 0; column < pixel->task->window[2]; column++) {
        dml_floats sums[DML_DEPTHWISE_POOL_BLOCK] = {{0}};
        for (int64_t row = 0; row < pixel->task->window[1]; row++) {
            const dml_floats *source = channels_last_tap(pixel, row, column);
            DML_UNROLLED for (int j = 0; j < vectors; j++) sums[j] += source ? source[j] : (dml_floats){0};
        }
        DML_UNROLLED for (int j = 0; j < vectors; j++) totals[j] += sums[j];
    }
    DML_UNROLLED for (int j = 0; j < vectors; j++) totals[j] /= count;
    memcpy(out, totals, (size_t)vectors * sizeof *totals);
}

/* Of equal elements, zeros of both signs, the first one stays: of rows or, where planes are joined, of columns. */
DML_INLINE void channels_last_maxima(const channels_last_pixel *pixel, float *out, int by_rows, const int vectors)
{
    const int64_t *window = pixel->task->window, inner = by_rows ? window[2] : window[1];
    int64_t outer = 0, rest = 0;
    dml_floats best[DML_DEPTHWISE_POOL_BLOCK];
    DML_UNROLLED for (int j = 0; j < vectors; j++) best[j] = (dml_floats){0} - INFINITY;
    for (int64_t tap = 0; tap < window[1] * window[2]; tap++) {
        const dml_floats *source = channels_last_tap(pixel, by_rows ? outer : rest, by_rows ? rest : outer);
        if (source)
            DML_UNROLLED for (int j = 0; j < vectors; j++) best[j] = dml_larger(source[j], best[j]);
        if (++rest == inner) {
            rest = 0;
            outer++;
        }
    }
    memcpy(out, best, (size_t)vectors * sizeof *best);
}

/* Adds up products with the weights of the channels, and with zeros outside. */
DML_INLINE void channels_last_products(const channels_last_pixel *pixel, float *out,
                                       const channels_last_filters *filters, const int by_rows, const int vectors)
{
    static const dml_floats outside[DML_DEPTHWISE_POOL_BLOCK];
    const dml_depthwise_pool *task = pixel->task;
    const dml_floats *weights = filters->weights[0];
    dml_floats totals[DML_DEPTHWISE_POOL_BLOCK];
    DML_UNROLLED for (int j = 0; j < vectors; j++) totals[j] = filters->bias[j];
    for (int64_t row = 0; row < task->window[1]; row++) {
        dml_floats sums[DML_DEPTHWISE_POOL_BLOCK] = {{0}};
        for (int64_t column = 0; column < task->window[2]; column++, weights += DML_DEPTHWISE_POOL_BLOCK) {
            const dml_floats *source = channels_last_tap(pixel, row, column);
            source = source ? source : outside;
            DML_UNROLLED for (int j = 0; j < vectors; j++) if (by_rows) sums[j] += weights[j] * source[j];
            else totals[j] = totals[j] + weights[j] * source[j];
        }
        if (by_rows)
            DML_UNROLLED for (int j = 0; j < vectors; j++) totals[j] += sums[j];
    }
    memcpy(out, totals, (size_t)vectors * sizeof *totals);
    if (task->post_ops.activation != DML_ACTIVATION_IDENTITY)
        depthwise_pool_activate(out, vectors * DML_FLOAT_LANES, &task->post_ops);
}

/* Adds up the products of a vector of channels for `count` pixels, all of whose taps are inside; these pixels, and the
   rows and columns of a window, are so many bytes apart. */
DML_INLINE void channels_last_add(dml_floats *totals, const char *x, int64_t pixel_stride, int64_t row_stride,
                                  int64_t column_stride, const dml_floats *weights, dml_floats bias,
                                  const dml_post_ops *post_ops, const int by_rows, const int width, const int count)
{
    DML_UNROLLED for (int i = 0; i < count; i++) totals[i] = bias;
    DML_UNROLLED for (int row = 0; row < width; row++)
    {
        dml_floats sums[DML_CHANNELS_LAST_PIXELS] = {{0}}, *added = by_rows ? sums : totals;
        DML_UNROLLED for (int column = 0; column < width; column++)
            DML_UNROLLED for (int i = 0; i < count; i++) added[i] += weights[row * width + column] *
                *(const dml_floats *)(x + i * pixel_stride + row * row_stride + column * column_stride);
        DML_UNROLLED for (int i = 0; by_rows && i < count; i++) totals[i] += sums[i];
    }
    if (post_ops->activation != DML_ACTIVATION_IDENTITY)
        DML_UNROLLED for (int i = 0; i < count; i++) totals[i] = activated(totals[i], post_ops, post_ops->activation);
}

/* Computes `pixels` of a row, all of whose taps are inside; the weights of a vector of channels stay in registers.
   Means are products with ones, whose columns are added up first. The last pixels are computed with some before them. */
DML_INLINE void channels_last_inside(const channels_last_pixel *pixel, char *out, int64_t pixels, float count,
                                     const channels_last_filters *filters, const int by_rows, const int width,
                                     int64_t vectors)
{
    const dml_depthwise_pool *task = pixel->task;
    const int is_mean = task->function == DML_DEPTHWISE_POOL_MEAN;
    const int64_t row = task->dilations[1] * task->x_strides[3], column = task->dilations[2] * task->x_strides[4];
    const int64_t stride = task->strides[2] * task->x_strides[4], out_stride = task->output_strides[4];
    const char *x = pixel->x + pixel->top * task->x_strides[3] + pixel->left * task->x_strides[4];
    for (int64_t j = 0; j < vectors; j++, x += sizeof *filters->bias, out += sizeof *filters->bias) {
        dml_floats weights[9], totals[DML_CHANNELS_LAST_PIXELS];
        DML_UNROLLED for (int tap = 0; tap < width * width; tap++) weights[tap] = filters->weights[tap][j];
        for (int64_t i = 0; i < pixels; i += DML_CHANNELS_LAST_PIXELS) {
            const int64_t first = dml_least(i, pixels - DML_CHANNELS_LAST_PIXELS);
            channels_last_add(totals, x + first * stride, stride, is_mean ? column : row, is_mean ? row : column,
                              weights, filters->bias[j], &task->post_ops, by_rows, width, DML_CHANNELS_LAST_PIXELS);
            for (int k = 0; k < DML_CHANNELS_LAST_PIXELS; k++)
                *(dml_floats *)(out + (first + k) * out_stride) = totals[k] / count;
        }
    }
}

/* Gathers the weights, which are ones for means, and the bias of `count` channels from `channel` on. */
static DML_ONCE void channels_last_gather(const dml_depthwise_pool *task, channels_last_filters *filters,
                                          int64_t channel, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        float weights[DML_DEPTHWISE_POOL_LAST_TAPS];
        const int is_product = task->function == DML_DEPTHWISE_POOL_PRODUCTS;
        if (is_product)
            dml_depthwise_pool_weights(task, channel + i, weights);
        for (int64_t tap = 0; tap < task->window[1] * task->window[2]; tap++)
            ((float *)filters->weights[tap])[i] = is_product ? weights[tap] : 1.0f;
        ((float *)filters->bias)[i] =
            task->bias && !task->bytes.is_there
                ? dml_load_float((const char *)task->bias + (channel + i) * task->bias_stride, 0)
                : 0.0f;
    }
}

DML_INLINE void channels_last_one(const channels_last_pixel *pixel, float *out, float count,
                                  const channels_last_filters *filters, const int by_rows, const int vectors)
{
    if (pixel->task->function == DML_DEPTHWISE_POOL_PRODUCTS)
        channels_last_products(pixel, out, filters, by_rows, vectors);
    else if (pixel->task->function == DML_DEPTHWISE_POOL_MEAN)
        channels_last_means(pixel, out, count, vectors);
    else
        channels_last_maxima(pixel, out, by_rows, vectors);
}

/* Computes rows of pixels from `begin` to `end`, of DML_CHANNELS_LAST channels or of one vector of them. */
DML_INLINE void channels_last_rows(const dml_depthwise_pool *task, int64_t batch, int64_t channel, int64_t channels,
                                   int64_t begin, int64_t end, const int by_rows)
{
    const int64_t columns = task->output_sizes[2], stride = task->strides[2], width = task->window[2];
    const int64_t left = task->padding[2], right = task->sizes[2] + left - (width - 1) * task->dilations[2];
    const int64_t first = left < 0 ? 0 : dml_quotient_up(left, stride), down = (width - 1) * task->dilations[1];
    const int64_t inside = right < 1 ? 0 : dml_least((right - 1) / stride + 1, columns) - first;
    const float *counts[] = {(const float *)task->counts[0], (const float *)task->counts[1],
                             (const float *)task->counts[2]};
    const int is_mean = task->function == DML_DEPTHWISE_POOL_MEAN;
    const int is_product = task->function == DML_DEPTHWISE_POOL_PRODUCTS;
    const int is_usual = task->window[1] == width && inside >= DML_CHANNELS_LAST_PIXELS &&
                         ((is_mean && width == 2) || ((is_mean || is_product) && width == 3));
    channels_last_pixel pixel = {task, NULL, 0, 0};
    channels_last_filters filters;
    if (is_product || is_usual)
        channels_last_gather(task, &filters, channel, channels);
    pixel.x = (const char *)task->x + batch * task->x_strides[0] + channel * 4;
    for (int64_t y = begin; y < end; y++)
        for (int64_t x = 0; x < columns; x++) {
            float *out = (float *)((char *)task->output + batch * task->output_strides[0] + channel * 4 +
                                   y * task->output_strides[3] + x * task->output_strides[4]);
            const float count = is_mean ? counts[0][0] * counts[1][y] * counts[2][x] : 1.0f;
            pixel.top = y * task->strides[1] - task->padding[1];
            pixel.left = x * stride - left;
            if (is_usual && x == first && pixel.top >= 0 && pixel.top + down < task->sizes[1]) {
                const int64_t vectors = channels / DML_FLOAT_LANES;
                if (width == 2)
                    channels_last_inside(&pixel, (char *)out, inside, count, &filters, 1, 2, vectors);
                else if (is_mean)
                    channels_last_inside(&pixel, (char *)out, inside, count, &filters, 1, 3, vectors);
                else
                    channels_last_inside(&pixel, (char *)out, inside, 1.0f, &filters, by_rows, 3, vectors);
                x += inside - 1;
                continue;
            }
            if (channels == DML_CHANNELS_LAST)
                channels_last_one(&pixel, out, count, &filters, by_rows, DML_DEPTHWISE_POOL_BLOCK);
            else
                channels_last_one(&pixel, out, count, &filters, by_rows, 1);
            if (task->function == DML_DEPTHWISE_POOL_MAXIMUM)
                depthwise_pool_mend(
                    task, (dml_depthwise_pool_position){pixel.x, batch * task->channels + channel, {0, y, x}}, 1, out,
                    channels);
        }
}

/* Units are rows of pixels, a few at a time, of blocks of channels. If the last channels do not fill a vector, they are
   computed with some before them. */
static void depthwise_pool_channels_last(void *context, int64_t begin, int64_t end)
{
    const dml_depthwise_pool_plan *plan = context;
    const dml_depthwise_pool *task = plan->task;
    const int64_t blocks = dml_quotient_up(task->output_sizes[1], DML_DEPTHWISE_POOL_LAST_ROWS);
    for (int64_t unit = begin; unit < end; unit++) {
        int64_t first = unit % blocks * DML_DEPTHWISE_POOL_LAST_ROWS, behind = first + DML_DEPTHWISE_POOL_LAST_ROWS;
        int64_t batch = unit / blocks, count;
        behind = dml_least(behind, task->output_sizes[1]);
        for (int64_t channel = 0; channel < task->channels; channel += count) {
            int64_t left = task->channels - channel;
            count = left < DML_CHANNELS_LAST ? DML_FLOAT_LANES : DML_CHANNELS_LAST;
            channel = left < count ? task->channels - count : channel;
            if (plan->is_by_rows)
                channels_last_rows(task, batch, channel, count, first, behind, 1);
            else
                channels_last_rows(task, batch, channel, count, first, behind, 0);
        }
    }
}
