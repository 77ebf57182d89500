/* Functions of one row, rounded once from FLOAT64 where not said otherwise; `out` may be `x` itself. */

#undef DML_ROWS_LOAD
#undef DML_ROWS_STORE
#define DML_ROWS_LOAD(place) __builtin_convertvector(*(const LOOP(map_floats) *)(place), DML_DOUBLES)
#define DML_ROWS_STORE(place, values) \
    (*(LOOP(map_floats) *)(place) = __builtin_convertvector(values, LOOP(map_floats)))

/* What is read after `count` elements from `first` on have been. */
#undef DML_ROWS_FETCH
#if defined(__x86_64__)
#define DML_ROWS_FETCH(next, first, count) \
    for (int64_t byte = 0; byte < (count) * (next).size; byte += 64) \
        _mm_prefetch((next).place + (first) * (next).size + byte, _MM_HINT_T1);
#else
#define DML_ROWS_FETCH(next, first, count)
#endif

DML_INLINE double LOOP(rows_total)(const DML_DOUBLES *sums)
{
    DML_DOUBLES sum = sums[0] + sums[1] + (sums[2] + sums[3]);
    double total = 0.0;
    for (int j = 0; j < DML_LANES; j++)
        total += sum[j];
    return total;
}

/* (x - mean) * factor * scale + bias, with `scale` and `bias` where they are not NULL, and 0 for what is not above that
   if `relu`. */
DML_INLINE void LOOP(rows_affine)(float *out, const float *x, int64_t n, double mean, double factor, const float *scale,
                                  const float *bias, double shift, int relu)
{
    int64_t i = 0;
    for (; i + DML_LANES <= n; i += DML_LANES) {
        DML_DOUBLES values = (DML_ROWS_LOAD(x + i) - mean) * factor;
        if (scale)
            values *= DML_ROWS_LOAD(scale + i);
        if (bias)
            values += DML_ROWS_LOAD(bias + i);
        else
            values += shift;
        if (relu)
            values = DML_PICK(values > 0.0, values, (DML_DOUBLES){0});
        DML_ROWS_STORE(out + i, values);
    }
    for (; i < n; i++) {
        double value = ((double)x[i] - mean) * factor;
        value = (scale ? value * (double)scale[i] : value) + (bias ? (double)bias[i] : shift);
        out[i] = (float)(relu && !(value > 0.0) ? 0.0 : value);
    }
}

static DML_ONCE void LOOP(rows_shifted)(float *out, const float *x, int64_t n, double mean, double factor, double shift,
                                        int relu)
{
    if (relu)
        LOOP(rows_affine)(out, x, n, mean, factor, NULL, NULL, shift, 1);
    else
        LOOP(rows_affine)(out, x, n, mean, factor, NULL, NULL, shift, 0);
}

/* As many values as FLOAT32 has lanes. The difference, the factor and the result are rounded to FLOAT32 where that is in
   range and products are added without rounding them; else the result alone is. */
#undef DML_ROWS_LANES
#if defined(DML_AVX2)
#define DML_ROWS_LANES DML_FLOAT_LANES
typedef LOOP(floats) LOOP(rows_lanes);
static DML_ONCE LOOP(rows_lanes) LOOP(rows_give_long)(LOOP(rows_lanes) x, const dml_rows_channel *to)
{
    DML_DOUBLES low = DML_HALF_OF(x, 0), high = DML_HALF_OF(x, 1);
    low = (low - (double)to->mean) * to->factor + (double)to->shift;
    high = (high - (double)to->mean) * to->factor + (double)to->shift;
    return DML_OF_HALVES(low, high);
}

/* Of what is short, without the RELU. */
DML_INLINE LOOP(rows_lanes) LOOP(rows_give_short)(LOOP(rows_lanes) x, const dml_rows_channel *to)
{
    return DML_FMA(x - DML_ALL(to->mean), DML_ALL(to->short_factor), DML_ALL(to->shift));
}

DML_INLINE LOOP(rows_lanes) LOOP(rows_give_lanes)(LOOP(rows_lanes) x, const dml_rows_channel *to)
{
    x = to->is_short ? LOOP(rows_give_short)(x, to) : LOOP(rows_give_long)(x, to);
    /* Of NaN and 0 it is the second one. */
    return to->relu ? DML_F(max)(x, DML_ALL(0.0f)) : x;
}
#else
#define DML_ROWS_LANES DML_LANES
typedef LOOP(map_floats) LOOP(rows_lanes);
DML_INLINE LOOP(rows_lanes) LOOP(rows_give_short)(LOOP(rows_lanes) x, const dml_rows_channel *to)
{
    DML_DOUBLES values = __builtin_convertvector(x, DML_DOUBLES);
    values = (values - (double)to->mean) * to->factor + (double)to->shift;
    return __builtin_convertvector(values, LOOP(map_floats));
}

