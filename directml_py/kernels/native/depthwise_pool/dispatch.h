#pragma once

#include "../common/compiler.h"
#include "../elementwise/requantize.h"
#include "../half/scalar.h"
#include "declarations.h"

/* The most results of a row that are computed at once. */
#define DML_DEPTHWISE_POOL_COLUMNS 2048
/* The scratch memory of a unit, in floats: the most, and as much as stays in the L1 cache. */
#define DML_DEPTHWISE_POOL_MEMORY (60 << 10)
#define DML_DEPTHWISE_POOL_L1_FLOATS (8 << 10)
/* The channels of a block whose planes are transposed, and the floats of a strip of its rows. */
#define DML_DEPTHWISE_POOL_CHANNELS 8
#define DML_DEPTHWISE_POOL_STRIP_FLOATS (16 << 10)
/* The elements of channels that share an epilogue. */
#define DML_DEPTHWISE_POOL_TOGETHER (16 << 10)
/* Vectors run on for up to this many elements. */
#define DML_DEPTHWISE_POOL_SLACK 64
/* Over channels that are neighbours in memory, a unit is this many rows of pixels. */
#define DML_DEPTHWISE_POOL_LAST_ROWS 4
/* The vectors whose masks are kept. */
#define DML_DEPTHWISE_POOL_PERIOD 64

/* How a window moves along one dimension. Elements that are a stride apart form a phase; a tap reads, in its phase, the
   element `offsets` behind the number of the output. Of each phase, elements up to `reaches` beyond the last output are
   read; `firsts` is the coordinate of the first one. */
typedef struct {
    int64_t phases, reach;
    int64_t phase_of[DML_DEPTHWISE_POOL_TAPS], offsets[DML_DEPTHWISE_POOL_TAPS], firsts[DML_DEPTHWISE_POOL_TAPS],
        reaches[DML_DEPTHWISE_POOL_TAPS];
} dml_depthwise_pool_axis;

/* The masks of planes as flat rows: which lanes of a column of taps are inside, for as many vectors as it takes until
   the pattern repeats. Vectors from `first` on and before `behind` read only elements of the plane. */
typedef struct {
    int64_t period, vectors, first, behind, elements, above[5];
    uint16_t last, columns[DML_DEPTHWISE_POOL_PERIOD][5];
} dml_depthwise_pool_masks;

/* A task cut into units of `rows` and `columns` of the output. Their input is packed as {tap along the first dimension,
   phase of rows, phase of columns, height, width}, so that each tap is at a constant distance from the element of the
   output, in `offsets`. For sums and maxima, the columns of the window are joined first: what is packed is {phase of
   columns, rows, width}, and `offsets` are those of the taps of a row. */
typedef struct {
    const dml_depthwise_pool *task;
    dml_depthwise_pool_axis axes[3];
    int64_t rows, columns, height, width, taps, row_blocks, column_blocks, units;
    int is_joined;
    /* Whether small windows slide over contiguous rows, and whether these are read in place by masked loads. */
    int is_near, is_masked;
    /* Whether vectors run across the ends of its rows: a plane is one flat row. */
    int is_flat;
    /* Whether packed planes would be flat rows, so that the sum or maximum of each row of taps is taken first. */
    int is_by_rows;
    dml_depthwise_pool_masks masks;
    /* Whether a unit is all bytes of a channel, contiguous, whose sum is within INT32. */
    int is_whole;
    /* The floats of a unit's memory for its packed input, its values, and in all. */
    int64_t packed, values, memory;
    int32_t offsets[DML_DEPTHWISE_POOL_TAPS];
    /* The distance of each tap's element in its channel from that of the first tap. */
    int64_t behind[DML_DEPTHWISE_POOL_TAPS];
} dml_depthwise_pool_plan;

typedef struct {
    /* Whether small windows slide over planes of FLOAT32, which masked loads can read in place, or of bytes; NULL if
       there are no masked loads. */
    int (*is_near)(const dml_depthwise_pool *task);
    /* Plans planes as flat rows, and their masks; returns whether that is possible. */
    int (*plan_flat)(dml_depthwise_pool_masks *masks, const dml_depthwise_pool *task);
    /* Computes the units of a plan from `begin` to `end`, post-operations included, that are strips of blocks of
       channels; NULL if there is no such kernel. */
    void (*run_blocks)(void *plan, int64_t begin, int64_t end);
    /* Computes the units of a plan from `begin` to `end`. */
    void (*run)(void *plan, int64_t begin, int64_t end);
    /* Computes rows of pixels from `begin` to `end`, DML_DEPTHWISE_POOL_LAST_ROWS in each unit, over channels that are
       neighbours in memory; of the plan, only the task is set, and whether sums and maxima are taken by rows. */
    void (*channels_last)(void *plan, int64_t begin, int64_t end);
    /* Adds up the gradients of a task for the channels from `begin` to `end`. */
    void (*add)(void *task, int64_t begin, int64_t end);
} dml_depthwise_pool_table;

/* The coordinates of an element of the output, and the address of its channel of the input. */
typedef struct {
    const char *x;
    int64_t plane, coordinates[3];
} dml_depthwise_pool_position;

static inline const char *dml_depthwise_pool_channel(const dml_depthwise_pool *task, int64_t plane)
{
    return (const char *)task->x + plane / task->channels * task->x_strides[0] +
           plane % task->channels / task->multiplier * task->x_strides[1];
}

