/* Rows of resampled images: first rows of the image are added up, then elements of the sum, in FLOAT64, which is
   rounded once. Sums begin with -0, which changes nothing; sums of no elements are 0. */

#include "../common/dimensions.h"
#include "../common/vectors.h"
#include "../elementwise/round_to_odd.h"
#include "../half/convert.h"

#include "dispatch.h"

typedef double resample_doubles __attribute__((vector_size(8 * DML_RESAMPLE_LANES), aligned(8), may_alias));
typedef int64_t resample_bits __attribute__((vector_size(8 * DML_RESAMPLE_LANES), aligned(8), may_alias));
typedef float resample_floats __attribute__((vector_size(4 * DML_RESAMPLE_LANES), aligned(4), may_alias));

#if defined(__AVX512F__)
#define DML_RESAMPLE_WIDEN(floats) ((resample_doubles)_mm512_cvtps_pd((__m256)(floats)))
#define DML_RESAMPLE_NARROW(doubles) ((resample_floats)_mm512_cvtpd_ps((__m512d)(doubles)))
#else
#define DML_RESAMPLE_WIDEN(floats) __builtin_convertvector(floats, resample_doubles)
#define DML_RESAMPLE_NARROW(doubles) __builtin_convertvector(doubles, resample_floats)
#endif

/* The larger one; a number is larger than NaN. */
DML_INLINE void resample_larger(resample_doubles *best, const resample_doubles *value)
{
#if defined(__AVX512F__)
    __mmask8 is_number = _mm512_cmp_pd_mask((__m512d)*value, (__m512d)*value, _CMP_ORD_Q);
    *best = (resample_doubles)_mm512_mask_max_pd((__m512d)*best, is_number, (__m512d)*best, (__m512d)*value);
#else
    /* Lanes are compared one by one: gcc 12 fails to compare vectors where optimization is low. */
    for (int i = 0; i < DML_RESAMPLE_LANES; i++)
        if ((*value)[i] > (*best)[i] || isnan((*best)[i]))
            (*best)[i] = (*value)[i];
#endif
}

/* Adds rows to `line`, which is overwritten if `is_first`. */
DML_INLINE void resample_add(double *line, const float *const *rows, const double *weights, int64_t height,
                             int64_t count, int is_first, int order, const int function)
{
    for (int64_t i = 0; i < count; i += DML_RESAMPLE_LANES) {
        resample_doubles total = {0}, *target = (resample_doubles *)(line + i);
        if (!is_first)
            total = *target;
        else if (height > 0)
            total *= function == DML_RESAMPLE_MAXIMUM ? (double)NAN : -1.0;
        for (int64_t k = 0; k < height; k++) {
            resample_floats source = {0};
            if (i + DML_RESAMPLE_LANES <= count)
                source = *(const resample_floats *)(rows[k] + i);
            else
#if defined(__AVX512F__)
                source = (resample_floats)_mm256_maskz_loadu_ps((__mmask8)((1u << (count - i)) - 1), rows[k] + i);
#else
                for (int64_t j = 0; j < count - i; j++)
                    source[j] = rows[k][i + j];
#endif
            resample_doubles value = DML_RESAMPLE_WIDEN(source);
            if (function == DML_RESAMPLE_MAXIMUM) {
                resample_larger(&total, &value);
            } else if (function == DML_RESAMPLE_NORM) {
                resample_doubles magnitude = (resample_doubles)((resample_bits)value & INT64_MAX), power = magnitude;
                for (int n = 1; n < order; n++)
                    power *= magnitude;
                total += power;
            } else {
                total += value * weights[k];
            }
        }
        *target = total;
    }
}

