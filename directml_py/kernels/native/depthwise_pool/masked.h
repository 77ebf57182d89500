/* Products with small filters, means and maxima over planes of FLOAT32, which are read in place by masked loads:
   padding is masked. */

#pragma once

#include "../common/vectors.h"
#include "../half/scalar.h"
#include "../softmax_norm/dispatch.h"
#include "../softmax_norm/norm.h"
#include "dispatch.h"
#include "vectors.h"
#include "packed.h"

/* Whether small windows slide over planes whose elements have `item` bytes and are contiguous in rows. */
DML_INLINE int depthwise_pool_is_near(const dml_depthwise_pool *task, int64_t item)
{
    int is_2d = task->sizes[0] == 1 && task->output_sizes[0] == 1 && task->window[0] == 1 && task->padding[0] == 0;
    int is_pool = task->function != DML_DEPTHWISE_POOL_PRODUCTS && !task->indices;
    int is_square =
        task->window[1] == task->window[2] && (task->window[2] == 3 || task->window[2] == (is_pool ? 2 : 5));
    int is_contiguous =
        task->x_strides[4] == item && task->output_strides[4] == item && !task->is_half && !task->stores_half;
    int is_uniform = task->strides[1] == task->strides[2] && task->dilations[1] == 1 && task->dilations[2] == 1;
    return (task->function == DML_DEPTHWISE_POOL_PRODUCTS || is_pool) && is_2d && is_square && is_contiguous &&
           is_uniform && task->strides[2] <= 2;
}

static int depthwise_pool_is_masked(const dml_depthwise_pool *task)
{
    return !task->bytes.is_there && depthwise_pool_is_near(task, 4);
}

/* The mask of the elements from `first` on that are in a row of `size`. */
DML_INLINE uint64_t depthwise_pool_inside(int64_t first, int64_t size)
{
    uint64_t bits = first >= size || first <= -64 ? 0 : ~(uint64_t)0;
    if (bits && first < 0)
        bits <<= -first;
    if (bits && size - first < 64)
        bits &= ((uint64_t)1 << (size - first)) - 1;
    return bits;
}

/* Loads the elements of the taps of a row, sixteen each; `inside` has a bit for each element that is in the row. With a
   stride of 2, two taps find theirs in the same vectors. */
