/* Products with small filters over blocks of eight channels, with AVX2: rows of planes of FLOAT32 are transposed, with
   the padding around them, so that a vector has the channels of one pixel, as in the layout nChw8c. So are the sums. */

#pragma once

#include "../elementwise/elementwise.h"
#include "channels_last.h"
#include "dispatch.h"
#include "masked.h"

#if DML_FLOAT_LANES == DML_DEPTHWISE_POOL_CHANNELS
/* Transposes eight elements of each of eight lines, which begin `stride` bytes apart. */
DML_INLINE void channel_block_transpose(dml_floats *columns, const char *lines, int64_t stride)
{
    DML_UNROLLED for (int half = 0; half < 2; half++)
    {
        __m256 a[4], b[4];
        DML_UNROLLED for (int i = 0; i < 4; i++)
        {
            const float *line = (const float *)(lines + i * stride + 16 * half);
            a[i] = _mm256_castps128_ps256(_mm_loadu_ps(line));
            a[i] = _mm256_insertf128_ps(a[i], _mm_loadu_ps((const float *)((const char *)line + 4 * stride)), 1);
        }
        DML_UNROLLED for (int i = 0; i < 2; i++)
        {
            b[2 * i] = _mm256_unpacklo_ps(a[i], a[i + 2]);
            b[2 * i + 1] = _mm256_unpackhi_ps(a[i], a[i + 2]);
        }
        DML_UNROLLED for (int i = 0; i < 2; i++)
        {
            columns[4 * half + 2 * i] = (dml_floats)_mm256_unpacklo_ps(b[i], b[i + 2]);
            columns[4 * half + 2 * i + 1] = (dml_floats)_mm256_unpackhi_ps(b[i], b[i + 2]);
        }
    }
}

/* Up to eight elements of a row; bytes are flipped if they are signed, and less the number that stands for 0 then. */
DML_INLINE dml_floats channel_block_line(const char *x, int64_t count, const int are_bytes, int is_signed, float zero)
{
    uint64_t bytes = 0;
    if (!are_bytes)
        return dml_load_some((const float *)x, count);
    memcpy(&bytes, x, (size_t)count);
    const __m128i eight = _mm_xor_si128(_mm_cvtsi64_si128((long long)bytes), _mm_set1_epi8(is_signed ? -128 : 0));
    return (dml_floats)_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(eight)) - (is_signed ? zero + 128.0f : zero);
}

/* Transposes rows of planes to rows of pixels, which begin `pitch` pixels apart. If the last elements of a row do not
   fill a vector, they are transposed with some before them. */
DML_INLINE void channel_block_to_pixels(dml_floats *pixels, int64_t pitch, const dml_depthwise_pool *task,
                                        const char *x, int64_t rows, const float *zeros, const int are_bytes)
{
    const int64_t item = are_bytes ? 1 : 4, size = task->sizes[2], stride = task->x_strides[1];
    const int64_t count = dml_least(size, DML_FLOAT_LANES);
    for (; rows > 0; rows--, x += task->x_strides[3], pixels += pitch)
        for (int64_t i = 0; i < size; i += DML_FLOAT_LANES) {
            const int64_t first = dml_least(i, size - count);
            dml_floats lines[DML_FLOAT_LANES], some[DML_FLOAT_LANES];
            if (!are_bytes && count == DML_FLOAT_LANES) {
                channel_block_transpose(pixels + first, x + 4 * first, stride);
                continue;
            }
            DML_UNROLLED for (int j = 0; j < DML_FLOAT_LANES; j++) lines[j] = channel_block_line(
                x + j * stride + item * first, count, are_bytes, task->bytes.is_signed, zeros[j]);
            channel_block_transpose(some, (const char *)lines, sizeof *lines);
            memcpy(pixels + first, some, (size_t)count * sizeof *some);
        }
}

/* Transposes pixels to rows of `size` in planes, whose strides are in bytes. If the last elements do not fill a vector,
   they are stored with some before them. */