/* Adds up elements `low` to `high` of the image's rows for one row of the output. */
static DML_ONCE void resample_rows(const dml_resample *task, const char *image, int64_t output_row, int64_t low,
                                   int64_t high, double *line)
{
    enum { MANY = 16 };
    float buffers[2 * DML_RESAMPLE_COLUMNS];
    const int64_t *starts = (const int64_t *)task->rows.starts + output_row,
                  *indices = (const int64_t *)task->rows.indices;
    const double *weights = (const double *)task->rows.weights;
    int64_t tap = starts[0], end = starts[1], most = MANY;
    /* As many rows are converted as there is room for. */
    if ((task->is_half || task->x_strides[3] != 4) && most * (high - low) > 2 * DML_RESAMPLE_COLUMNS)
        most = 2 * DML_RESAMPLE_COLUMNS / (high - low);
    int is_first = 1;
    do {
        const float *rows[MANY];
        int64_t height = dml_least(end - tap, most);
        for (int64_t k = 0; k < height; k++)
            rows[k] = floats_of_row(buffers + k * (high - low), image + indices[tap + k] * task->x_strides[2],
                                    task->x_strides[3], low, high, task->is_half);
        if (task->function == DML_RESAMPLE_SUM)
            resample_add(line, rows, weights + tap, height, high - low, is_first, 1, DML_RESAMPLE_SUM);
        else if (task->function == DML_RESAMPLE_NORM)
            resample_add(line, rows, weights, height, high - low, is_first, task->order, DML_RESAMPLE_NORM);
        else
            resample_add(line, rows, weights, height, high - low, is_first, 1, DML_RESAMPLE_MAXIMUM);
        tap += height;
        is_first = 0;
    } while (tap < end);
    /* Taps that are missing read a 0 behind the line; for the maximum they read what is larger than no element. */
    memset(line + (high - low), 0, 2 * DML_RESAMPLE_LANES * sizeof(double));
    if (task->function == DML_RESAMPLE_MAXIMUM && starts[0] < end)
        line[high - low] = NAN;
}

/* The columns that a region reads, and their taps: the same number for each output, interleaved, so that vectors of
   outputs are summed. A missing tap reads behind the line's end, where there is a 0; or NaN for maxima, and behind that
   the 0 which is the largest of no elements. */
typedef struct {
    int64_t low, high, many;
    int32_t tap_columns[DML_RESAMPLE_TAPS];
    double weights[DML_RESAMPLE_TAPS];
    /* For each vector: the first element that it reads, or -1 if it reads more than two vectors. */
    int32_t begins[DML_RESAMPLE_COLUMNS / DML_RESAMPLE_LANES];
    /* The samples of each output, if they are counted. */
    double counts[DML_RESAMPLE_COLUMNS], inside[DML_RESAMPLE_COLUMNS];
} resample_region;

static DML_ONCE void resample_prepare(const dml_resample *task, int64_t first, resample_region *region)
{
    const dml_resample_axis *axis = &task->columns;
    const int64_t *starts = (const int64_t *)axis->starts + first, *indices = (const int64_t *)axis->indices;
    const double *weights = (const double *)axis->weights;
    int64_t low = INT64_MAX, high = 0, many = 0, output_size = axis->output_size, width;
    for (int64_t i = 0; i < output_size; i++)
        many = starts[i + 1] - starts[i] > many ? starts[i + 1] - starts[i] : many;
    for (int64_t tap = starts[0]; tap < starts[output_size]; tap++) {
        low = indices[tap] < low ? indices[tap] : low;
        high = indices[tap] >= high ? indices[tap] + 1 : high;
    }
    region->low = low < high ? low : 0;
    region->high = high;
    for (int64_t i = 0; axis->counts && i < output_size; i++) {
        region->counts[i] = ((const double *)axis->counts)[first + i];
        region->inside[i] = ((const double *)axis->inside)[first + i];
    }
    width = dml_quotient_up(output_size, DML_RESAMPLE_LANES) * DML_RESAMPLE_LANES;
    region->many = many * width <= DML_RESAMPLE_TAPS ? many : 0;
    if (!region->many)
        return;
    for (int64_t i = 0; i < width; i++) {
        int64_t count = i < output_size ? starts[i + 1] - starts[i] : 0;
        int64_t is_none = count == 0 && task->function == DML_RESAMPLE_MAXIMUM;
        for (int64_t k = 0; k < many; k++) {
            region->tap_columns[k * width + i] =
                (int32_t)(k < count ? indices[starts[i] + k] - low : high - low + is_none);
            region->weights[k * width + i] = k < count ? weights[starts[i] + k] : count ? -0.0 : 0.0;
        }
    }
    for (int64_t i = 0; i < width; i += DML_RESAMPLE_LANES) {
        int32_t begin = INT32_MAX, end = 0;
        for (int64_t j = i; j < i + DML_RESAMPLE_LANES && j < output_size; j++) {
            for (int64_t tap = starts[j]; tap < starts[j + 1]; tap++) {
                int32_t tap_column = (int32_t)(indices[tap] - low);
                begin = tap_column < begin ? tap_column : begin;
                end = tap_column >= end ? tap_column + 1 : end;
            }
        }
        region->begins[i / DML_RESAMPLE_LANES] = begin >= end ? 0 : end - begin <= 2 * DML_RESAMPLE_LANES ? begin : -1;
    }
}