DML_INLINE void depthwise_pool_load_taps(depthwise_pool_vector *source, const float *row, const uint64_t *inside,
                                         depthwise_pool_vector outside, const int width, const int stride)
{
    const __m512i even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i odd = _mm512_set_epi32(31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
    DML_UNROLLED for (int x = 0; x < width; x += stride)
    {
        __m512 low = _mm512_mask_loadu_ps((__m512)outside, (__mmask16)inside[x], row + x), high;
        source[x] = (depthwise_pool_vector)low;
        if (stride == 1)
            continue;
        high = _mm512_mask_loadu_ps((__m512)outside, (__mmask16)(inside[x] >> 16), row + x + 16);
        source[x] = (depthwise_pool_vector)_mm512_permutex2var_ps(low, even, high);
        if (x + 1 < width)
            source[x + 1] = (depthwise_pool_vector)_mm512_permutex2var_ps(low, odd, high);
        if (x + 3 == width) {
            /* The last tap's elements are those of this one, shifted by one. */
            __m128 next = _mm_mask_load_ss(_mm512_castps512_ps128((__m512)outside), (__mmask8)(inside[x] >> 32 & 1),
                                           row + x + 32);
            source[x + 2] = (depthwise_pool_vector)_mm512_alignr_epi32((__m512i)_mm512_castps128_ps512(next),
                                                                       (__m512i)source[x], 1);
            break;
        }
    }
}

/* Applies bias, normalization and activation to sums. */
DML_INLINE depthwise_pool_vector depthwise_pool_finished(const dml_depthwise_pool *task, depthwise_pool_vector total,
                                                         const dml_batch_norm_channel *normal)
{
    if (task->activation == DML_ACTIVATION_RELU) {
        depthwise_pool_mask bits = (depthwise_pool_mask)total & (total > 0.0f);
        memcpy(&total, &bits, sizeof total);
    } else if (task->activation == DML_ACTIVATION_LEAKY_RELU) {
        depthwise_pool_vector scaled = total * task->slope;
        total = (depthwise_pool_vector)_mm512_mask_blend_ps(
            _mm512_cmp_ps_mask((__m512)total, _mm512_setzero_ps(), _CMP_LT_OQ), (__m512)total, (__m512)scaled);
    } else if (task->activation == DML_ACTIVATION_CLIP) {
        /* For NaN and a bound, the second operand is the result. */
        __m512 least = _mm512_min_ps((__m512)total, _mm512_set1_ps(task->high));
        total = (depthwise_pool_vector)_mm512_max_ps(least, _mm512_set1_ps(task->low));
    }
    if (normal)
        total = (depthwise_pool_vector)batch_norm_lanes((softmax_norm_lanes)total, normal);
    return total;
}

/* Computes up to 16 columns of all rows of a unit, `height` rows at a time: each row of the input is read once. */
DML_INLINE void depthwise_pool_masked_columns(const dml_depthwise_pool *task, const depthwise_pool_unit *unit,
                                              int64_t column, float *out, const float *weights, float start,
                                              const dml_batch_norm_channel *normal, const int width, const int stride,
                                              const int height)
{
    int64_t left = (unit->coordinates[2] + column) * stride - task->padding[2], rest = unit->columns - column;
    __mmask16 stored = (__mmask16)(rest < 16 ? (1 << rest) - 1 : 0xffff);
    depthwise_pool_vector filter[25];
    uint64_t inside[5];
    for (int x = 0; x < width; x++)
        inside[x] = depthwise_pool_inside(left + x, task->sizes[2]);
    DML_UNROLLED for (int tap = 0; tap < width * width; tap++) filter[tap] = (depthwise_pool_vector){0} + weights[tap];
    for (int64_t row = 0; row < unit->rows; row += height) {
        depthwise_pool_vector totals[4];
        int64_t top = (unit->coordinates[1] + row) * stride - task->padding[1];
        DML_UNROLLED for (int r = 0; r < height; r++) totals[r] = (depthwise_pool_vector){0} + start;
        DML_UNROLLED for (int i = 0; i < (height - 1) * stride + width; i++)
        {
            depthwise_pool_vector source[5];
            const char *line = unit->x + (top + i) * task->x_strides[3];
            if (top + i >= 0 && top + i < task->sizes[1])
                depthwise_pool_load_taps(source, (const float *)line + left, inside, (depthwise_pool_vector){0}, width,
                                         stride);
            else
                memset(source, 0, sizeof source);
            DML_UNROLLED for (int r = 0; r < height; r++)
            {
                const int tap = i - r * stride;
                if (tap >= 0 && tap < width)
                    DML_UNROLLED for (int x = 0; x < width; x++) totals[r] =
                        totals[r] + filter[tap * width + x] * source[x];
            }
        }
        DML_UNROLLED for (int r = 0; r < height; r++)
        {
            if (row + r >= unit->rows)
                break;
            depthwise_pool_vector total = depthwise_pool_finished(task, totals[r], normal);
            _mm512_mask_storeu_ps((char *)out + (row + r) * task->output_strides[3], stored, (__m512)total);
        }
    }
}

#define DML_DEPTHWISE_POOL_NEAR_COLUMNS(WIDTH, STRIDE, HEIGHT)                                                         \
    static DML_ONCE void depthwise_pool_masked_##WIDTH##_##STRIDE(                                                     \
        const dml_depthwise_pool *task, const depthwise_pool_unit *unit, float *out, const float *weights,             \
        float start, const dml_batch_norm_channel *normal)                                                             \
    {                                                                                                                  \
        for (int64_t i = 0; i < unit->columns; i += 16)                                                                \
            depthwise_pool_masked_columns(task, unit, i, out + i, weights, start, normal, WIDTH, STRIDE, HEIGHT);      \
    }
