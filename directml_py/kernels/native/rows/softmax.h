/* Exponentials of a row less its largest element, which is finite. */

#if defined(DML_AVX2)

static DML_ONCE float LOOP(row_largest)(const float *x, int64_t n)
{
    LOOP(floats) largest[4];
    float lanes[DML_FLOAT_LANES], result = -INFINITY;
    int64_t i = 0;
    for (int j = 0; j < 4; j++)
        largest[j] = DML_ALL(-INFINITY);
    /* Of two operands the second is the result if one is NaN. */
    for (; i + 4 * DML_FLOAT_LANES <= n; i += 4 * DML_FLOAT_LANES)
        for (int j = 0; j < 4; j++)
            largest[j] = DML_F(max)(DML_F(loadu)(x + i + j * DML_FLOAT_LANES), largest[j]);
    for (; i + DML_FLOAT_LANES <= n; i += DML_FLOAT_LANES)
        largest[0] = DML_F(max)(DML_F(loadu)(x + i), largest[0]);
    largest[0] = DML_F(max)(DML_F(max)(largest[0], largest[1]), DML_F(max)(largest[2], largest[3]));
    DML_F(storeu)(lanes, largest[0]);
    for (int j = 0; j < DML_FLOAT_LANES; j++)
        result = lanes[j] > result ? lanes[j] : result;
    for (; i < n; i++)
        result = x[i] > result ? x[i] : result;
    return result;
}

/* Where the first of it stands; it is there. */
static DML_ONCE int64_t LOOP(row_first)(const float *x, int64_t n, float largest)
{
    int64_t i = 0;
    while (i + DML_FLOAT_LANES <= n && DML_EVERY(DML_IS(NEQ, DML_F(loadu)(x + i), DML_ALL(largest))))
        i += DML_FLOAT_LANES;
    while (x[i] != largest)
        i++;
    return i;
}

/* exp(x - largest) 2^raised, of the exact difference: what it loses when it is rounded goes to the exponential. Below
   `least` it is 0, and NaN what is lost there. */
DML_INLINE LOOP(floats) LOOP(row_exp)(LOOP(floats) x, LOOP(floats) largest, const float least, const float raised)
{
    LOOP(floats) rounded = x - largest, back = rounded - x, k, less, r;
    less = (largest + back) - (x - (rounded - back));
    less = DML_WHERE(DML_IS(GT, rounded, DML_ALL(least)), less, DML_ALL(0.0f));
    r = LOOP(exp_reduced)(DML_F(max)(DML_ALL(least), rounded), less, &k);
    if (raised != 0.0f)
        k = k + DML_ALL(raised);
    return LOOP(float_scaled)(r + DML_ALL(1.0f), k);
}

/* Their sum; they go to `out`, which may be `x`, if it is not NULL. What takes their place next is fetched. */
DML_INLINE double LOOP(row_exps)(float *out, const float *x, int64_t n, float largest, const float least,
                                 const float raised, dml_rows_next next)
{
    const LOOP(floats) top = DML_ALL(largest);
    DML_DOUBLES sums[2] = {{0}, {0}};
    LOOP(floats) pair[2];
    float rest[DML_FLOAT_LANES];
    double sum = 0.0;
    int64_t i = 0;
    for (; i + 2 * DML_FLOAT_LANES <= n; i += 2 * DML_FLOAT_LANES) {
        DML_ROWS_FETCH(next, i, 2 * DML_FLOAT_LANES)
        for (int j = 0; j < 2; j++) {
            pair[j] = LOOP(row_exp)(DML_F(loadu)(x + i + j * DML_FLOAT_LANES), top, least, raised);
            if (out)
                DML_F(storeu)(out + i + j * DML_FLOAT_LANES, pair[j]);
        }
        pair[0] = pair[0] + pair[1];
        for (int j = 0; j < 2; j++)
            sums[j] += DML_HALF_OF(pair[0], j);
    }
    for (; i < n; i += DML_FLOAT_LANES) {
        int64_t count = n - i < DML_FLOAT_LANES ? n - i : DML_FLOAT_LANES;
        for (int j = 0; j < DML_FLOAT_LANES; j++)
            rest[j] = j < count ? x[i + j] : -INFINITY;
        pair[0] = LOOP(row_exp)(DML_F(loadu)(rest), top, least, raised);
        DML_F(storeu)(rest, pair[0]);
        if (out)
            memcpy(out + i, rest, (size_t)count * sizeof(float));
        for (int j = 0; j < 2; j++)
            sums[j] += DML_HALF_OF(pair[0], j);
    }
    sums[0] += sums[1];
    for (int j = 0; j < DML_LANES; j++)
        sum += sums[0][j];
    return sum;
}

static DML_ONCE double LOOP(row_exponentials)(float *out, const float *x, int64_t n, float largest, dml_rows_next next)
{
    return LOOP(row_exps)(out, x, n, largest, -104.0f, 0.0f, next);
}

