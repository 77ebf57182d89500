/* The kernels of softmax and of normalizations, and their table. */

#include "../common/compiler.h"
#include "../elementwise/float64_functions.h"
#include "../half/convert.h"

#include "batch_norm_columns.h"
#include "dispatch.h"
#include "mean_variance_columns.h"
#include "norm.h"
#include "softmax.h"

/* The sum of x - x_mean, and that of its products with y - y_mean; the compiler drops the one that a caller has no use
   for. */
DML_INLINE double softmax_norm_add(const float *x, double x_mean, const float *y, double y_mean, int64_t n,
                                   double *products, dml_softmax_norm_next next)
{
    dml_doubles sums[4] = {{0}, {0}, {0}, {0}}, weighted[4] = {{0}, {0}, {0}, {0}};
    double rest = 0.0, more = 0.0;
    int64_t i = 0;
    (void)next;
    for (; i + 4 * DML_LANES <= n; i += 4 * DML_LANES) {
        DML_SOFTMAX_NORM_FETCH(next, i, 4 * DML_LANES)
        for (int j = 0; j < 4; j++) {
            dml_doubles value = DML_SOFTMAX_NORM_LOAD(x + i + j * DML_LANES) - x_mean;
            sums[j] += value;
            weighted[j] += value * (DML_SOFTMAX_NORM_LOAD(y + i + j * DML_LANES) - y_mean);
        }
    }
    for (; i < n; i++) {
        rest += (double)x[i] - x_mean;
        more += ((double)x[i] - x_mean) * ((double)y[i] - y_mean);
    }
    *products = softmax_norm_total(weighted) + more;
    return softmax_norm_total(sums) + rest;
}

/* The sum, and that of the squares. */
static DML_ONCE double softmax_norm_sums(const float *x, int64_t n, double *squares, dml_softmax_norm_next next)
{
    return softmax_norm_add(x, 0.0, x, 0.0, n, squares, next);
}

static DML_ONCE double softmax_norm_squares(const float *x, int64_t n, double mean, dml_softmax_norm_next next)
{
    double squares;
    softmax_norm_add(x, mean, x, mean, n, &squares, next);
    return squares;
}

/* The mean square of the differences from the mean: if its square and that of the elements do not tell, the row is read
   again. */
DML_INLINE double softmax_norm_variance(const float *x, int64_t n, double mean, double squares)
{
    double variance;
    if (softmax_norm_knows_variance(mean, squares / (double)n, &variance))
        return variance;
    return softmax_norm_squares(x, n, mean, (dml_softmax_norm_next){NULL, 0}) / (double)n;
}

/* The sum of a gradient, and that of its products with the differences from the mean. */
static DML_ONCE double softmax_norm_gradient_sums(const float *x, const float *gradient, int64_t n, double mean,
                                                  double *products)
{
    return softmax_norm_add(gradient, 0.0, x, mean, n, products, (dml_softmax_norm_next){NULL, 0});
}

/* (gradient - average - (x - mean) * slope) * factor. */
static DML_ONCE void softmax_norm_gradient_row(float *out, const float *x, const float *gradient, int64_t n,
                                               double mean, double average, double slope, double factor)
{
    int64_t i = 0;
    for (; i + DML_LANES <= n; i += DML_LANES) {
        dml_doubles through = (DML_SOFTMAX_NORM_LOAD(x + i) - mean) * slope;
        DML_SOFTMAX_NORM_STORE(out + i, (DML_SOFTMAX_NORM_LOAD(gradient + i) - average - through) * factor);
    }
    for (; i < n; i++)
        out[i] = (float)(((double)gradient[i] - average - ((double)x[i] - mean) * slope) * factor);
}

