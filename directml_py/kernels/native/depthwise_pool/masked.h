/* Products with small filters, means and maxima over planes of FLOAT32, which are read in place by masked loads:
   padding is masked. */

#pragma once

#include "../common/vectors.h"
#include "../half/scalar.h"
#include "../softmax_norm/activation.h"
#include "../softmax_norm/dispatch.h"
#include "../softmax_norm/norm.h"
#include "dispatch.h"
#include "vectors.h"
#include "packed.h"

/* Whether small windows slide over planes of FLOAT32 or bytes that are contiguous in rows. */
static int depthwise_pool_is_near(const dml_depthwise_pool *task)
{
    const int64_t item = task->bytes.is_there ? 1 : 4;
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

/* For each tap of a row, which elements of the two vectors from the tap on are in the row. */
typedef dml_mask depthwise_pool_inside_row[5][2];

/* A vector of `count` columns of the output from `column` on, for which the first tap begins at `left`; the masks of the
   first vector of a row, and of the last one that has any, and the columns that they are of. */
typedef struct {
    int64_t column, left, count, columns[2];
    depthwise_pool_inside_row masks[2];
} depthwise_pool_vector;

/* Goes to the vector at `column`, or, so that it is whole, at the last columns. Gives the index of its masks, or -1 if
   all of its taps are inside the row. */
DML_INLINE int depthwise_pool_move(depthwise_pool_vector *vector, const dml_depthwise_pool *task,
                                   const depthwise_pool_unit *unit, int64_t column, const int width, const int stride)
{
    const int64_t last = unit->columns - DML_FLOAT_LANES, size = task->sizes[2];
    vector->count = last < 0 ? unit->columns : DML_FLOAT_LANES;
    vector->column = column = last < 0 ? column : dml_least(column, last);
    const int64_t left = vector->left = (unit->coordinates[2] + column) * stride - task->padding[2];
    const int i = column > 0;
    if (last >= 0 && left >= 0 && left + DML_FLOAT_LANES * stride + width - 1 <= size)
        return -1;
    for (int64_t x = 0; vector->columns[i] != column && x < width; x++)
        for (int j = 0; j < 2; j++)
            vector->masks[i][x][j] = dml_mask_of(depthwise_pool_inside(left + x, size) >> j * DML_FLOAT_LANES);
    vector->columns[i] = column;
    return i;
}

DML_INLINE dml_floats depthwise_pool_load(dml_floats outside, dml_mask mask, const float *from, const int whole)
{
    return whole ? *(const dml_floats *)from : dml_load_lanes(outside, mask, from);
}

/* Every second element of two vectors. With AVX2 they are in the order that shuffles within half a vector leave them in,
   until `depthwise_pool_in_order` has sums or maxima of them. */
#if defined(__AVX512F__)
#define DML_DEPTHWISE_POOL_SPLIT(LOW, HIGH, FIRST) DML_DEPTHWISE_POOL_SECONDS(LOW, HIGH, FIRST)
#else
#define DML_DEPTHWISE_POOL_SPLIT(LOW, HIGH, FIRST)                                                                     \
    (dml_floats) _mm256_shuffle_ps((__m256)(LOW), (__m256)(HIGH), (FIRST) ? 0xdd : 0x88)
#endif

DML_INLINE dml_floats depthwise_pool_in_order(dml_floats values, const int stride)
{
#if defined(__AVX512F__)
    (void)stride;
    return values;
#else
    return stride == 1 ? values : (dml_floats)_mm256_permute4x64_pd((__m256d)values, 0xd8);
#endif
}

/* Loads the elements of the taps of a row, a vector each; with `whole`, all of them are inside. With a stride of 2, two
   taps find theirs in the same vectors. */
DML_INLINE void depthwise_pool_load_taps(dml_floats *source, const float *row, const depthwise_pool_inside_row *inside,
                                         dml_floats outside, const int width, const int stride, const int whole)
{
    DML_UNROLLED for (int x = 0; x < width; x += stride)
    {
        const dml_floats low = depthwise_pool_load(outside, (*inside)[x][0], row + x, whole);
        source[x] = low;
        if (stride == 1)
            continue;
        const dml_floats high =
            depthwise_pool_load(outside, (*inside)[x][1], row + x + DML_FLOAT_LANES, whole);
        source[x] = DML_DEPTHWISE_POOL_SPLIT(low, high, 0);
        if (x + 1 < width)
            source[x + 1] = DML_DEPTHWISE_POOL_SPLIT(low, high, 1);
    }
}

/* Applies bias, normalization and activation to sums. */
DML_INLINE dml_floats depthwise_pool_finished(const dml_depthwise_pool *task, dml_floats total,
                                              const dml_batch_norm_channel *normal)
{
    total = activated(total, &task->post_ops, task->post_ops.activation);
    if (normal)
        total = (dml_floats)batch_norm_lanes((softmax_norm_lanes)total, normal);
    return total;
}

/* Computes a vector of columns of `height` rows from `row` on: each row of the input is read once. */
DML_INLINE void depthwise_pool_masked_sums(const dml_depthwise_pool *task, const depthwise_pool_unit *unit, int64_t row,
                                           const depthwise_pool_vector *vector, int masks, float *out,
                                           const int width, const int stride, const int height, const int whole,
                                           const dml_floats *filter, float start, const dml_batch_norm_channel *normal,
                                           const int by_rows)
{
    dml_floats totals[4];
    const int64_t top = (unit->coordinates[1] + row) * stride - task->padding[1];
    DML_UNROLLED for (int r = 0; r < height; r++) totals[r] = (dml_floats){0} + start;
    DML_UNROLLED for (int i = 0; i < (height - 1) * stride + width; i++)
    {
        dml_floats source[5] = {{0}};
        const float *line = (const float *)(unit->x + (top + i) * task->x_strides[3]);
        if (top + i >= 0 && top + i < task->sizes[1])
            depthwise_pool_load_taps(source, line + vector->left, &vector->masks[masks], (dml_floats){0}, width,
                                     stride, whole);
        DML_UNROLLED for (int r = 0; r < height; r++)
        {
            const int tap = i - r * stride;
            dml_floats sum = totals[r];
            if (tap < 0 || tap >= width)
                continue;
            if (by_rows)
                sum = (dml_floats){0};
            DML_UNROLLED for (int x = 0; x < width; x++) sum += filter[tap * width + x] * source[x];
            if (by_rows)
                sum += totals[r];
            totals[r] = sum;
        }
    }
    DML_UNROLLED for (int r = 0; r < height; r++)
    {
        if (row + r >= unit->rows)
            break;
        dml_store_some((float *)((char *)(out + vector->column) + (row + r) * task->output_strides[3]),
                       depthwise_pool_finished(task, depthwise_pool_in_order(totals[r], stride), normal),
                       vector->count);
    }
}

/* Calls KERNEL for each vector of a unit, some rows at a time, with its masks, or none if it is inside. */
#define DML_DEPTHWISE_POOL_EACH_VECTOR(KERNEL, WIDTH, STRIDE, HEIGHT, ...)                                             \
    depthwise_pool_vector vector = {.columns = {-1, -1}};                                                              \
    for (int64_t row = 0; row < unit->rows; row += HEIGHT)                                                             \
        for (int64_t i = 0; i < unit->columns; i += DML_FLOAT_LANES) {                                                 \
            const int masks = depthwise_pool_move(&vector, task, unit, i, WIDTH, STRIDE);                              \
            if (masks < 0)                                                                                             \
                KERNEL(task, unit, row, &vector, 0, out, WIDTH, STRIDE, HEIGHT, 1, __VA_ARGS__);                       \
            else                                                                                                       \
                KERNEL(task, unit, row, &vector, masks, out, WIDTH, STRIDE, HEIGHT, 0, __VA_ARGS__);                   \
        }

#define DML_DEPTHWISE_POOL_NEAR_SUMS(NAME, WIDTH, STRIDE, HEIGHT, BY_ROWS)                                             \
    static DML_ONCE void depthwise_pool_masked_##NAME(                                                                 \
        const dml_depthwise_pool *task, const depthwise_pool_unit *unit, float *out, const float *weights,             \
        float start, const dml_batch_norm_channel *normal)                                                             \
    {                                                                                                                  \
        dml_floats filter[25];                                                                                         \
        DML_UNROLLED for (int tap = 0; tap < WIDTH * WIDTH; tap++) filter[tap] = (dml_floats){0} + weights[tap];       \
        DML_DEPTHWISE_POOL_EACH_VECTOR(depthwise_pool_masked_sums, WIDTH, STRIDE, HEIGHT, filter, start, normal,       \
                                       BY_ROWS)                                                                        \
    }