/* Beside the largest element the others may be too small for FLOAT32, but not for its logarithm. */
static DML_ONCE double LOOP(row_exp_sum)(const float *x, int64_t n, float largest, dml_rows_next next)
{
    return LOOP(row_exps)(NULL, x, n, largest, -150.0f, 64.0f, next) * 0x1p-64;
}

/* The inverse is taken in two parts, so that products are rounded once. */
static DML_ONCE void LOOP(row_divide)(float *out, int64_t n, double divisor)
{
    const double inverse = 1.0 / divisor;
    const float high = (float)inverse, low = (float)(inverse - (double)high);
    int64_t i = 0;
    for (; i + DML_FLOAT_LANES <= n; i += DML_FLOAT_LANES) {
        LOOP(floats) values = DML_F(loadu)(out + i);
        DML_F(storeu)(out + i, DML_FMA(values, DML_ALL(high), values * DML_ALL(low)));
    }
    for (; i < n; i++)
        out[i] = __builtin_fmaf(out[i], high, out[i] * low);
}

#else

static float LOOP(row_largest)(const float *x, int64_t n)
{
    return LOOP(max_f32_row)(x, n);
}

static int64_t LOOP(row_first)(const float *x, int64_t n, float largest)
{
    int64_t i = 0;
    while (i < n && x[i] != largest)
        i++;
    return i;
}

static DML_ONCE double LOOP(row_exponentials)(float *out, const float *x, int64_t n, float largest, dml_rows_next next)
{
    DML_DOUBLES sums[4] = {{0}, {0}, {0}, {0}}, values[4];
    float rest[16];
    (void)next;
    for (int64_t i = 0; i < n; i += 16) {
        int64_t count = n - i < 16 ? n - i : 16;
        DML_ROWS_FETCH(next, i, 16)
        for (int j = 0; j < 16; j++)
            rest[j] = j < count ? x[i + j] : -INFINITY;
        for (int j = 0; j < 4; j++)
            values[j] = DML_ROWS_LOAD(rest + 4 * j) - (double)largest;
        LOOP(exp_sixteen)(values);
        for (int j = 0; j < 4; j++) {
            DML_ROWS_STORE(rest + 4 * j, values[j]);
            sums[j] += values[j];
        }
        memcpy(out + i, rest, (size_t)count * sizeof(float));
    }
    return LOOP(rows_total)(sums);
}

static double LOOP(row_exp_sum)(const float *x, int64_t n, float largest, dml_rows_next next)
{
    double sum = LOOP(exp_sum)(x, n, largest);
    (void)next;
    /* Exponentials that are 0 count as a little more than that. */
    return sum < (double)(n + 32) * 0x1p-1020 ? 0.0 : sum;
}

static DML_ONCE void LOOP(row_divide)(float *out, int64_t n, double divisor)
{
    const double inverse = 1.0 / divisor;
    for (int64_t i = 0; i < n; i++)
        out[i] = (float)((double)out[i] * inverse);
}

#endif

static DML_ONCE void LOOP(row_fill)(float *out, int64_t n, float value)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = value;
}

/* The sum of FLOAT16 is kept in FLOAT16. An infinite largest element leaves NaN of itself, which spoils the sum. */
static DML_ONCE void LOOP(row_softmax)(float *out, const float *x, int64_t n, int is_half, dml_rows_next next)
{
    float largest = LOOP(row_largest)(x, n);
    double sum;
    if (isinf(largest)) {
        LOOP(row_fill)(out, n, NAN);
        return;
    }
    sum = LOOP(row_exponentials)(out, x, n, largest, next);
    LOOP(row_divide)(out, n, is_half ? dml_rows_half(sum) : sum);
}

/* What is left of the sum of exponentials beside the largest, which is 1, keeps its digits. A sum that is NaN counts as
   1e-20. */
static DML_ONCE void LOOP(row_log_softmax)(float *out, const float *x, int64_t n, int is_half, dml_rows_next next)
{
    float largest = LOOP(row_largest)(x, n);
    int64_t first;
    double others;
    if (isinf(largest)) {
        for (int64_t i = 0; i < n; i++)
            out[i] = isnan(x[i]) || x[i] == largest ? NAN : -INFINITY;
        return;
    }
    first = LOOP(row_first)(x, n, largest);
    others = LOOP(row_exp_sum)(x, first, largest, next);
    next.place += (first + 1) * next.size;
    others += LOOP(row_exp_sum)(x + first + 1, n - first - 1, largest, next);
    others = is_half ? dml_rows_half(1.0 + others) - 1.0 : others;
    /* 0 is taken away, not -0 added: the logarithm of 1 is 0. */
    LOOP(rows_shifted)(out, x, n, largest, 1.0, isnan(others) ? 46.051701859880914 : 0.0 - log1p(others), 0);
}