/* `more` are the gradient, the mean, the variance and the scale. */
static void softmax_norm_gradient(const dml_softmax_norm *task, int64_t n, float *out, const float *x,
                                  const float *const *more, float *results)
{
    const double mean = *more[1], inverse = 1.0 / sqrt((double)*more[2] + task->epsilon), factor = *more[3] * inverse;
    double products, sum = softmax_norm_gradient_sums(x, more[0], n, mean, &products);
    results[0] = (float)(products * inverse);
    results[1] = (float)sum;
    if (task->uses_mean)
        softmax_norm_gradient_row(out, x, more[0], n, mean, sum / (double)n, products / (double)n * inverse * inverse,
                                  factor);
    else
        softmax_norm_affine(out, more[0], n, 0.0, factor, NULL, NULL, -0.0, (dml_norm_activation){0});
}

/* `more`: the tensors that the function takes besides; `results`: what is stored once for the row. */
static void softmax_norm_one(const dml_softmax_norm *task, int64_t n, float *out, const float *x,
                             const float *const *more, float *results, dml_softmax_norm_next next)
{
    const float *scale = more[0], *bias = more[1];
    const int32_t *moves = task->moves + 2;
    double mean = 0.0, variance = 0.0, factor = 1.0, shift = -0.0, squares = 0.0;
    if (task->function == DML_SOFTMAX_NORM_SOFTMAX) {
        row_softmax(out, x, n, task->is_half, next);
        return;
    }
    if (task->function == DML_SOFTMAX_NORM_LOG_SOFTMAX) {
        row_log_softmax(out, x, n, task->is_half, next);
        return;
    }
    if (task->function == DML_SOFTMAX_NORM_BATCH_NORM) {
        factor = dml_softmax_norm_factor(*more[1], task->epsilon, *more[2]);
        const dml_batch_norm_channel to = dml_batch_norm_channel_by(*more[0], factor, *more[3], task->activation.relu);
        softmax_norm_give(out, x, n, &to);
        return;
    }
    if (task->function == DML_SOFTMAX_NORM_GRADIENT) {
        softmax_norm_gradient(task, n, out, x, more, results);
        return;
    }
    if (task->uses_mean)
        mean = softmax_norm_sums(x, n, &squares, next) / (double)n;
    if (task->uses_variance) {
        variance = task->uses_mean ? softmax_norm_variance(x, n, mean, squares)
                                   : softmax_norm_squares(x, n, 0.0, next) / (double)n;
        factor = softmax_norm_kept(task, &mean, &variance);
    } else if (task->is_half) {
        mean = dml_softmax_norm_half(mean);
    }
    results[0] = (float)mean;
    results[1] = (float)variance;
    if (scale && !moves[0]) {
        factor *= *scale;
        scale = NULL;
    }
    if (bias && !moves[1]) {
        shift = *bias;
        bias = NULL;
    }
    softmax_norm_affine_row(out, x, n, mean, factor, scale, bias, shift, task->activation,
                            task->is_half && !bias && shift == 0.0);
}

static void softmax_norm_of_floats(const dml_softmax_norm *task, char *const *addresses, int fetches)
{
    const float *more[DML_SOFTMAX_NORM_INPUTS - 2];
    float results[DML_SOFTMAX_NORM_TENSORS - DML_SOFTMAX_NORM_INPUTS];
    const dml_softmax_norm_next next = {addresses[1] + 4 * task->count, fetches ? 4 : 0};
    for (int k = 2; k < DML_SOFTMAX_NORM_INPUTS; k++)
        more[k - 2] = (const float *)addresses[k];
    softmax_norm_one(task, task->count, (float *)addresses[0], (const float *)addresses[1], more, results, next);
    for (int k = DML_SOFTMAX_NORM_INPUTS; k < DML_SOFTMAX_NORM_TENSORS; k++)
        if (addresses[k])
            *(float *)addresses[k] = results[k - DML_SOFTMAX_NORM_INPUTS];
}

/* At most the scale and the bias change along the row, which is converted in parts where no reduction needs it whole.
 */
