/* Units whose input is packed first: rows, their results, and the post-ops. */

#pragma once

#include "../common/vectors.h"
#include "../elementwise/requantize.h"
#include "../elementwise/requantize_lanes.h"
#include "../half/convert.h"
#include "../half/scalar.h"
#include "../move/copy.h"
#include "../softmax_norm/activation.h"
#include "../softmax_norm/dispatch.h"
#include "../softmax_norm/norm.h"
#include "dispatch.h"
#include "vectors.h"

typedef struct {
    const char *x;
    int64_t coordinates[3];
    int64_t rows, columns;
    /* The byte that stands for 0. */
    float zero;
} depthwise_pool_unit;

/* The elements of a row as floats, as in `floats_of_row`, or bytes less their zero point; up to PART floats behind the
   last of them are written. */
DML_INLINE const float *depthwise_pool_row(const dml_depthwise_pool *task, const depthwise_pool_unit *unit, float *line,
                                           const char *row, int64_t begin, int64_t end)
{
    enum { PART = DML_DEPTHWISE_POOL_SLACK };
    int64_t stride = task->x_strides[4];
    const char *from = row + begin * stride;
    const uint8_t flip = task->bytes.is_signed ? 0x80 : 0;
    const float zero = unit->zero + (float)flip;
    uint8_t part[PART] = {0};
    if (!task->bytes.is_there)
        return floats_of_row(line, row, stride, begin, end, task->is_half);
    for (int64_t i = 0; i < end - begin; i += PART) {
        int64_t count = dml_least(end - begin - i, PART);
        memcpy(part, from + i, (size_t)count);
        for (int64_t j = 0; j < PART; j++)
            line[i + j] = (float)(part[j] ^ flip) - zero;
    }
    return line;
}

/* Packs the input of a unit, as planned. Padding is not written where the unit before, of another channel, has it at
   the same offsets. */
static DML_ONCE void depthwise_pool_fill(const dml_depthwise_pool_plan *plan, const depthwise_pool_unit *unit,
                                         float *packed, float *line, float outside, int has_outside)
{
    const dml_depthwise_pool *task = plan->task;
    const dml_depthwise_pool_axis *rows = &plan->axes[1], *columns = &plan->axes[2];
    int64_t size = task->sizes[2], left = unit->coordinates[2] * task->strides[2] - task->padding[2];
    int64_t right = left + (unit->columns - 1) * task->strides[2] + (task->window[2] - 1) * task->dilations[2] + 1;
    int64_t begin = left < 0 ? 0 : left, end = dml_least(right, size);
    for (int64_t tap = 0; tap < task->window[0]; tap++) {
        int64_t z = unit->coordinates[0] * task->strides[0] - task->padding[0] + tap * task->dilations[0];
        for (int64_t i = 0; i < rows->phases; i++) {
            for (int64_t row = 0; row < unit->rows + rows->reaches[i]; row++) {
                int64_t y = (unit->coordinates[1] + row) * task->strides[1] + rows->firsts[i] - task->padding[1];
                float *out = packed + ((tap * rows->phases + i) * columns->phases * plan->height + row) * plan->width;
                const float *source = NULL;
                if (z >= 0 && z < task->sizes[0] && y >= 0 && y < task->sizes[1] && begin < end)
                    source = depthwise_pool_row(task, unit, line,
                                                unit->x + z * task->x_strides[2] + y * task->x_strides[3], begin, end);
                if (!source && has_outside)
                    continue;
                for (int64_t j = 0; j < columns->phases; j++, out += plan->height * plan->width)
                    depthwise_pool_pack(out, source, source ? end - begin : 0, left + columns->firsts[j] - begin,
                                        task->strides[2], unit->columns + columns->reaches[j], outside, has_outside);
            }
        }
    }
}

