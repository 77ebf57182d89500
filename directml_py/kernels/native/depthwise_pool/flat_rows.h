/* Products with small filters over planes with as many columns as the output, whose rows are contiguous: vectors run
   across the ends of rows. For each row of taps a vector is loaded once, and the elements of its neighbours are shifted
   in: unaligned loads cost twice as much as aligned ones. Elements of other rows are masked. */

#pragma once

#include "../common/dimensions.h"
#include "../common/vectors.h"
#include "../elementwise/requantize.h"
#include "../elementwise/requantize_lanes.h"
#include "../half/scalar.h"
#include "../softmax_norm/dispatch.h"
#include "dispatch.h"
#include "vectors.h"
#include "packed.h"
#include "masked.h"

/* Threads share at least this many planes. */
enum { DML_DEPTHWISE_POOL_PLANES = 16 };

static int64_t depthwise_pool_period(int64_t size)
{
    int64_t period = size;
    for (int i = 0; i < 4 && period % 2 == 0; i++)
        period /= 2;
    return period;
}

/* The mask of the lanes of a vector at `offset` that are on the plane. */
DML_INLINE __mmask16 depthwise_pool_on_plane(int64_t offset, int64_t elements)
{
    const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    return _mm512_cmplt_epu32_mask(_mm512_add_epi32(lanes, _mm512_set1_epi32((int)offset)),
                                   _mm512_set1_epi32((int)elements));
}

static void depthwise_pool_find_masks(dml_depthwise_pool_masks *masks, const dml_depthwise_pool *task)
{
    int64_t width = task->window[2], size = task->sizes[2], count = task->output_sizes[1] * size;
    masks->elements = task->sizes[1] * size;
    masks->vectors = dml_quotient_up(count, 16);
    masks->last = (__mmask16)(0xffff >> (16 * masks->vectors - count));
    masks->period = depthwise_pool_period(size);
    for (int64_t y = 0; y < width; y++)
        masks->above[y] = (task->padding[1] - y) * size;
    for (int64_t v = 0; v < masks->period; v++)
        for (int64_t x = 0; x < width; x++) {
            int64_t left = task->padding[2] - x, first = left > 0 ? left : 0, behind = left < 0 ? size + left : size;
            masks->columns[v][x] = 0;
            for (int64_t y = 16 * v / size; y * size < 16 * v + 16 && first < behind; y++)
                masks->columns[v][x] |= (__mmask16)depthwise_pool_inside(16 * v - y * size - first, behind - first);
        }
    /* A vector reads the one behind it, too. */
    masks->first = masks->above[0] > 0 ? dml_quotient_up(masks->above[0], 16) : 0;
    masks->behind = (masks->elements + masks->above[width - 1]) / 16 - 1;
}

static int depthwise_pool_plan_flat(dml_depthwise_pool_masks *masks, const dml_depthwise_pool *task)
{
    int64_t item = task->bytes.is_there ? 1 : 4, row = task->sizes[2] * item;
    int is_packed = task->weight_strides[3] == item && task->weight_strides[2] == item * task->window[2];
    const int is_flat = depthwise_pool_is_near(task) && (is_packed || item == 4) &&
                        task->function == DML_DEPTHWISE_POOL_PRODUCTS && task->strides[2] == 1 &&
                        task->output_sizes[2] == task->sizes[2] && task->padding[2] == task->window[2] / 2 &&
                        task->x_strides[3] == row && task->output_strides[3] == row &&
                        depthwise_pool_period(task->sizes[2]) <= DML_DEPTHWISE_POOL_PERIOD &&
                        task->sizes[1] * task->sizes[2] < INT32_MAX / 2 &&
                        task->output_sizes[1] * task->output_sizes[2] < INT32_MAX / 2 &&
                        task->batches * task->channels >= DML_DEPTHWISE_POOL_PLANES;
    if (is_flat)
        depthwise_pool_find_masks(masks, task);
    return is_flat;
}

/* How bytes are read: signed ones are flipped, which shifts the number of 0 that is subtracted. */
typedef struct {
    __m128i flip;
    __m512 zero;
} depthwise_pool_read;

