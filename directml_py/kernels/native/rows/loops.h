/* Functions of one row, computed in FLOAT64 and rounded once; `out` may be `x` itself. */

typedef LOOP(exp_vector) LOOP(rows_doubles);
typedef float LOOP(rows_floats) __attribute__((vector_size(16), aligned(4), may_alias));
#define DML_ROWS_LOAD(place) __builtin_convertvector(*(const LOOP(rows_floats) *)(place), LOOP(rows_doubles))
#define DML_ROWS_STORE(place, values) \
    (*(LOOP(rows_floats) *)(place) = __builtin_convertvector(values, LOOP(rows_floats)))

DML_INLINE double LOOP(rows_total)(const LOOP(rows_doubles) *sums)
{
    LOOP(rows_doubles) sum = sums[0] + sums[1] + (sums[2] + sums[3]);
    return sum[0] + sum[1] + (sum[2] + sum[3]);
}

/* What differences of infinities make of a row: NaN of infinity, of all if one is NaN or none is larger than -infinity,
   and what the limit is of the rest. */
static DML_ONCE void LOOP(rows_infinite)(float *out, const float *x, int64_t n, float largest, float rest)
{
    int spoils = largest < 0 || isnan(LOOP(exp_infinite)((const char *)x, n, 4));
    for (int64_t i = 0; i < n; i++)
        out[i] = spoils || x[i] == INFINITY ? NAN : rest;
}

/* Sixteen exponentials of x - largest, of which `n` are asked for; the others are next to 0. */
DML_INLINE void LOOP(rows_exponentials)(LOOP(rows_doubles) *values, const float *x, int64_t n, double largest)
{
    float rest[16];
    if (n < 16) {
        for (int j = 0; j < 16; j++)
            rest[j] = j < n ? x[j] : -INFINITY;
        x = rest;
    }
    for (int j = 0; j < 4; j++)
        values[j] = DML_ROWS_LOAD(x + 4 * j) - largest;
    LOOP(exp_sixteen)(values);
}

/* Of a long row exponentials are computed again when their sum is known, so that they are rounded once too. */
static DML_ONCE void LOOP(rows_softmax)(float *out, const float *x, int64_t n)
{
    enum { KEPT = 4096 / 16 };
    LOOP(rows_doubles) kept[KEPT][4], sums[4] = {{0}, {0}, {0}, {0}}, fresh[4];
    float largest = LOOP(max_f32_row)(x, n), rest[16];
    double inverse;
    if (isinf(largest)) {
        LOOP(rows_infinite)(out, x, n, largest, 0.0f);
        return;
    }
    for (int64_t i = 0; i < n; i += 16) {
        LOOP(rows_doubles) *values = i < 16 * KEPT ? kept[i / 16] : fresh;
        LOOP(rows_exponentials)(values, x + i, n - i, largest);
        for (int j = 0; j < 4; j++)
            sums[j] += values[j];
    }
    inverse = 1.0 / LOOP(rows_total)(sums);
    for (int64_t i = 0; i < n; i += 16) {
        LOOP(rows_doubles) *values = i < 16 * KEPT ? kept[i / 16] : fresh;
        float *target = n - i < 16 ? rest : out + i;
        if (i >= 16 * KEPT)
            LOOP(rows_exponentials)(values, x + i, n - i, largest);
        for (int j = 0; j < 4; j++)
            DML_ROWS_STORE(target + 4 * j, values[j] * inverse);
        if (target == rest)
            memcpy(out + i, rest, (size_t)(n - i) * sizeof(float));
    }
}

/* (x - mean) * factor * scale + bias, with `scale` and `bias` where they are not NULL. */
DML_INLINE void LOOP(rows_affine)(float *out, const float *x, int64_t n, double mean, double factor, const float *scale,
                                  const float *bias, double shift)
{
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        LOOP(rows_doubles) values = (DML_ROWS_LOAD(x + i) - mean) * factor;
        if (scale)
            values *= DML_ROWS_LOAD(scale + i);
        if (bias)
            values += DML_ROWS_LOAD(bias + i);
        else
            values += shift;
        DML_ROWS_STORE(out + i, values);
    }
    for (; i < n; i++) {
        double value = ((double)x[i] - mean) * factor;
        out[i] = (float)((scale ? value * (double)scale[i] : value) + (bias ? (double)bias[i] : shift));
    }
}

static DML_ONCE void LOOP(rows_shifted)(float *out, const float *x, int64_t n, double mean, double factor, double shift)
{
    LOOP(rows_affine)(out, x, n, mean, factor, NULL, NULL, shift);
}

static DML_ONCE void LOOP(rows_scaled)(float *out, const float *x, int64_t n, double mean, double factor,
                                       const float *scale, const float *bias, double shift)
{
    if (bias)
        LOOP(rows_affine)(out, x, n, mean, factor, scale, bias, 0.0);
    else
        LOOP(rows_affine)(out, x, n, mean, factor, scale, NULL, shift);
}