/* Packs the input of a unit of a pool, whose columns are joined: {phase of columns, rows, width}. */
static DML_ONCE void depthwise_pool_fill_joined(const dml_depthwise_pool_plan *plan, const depthwise_pool_unit *unit,
                                                float *packed, float *line, float outside, int has_outside)
{
    const dml_depthwise_pool *task = plan->task;
    const dml_depthwise_pool_axis *columns = &plan->axes[2];
    int64_t size = task->sizes[2], left = unit->coordinates[2] * task->strides[2] - task->padding[2];
    int64_t right = left + (unit->columns - 1) * task->strides[2] + (task->window[2] - 1) * task->dilations[2] + 1;
    int64_t begin = left < 0 ? 0 : left, end = dml_least(right, size), span = end - begin;
    int is_plain = !task->is_half && !task->bytes.is_there && task->x_strides[4] == 4;
    void (*join)(float *, float, const float *const *, int64_t, int64_t) =
        task->function == DML_DEPTHWISE_POOL_MEAN ? depthwise_pool_add_rows : depthwise_pool_maximum_rows;
    for (int64_t row = 0; row < unit->rows; row++) {
        const float *rows[DML_DEPTHWISE_POOL_TAPS];
        int64_t height = 0;
        for (int64_t tap = 0; tap < task->window[0] * task->window[1] && begin < end; tap++) {
            int64_t z =
                unit->coordinates[0] * task->strides[0] - task->padding[0] + tap / task->window[1] * task->dilations[0];
            int64_t y = (unit->coordinates[1] + row) * task->strides[1] - task->padding[1] +
                        tap % task->window[1] * task->dilations[1];
            if (z < 0 || z >= task->sizes[0] || y < 0 || y >= task->sizes[1])
                continue;
            rows[height++] = depthwise_pool_row(task, unit, line + span,
                                                unit->x + z * task->x_strides[2] + y * task->x_strides[3], begin, end);
            /* A row whose memory the next one needs is joined at once. */
            if (!is_plain) {
                const float *both[] = {line, line + span};
                join(line, outside, height == 1 ? both + 1 : both, height == 1 ? 1 : 2, span);
            }
        }
        if (is_plain && task->strides[2] == 1 && height > 0) {
            /* The elements that a vector leaves behind the end are overwritten, by padding or by the next row. */
            float *out = packed + row * plan->width;
            int64_t before = begin - left, width = unit->columns + columns->reach;
            join(out + before, outside, rows, height, span);
            for (int64_t i = 0; i < before; i++)
                out[i] = outside;
            for (int64_t i = before + span; i < width; i++)
                out[i] = outside;
            continue;
        }
        if (is_plain && height > 0)
            join(line, outside, rows, height, span);
        for (int64_t i = 0; i < columns->phases; i++)
            depthwise_pool_pack(packed + (i * plan->rows + row) * plan->width, line, height > 0 ? span : 0,
                                left + columns->firsts[i] - begin, task->strides[2],
                                unit->columns + columns->reaches[i], outside, has_outside && height > 0);
    }
}

/* Quantizes means of bytes in place; NaN becomes the lowest byte. */
static DML_ONCE void depthwise_pool_quantize(const dml_depthwise_pool *task, int64_t channel, float *sums,
                                             const float *counts, float others, int64_t count)
{
    const dml_requantization to = dml_depthwise_pool_requantization(task, channel, 1.0);
    for (int64_t i = 0; i < count; i++) {
        float mean = (float)(sums[i] * to.unit / ((double)others * counts[i]));
        float value = rintf(mean / to.scale) + to.zero;
        value = value > to.low ? value : to.low;
        sums[i] = value < to.high ? value : to.high;
    }
}

/* Stores sums of products as bytes, at the beginning of their memory. */
static DML_ONCE void depthwise_pool_requantize(const dml_depthwise_pool *task, int64_t channel, float *values,
                                               int64_t count)
{
    enum { PART = DML_DEPTHWISE_POOL_SLACK };
    const dml_requantization to = dml_depthwise_pool_requantization(task, channel, 1.0);
    for (int64_t i = 0; i < count; i += PART) {
        int32_t sums[PART];
        for (int64_t j = 0; j < PART; j++)
            sums[j] = (int32_t)values[i + j];
        elementwise_requantize((uint8_t *)values + i, sums, dml_least(count - i, PART), &to);
    }
}