DML_INLINE LOOP(rows_lanes) LOOP(rows_give_lanes)(LOOP(rows_lanes) x, const dml_rows_channel *to)
{
    DML_DOUBLES values = __builtin_convertvector(LOOP(rows_give_short)(x, to), DML_DOUBLES);
    if (to->relu)
        values = DML_PICK(values > 0.0, values, (DML_DOUBLES){0});
    return __builtin_convertvector(values, LOOP(map_floats));
}
#endif

/* What is stored of a channel, or of a part of it; `out` may be `x` itself. */
static DML_ONCE void LOOP(rows_give)(float *out, const float *x, int64_t n, const dml_rows_channel *to)
{
    LOOP(rows_lanes) values;
    int64_t i = 0;
    for (; i + DML_ROWS_LANES <= n; i += DML_ROWS_LANES) {
        memcpy(&values, x + i, sizeof values);
        values = LOOP(rows_give_lanes)(values, to);
        memcpy(out + i, &values, sizeof values);
    }
    if (i == n)
        return;
    memset(&values, 0, sizeof values);
    memcpy(&values, x + i, (size_t)(n - i) * sizeof *x);
    values = LOOP(rows_give_lanes)(values, to);
    memcpy(out + i, &values, (size_t)(n - i) * sizeof *x);
}

static DML_ONCE void LOOP(rows_scaled)(float *out, const float *x, int64_t n, double mean, double factor,
                                       const float *scale, const float *bias, double shift, int relu)
{
    if (bias)
        LOOP(rows_affine)(out, x, n, mean, factor, scale, bias, 0.0, relu);
    else
        LOOP(rows_affine)(out, x, n, mean, factor, scale, NULL, shift, relu);
}

#include "softmax.h"

static DML_ONCE double LOOP(rows_sum)(const float *x, int64_t n)
{
    DML_DOUBLES sums[4] = {{0}, {0}, {0}, {0}};
    double rest = 0.0;
    int64_t i = 0;
    for (; i + 4 * DML_LANES <= n; i += 4 * DML_LANES)
        for (int j = 0; j < 4; j++)
            sums[j] += DML_ROWS_LOAD(x + i + j * DML_LANES);
    for (; i < n; i++)
        rest += (double)x[i];
    return LOOP(rows_total)(sums) + rest;
}

/* The sum of the squares, too. */
static DML_ONCE double LOOP(rows_sums)(const float *x, int64_t n, double *squares, dml_rows_next next)
{
    DML_DOUBLES sums[4] = {{0}, {0}, {0}, {0}}, products[4] = {{0}, {0}, {0}, {0}};
    double rest = 0.0, more = 0.0;
    int64_t i = 0;
    (void)next;
    for (; i + 4 * DML_LANES <= n; i += 4 * DML_LANES) {
        DML_ROWS_FETCH(next, i, 4 * DML_LANES)
        for (int j = 0; j < 4; j++) {
            DML_DOUBLES value = DML_ROWS_LOAD(x + i + j * DML_LANES);
            sums[j] += value;
            products[j] += value * value;
        }
    }
    for (; i < n; i++) {
        rest += (double)x[i];
        more += (double)x[i] * (double)x[i];
    }
    *squares = LOOP(rows_total)(products) + more;
    return LOOP(rows_total)(sums) + rest;
}

static DML_ONCE double LOOP(rows_squares)(const float *x, int64_t n, double mean, dml_rows_next next)
{
    DML_DOUBLES sums[4] = {{0}, {0}, {0}, {0}};
    double rest = 0.0;
    int64_t i = 0;
    (void)next;
    for (; i + 4 * DML_LANES <= n; i += 4 * DML_LANES) {
        DML_ROWS_FETCH(next, i, 4 * DML_LANES)
        for (int j = 0; j < 4; j++) {
            DML_DOUBLES value = DML_ROWS_LOAD(x + i + j * DML_LANES) - mean;
            sums[j] += value * value;
        }
    }
    for (; i < n; i++)
        rest += ((double)x[i] - mean) * ((double)x[i] - mean);
    return LOOP(rows_total)(sums) + rest;
}

/* The mean square of what is left without the mean. The sum of squares gives it where the mean's own square is at most
   1023/1024 of it, so that ten of FLOAT64's 52 bits are lost; else, and where that is NaN, the row is read again. */
DML_INLINE double LOOP(rows_variance)(const float *x, int64_t n, double mean, double squares)
{
    double square = squares / (double)n;
    if (mean * mean <= square * (1.0 - 0x1p-10))
        return square - mean * mean;
    return LOOP(rows_squares)(x, n, mean, (dml_rows_next){NULL, 0}) / (double)n;
}