static void softmax_norm_of_halves(const dml_softmax_norm *task, char *const *addresses, int fetches)
{
    float row[DML_SOFTMAX_NORM_LONGEST_HALVES] __attribute__((aligned(64))),
        vectors[2][DML_SOFTMAX_NORM_LONGEST_HALVES];
    float numbers[DML_SOFTMAX_NORM_INPUTS], results[DML_SOFTMAX_NORM_TENSORS - DML_SOFTMAX_NORM_INPUTS];
    const float *more[DML_SOFTMAX_NORM_INPUTS - 2];
    for (int64_t first = 0; first < task->count; first += DML_SOFTMAX_NORM_LONGEST_HALVES) {
        int64_t n = dml_least(task->count - first, DML_SOFTMAX_NORM_LONGEST_HALVES);
        for (int k = 2; k < DML_SOFTMAX_NORM_INPUTS; k++) {
            float *values = task->moves[k] ? vectors[k % 2] : numbers + k;
            const uint16_t *halves = (const uint16_t *)addresses[k];
            more[k - 2] = halves ? values : NULL;
            if (halves)
                floats_of_halves(values, halves + (task->moves[k] ? first : 0), task->moves[k] ? n : 1);
        }
        floats_of_halves(row, (const uint16_t *)addresses[1] + first, n);
        softmax_norm_one(task, n, row, row, more, results,
                         (dml_softmax_norm_next){addresses[1] + 2 * (first + n), fetches ? 2 : 0});
        halves_of_floats((uint16_t *)addresses[0] + first, row, n);
    }
    for (int k = DML_SOFTMAX_NORM_INPUTS; k < DML_SOFTMAX_NORM_TENSORS; k++)
        if (addresses[k])
            halves_of_floats((uint16_t *)addresses[k], results + k - DML_SOFTMAX_NORM_INPUTS, 1);
}

/* Rows are computed side by side, so that none waits for the reductions of another. */
static void softmax_short_rows(const dml_softmax_norm *task, char *const *addresses, int64_t m, float *work)
{
    const int64_t n = task->count, from = task->strides[0][1], to = task->strides[0][0];
    const dml_softmax_norm_next next = {NULL, 0};
    const float *rows[DML_SOFTMAX_NORM_STRIP];
    const int logarithm = task->function == DML_SOFTMAX_NORM_LOG_SOFTMAX;
    float largest[DML_SOFTMAX_NORM_STRIP], *results[DML_SOFTMAX_NORM_STRIP];
    double sums[DML_SOFTMAX_NORM_STRIP] = {0};
    for (int64_t i = 0; i < m; i++) {
        results[i] = task->is_half ? work + i * n : (float *)(addresses[0] + i * to);
        rows[i] = task->is_half ? results[i] : (const float *)(addresses[1] + i * from);
        if (task->is_half)
            floats_of_halves(results[i], (const uint16_t *)(addresses[1] + i * from), n);
        largest[i] = row_largest(rows[i], n);
    }
    for (int64_t i = 0; i < m; i++)
        sums[i] = logarithm ? row_exp_sum(rows[i], n, largest[i], next)
                            : row_exponentials(results[i], rows[i], n, isinf(largest[i]) ? NAN : largest[i], next);
    if (logarithm)
        log_softmax_shifts(sums, (m + DML_LANES - 1) / DML_LANES * DML_LANES, task->is_half);
    for (int64_t i = 0; i < m; i++) {
        if (logarithm)
            softmax_norm_affine_row(results[i], rows[i], n, largest[i], 1.0, NULL, NULL, sums[i],
                                    (dml_norm_activation){0}, task->is_half);
        else
            row_divide(results[i], n, task->is_half ? dml_softmax_norm_half(sums[i]) : sums[i]);
        if (task->is_half)
            halves_of_floats((uint16_t *)(addresses[0] + i * to), results[i], n);
    }
}

/* Loads a line across `m` columns, padded with zeros to `wide`. */
DML_INLINE void load_line(const dml_softmax_norm *task, float *line, const char *from, int64_t m, int64_t wide)
{
    if (task->is_half)
        floats_of_halves(line, (const uint16_t *)from, m);
    else
        memcpy(line, from, (size_t)m * sizeof(float));
    for (int64_t j = m; j < wide; j++)
        line[j] = 0.0f;
}