static float dml_depthwise_pool_byte(uintptr_t zeros, int64_t offset, int is_signed)
{
    return !zeros ? 0.0f : is_signed ? (float)((const int8_t *)zeros)[offset] : (float)((const uint8_t *)zeros)[offset];
}

/* The requantization of the sums of a channel, after a division by the `divisor` of means. */
static dml_requantization dml_depthwise_pool_requantization(const dml_depthwise_pool *task, int64_t channel,
                                                            double divisor)
{
    const dml_depthwise_pool_bytes *bytes = &task->bytes;
    const int is_mean = task->function == DML_DEPTHWISE_POOL_MEAN;
    const double unit = (double)dml_load_float((const char *)bytes->scale + channel * bytes->scale_stride, 0);
    const float weight =
        is_mean ? 1.0f : dml_load_float((const char *)bytes->weight_scale + channel * bytes->weight_scale_stride, 0);
    int32_t bias = 0;
    if (task->bias)
        memcpy(&bias, (const char *)task->bias + channel * task->bias_stride, sizeof bias);
    return dml_requantization_of(
        unit * (double)weight, divisor, bias,
        task->window[0] * task->window[1] * task->window[2] * UINT8_MAX * UINT8_MAX,
        dml_load_float((const char *)bytes->stored_scale + channel * bytes->stored_scale_stride, 0),
        dml_depthwise_pool_byte(bytes->stored_zero, channel * bytes->stored_zero_stride, bytes->stores_signed),
        bytes->stores_signed);
}

static void dml_depthwise_pool_weights(const dml_depthwise_pool *task, int64_t channel, float *weights)
{
    const dml_depthwise_pool_bytes *bytes = &task->bytes;
    const char *filter = (const char *)task->weights + channel * task->weight_strides[0];
    const float zero =
        dml_depthwise_pool_byte(bytes->weight_zero, channel * bytes->weight_zero_stride, bytes->weighs_signed);
    if (!task->is_half && !bytes->is_there && task->window[0] == 1 && task->weight_strides[3] == 4 &&
        task->weight_strides[2] == 4 * task->window[2]) {
        memcpy(weights, filter, (size_t)(4 * task->window[1] * task->window[2]));
        return;
    }
    for (int64_t z = 0; z < task->window[0]; z++)
        for (int64_t y = 0; y < task->window[1]; y++)
            for (int64_t x = 0; x < task->window[2]; x++) {
                const char *weight =
                    filter + z * task->weight_strides[1] + y * task->weight_strides[2] + x * task->weight_strides[3];
                *weights++ = bytes->is_there
                                 ? dml_depthwise_pool_byte((uintptr_t)weight, 0, bytes->weighs_signed) - zero
                                 : dml_load_float(weight, task->is_half);
            }
}

/* The largest element of one window, compared one by one; at least -FLT_MAX, also for NaN and for no elements. `index`,
   if it is asked for, gets its number in the channel, which is 0 for no elements. */
static float dml_depthwise_pool_exact(const dml_depthwise_pool *task, const dml_depthwise_pool_position *position,
                                      int64_t *index)
{
    float best = -INFINITY;
    int is_first = 1;
    int64_t largest = 0, element[3];
    for (int64_t tap = 0; tap < task->window[0] * task->window[1] * task->window[2]; tap++) {
        int64_t rest = tap, inside = 1, offset = 0, within = 0;
        for (int i = 2; i >= 0; i--) {
            element[i] = position->coordinates[i] * task->strides[i] - task->padding[i] +
                         rest % task->window[i] * task->dilations[i];
            rest /= task->window[i];
            inside = inside && element[i] >= 0 && element[i] < task->sizes[i];
        }
        if (!inside)
            continue;
        for (int i = 0; i < 3; i++) {
            offset += element[i] * task->x_strides[i + 2];
            within = within * task->sizes[i] + element[i];
        }
        float value = dml_load_float(position->x + offset, task->is_half);
        if (is_first || value > best || (isnan(best) && !isnan(value))) {
            best = value;
            largest = within;
        }
        is_first = 0;
    }
    if (index)
        *index = largest + (is_first ? 0 : position->plane * task->sizes[0] * task->sizes[1] * task->sizes[2]);
    return best >= -FLT_MAX ? best : -FLT_MAX;
}

static void dml_depthwise_pool_indices(const dml_depthwise_pool_plan *plan, const dml_depthwise_pool_position *start,
                                       const int32_t *which, int64_t count)
{
    const dml_depthwise_pool *task = plan->task;
    dml_depthwise_pool_position position = *start;
    int64_t first = position.plane, item = task->index_item;
    char *indices = (char *)task->indices + position.plane / task->channels * task->index_strides[0] +
                    position.plane % task->channels * task->index_strides[1];
    for (int i = 0; i < 3; i++) {
        indices += position.coordinates[i] * task->index_strides[i + 2];
        first = first * task->sizes[i] + position.coordinates[i] * task->strides[i] - task->padding[i];
    }
    for (int64_t i = 0; i < count; i++, position.coordinates[2]++, indices += task->index_strides[4]) {
        int64_t index = first + i * task->strides[2];
        if (which[i] < 0)
            dml_depthwise_pool_exact(task, &position, &index);
        else
            index += plan->behind[which[i]];
        uint32_t narrow = (uint32_t)index;
        if (item == 4)
            memcpy(indices, &narrow, 4);
        else
            memcpy(indices, &index, 8);
    }
}

extern DML_HIDDEN const dml_depthwise_pool_table dml_depthwise_pool_table_baseline, dml_depthwise_pool_table_avx2,
    dml_depthwise_pool_table_avx512;