/* The factor of MEAN_VARIANCE, whose mean is there; `variance` is that about it. FLOAT16 has both in FLOAT16. */
DML_INLINE double LOOP(rows_kept)(const dml_rows *task, double *mean, double variance)
{
    if (task->is_half) {
        double exact = *mean;
        *mean = dml_rows_half(exact);
        variance = dml_rows_half(variance + (exact - *mean) * (exact - *mean));
    }
    return 1.0 / sqrt(variance + task->epsilon);
}

/* `more`: the tensors that the function takes besides. */
static void LOOP(rows_one)(const dml_rows *task, int64_t n, float *out, const float *x, const float *const *more,
                           dml_rows_next next)
{
    const float *scale = more[0], *bias = more[1];
    const int32_t *moves = task->moves + 2;
    double mean = 0.0, factor = 1.0, shift = -0.0, squares;
    if (task->function == DML_ROWS_SOFTMAX) {
        LOOP(row_softmax)(out, x, n, task->is_half, next);
        return;
    }
    if (task->function == DML_ROWS_LOG_SOFTMAX) {
        LOOP(row_log_softmax)(out, x, n, task->is_half, next);
        return;
    }
    if (task->function == DML_ROWS_GIVEN) {
        factor = dml_rows_factor(*more[1], task->epsilon, *more[2]);
        const dml_rows_channel to = dml_rows_channel_by(*more[0], factor, *more[3], task->relu);
        LOOP(rows_give)(out, x, n, &to);
        return;
    }
    if (task->uses_mean && task->uses_variance) {
        mean = LOOP(rows_sums)(x, n, &squares, next) / (double)n;
        factor = LOOP(rows_kept)(task, &mean, LOOP(rows_variance)(x, n, mean, squares));
    } else if (task->uses_mean) {
        mean = LOOP(rows_sum)(x, n) / (double)n;
        mean = task->is_half ? dml_rows_half(mean) : mean;
    } else if (task->uses_variance) {
        factor = LOOP(rows_kept)(task, &mean, LOOP(rows_squares)(x, n, mean, next) / (double)n);
    }
    if (scale && !moves[0]) {
        factor *= *scale;
        scale = NULL;
    }
    if (bias && !moves[1]) {
        shift = *bias;
        bias = NULL;
    }
    if (scale)
        LOOP(rows_scaled)(out, x, n, mean, factor, scale, bias, shift, task->relu);
    else if (bias)
        LOOP(rows_affine)(out, x, n, mean, factor, NULL, bias, 0.0, task->relu);
    else
        LOOP(rows_shifted)(out, x, n, mean, factor, shift, task->relu);
}

static void LOOP(rows_of_floats)(const dml_rows *task, char *const *places, int fetches)
{
    const float *more[DML_ROWS_TENSORS - 2];
    const dml_rows_next next = {places[1] + 4 * task->count, fetches ? 4 : 0};
    for (int k = 2; k < DML_ROWS_TENSORS; k++)
        more[k - 2] = (const float *)places[k];
    LOOP(rows_one)(task, task->count, (float *)places[0], (const float *)places[1], more, next);
}

/* At most the scale and the bias move along the row, which is taken in parts where nothing is found out about it. */
static void LOOP(rows_of_halves)(const dml_rows *task, char *const *places, int fetches)
{
    float row[DML_ROWS_LONGEST_HALVES] __attribute__((aligned(64))), vectors[2][DML_ROWS_LONGEST_HALVES];
    float numbers[DML_ROWS_TENSORS];
    const float *more[DML_ROWS_TENSORS - 2];
    for (int64_t first = 0; first < task->count; first += DML_ROWS_LONGEST_HALVES) {
        int64_t n = task->count - first < DML_ROWS_LONGEST_HALVES ? task->count - first : DML_ROWS_LONGEST_HALVES;
        for (int k = 2; k < DML_ROWS_TENSORS; k++) {
            float *values = task->moves[k] ? vectors[k % 2] : numbers + k;
            const uint16_t *halves = (const uint16_t *)places[k];
            more[k - 2] = halves ? values : NULL;
            if (halves)
                LOOP(floats_of_halves)(values, halves + (task->moves[k] ? first : 0), task->moves[k] ? n : 1);
        }
        LOOP(floats_of_halves)(row, (const uint16_t *)places[1] + first, n);
        LOOP(rows_one)(task, n, row, row, more, (dml_rows_next){places[1] + 2 * (first + n), fetches ? 2 : 0});
        LOOP(halves_of_floats)((uint16_t *)places[0] + first, row, n);
    }
}

static const dml_rows_table LOOP(rows_table) = {LOOP(rows_of_floats), LOOP(rows_of_halves)};