static DML_ONCE void depthwise_pool_store_bytes(char *output, const float *values, int64_t count)
{
    uint8_t results[DML_DEPTHWISE_POOL_COLUMNS];
    /* Whole vectors are converted: there are numbers behind the last value, too. */
    for (int64_t i = 0; i < (count + 15) / 16; i++)
        for (int64_t j = 0; j < 16; j++)
            results[16 * i + j] = (uint8_t)(int32_t)values[16 * i + j];
    memcpy(output, results, (size_t)count);
}

/* The sum of `count` bytes, each less `zero`. */
DML_INLINE int32_t depthwise_pool_sum_bytes(const uint8_t *bytes, int64_t count, float zero, int is_signed)
{
    const uint8_t flip = is_signed ? 0x80 : 0;
    int32_t total = 0;
    for (int64_t i = 0; i < count; i++)
        total += bytes[i] ^ flip;
    return (int32_t)(total - count * (flip + (int64_t)zero));
}

/* Computes the means of whole channels from `begin` to `end`: those with the same quantization together. */
static DML_ONCE void depthwise_pool_whole(const dml_depthwise_pool *task, int64_t begin, int64_t end)
{
    enum { PART = DML_DEPTHWISE_POOL_SLACK };
    const dml_depthwise_pool_bytes *bytes = &task->bytes;
    const int64_t differ =
        bytes->scale_stride | bytes->zero_stride | bytes->stored_scale_stride | bytes->stored_zero_stride;
    const int64_t size = task->sizes[0] * task->sizes[1] * task->sizes[2];
    const double divisor =
        (double)(*(const float *)task->counts[0] * *(const float *)task->counts[1]) * *(const float *)task->counts[2];
    for (int64_t count; begin < end; begin += count) {
        int64_t channel = begin % task->channels, left = end - begin;
        int32_t sums[PART];
        uint8_t results[PART];
        left = dml_least(task->channels - channel, left);
        count = differ ? 1 : dml_least(left, PART);
        const char *x = dml_depthwise_pool_channel(task, begin);
        char *output =
            (char *)task->output + begin / task->channels * task->output_strides[0] + channel * task->output_strides[1];
        const float zero = dml_depthwise_pool_byte(bytes->zero, channel * bytes->zero_stride, bytes->is_signed);
        const dml_requantization to = dml_depthwise_pool_requantization(task, channel, divisor);
        for (int64_t i = 0; i < count; i++)
            sums[i] =
                depthwise_pool_sum_bytes((const uint8_t *)x + i * task->x_strides[1], size, zero, bytes->is_signed);
        elementwise_requantize(results, sums, count, &to);
        for (int64_t i = 0; i < count; i++)
            output[i * task->output_strides[1]] = (char)results[i];
    }
}

/* Activates sums, and the numbers behind the last of them up to the end of a vector. */
static DML_ONCE void depthwise_pool_activate(float *values, int64_t count, const dml_post_ops *post_ops)
{
    for (int64_t i = 0; i < count; i += DML_FLOAT_LANES) {
        dml_floats *lanes = (dml_floats *)(values + i);
        *lanes = activated(*lanes, post_ops, post_ops->activation);
    }
}

/* Recomputes maxima of -infinity, which may be that, NaN, or of no elements: of neighbouring columns, or of the same
   pixel of neighbouring `planes`, which are FLOAT32 side by side. */
static DML_ONCE void depthwise_pool_mend(const dml_depthwise_pool *task, dml_depthwise_pool_position position,
                                         int planes, float *values, int64_t count)
{
    uint32_t any = 0;
    for (int64_t i = 0; i < count; i++)
        any |= values[i] == -INFINITY;
    for (int64_t i = 0; any && i < count; i++) {
        if (values[i] == -INFINITY)
            values[i] = dml_depthwise_pool_exact(task, &position, NULL);
        position.coordinates[2] += !planes;
        position.plane += planes;
        position.x += planes * 4;
    }
}

