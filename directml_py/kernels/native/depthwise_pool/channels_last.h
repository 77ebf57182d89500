/* Means and maxima over planes of FLOAT32 whose channels are neighbours in memory: each vector has channels of one
   pixel. A channel's elements are added up and compared in the same order as those of a packed plane. */

#pragma once

#include "../common/dimensions.h"
#include "dispatch.h"
#include "packed.h"
#include "vectors.h"

enum { DML_CHANNELS_LAST = DML_DEPTHWISE_POOL_BLOCK * DML_DEPTHWISE_POOL_LANES };

/* A pixel of the output, and the first of the channels. */
typedef struct {
    const dml_depthwise_pool *task;
    const char *x;
    int64_t top, left;
} channels_last_pixel;

/* The address of a tap's channels; NULL if the tap is outside. */
DML_INLINE const depthwise_pool_vector *channels_last_tap(const channels_last_pixel *pixel, int64_t row, int64_t column)
{
    const dml_depthwise_pool *task = pixel->task;
    int64_t y = pixel->top + row * task->dilations[1], x = pixel->left + column * task->dilations[2];
    if (y < 0 || y >= task->sizes[1] || x < 0 || x >= task->sizes[2])
        return NULL;
    return (const depthwise_pool_vector *)(pixel->x + y * task->x_strides[3] + x * task->x_strides[4]);
}

/* Adds up the sums of the window's columns, and divides by the number of elements. */
DML_INLINE void channels_last_means(const channels_last_pixel *pixel, float *out, float count, const int vectors)
{
    const dml_depthwise_pool *task = pixel->task;
    depthwise_pool_vector totals[DML_DEPTHWISE_POOL_BLOCK] = {{0}};
    for (int64_t column = 0; column < task->window[2]; column++) {
        depthwise_pool_vector sums[DML_DEPTHWISE_POOL_BLOCK] = {{0}};
        for (int64_t row = 0; row < task->window[1]; row++) {
            const depthwise_pool_vector *source = channels_last_tap(pixel, row, column);
            for (int j = 0; source && j < vectors; j++)
                sums[j] += source[j];
        }
        for (int j = 0; j < vectors; j++)
            totals[j] += sums[j];
    }
    for (int j = 0; j < vectors; j++)
        totals[j] /= count;
    memcpy(out, totals, (size_t)vectors * sizeof *totals);
}

/* Of equal elements, zeros of both signs, the first one stays: of rows or, where planes are joined, of columns. */
DML_INLINE void channels_last_maxima(const channels_last_pixel *pixel, float *out, int by_rows, const int vectors)
{
    const int64_t *window = pixel->task->window, inner = by_rows ? window[2] : window[1];
    int64_t outer = 0, rest = 0;
    depthwise_pool_vector best[DML_DEPTHWISE_POOL_BLOCK];
    DML_UNROLLED for (int j = 0; j < vectors; j++) best[j] = (depthwise_pool_vector){0} - INFINITY;
    for (int64_t tap = 0; tap < window[1] * window[2]; tap++) {
        const depthwise_pool_vector *source = channels_last_tap(pixel, by_rows ? outer : rest, by_rows ? rest : outer);
        if (source)
            DML_UNROLLED for (int j = 0; j < vectors; j++) best[j] = depthwise_pool_larger(source[j], best[j]);
        if (++rest == inner) {
            rest = 0;
            outer++;
        }
    }
    memcpy(out, best, (size_t)vectors * sizeof *best);
}

/* Recomputes maxima of -infinity, which may be that, NaN, or of no elements. */
static DML_ONCE void channels_last_mend(const channels_last_pixel *pixel, float *out, int64_t channels,
                                        dml_depthwise_pool_position position)
{
    uint32_t any = 0;
    for (int64_t j = 0; j < channels; j++)
        any |= out[j] == -INFINITY;
    for (int64_t j = 0; any && j < channels; j++, position.x += 4, position.plane++)
        if (out[j] == -INFINITY)
            out[j] = dml_depthwise_pool_exact(pixel->task, &position, NULL);
}

DML_INLINE void channels_last_one(const channels_last_pixel *pixel, float *out, float count, int by_rows,
                                  const int vectors)
{
    if (pixel->task->function == DML_DEPTHWISE_POOL_MEAN)
        channels_last_means(pixel, out, count, vectors);
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
    pixel.x = (const char *)task->x + batch * task->x_strides[0] + channel * 4;
    for (int64_t y = begin; y < end; y++)
        for (int64_t x = 0; x < task->output_sizes[2]; x++) {
            float *out = (float *)((char *)task->output + batch * task->output_strides[0] + channel * 4 +
                                   y * task->output_strides[3] + x * task->output_strides[4]);
            const float count = is_mean ? counts[0][0] * counts[1][y] * counts[2][x] : 1.0f;
            pixel.top = y * task->strides[1] - task->padding[1];
            pixel.left = x * task->strides[2] - task->padding[2];
            if (channels == DML_CHANNELS_LAST)
                channels_last_one(&pixel, out, count, by_rows, DML_DEPTHWISE_POOL_BLOCK);
            else
                channels_last_one(&pixel, out, count, by_rows, 1);
            if (task->function == DML_DEPTHWISE_POOL_MAXIMUM)
                channels_last_mend(&pixel, out, channels,
                                   (dml_depthwise_pool_position){pixel.x, batch * task->channels + channel, {0, y, x}});
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
        behind = behind < task->output_sizes[1] ? behind : task->output_sizes[1];
        for (int64_t channel = 0; channel < task->channels; channel += count) {
            int64_t left = task->channels - channel;
            count = left < DML_CHANNELS_LAST ? DML_DEPTHWISE_POOL_LANES : DML_CHANNELS_LAST;
            channel = left < count ? task->channels - count : channel;
            channels_last_rows(task, batch, channel, count, first, behind, by_rows);
        }
    }
}
