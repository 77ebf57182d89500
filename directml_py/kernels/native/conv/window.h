/* im2col: which elements of the input each tap of the window reads for the pixels of the output, taken line by line. */

#pragma once

#include "../context.h"

/* The least number that is at least `least` when multiplied by `times`, which is above 0. */
static int64_t dml_conv_first(int64_t least, int64_t times)
{
    return least <= 0 ? 0 : times == 1 ? least : (least + times - 1) / times;
}

/* The part of a panel that lies in one row of the output: pixels from `x` on, and the coordinates in the input, which
   may be in the padding, that the first tap of the window has for them. */
typedef struct {
    int64_t z, y, x, lane, count;
} dml_conv_line;

static int dml_conv_find_lines(const dml_conv_params *params, int64_t begin, int64_t count, dml_conv_line *lines)
{
    int64_t x = begin % params->output_sizes[2], y = begin / params->output_sizes[2] % params->output_sizes[1];
    int64_t z = begin / params->output_sizes[2] / params->output_sizes[1], lane = 0;
    int line_count = 0;
    while (lane < count) {
        int64_t length = dml_least(params->output_sizes[2] - x, count - lane);
        lines[line_count++] = (dml_conv_line){z * params->strides[0] - params->padding[0],
                                              y * params->strides[1] - params->padding[1], x, lane, length};
        lane += length;
        x = 0;
        if (++y == params->output_sizes[1]) {
            y = 0;
            z++;
        }
    }
    return line_count;
}

/* A tap of the window: its index in each dimension, and its distance from the first tap. */
typedef struct {
    int64_t number[3], z, y, x;
} dml_conv_tap;

static void dml_conv_set_tap_offsets(const dml_conv_params *params, dml_conv_tap *tap)
{
    int64_t offsets[3];
    /* Rotated filters are read from front to back, with the window rotated instead. */
    for (int i = 0; i < 3; i++)
        offsets[i] =
            params->dilations[i] * (params->is_rotated ? params->window[i] - 1 - tap->number[i] : tap->number[i]);
    tap->z = offsets[0];
    tap->y = offsets[1];
    tap->x = offsets[2];
}

static dml_conv_tap dml_conv_find_tap(const dml_conv_params *params, int64_t number)
{
    dml_conv_tap tap;
    tap.number[2] = number % params->window[2];
    tap.number[1] = number / params->window[2] % params->window[1];
    tap.number[0] = number / params->window[2] / params->window[1];
    dml_conv_set_tap_offsets(params, &tap);
    return tap;
}

static void dml_conv_next_tap(const dml_conv_params *params, dml_conv_tap *tap)
{
    int i = 2;
    while (i > 0 && ++tap->number[i] == params->window[i])
        tap->number[i--] = 0;
    if (i == 0)
        tap->number[0]++;
    dml_conv_set_tap_offsets(params, tap);
}

/* The offset in the input that a tap has for the first pixel of a line. */
static int64_t dml_conv_tap_offset(const dml_conv_params *params, const dml_conv_line *line, const dml_conv_tap *tap)
{
    int64_t x = line->x * params->strides[2] - params->padding[2] + tap->x;
    return (line->z + tap->z) * params->input_strides[2] + (line->y + tap->y) * params->input_strides[3] +
           x * params->input_strides[4];
}

/* Finds the runs that a tap reads for the pixels of lines, without padding. */
static int dml_conv_find_runs(const dml_conv_params *params, const dml_conv_tap *tap, const dml_conv_line *lines,
                              int count, dml_conv_run_of_pixels *runs)
{
    int64_t lanes = dml_dispatch->conv->lanes, stride = params->strides[2] * params->input_strides[4];
    int64_t left = params->padding[2] - tap->x, low = dml_conv_first(left, params->strides[2]);
    int64_t high = dml_conv_first(params->sizes[2] + left, params->strides[2]);
    int shift = __builtin_ctz((unsigned int)lanes), run_count = 0;
    for (const dml_conv_line *line = lines; line < lines + count; line++) {
        int64_t z = line->z + tap->z, y = line->y + tap->y, behind = dml_least(line->x + line->count, high);
        int64_t offset = z * params->input_strides[2] + y * params->input_strides[3] - left * params->input_strides[4];
        if (z < 0 || z >= params->sizes[0] || y < 0 || y >= params->sizes[1])
            continue;
        for (int64_t x = line->x < low ? low : line->x; x < behind;) {
            int64_t lane = line->lane + x - line->x, first = lane & (lanes - 1);
            int64_t length = dml_least(lanes - first, behind - x);
            runs[run_count++] = (dml_conv_run_of_pixels){offset + (x - first) * stride, (int32_t)(lane >> shift),
                                                         (int32_t)first, (int32_t)length};
            x += length;
        }
    }
    return run_count;
}
