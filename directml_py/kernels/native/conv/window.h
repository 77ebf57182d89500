/* im2col: where the pixels of the output, taken line by line, see each tap of the window in the input. */

#pragma once

#include "../context.h"

static int64_t dml_least(int64_t first, int64_t second)
{
    return first < second ? first : second;
}

/* The least number whose `times` fold is at least `least`; `times` is above 0. */
static int64_t dml_conv_first(int64_t least, int64_t times)
{
    return least <= 0 ? 0 : times == 1 ? least : (least + times - 1) / times;
}

/* A part of a panel that lies in one row of the output: pixels from `x` on, and where, without padding, they see the
   first tap of the window. */
typedef struct {
    int64_t z, y, x, lane, count;
} dml_conv_line;

static int dml_conv_find_lines(const dml_conv *task, int64_t begin, int64_t count, dml_conv_line *lines)
{
    int64_t x = begin % task->steps[2], y = begin / task->steps[2] % task->steps[1];
    int64_t z = begin / task->steps[2] / task->steps[1], lane = 0;
    int line_count = 0;
    while (lane < count) {
        int64_t length = dml_least(task->steps[2] - x, count - lane);
        lines[line_count++] = (dml_conv_line){z * task->strides[0] - task->padding[0],
                                              y * task->strides[1] - task->padding[1], x, lane, length};
        lane += length;
        x = 0;
        if (++y == task->steps[1]) {
            y = 0;
            z++;
        }
    }
    return line_count;
}

/* A tap of the window, by its number in each dimension, and how far it lies from the first one. */
typedef struct {
    int64_t number[3], z, y, x;
} dml_conv_tap;

static void dml_conv_place_tap(const dml_conv *task, dml_conv_tap *tap)
{
    int64_t places[3];
    /* Rotated filters are read from their end: as they stand, with the window rotated. */
    for (int i = 0; i < 3; i++)
        places[i] = task->dilations[i] * (task->is_turned ? task->window[i] - 1 - tap->number[i] : tap->number[i]);
    tap->z = places[0];
    tap->y = places[1];
    tap->x = places[2];
}

static dml_conv_tap dml_conv_find_tap(const dml_conv *task, int64_t number)
{
    dml_conv_tap tap;
    tap.number[2] = number % task->window[2];
    tap.number[1] = number / task->window[2] % task->window[1];
    tap.number[0] = number / task->window[2] / task->window[1];
    dml_conv_place_tap(task, &tap);
    return tap;
}

static void dml_conv_next_tap(const dml_conv *task, dml_conv_tap *tap)
{
    int i = 2;
    while (i > 0 && ++tap->number[i] == task->window[i])
        tap->number[i--] = 0;
    if (i == 0)
        tap->number[0]++;
    dml_conv_place_tap(task, tap);
}

/* Where in the input the first pixel of a line sees a tap. */
static int64_t dml_conv_place(const dml_conv *task, const dml_conv_line *line, const dml_conv_tap *tap)
{
    int64_t x = line->x * task->strides[2] - task->padding[2] + tap->x;
    return (line->z + tap->z) * task->input_strides[2] + (line->y + tap->y) * task->input_strides[3] +
           x * task->input_strides[4];
}

/* What the pixels of lines see at a tap, where that is not padding. */
static int dml_conv_find_runs(const dml_conv *task, const dml_conv_tap *tap, const dml_conv_line *lines, int count,
                              dml_conv_run_of_pixels *runs)
{
    int64_t lanes = dml_dispatch->conv->lanes, step = task->strides[2] * task->input_strides[4];
    int64_t left = task->padding[2] - tap->x, low = dml_conv_first(left, task->strides[2]);
    int64_t high = dml_conv_first(task->sizes[2] + left, task->strides[2]);
    int shift = __builtin_ctz((unsigned int)lanes), run_count = 0;
    for (const dml_conv_line *line = lines; line < lines + count; line++) {
        int64_t z = line->z + tap->z, y = line->y + tap->y, behind = dml_least(line->x + line->count, high);
        int64_t place = z * task->input_strides[2] + y * task->input_strides[3] - left * task->input_strides[4];
        if (z < 0 || z >= task->sizes[0] || y < 0 || y >= task->sizes[1])
            continue;
        for (int64_t x = line->x < low ? low : line->x; x < behind;) {
            int64_t lane = line->lane + x - line->x, first = lane & (lanes - 1);
            int64_t length = dml_least(lanes - first, behind - x);
            runs[run_count++] = (dml_conv_run_of_pixels){place + (x - first) * step, (int32_t)(lane >> shift),
                                                         (int32_t)first, (int32_t)length};
            x += length;
        }
    }
    return run_count;
}