/* Finishes a row of results, and stores it in the output. */
DML_INLINE void depthwise_pool_finish(const dml_depthwise_pool_plan *plan, const depthwise_pool_unit *unit, int64_t row,
                                      int64_t plane, char *output, float *values, const int32_t *which)
{
    const dml_depthwise_pool *task = plan->task;
    dml_depthwise_pool_position position = {
        unit->x, plane, {unit->coordinates[0], unit->coordinates[1] + row, unit->coordinates[2]}};
    int64_t count = unit->columns;
    if (task->function == DML_DEPTHWISE_POOL_MEAN) {
        const float *counts[] = {(const float *)task->counts[0], (const float *)task->counts[1],
                                 (const float *)task->counts[2]};
        const float others = counts[0][position.coordinates[0]] * counts[1][position.coordinates[1]];
        if (task->bytes.is_there) {
            depthwise_pool_quantize(task, plane % task->channels, values, counts[2] + position.coordinates[2], others,
                                    count);
            depthwise_pool_store_bytes(output, values, count);
            return;
        }
        for (int64_t i = 0; i < count; i++)
            values[i] /= others * counts[2][position.coordinates[2] + i];
    } else if (task->function == DML_DEPTHWISE_POOL_MAXIMUM) {
        depthwise_pool_mend(task, position, 0, values, count);
        if (task->indices)
            dml_depthwise_pool_indices(plan, &position, which, count);
    }
    if (task->stores_half)
        halves_of_floats((uint16_t *)output, values, count);
    else
        copy_bytes(output, (const char *)values, count * 4);
    const dml_batch_norm_channel *normal =
        dml_batch_norm_channel_of(&task->post_ops.normalization, plane % task->channels);
    if (normal)
        softmax_norm_give((float *)output, (const float *)output, count, normal);
}

static void depthwise_pool_compute(const dml_depthwise_pool_plan *plan, const depthwise_pool_unit *unit, int64_t plane,
                                   char *memory, int has_outside)
{
    const dml_depthwise_pool *task = plan->task;
    float *packed = (float *)memory, *values = packed + plan->packed;
    int32_t *which = (int32_t *)(values + plan->values);
    float *line = (float *)which + (task->indices ? plan->values : 0), weights[DML_DEPTHWISE_POOL_TAPS];
    float start = task->function == DML_DEPTHWISE_POOL_MAXIMUM ? -INFINITY : 0.0f;
    int64_t count = (unit->rows - 1) * plan->width + unit->columns;
    int64_t batch = plane / task->channels, channel = plane % task->channels;
    char *output = (char *)task->output + batch * task->output_strides[0] + channel * task->output_strides[1];
    for (int i = 0; i < 3; i++)
        output += unit->coordinates[i] * task->output_strides[i + 2];
    if (plan->is_joined) {
        depthwise_pool_fill_joined(plan, unit, packed, line, start, has_outside);
        if (task->function == DML_DEPTHWISE_POOL_MEAN)
            depthwise_pool_add(values, packed, start, plan->offsets, NULL, plan->taps, count);
        else
            depthwise_pool_maximum(values, packed, start, plan->offsets, NULL, plan->taps, count);
    } else {
        depthwise_pool_fill(plan, unit, packed, line, start, has_outside);
        if (task->indices) {
            depthwise_pool_first(values, which, packed, plan->offsets, plan->taps, count);
        } else {
            dml_depthwise_pool_weights(task, channel, weights);
            if (task->bias && !task->bytes.is_there)
                start = dml_load_float((const char *)task->bias + channel * task->bias_stride, task->is_half);
            depthwise_pool_add_products(values, packed, start, plan->offsets, weights, plan->taps, count);
            if (task->bytes.is_there) {
                depthwise_pool_requantize(task, channel, values, count);
                for (int64_t row = 0; row < unit->rows; row++)
                    memcpy(output + row * task->output_strides[3], (const uint8_t *)values + row * plan->width,
                           (size_t)unit->columns);
                return;
            }
            if (task->post_ops.activation != DML_ACTIVATION_IDENTITY)
                depthwise_pool_activate(values, count, &task->post_ops);
        }
    }
    for (int64_t row = 0; row < unit->rows; row++)
        depthwise_pool_finish(plan, unit, row, plane, output + row * task->output_strides[3],
                              values + row * plan->width, which + row * plan->width);
}