static void response_columns(const dml_softmax_norm *task, char *const *addresses, int64_t m, float *work)
{
    const int64_t n = task->count, wide = (m + 15) / 16 * 16;
    const dml_doubles exponent = (dml_doubles){0} + task->exponent;
    float results[DML_SOFTMAX_NORM_STRIP];
    for (int64_t i = 0; i < n; i++)
        load_line(task, work + i * wide, addresses[1] + i * task->column_strides[1], m, wide);
    for (int64_t i = 0; i < n; i++) {
        const int64_t first = i < task->before ? 0 : i - task->before;
        const int64_t end = n - i <= task->behind ? n : i + task->behind + 1;
        char *to = addresses[0] + i * task->column_strides[0];
        for (int64_t j = 0; j < wide; j += DML_LANES) {
            dml_doubles divisor = {0};
            for (int64_t k = first; k < end; k++) {
                dml_doubles value = DML_SOFTMAX_NORM_LOAD(work + k * wide + j);
                divisor += value * value;
            }
            divisor = divisor * task->share + task->epsilon;
            elementwise_power(&divisor, &exponent);
            DML_SOFTMAX_NORM_STORE(results + j, DML_SOFTMAX_NORM_LOAD(work + i * wide + j) / divisor);
        }
        if (task->is_half)
            halves_of_floats((uint16_t *)to, results, m);
        else
            memcpy(to, results, (size_t)m * sizeof(float));
    }
}

static void softmax_columns(const dml_softmax_norm *task, char *const *addresses, int64_t m, float *work)
{
    const int64_t n = task->count, wide = (m + 15) / 16 * 16;
    const int logarithm = task->function == DML_SOFTMAX_NORM_LOG_SOFTMAX;
    float largest[DML_SOFTMAX_NORM_STRIP], high[DML_SOFTMAX_NORM_STRIP], low[DML_SOFTMAX_NORM_STRIP];
    double shifts[DML_SOFTMAX_NORM_STRIP];
    for (int64_t j = 0; j < wide; j++)
        largest[j] = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        float *line = work + i * wide;
        load_line(task, line, addresses[1] + i * task->column_strides[1], m, wide);
        for (int64_t j = 0; j < wide; j++)
            largest[j] = line[j] > largest[j] ? line[j] : largest[j];
    }
    for (int64_t j = 0; j < wide && !logarithm; j++)
        largest[j] = isinf(largest[j]) ? NAN : largest[j];
    for (int64_t j = 0; j < wide; j += 16) {
        double *sums = shifts + j;
        if (logarithm) {
            column_exponentials(work + j, n, wide, largest + j, 1, sums);
            log_softmax_shifts(sums, 16, task->is_half);
            continue;
        }
        column_exponentials(work + j, n, wide, largest + j, 0, sums);
        for (int k = 0; k < 16; k++) {
            double inverse = 1.0 / (task->is_half ? dml_softmax_norm_half(sums[k]) : sums[k]);
            high[j + k] = (float)inverse;
            low[j + k] = (float)(inverse - (double)high[j + k]);
        }
    }
    for (int64_t i = 0; i < n; i++) {
        char *to = addresses[0] + i * task->column_strides[0];
        float *line = work + i * wide, *results = task->is_half ? line : (float *)to;
        for (int64_t j = 0; j < m && logarithm; j++)
            results[j] = (float)((double)line[j] - (double)largest[j] + shifts[j]);
        for (int64_t j = 0; j < m && !logarithm; j++)
            results[j] = line[j] * high[j] + line[j] * low[j];
        if (task->is_half)
            halves_of_floats((uint16_t *)to, line, m);
    }
}

const dml_softmax_norm_table DML_TABLE(softmax_norm) = {
    .floats = softmax_norm_of_floats,
    .halves = softmax_norm_of_halves,
    .short_rows = softmax_short_rows,
    .columns = softmax_columns,
    .response_columns = response_columns,
    .batch_norm_columns = batch_norm_columns,
    .mean_variance_columns = mean_variance_columns,
};