DML_DEPTHWISE_POOL_NEAR_SUMS(3_1, 3, 1, 4, 0)
DML_DEPTHWISE_POOL_NEAR_SUMS(3_1_by_rows, 3, 1, 4, 1)
DML_DEPTHWISE_POOL_NEAR_SUMS(3_2, 3, 2, 4, 0)
DML_DEPTHWISE_POOL_NEAR_SUMS(5_1, 5, 1, 2, 0)
DML_DEPTHWISE_POOL_NEAR_SUMS(5_1_by_rows, 5, 1, 2, 1)
DML_DEPTHWISE_POOL_NEAR_SUMS(5_2, 5, 2, 2, 0)
#undef DML_DEPTHWISE_POOL_NEAR_SUMS

/* The same for maxima and means. Possible NaN among maxima are compared one by one. Means are sums of columns first,
   and then of these, as the kernels for all windows add them up. */
DML_INLINE void depthwise_pool_masked_pools(const dml_depthwise_pool *task, const depthwise_pool_unit *unit,
                                            int64_t row, const depthwise_pool_vector *vector, int masks, float *out,
                                            const int width, const int stride, const int height, const int whole,
                                            int64_t plane, const int is_mean)
{
    const dml_floats outside = (dml_floats){0} - (is_mean ? 0.0f : INFINITY);
    const float *counts[] = {(const float *)task->counts[0], (const float *)task->counts[1],
                             (const float *)task->counts[2]};
    const int columns = is_mean ? width : 1;
    const int64_t column = unit->coordinates[2] + vector->column,
                  top = (unit->coordinates[1] + row) * stride - task->padding[1];
    dml_floats results[4][3];
    DML_UNROLLED for (int r = 0; r < height; r++)
        DML_UNROLLED for (int x = 0; x < columns; x++) results[r][x] = outside;
    DML_UNROLLED for (int i = 0; i < (height - 1) * stride + width; i++)
    {
        dml_floats source[3], most = outside;
        if (top + i < 0 || top + i >= task->sizes[1])
            continue;
        depthwise_pool_load_taps(source, (const float *)(unit->x + (top + i) * task->x_strides[3]) + vector->left,
                                 &vector->masks[masks], outside, width, stride, whole);
        DML_UNROLLED for (int x = 0; x < width; x++) most = dml_larger(source[x], most);
        DML_UNROLLED for (int r = 0; r < height; r++)
        {
            if (i - r * stride < 0 || i - r * stride >= width)
                continue;
            DML_UNROLLED for (int x = 0; x < columns; x++)
                if (is_mean)
                    results[r][x] += source[x];
                else
                    results[r][x] = dml_larger(most, results[r][x]);
        }
    }
    DML_UNROLLED for (int r = 0; r < height; r++)
    {
        float *target = (float *)((char *)(out + vector->column) + (row + r) * task->output_strides[3]);
        const int64_t y = unit->coordinates[1] + row + r;
        dml_floats result = depthwise_pool_in_order(results[r][0], stride);
        if (row + r >= unit->rows)
            break;
        if (is_mean) {
            DML_UNROLLED for (int x = 1; x < width; x++) result += depthwise_pool_in_order(results[r][x], stride);
            result /= counts[0][0] * counts[1][y] * dml_load_some(counts[2] + column, vector->count);
        }
        dml_store_some(target, result, vector->count);
        if (!is_mean && dml_equal_lanes(result, outside))
            depthwise_pool_mend(task, (dml_depthwise_pool_position){unit->x, plane, {0, y, column}}, 0, target,
                                vector->count);
    }
}