DML_DEPTHWISE_POOL_NEAR_COLUMNS(3, 1, 4)
DML_DEPTHWISE_POOL_NEAR_COLUMNS(3, 2, 4)
DML_DEPTHWISE_POOL_NEAR_COLUMNS(5, 1, 2)
DML_DEPTHWISE_POOL_NEAR_COLUMNS(5, 2, 2)
#undef DML_DEPTHWISE_POOL_NEAR_COLUMNS

/* The same for maxima; possible NaN are compared one by one. */
DML_INLINE void depthwise_pool_masked_maxima(const dml_depthwise_pool *task, const depthwise_pool_unit *unit,
                                             int64_t plane, float *out, const int width, const int stride)
{
    enum { HEIGHT = 4 };
    const depthwise_pool_vector outside = (depthwise_pool_vector){0} - INFINITY;
    for (int64_t column = 0; column < unit->columns; column += 16) {
        int64_t left = (unit->coordinates[2] + column) * stride - task->padding[2], rest = unit->columns - column;
        __mmask16 stored = (__mmask16)(rest < 16 ? (1 << rest) - 1 : 0xffff);
        uint64_t inside[3];
        for (int x = 0; x < width; x++)
            inside[x] = depthwise_pool_inside(left + x, task->sizes[2]);
        for (int64_t row = 0; row < unit->rows; row += HEIGHT) {
            depthwise_pool_vector best[HEIGHT];
            int64_t top = (unit->coordinates[1] + row) * stride - task->padding[1];
            DML_UNROLLED for (int r = 0; r < HEIGHT; r++) best[r] = outside;
            DML_UNROLLED for (int i = 0; i < (HEIGHT - 1) * stride + width; i++)
            {
                depthwise_pool_vector source[3], most = outside;
                if (top + i < 0 || top + i >= task->sizes[1])
                    continue;
                depthwise_pool_load_taps(source, (const float *)(unit->x + (top + i) * task->x_strides[3]) + left,
                                         inside, outside, width, stride);
                DML_UNROLLED for (int x = 0; x < width; x++) most = depthwise_pool_larger(source[x], most);
                DML_UNROLLED for (int r = 0; r < HEIGHT; r++) if (i - r * stride >= 0 && i - r * stride < width)
                    best[r] = depthwise_pool_larger(most, best[r]);
            }
            DML_UNROLLED for (int r = 0; r < HEIGHT; r++)
            {
                float *target = (float *)((char *)(out + column) + (row + r) * task->output_strides[3]);
                if (row + r >= unit->rows)
                    break;
                _mm512_mask_storeu_ps(target, stored, (__m512)best[r]);
                if (_mm512_mask_cmp_ps_mask(stored, (__m512)best[r], (__m512)outside, _CMP_EQ_OQ)) {
                    dml_depthwise_pool_position position = {
                        unit->x, plane, {0, unit->coordinates[1] + row + r, unit->coordinates[2] + column}};
                    depthwise_pool_mend(task, &position, target, rest < 16 ? rest : 16);
                }
            }
        }
    }
}