/* Computes one row of the output, a vector of outputs at a time. */
DML_INLINE void resample_line(const resample_region *region, const double *line, int64_t output_size, double *sums,
                              const int is_maximum)
{
    int64_t width = dml_quotient_up(output_size, DML_RESAMPLE_LANES) * DML_RESAMPLE_LANES;
    for (int64_t i = 0; i < width; i += DML_RESAMPLE_LANES) {
#if defined(__AVX512F__)
        resample_doubles total = {0};
        int32_t begin = is_maximum ? -1 : region->begins[i / DML_RESAMPLE_LANES];
        const __m256i first = _mm256_set1_epi32(begin), last = _mm256_set1_epi32((int)(region->high - region->low));
        __m512d low = begin < 0 ? _mm512_setzero_pd() : _mm512_loadu_pd(line + begin);
        __m512d high = begin < 0 ? _mm512_setzero_pd() : _mm512_loadu_pd(line + begin + DML_RESAMPLE_LANES);
        total *= is_maximum ? (double)NAN : -1.0;
        for (int64_t k = i; k < i + region->many * width; k += width) {
            __m256i tap_columns = _mm256_loadu_si256((const __m256i *)(region->tap_columns + k));
            __m512i chosen = _mm512_cvtepi32_epi64(_mm256_sub_epi32(tap_columns, first));
            __mmask8 mask = _mm256_cmpneq_epi32_mask(tap_columns, last);
            resample_doubles values =
                (resample_doubles)(begin < 0 ? _mm512_i32gather_pd(tap_columns, line, 8)
                                             : _mm512_maskz_permutex2var_pd(mask, low, chosen, high));
            if (is_maximum)
                resample_larger(&total, &values);
            else
                total = (resample_doubles)_mm512_fmadd_pd((__m512d)values, _mm512_loadu_pd(region->weights + k),
                                                          (__m512d)total);
        }
        *(resample_doubles *)(sums + i) = total;
#else
        for (int64_t j = i; j < i + DML_RESAMPLE_LANES; j++) {
            double sum = line[region->tap_columns[j]] * (is_maximum ? 1.0 : region->weights[j]);
            for (int64_t k = j + width; k < region->many * width; k += width) {
                double value = line[region->tap_columns[k]];
                if (is_maximum)
                    sum = value > sum || isnan(sum) ? value : sum;
                else
                    sum += value * region->weights[k];
            }
            sums[j] = sum;
        }
#endif
    }
}

/* The same for outputs with so many taps that there is no room for vectors of them. */
static DML_ONCE void resample_long(const dml_resample *task, int64_t first, const double *line, int64_t low,
                                   double *sums)
{
    const dml_resample_axis *axis = &task->columns;
    const int64_t *starts = (const int64_t *)axis->starts + first, *indices = (const int64_t *)axis->indices;
    const double *weights = (const double *)axis->weights;
    for (int64_t i = 0; i < axis->output_size; i++) {
        int is_maximum = task->function == DML_RESAMPLE_MAXIMUM;
        double sum = starts[i] == starts[i + 1] ? 0.0 : is_maximum ? NAN : -0.0;
        for (int64_t tap = starts[i]; tap < starts[i + 1]; tap++) {
            double value = line[indices[tap] - low];
            if (is_maximum)
                sum = value > sum || isnan(sum) ? value : sum;
            else
                sum += value * weights[tap];
        }
        sums[i] = sum;
    }
}

static DML_ONCE void resample_root(double *sums, int64_t count, int order)
{
    if (order == 2)
        for (int64_t i = 0; i < count; i++)
            sums[i] = sqrt(sums[i]);
    else if (order > 2)
        for (int64_t i = 0; i < count; i++)
            sums[i] = pow(sums[i], 1.0 / order);
}