#define DML_DEPTHWISE_POOL_NEAR_POOLS(NAME, WIDTH, STRIDE, IS_MEAN)                                                    \
    static DML_ONCE void depthwise_pool_##NAME(const dml_depthwise_pool *task, const depthwise_pool_unit *unit,        \
                                               int64_t plane, float *out)                                              \
    {                                                                                                                  \
        DML_DEPTHWISE_POOL_EACH_VECTOR(depthwise_pool_masked_pools, WIDTH, STRIDE, 4, plane, IS_MEAN)                  \
    }
DML_DEPTHWISE_POOL_NEAR_POOLS(maxima_2_1, 2, 1, 0)
DML_DEPTHWISE_POOL_NEAR_POOLS(maxima_2_2, 2, 2, 0)
DML_DEPTHWISE_POOL_NEAR_POOLS(maxima_3_1, 3, 1, 0)
DML_DEPTHWISE_POOL_NEAR_POOLS(maxima_3_2, 3, 2, 0)
DML_DEPTHWISE_POOL_NEAR_POOLS(means_2_1, 2, 1, 1)
DML_DEPTHWISE_POOL_NEAR_POOLS(means_2_2, 2, 2, 1)
DML_DEPTHWISE_POOL_NEAR_POOLS(means_3_1, 3, 1, 1)
DML_DEPTHWISE_POOL_NEAR_POOLS(means_3_2, 3, 2, 1)
#undef DML_DEPTHWISE_POOL_NEAR_POOLS