/* The same for means: sums of columns first, and then of these, as the kernels for all windows add them up. */
DML_INLINE void depthwise_pool_masked_means(const dml_depthwise_pool *task, const depthwise_pool_unit *unit, float *out,
                                            const int width, const int stride)
{
    enum { HEIGHT = 4 };
    const depthwise_pool_vector nothing = {0};
    const float *counts[] = {(const float *)task->counts[0], (const float *)task->counts[1],
                             (const float *)task->counts[2]};
    for (int64_t column = 0; column < unit->columns; column += 16) {
        int64_t left = (unit->coordinates[2] + column) * stride - task->padding[2], rest = unit->columns - column;
        __mmask16 stored = (__mmask16)(rest < 16 ? (1 << rest) - 1 : 0xffff);
        depthwise_pool_vector divisors =
            (depthwise_pool_vector)_mm512_maskz_loadu_ps(stored, counts[2] + unit->coordinates[2] + column);
        uint64_t inside[3];
        for (int x = 0; x < width; x++)
            inside[x] = depthwise_pool_inside(left + x, task->sizes[2]);
        for (int64_t row = 0; row < unit->rows; row += HEIGHT) {
            depthwise_pool_vector sums[HEIGHT][3];
            int64_t top = (unit->coordinates[1] + row) * stride - task->padding[1];
            DML_UNROLLED for (int r = 0; r < HEIGHT; r++) DML_UNROLLED for (int x = 0; x < width; x++) sums[r][x] =
                nothing;
            DML_UNROLLED for (int i = 0; i < (HEIGHT - 1) * stride + width; i++)
            {
                depthwise_pool_vector source[3];
                if (top + i < 0 || top + i >= task->sizes[1])
                    continue;
                depthwise_pool_load_taps(source, (const float *)(unit->x + (top + i) * task->x_strides[3]) + left,
                                         inside, nothing, width, stride);
                DML_UNROLLED for (int r = 0; r < HEIGHT; r++) if (i - r * stride >= 0 && i - r * stride < width)
                    DML_UNROLLED for (int x = 0; x < width; x++) sums[r][x] += source[x];
            }
            DML_UNROLLED for (int r = 0; r < HEIGHT; r++)
            {
                depthwise_pool_vector total = sums[r][0];
                if (row + r >= unit->rows)
                    break;
                DML_UNROLLED for (int x = 1; x < width; x++) total += sums[r][x];
                total /= counts[0][0] * counts[1][unit->coordinates[1] + row + r] * divisors;
                _mm512_mask_storeu_ps((char *)(out + column) + (row + r) * task->output_strides[3], stored,
                                      (__m512)total);
            }
        }
    }
}

#define DML_DEPTHWISE_POOL_NEAR_POOLS(WIDTH, STRIDE)                                                                   \
    static DML_ONCE void depthwise_pool_pools_##WIDTH##_##STRIDE(                                                      \
        const dml_depthwise_pool *task, const depthwise_pool_unit *unit, int64_t plane, float *out)                    \
    {                                                                                                                  \
        if (task->function == DML_DEPTHWISE_POOL_MEAN)                                                                 \
            depthwise_pool_masked_means(task, unit, out, WIDTH, STRIDE);                                               \
        else                                                                                                           \
            depthwise_pool_masked_maxima(task, unit, plane, out, WIDTH, STRIDE);                                       \
    }
DML_DEPTHWISE_POOL_NEAR_POOLS(2, 1)
DML_DEPTHWISE_POOL_NEAR_POOLS(2, 2)
DML_DEPTHWISE_POOL_NEAR_POOLS(3, 1)
DML_DEPTHWISE_POOL_NEAR_POOLS(3, 2)
#undef DML_DEPTHWISE_POOL_NEAR_POOLS

static void depthwise_pool_masked(const dml_depthwise_pool_plan *plan, const depthwise_pool_unit *unit, int64_t plane)
{
    const dml_depthwise_pool *task = plan->task;
    int64_t batch = plane / task->channels, channel = plane % task->channels;
    char *output = (char *)task->output + batch * task->output_strides[0] + channel * task->output_strides[1] +
                   unit->coordinates[1] * task->output_strides[3] + unit->coordinates[2] * 4;
    float weights[25], start = 0.0f;
    if (task->function != DML_DEPTHWISE_POOL_PRODUCTS) {
        if (task->window[2] == 2)
            (task->strides[2] == 1 ? depthwise_pool_pools_2_1 : depthwise_pool_pools_2_2)(task, unit, plane,
                                                                                          (float *)output);
        else
            (task->strides[2] == 1 ? depthwise_pool_pools_3_1 : depthwise_pool_pools_3_2)(task, unit, plane,
                                                                                          (float *)output);
        return;
    }
    dml_depthwise_pool_weights(task, channel, weights);
    if (task->bias)
        start = dml_load_float((const char *)task->bias + channel * task->bias_stride, 0);
    const dml_batch_norm_channel *normal = dml_batch_norm_channel_of(&task->normalization, channel);
    const int is_plain = task->strides[2] == 1;
    (task->window[2] == 3 ? is_plain ? depthwise_pool_masked_3_1 : depthwise_pool_masked_3_2
     : is_plain           ? depthwise_pool_masked_5_1
                          : depthwise_pool_masked_5_2)(task, unit, (float *)output, weights, start, normal);
}