/* Divides by the number of samples, some of which may be outside the image. */
static DML_ONCE void resample_divide(const dml_resample *task, const resample_region *region, int64_t row, double *sums)
{
    double count = ((const double *)task->rows.counts)[row], inside = ((const double *)task->rows.inside)[row];
    double outside = task->outside;
    for (int64_t i = 0; i < task->columns.output_size; i += DML_RESAMPLE_LANES) {
        for (int64_t j = i; j < i + DML_RESAMPLE_LANES; j++) {
            double all = count * region->counts[j], missing = all - inside * region->inside[j];
            double sum = sums[j] + missing * outside;
            sums[j] = (missing > 0 ? sum : sums[j]) / all;
        }
    }
}

static DML_ONCE void resample_store(const dml_resample *task, char *output, const double *sums)
{
    int64_t stride = task->output_strides[3], count = task->columns.output_size, item = task->is_half ? 2 : 4, i = 0;
    char results[4 * DML_RESAMPLE_COLUMNS], *target = stride == item ? output : results;
    if (task->is_half) {
        elementwise_store_wide_f16(target, sums, count);
    } else {
        resample_floats rest;
        for (; i + DML_RESAMPLE_LANES <= count; i += DML_RESAMPLE_LANES)
            *(resample_floats *)(target + 4 * i) = DML_RESAMPLE_NARROW(*(const resample_doubles *)(sums + i));
        rest = DML_RESAMPLE_NARROW(*(const resample_doubles *)(sums + i));
        memcpy(target + 4 * i, &rest, (size_t)(count - i) * 4);
    }
    for (i = 0; target != output && i < count; i++)
        memcpy(output + i * stride, results + i * item, (size_t)item);
}

static void resample_share(void *context, int64_t begin, int64_t end)
{
    const dml_resample_plan *plan = context;
    const dml_resample *task = plan->task;
    resample_region window;
    double line[DML_RESAMPLE_COLUMNS + 2 * DML_RESAMPLE_LANES], sums[DML_RESAMPLE_COLUMNS + DML_RESAMPLE_LANES];
    int64_t height = task->rows.output_size, last = -1, whole = task->regions * plan->channels * height;
    int64_t block = begin / whole * plan->channels, rest = begin % whole,
            size = dml_least(task->channels - block, plan->channels);
    int64_t row = rest % height, channel = rest / height % size, region = rest / height / size;
    /* The sums behind the last output are computed too, and should be numbers. */
    memset(sums, 0, sizeof sums);
    memset(window.counts, 0, sizeof window.counts);
    memset(window.inside, 0, sizeof window.inside);
    for (; begin < end; begin++) {
        int64_t batch = task->batches ? ((const int64_t *)task->batches)[region] : region;
        int64_t first_row = task->rows.is_per_region ? region * height : 0;
        int64_t first = task->columns.is_per_region ? region * task->columns.output_size : 0;
        const char *image = (const char *)task->x + batch * task->x_strides[0] + (block + channel) * task->x_strides[1];
        char *output =
            (char *)task->output + region * task->output_strides[0] + (block + channel) * task->output_strides[1];
        if (last < 0 || (region != last && task->columns.is_per_region))
            resample_prepare(task, first, &window);
        last = region;
        resample_rows(task, image, first_row + row, window.low, window.high, line);
        if (!window.many)
            resample_long(task, first, line, window.low, sums);
        else if (task->function == DML_RESAMPLE_MAXIMUM)
            resample_line(&window, line, task->columns.output_size, sums, 1);
        else
            resample_line(&window, line, task->columns.output_size, sums, 0);
        if (task->function == DML_RESAMPLE_NORM)
            resample_root(sums, task->columns.output_size, task->order);
        if (task->rows.counts)
            resample_divide(task, &window, first_row + row, sums);
        resample_store(task, output + row * task->output_strides[2], sums);
        if (++row < height)
            continue;
        row = 0;
        if (++channel < size)
            continue;
        channel = 0;
        if (++region < task->regions)
            continue;
        region = 0;
        block += size;
        size = dml_least(task->channels - block, size);
    }
}

const dml_resample_table DML_TABLE(resample) = {resample_share};