DML_INLINE depthwise_pool_read depthwise_pool_read_of(float zero, int is_signed)
{
    return (depthwise_pool_read){_mm_set1_epi8(is_signed ? -128 : 0), _mm512_set1_ps(is_signed ? zero + 128.0f : zero)};
}

/* Loads the elements from `offset` on, with 0 where `source` masks them. */
DML_INLINE dml_floats depthwise_pool_flat_load(const void *x, int64_t offset, __mmask16 source,
                                               const depthwise_pool_read *read, const int are_bytes)
{
    if (!are_bytes)
        return (dml_floats)_mm512_maskz_loadu_ps(source, (const float *)x + offset);
    __m128i bytes = _mm_xor_si128(_mm_maskz_loadu_epi8(source, (const char *)x + offset), read->flip);
    return (dml_floats)_mm512_maskz_sub_ps(source, _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(bytes)),
                                           read->zero);
}

/* The elements `by` lanes beside a vector, which has others before and behind it. */
DML_INLINE dml_floats depthwise_pool_beside(__mmask16 mask, const dml_floats *three, const int by)
{
    __m512i before = (__m512i)three[0], here = (__m512i)three[1], behind = (__m512i)three[2];
    switch (by) {
    case -2:
        return (dml_floats)_mm512_maskz_alignr_epi32(mask, here, before, 14);
    case -1:
        return (dml_floats)_mm512_maskz_alignr_epi32(mask, here, before, 15);
    case 1:
        return (dml_floats)_mm512_maskz_alignr_epi32(mask, behind, here, 1);
    case 2:
        return (dml_floats)_mm512_maskz_alignr_epi32(mask, behind, here, 2);
    default:
        return three[1];
    }
}

/* For bytes, `to` is the only epilogue. */
DML_INLINE void depthwise_pool_flat_plane(const dml_depthwise_pool *task, const dml_depthwise_pool_masks *masks,
                                          const void *x, void *out, const float *weights, float start,
                                          const dml_batch_norm_channel *normal, const depthwise_pool_read *read,
                                          const dml_requantization *to, const int are_bytes, const int width)
{
    dml_floats filter[25], source[5][3];
    DML_UNROLLED for (int tap = 0; tap < width * width; tap++) filter[tap] = (dml_floats){0} + weights[tap];
    DML_UNROLLED for (int y = 0; y < width; y++)
    {
        int64_t offset = -masks->above[y];
        source[y][1] = depthwise_pool_flat_load(x, offset - 16, depthwise_pool_on_plane(offset - 16, masks->elements),
                                                read, are_bytes);
        source[y][2] =
            depthwise_pool_flat_load(x, offset, depthwise_pool_on_plane(offset, masks->elements), read, are_bytes);
    }
    for (int64_t v = 0, k = 0; v < masks->vectors; v++) {
        const __mmask16 *columns = masks->columns[k];
        dml_floats total = (dml_floats){0} + start;
        k = k + 1 < masks->period ? k + 1 : 0;
        DML_UNROLLED for (int y = 0; y < width; y++)
        {
            int64_t offset = 16 * (v + 1) - masks->above[y];
            source[y][0] = source[y][1];
            source[y][1] = source[y][2];
            source[y][2] = v >= masks->first && v < masks->behind
                               ? depthwise_pool_flat_load(x, offset, 0xffff, read, are_bytes)
                               : depthwise_pool_flat_load(x, offset, depthwise_pool_on_plane(offset, masks->elements),
                                                          read, are_bytes);
        }
        DML_UNROLLED for (int y = 0; y < width; y++)
        {
            dml_floats sum = {0};
            DML_UNROLLED for (int i = 0; i < width; i++) sum +=
                filter[y * width + i] * depthwise_pool_beside(columns[i], source[y], i - width / 2);
            total += sum;
        }
        const __mmask16 stored = v < masks->vectors - 1 ? 0xffff : masks->last;
        if (are_bytes) {
            __m128i results = requantize_lanes(_mm512_cvtps_epi32((__m512)total), stored, to);
            _mm_mask_storeu_epi8((char *)out + 16 * v, stored, results);
            continue;
        }
        total = depthwise_pool_finished(task, total, normal);
        if (v < masks->vectors - 1)
            _mm512_storeu_ps((float *)out + 16 * v, (__m512)total);
        else
            _mm512_mask_storeu_ps((float *)out + 16 * v, stored, (__m512)total);
    }
}

