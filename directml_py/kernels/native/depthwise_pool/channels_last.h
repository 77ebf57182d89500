/* Products, means and maxima over planes of FLOAT32 whose channels are neighbours in memory: each vector has channels
   of one pixel. A channel's elements are added up and compared in the same order as those of a packed plane. */

#pragma once

#include "../common/dimensions.h"
#include "dispatch.h"
#include "packed.h"
#include "vectors.h"

enum { DML_CHANNELS_LAST = DML_DEPTHWISE_POOL_BLOCK * DML_FLOAT_LANES };

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

/* The width of a square window all of which is inside, if it is a usual one, and else 0. */
DML_INLINE int channels_last_width(const channels_last_pixel *pixel)
{
    const dml_depthwise_pool *task = pixel->task;
    const int64_t width = task->window[2], bottom = pixel->top + (width - 1) * task->dilations[1],
                  right = pixel->left + (width - 1) * task->dilations[2];
    const int is_inside = pixel->top >= 0 && pixel->left >= 0 && bottom < task->sizes[1] && right < task->sizes[2];
    return is_inside && task->window[1] == width && (width == 2 || width == 3) ? (int)width : 0;
}

/* The address of a tap's channels in a window that is inside, or NULL; if `width` is 0, it may not be. */
DML_INLINE const dml_floats *channels_last_tap_of(const channels_last_pixel *pixel, int64_t row, int64_t column,
                                                  const int width)
{
    const dml_depthwise_pool *task = pixel->task;
    if (!width)
        return channels_last_tap(pixel, row, column);
    return (const dml_floats *)(pixel->x + (pixel->top + row * task->dilations[1]) * task->x_strides[3] +
                                (pixel->left + column * task->dilations[2]) * task->x_strides[4]);
}