DML_INLINE void channel_block_from_pixels(const dml_floats *sums, char *planes, int64_t rows, int64_t size,
                                          int64_t plane_stride, int64_t row_stride)
{
    const int64_t is_flat = row_stride == 4 * size, length = is_flat ? rows * size : size;
    const int64_t count = dml_least(length, DML_FLOAT_LANES);
    for (int64_t run = 0; run < (is_flat ? 1 : rows); run++, planes += row_stride, sums += size)
        for (int64_t i = 0; i < length; i += DML_FLOAT_LANES) {
            const int64_t first = dml_least(i, length - count);
            dml_floats lines[DML_FLOAT_LANES];
            channel_block_transpose(lines, (const char *)(sums + first), sizeof *sums);
            DML_UNROLLED for (int j = 0; j < DML_FLOAT_LANES; j++)
                dml_store_some((float *)(planes + j * plane_stride) + first, lines[j], count);
        }
}

/* Transposes sums to `memory`, and stores them as bytes. */
static void channel_block_store_bytes(const dml_depthwise_pool *task, const dml_floats *sums, float *memory,
                                      char *output, int64_t channel, int64_t rows)
{
    const int64_t columns = task->output_sizes[2], size = rows * columns;
    channel_block_from_pixels(sums, (char *)memory, rows, columns, 4 * size, 4 * columns);
    for (int j = 0; j < DML_FLOAT_LANES; j++, memory += size, output += task->output_strides[1]) {
        depthwise_pool_requantize(task, channel + j, memory, size);
        for (int64_t row = 0; row < rows; row++)
            memcpy(output + row * task->output_strides[3], (const char *)memory + row * columns, (size_t)columns);
    }
}

/* How the channels of a block are normalized in FLOAT32. */
typedef struct {
    dml_floats mean, factor, shift;
} channel_block_normal;

/* Computes `count` pixels that are neighbours, in registers: a store to `sums` might change `pixels`. */
DML_INLINE void channel_block_sums(const dml_depthwise_pool_plan *plan, dml_floats *sums, const dml_floats *pixels,
                                   const dml_floats *weights, dml_floats bias, const channel_block_normal *normal,
                                   const int width, const int stride, const int count)
{
    const dml_post_ops *post_ops = &plan->task->post_ops;
    const int64_t item = sizeof *pixels;
    dml_floats totals[DML_CHANNELS_LAST_PIXELS];
    channels_last_add(totals, (const char *)pixels, stride * item, plan->width * item, item, weights, bias, post_ops, 0,
                      width, count);
    if (normal)
        DML_UNROLLED for (int i = 0; i < count; i++) totals[i] =
            (dml_floats)DML_FMA((float_vector)(totals[i] - normal->mean), (float_vector)normal->factor,
                                (float_vector)normal->shift);
    if (post_ops->normalization.relu)
        DML_UNROLLED for (int i = 0; i < count; i++) totals[i] =
            (dml_floats)batch_norm_relu((softmax_norm_lanes)totals[i]);
    DML_UNROLLED for (int i = 0; i < count; i++) sums[i] = totals[i];
}

DML_INLINE void channel_block_add(const dml_depthwise_pool_plan *plan, dml_floats *sums, const dml_floats *pixels,
                                  int64_t rows, const channels_last_filters *filters,
                                  const channel_block_normal *normal, const int width, const int stride)
{
    const int64_t columns = plan->task->output_sizes[2], count = DML_CHANNELS_LAST_PIXELS;
    const dml_floats bias = filters->bias[0];
    dml_floats weights[25];
    DML_UNROLLED for (int tap = 0; tap < width * width; tap++) weights[tap] = filters->weights[tap][0];
    for (int64_t y = 0; y < rows; y++, pixels += stride * plan->width, sums += columns) {
        int64_t x = 0;
        for (; x + count <= columns; x += count)
            channel_block_sums(plan, sums + x, pixels + x * stride, weights, bias, normal, width, stride, (int)count);
        for (; x < columns; x++)
            channel_block_sums(plan, sums + x, pixels + x * stride, weights, bias, normal, width, stride, 1);
    }
}