#define DML_DEPTHWISE_POOL_FLAT_PLANE(NAME, BYTES, WIDTH)                                                              \
    static DML_ONCE void NAME(const dml_depthwise_pool *task, const dml_depthwise_pool_masks *masks, const void *x,    \
                              void *out, const float *weights, float start, const dml_batch_norm_channel *normal,      \
                              const depthwise_pool_read *read, const dml_requantization *to)                           \
    {                                                                                                                  \
        depthwise_pool_flat_plane(task, masks, x, out, weights, start, normal, read, to, BYTES, WIDTH);                \
    }
DML_DEPTHWISE_POOL_FLAT_PLANE(depthwise_pool_flat_3, 0, 3)
DML_DEPTHWISE_POOL_FLAT_PLANE(depthwise_pool_flat_5, 0, 5)
DML_DEPTHWISE_POOL_FLAT_PLANE(depthwise_pool_flat_bytes_3, 1, 3)
DML_DEPTHWISE_POOL_FLAT_PLANE(depthwise_pool_flat_bytes_5, 1, 5)
#undef DML_DEPTHWISE_POOL_FLAT_PLANE

/* Dequantizes a filter of bytes, which is contiguous. */
DML_INLINE void depthwise_pool_flat_weights(const dml_depthwise_pool *task, int64_t channel, float *weights)
{
    const dml_depthwise_pool_bytes *bytes = &task->bytes;
    const depthwise_pool_read read = depthwise_pool_read_of(
        dml_depthwise_pool_byte(bytes->weight_zero, channel * bytes->weight_zero_stride, bytes->weighs_signed),
        bytes->weighs_signed);
    const int64_t taps = task->window[1] * task->window[2];
    for (int64_t tap = 0; tap < taps; tap += 16)
        *(dml_floats *)(weights + tap) =
            depthwise_pool_flat_load((const char *)task->weights + channel * task->weight_strides[0], tap,
                                     depthwise_pool_on_plane(tap, taps), &read, 1);
}

/* Computes the planes from `begin` to `end`. */
static void depthwise_pool_flat(const dml_depthwise_pool_plan *plan, int64_t begin, int64_t end)
{
    const dml_depthwise_pool *task = plan->task;
    const dml_depthwise_pool_bytes *bytes = &task->bytes;
    const int is_small = task->window[2] == 3, are_bytes = bytes->is_there;
    void (*plane)(const dml_depthwise_pool *, const dml_depthwise_pool_masks *, const void *, void *, const float *,
                  float, const dml_batch_norm_channel *, const depthwise_pool_read *, const dml_requantization *) =
        are_bytes  ? is_small ? depthwise_pool_flat_bytes_3 : depthwise_pool_flat_bytes_5
        : is_small ? depthwise_pool_flat_3
                   : depthwise_pool_flat_5;
    depthwise_pool_read read;
    dml_requantization to;
    /* Divisions take as long as a small plane. */
    int64_t batch = begin / task->channels, channel = begin % task->channels;
    for (; begin < end; begin++) {
        int64_t source = task->multiplier == 1 ? channel : channel / task->multiplier;
        const char *x = (const char *)task->x + batch * task->x_strides[0] + source * task->x_strides[1];
        char *output = (char *)task->output + batch * task->output_strides[0] + channel * task->output_strides[1];
        const dml_batch_norm_channel *normal = dml_batch_norm_channel_of(&task->post_ops.normalization, channel);
        float weights[32], start = 0.0f;
        if (are_bytes) {
            read = depthwise_pool_read_of(
                dml_depthwise_pool_byte(bytes->zero, channel * bytes->zero_stride, bytes->is_signed), bytes->is_signed);
            to = dml_depthwise_pool_requantization(task, channel, 1.0);
            depthwise_pool_flat_weights(task, channel, weights);
        } else {
            dml_depthwise_pool_weights(task, channel, weights);
            if (task->bias)
                start = dml_load_float((const char *)task->bias + channel * task->bias_stride, 0);
        }
        plane(task, &plan->masks, x, output, weights, start, normal, &read, &to);
        if (++channel == task->channels) {
            channel = 0;
            batch++;
        }
    }
}