static void depthwise_pool_masked(const dml_depthwise_pool_plan *plan, const depthwise_pool_unit *unit, int64_t plane)
{
    const dml_depthwise_pool *task = plan->task;
    int64_t batch = plane / task->channels, channel = plane % task->channels;
    char *output = (char *)task->output + batch * task->output_strides[0] + channel * task->output_strides[1] +
                   unit->coordinates[1] * task->output_strides[3] + unit->coordinates[2] * 4;
    float weights[25], start = 0.0f;
    if (task->function != DML_DEPTHWISE_POOL_PRODUCTS) {
        static void (*const pools[2][2][2])(const dml_depthwise_pool *, const depthwise_pool_unit *, int64_t,
                                            float *) = {
            {{depthwise_pool_maxima_2_1, depthwise_pool_maxima_2_2},
             {depthwise_pool_maxima_3_1, depthwise_pool_maxima_3_2}},
            {{depthwise_pool_means_2_1, depthwise_pool_means_2_2},
             {depthwise_pool_means_3_1, depthwise_pool_means_3_2}}};
        pools[task->function == DML_DEPTHWISE_POOL_MEAN][task->window[2] - 2][task->strides[2] - 1](
            task, unit, plane, (float *)output);
        return;
    }
    dml_depthwise_pool_weights(task, channel, weights);
    if (task->bias)
        start = dml_load_float((const char *)task->bias + channel * task->bias_stride, 0);
    const dml_batch_norm_channel *normal = dml_batch_norm_channel_of(&task->post_ops.normalization, channel);
    const int is_small = task->window[2] == 3;
    (plan->is_by_rows        ? is_small ? depthwise_pool_masked_3_1_by_rows : depthwise_pool_masked_5_1_by_rows
     : task->strides[2] == 1 ? is_small ? depthwise_pool_masked_3_1 : depthwise_pool_masked_5_1
     : is_small              ? depthwise_pool_masked_3_2
                             : depthwise_pool_masked_5_2)(task, unit, (float *)output, weights, start, normal);
}