/* Zeroes the padding of rows of pixels from `top` on, and transposes the others. */
static void channel_block_fill(dml_floats *pixels, const dml_depthwise_pool_plan *plan, int64_t batch, int64_t channel,
                               int64_t top, int64_t height)
{
    const dml_depthwise_pool *task = plan->task;
    const int64_t left = task->padding[2], right = left + task->sizes[2], pitch = plan->width;
    const int64_t begin = top < 0 ? 0 : dml_least(top, task->sizes[1]), end = dml_least(top + height, task->sizes[1]);
    const char *x = (const char *)task->x + batch * task->x_strides[0] + channel * task->x_strides[1] +
                    begin * task->x_strides[3];
    dml_floats *inside = pixels + (begin - top) * pitch + left;
    float zeros[DML_FLOAT_LANES];
    for (int j = 0; j < DML_FLOAT_LANES; j++)
        zeros[j] = dml_depthwise_pool_byte(task->bytes.zero, (channel + j) * task->bytes.zero_stride,
                                           task->bytes.is_signed);
    for (int64_t y = top; y < top + height; y++, pixels += pitch) {
        const int is_outside = y < begin || y >= end;
        for (int64_t i = 0; i < (is_outside ? pitch : left); i++)
            pixels[i] = (dml_floats){0};
        for (int64_t i = right; i < pitch; i++)
            pixels[i] = (dml_floats){0};
    }
    if (task->bytes.is_there)
        channel_block_to_pixels(inside, pitch, task, x, end - begin, zeros, 1);
    else
        channel_block_to_pixels(inside, pitch, task, x, end - begin, zeros, 0);
}

/* Computes units from `begin` to `end`, strips of rows of blocks of channels. */
static void depthwise_pool_run_blocks(void *context, int64_t begin, int64_t end)
{
    const dml_depthwise_pool_plan *plan = context;
    const dml_depthwise_pool *task = plan->task;
    dml_floats memory[DML_DEPTHWISE_POOL_STRIP_FLOATS / DML_FLOAT_LANES];
    const int64_t columns = task->output_sizes[2], stride = task->strides[2];
    for (; begin < end; begin++) {
        const int64_t row = begin % plan->row_blocks * plan->rows, plane = begin / plan->row_blocks * DML_FLOAT_LANES;
        const int64_t batch = plane / task->channels, channel = plane % task->channels;
        const int64_t rows = dml_least(plan->rows, task->output_sizes[1] - row);
        const int64_t height = (rows - 1) * stride + task->window[1];
        char *output = (char *)task->output + batch * task->output_strides[0] + channel * task->output_strides[1] +
                       row * task->output_strides[3];
        const dml_batch_norm_channel *normals = dml_batch_norm_channel_of(&task->post_ops.normalization, channel);
        dml_floats *sums = memory + height * plan->width;
        channels_last_filters filters;
        channel_block_normal normal;
        for (int i = 0; normals && i < DML_FLOAT_LANES; i++) {
            normal.mean[i] = normals[i].mean;
            normal.factor[i] = normals[i].short_factor;
            normal.shift[i] = normals[i].shift;
        }
        channels_last_gather(task, &filters, channel, DML_FLOAT_LANES);
        channel_block_fill(memory, plan, batch, channel, row * stride - task->padding[1], height);
        if (task->window[2] == 5)
            channel_block_add(plan, sums, memory, rows, &filters, normals ? &normal : NULL, 5, (int)stride);
        else if (stride == 1)
            channel_block_add(plan, sums, memory, rows, &filters, normals ? &normal : NULL, 3, 1);
        else
            channel_block_add(plan, sums, memory, rows, &filters, normals ? &normal : NULL, 3, 2);
        if (task->bytes.is_there)
            channel_block_store_bytes(task, sums, (float *)memory, output, channel, rows);
        else
            channel_block_from_pixels(sums, output, rows, columns, task->output_strides[1], task->output_strides[3]);
        dml_elementwise_finish_block(&task->post_ops.epilogue, batch, channel, DML_FLOAT_LANES, row * columns,
                                     rows * columns);
    }
}
#endif