/* What is left of the sum of exponentials beside the largest, which is 1, keeps its digits. */
static DML_ONCE void LOOP(rows_log_softmax)(float *out, const float *x, int64_t n)
{
    float largest = LOOP(max_f32_row)(x, n);
    double others;
    int64_t first = 0;
    if (isinf(largest)) {
        LOOP(rows_infinite)(out, x, n, largest, -INFINITY);
        return;
    }
    while (x[first] != largest)
        first++;
    others = LOOP(exp_sum)(x, first, largest) + LOOP(exp_sum)(x + first + 1, n - first - 1, largest);
    /* Exponentials that are 0 count as a little more than that. */
    if (others < (double)(n + 32) * 0x1p-1020)
        others = 0.0;
    /* 0 is taken away, not -0 added: the logarithm of 1 is 0. */
    LOOP(rows_shifted)(out, x, n, largest, 1.0, 0.0 - log1p(others));
}

static DML_ONCE double LOOP(rows_sum)(const float *x, int64_t n)
{
    LOOP(rows_doubles) sums[4] = {{0}, {0}, {0}, {0}};
    double rest = 0.0;
    int64_t i = 0;
    for (; i + 16 <= n; i += 16)
        for (int j = 0; j < 4; j++)
            sums[j] += DML_ROWS_LOAD(x + i + 4 * j);
    for (; i < n; i++)
        rest += (double)x[i];
    return LOOP(rows_total)(sums) + rest;
}

static DML_ONCE double LOOP(rows_squares)(const float *x, int64_t n, double mean)
{
    LOOP(rows_doubles) sums[4] = {{0}, {0}, {0}, {0}};
    double rest = 0.0;
    int64_t i = 0;
    for (; i + 16 <= n; i += 16)
        for (int j = 0; j < 4; j++) {
            LOOP(rows_doubles) value = DML_ROWS_LOAD(x + i + 4 * j) - mean;
            sums[j] += value * value;
        }
    for (; i < n; i++)
        rest += ((double)x[i] - mean) * ((double)x[i] - mean);
    return LOOP(rows_total)(sums) + rest;
}

/* `more`: the tensors that the function takes besides. */
static void LOOP(rows_one)(const dml_rows *task, float *out, const float *x, const float *const *more)
{
    int64_t n = task->count;
    int given = task->function == DML_ROWS_GIVEN;
    const float *scale = more[given ? 2 : 0], *bias = more[given ? 3 : 1];
    const int32_t *moves = task->moves + (given ? 4 : 2);
    double mean = 0.0, factor = 1.0, shift = -0.0;
    if (task->function == DML_ROWS_SOFTMAX) {
        LOOP(rows_softmax)(out, x, n);
        return;
    }
    if (task->function == DML_ROWS_LOG_SOFTMAX) {
        LOOP(rows_log_softmax)(out, x, n);
        return;
    }
    if (given) {
        mean = *more[0];
        factor = 1.0 / sqrt((double)*more[1] + task->epsilon);
    } else {
        if (task->uses_mean)
            mean = LOOP(rows_sum)(x, n) / (double)n;
        if (task->uses_variance)
            factor = 1.0 / sqrt(LOOP(rows_squares)(x, n, mean) / (double)n + task->epsilon);
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
        LOOP(rows_scaled)(out, x, n, mean, factor, scale, bias, shift);
    else if (bias)
        LOOP(rows_affine)(out, x, n, mean, factor, NULL, bias, 0.0);
    else
        LOOP(rows_shifted)(out, x, n, mean, factor, shift);
}

static void LOOP(rows_of_floats)(const dml_rows *task, char *const *places)
{
    const float *more[DML_ROWS_TENSORS - 2];
    for (int k = 2; k < DML_ROWS_TENSORS; k++)
        more[k - 2] = (const float *)places[k];
    LOOP(rows_one)(task, (float *)places[0], (const float *)places[1], more);
}

/* At most the scale and the bias move along the row. */
static void LOOP(rows_of_halves)(const dml_rows *task, char *const *places)
{
    float row[DML_ROWS_LONGEST_HALVES] __attribute__((aligned(64))), vectors[2][DML_ROWS_LONGEST_HALVES];
    float numbers[DML_ROWS_TENSORS];
    const float *more[DML_ROWS_TENSORS - 2];
    for (int k = 2; k < DML_ROWS_TENSORS; k++) {
        float *values = task->moves[k] ? vectors[k % 2] : numbers + k;
        more[k - 2] = places[k] ? values : NULL;
        if (places[k])
            LOOP(floats_of_halves)(values, (const uint16_t *)places[k], task->moves[k] ? task->count : 1);
    }
    LOOP(floats_of_halves)(row, (const uint16_t *)places[1], task->count);
    LOOP(rows_one)(task, row, row, more);
    LOOP(halves_of_floats)((uint16_t *)places[0], row, task->count);
}
#undef DML_ROWS_LOAD
#undef DML_ROWS_STORE

static const dml_rows_table LOOP(rows_table) = {LOOP(rows_of_floats), LOOP(rows_of_halves)};