/* Adds up the sums of the window's columns, and divides by the number of elements. */
DML_INLINE void channels_last_means(const channels_last_pixel *pixel, float *out, float count, const int vectors,
                                    const int width)
{
    const int64_t height = width ? width : pixel->task->window[1], columns = width ? width : pixel->task->window[2];
    dml_floats totals[DML_DEPTHWISE_POOL_BLOCK] = {{0}};
    DML_UNROLLED for (int64_t column = 0; column < columns; column++)
    {
        dml_floats sums[DML_DEPTHWISE_POOL_BLOCK] = {{0}};
        DML_UNROLLED for (int64_t row = 0; row < height; row++)
        {
            const dml_floats *source = channels_last_tap_of(pixel, row, column, width);
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

/* Adds up products with the weights of the channels, and with zeros outside. If `width` is not 0, it is that of a
   square window, all of which is inside. */
DML_INLINE void channels_last_sum(const channels_last_pixel *pixel, float *out, const channels_last_filters *filters,
                                  const int by_rows, const int vectors, const int width)
{
    static const dml_floats outside[DML_DEPTHWISE_POOL_BLOCK];
    const dml_depthwise_pool *task = pixel->task;
    const int64_t height = width ? width : task->window[1], columns = width ? width : task->window[2];
    const dml_floats *weights = filters->weights[0];
    dml_floats totals[DML_DEPTHWISE_POOL_BLOCK];
    DML_UNROLLED for (int j = 0; j < vectors; j++) totals[j] = filters->bias[j];
    DML_UNROLLED for (int64_t row = 0; row < height; row++)
    {
        dml_floats sums[DML_DEPTHWISE_POOL_BLOCK] = {{0}};
        DML_UNROLLED for (int64_t column = 0; column < columns; column++, weights += DML_DEPTHWISE_POOL_BLOCK)
        {
            const dml_floats *source = channels_last_tap_of(pixel, row, column, width);
            source = source ? source : outside;
            DML_UNROLLED for (int j = 0; j < vectors; j++) if (by_rows) sums[j] += weights[j] * source[j];
            else totals[j] = totals[j] + weights[j] * source[j];
        }
        if (by_rows)
            DML_UNROLLED for (int j = 0; j < vectors; j++) totals[j] += sums[j];
    }
    memcpy(out, totals, (size_t)vectors * sizeof *totals);
}

DML_INLINE void channels_last_products(const channels_last_pixel *pixel, float *out,
                                       const channels_last_filters *filters, const int by_rows, const int vectors)
{
    const dml_depthwise_pool *task = pixel->task;
    if (channels_last_width(pixel) == 3)
        channels_last_sum(pixel, out, filters, by_rows, vectors, 3);
    else
        channels_last_sum(pixel, out, filters, by_rows, vectors, 0);
    if (task->post_ops.activation != DML_ACTIVATION_IDENTITY)
        depthwise_pool_activate(out, vectors * DML_FLOAT_LANES, &task->post_ops);
}

/* Gathers the weights and the bias of `count` channels from `channel` on. */
static DML_ONCE void channels_last_gather(const dml_depthwise_pool *task, channels_last_filters *filters,
                                          int64_t channel, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        float weights[DML_DEPTHWISE_POOL_LAST_TAPS];
        dml_depthwise_pool_weights(task, channel + i, weights);
        for (int64_t tap = 0; tap < task->window[1] * task->window[2]; tap++)
            ((float *)filters->weights[tap])[i] = weights[tap];
        ((float *)filters->bias)[i] =
            task->bias && !task->bytes.is_there
                ? dml_load_float((const char *)task->bias + (channel + i) * task->bias_stride, 0)
                : 0.0f;
    }
}

DML_INLINE void channels_last_one(const channels_last_pixel *pixel, float *out, float count,
                                  const channels_last_filters *filters, int by_rows, const int vectors)
{
    if (pixel->task->function == DML_DEPTHWISE_POOL_PRODUCTS && by_rows)
        channels_last_products(pixel, out, filters, 1, vectors);
    else if (pixel->task->function == DML_DEPTHWISE_POOL_PRODUCTS)
        channels_last_products(pixel, out, filters, 0, vectors);
    else if (pixel->task->function == DML_DEPTHWISE_POOL_MEAN && channels_last_width(pixel) == 3)
        channels_last_means(pixel, out, count, vectors, 3);
    else if (pixel->task->function == DML_DEPTHWISE_POOL_MEAN && channels_last_width(pixel) == 2)
        channels_last_means(pixel, out, count, vectors, 2);
    else if (pixel->task->function == DML_DEPTHWISE_POOL_MEAN)
        channels_last_means(pixel, out, count, vectors, 0);
    else
        channels_last_maxima(pixel, out, by_rows, vectors);
}

/* Computes rows of pixels from `begin` to `end`, of DML_CHANNELS_LAST channels or of one vector of them. */
static void channels_last_rows(const dml_depthwise_pool *task, int64_t batch, int64_t channel, int64_t channels,
                               int64_t begin, int64_t end, int by_rows)
{
    const float *counts[] = {(const float *)task->counts[0], (const float *)task->counts[1],
                             (const float *)task->counts[2]};
    const int is_mean = task->function == DML_DEPTHWISE_POOL_MEAN;
    channels_last_pixel pixel = {task, NULL, 0, 0};
    channels_last_filters filters;
    if (task->function == DML_DEPTHWISE_POOL_PRODUCTS)
        channels_last_gather(task, &filters, channel, channels);
    pixel.x = (const char *)task->x + batch * task->x_strides[0] + channel * 4;
    for (int64_t y = begin; y < end; y++)
        for (int64_t x = 0; x < task->output_sizes[2]; x++) {
            float *out = (float *)((char *)task->output + batch * task->output_strides[0] + channel * 4 +
                                   y * task->output_strides[3] + x * task->output_strides[4]);
            const float count = is_mean ? counts[0][0] * counts[1][y] * counts[2][x] : 1.0f;
            pixel.top = y * task->strides[1] - task->padding[1];
            pixel.left = x * task->strides[2] - task->padding[2];
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
static void depthwise_pool_channels_last(const dml_depthwise_pool *task, int by_rows, int64_t begin, int64_t end)
{
    const int64_t blocks = dml_quotient_up(task->output_sizes[1], DML_DEPTHWISE_POOL_LAST_ROWS);
    for (int64_t unit = begin; unit < end; unit++) {
        int64_t first = unit % blocks * DML_DEPTHWISE_POOL_LAST_ROWS, behind = first + DML_DEPTHWISE_POOL_LAST_ROWS;
        int64_t batch = unit / blocks, count;
        behind = dml_least(behind, task->output_sizes[1]);
        for (int64_t channel = 0; channel < task->channels; channel += count) {
            int64_t left = task->channels - channel;
            count = left < DML_CHANNELS_LAST ? DML_FLOAT_LANES : DML_CHANNELS_LAST;
            channel = left < count ? task->channels - count : channel;
            channels_last_rows(task, batch, channel, count, first, behind, by_rows);
        }
    }
}
