/* log(sum(exp(x))) as a running sum, whatever its range: `state` holds the largest element so far, `second` the sum of exp(x - largest).
   What is taken out is the largest of a chunk that fits into the nearest cache, so memory is read once. An infinite
   largest element is not taken out: of itself it would leave NaN. Nor is exp taken of what is then left, where the
   largest is positive, but for finding NaN. */

#undef DML_EXP_LANES
#undef DML_EXP_VECTORS
#if defined(DML_AVX512)
#define DML_EXP_LANES 8
#else
#define DML_EXP_LANES 4
#endif
#define DML_EXP_VECTORS (16 / DML_EXP_LANES)
typedef double LOOP(exp_vector) __attribute__((vector_size(8 * DML_EXP_LANES), aligned(8), may_alias));
typedef uint64_t LOOP(exp_bits) __attribute__((vector_size(8 * DML_EXP_LANES)));

/* A number never becomes less than -708, whose exponential is not 0 but too little to count; NaN stays. */
#if defined(DML_AVX512)
#define DML_EXP_BOUND(to, x) to = (LOOP(exp_vector))_mm512_max_pd(_mm512_set1_pd(-708.0), (__m512d)(x))
#define DML_EXP_DOUBLES(x) ((LOOP(exp_vector))_mm512_cvtps_pd(_mm256_loadu_ps(x)))
#elif defined(DML_AVX2)
#define DML_EXP_BOUND(to, x) to = (LOOP(exp_vector))_mm256_max_pd(_mm256_set1_pd(-708.0), (__m256d)(x))
#define DML_EXP_DOUBLES(x) ((LOOP(exp_vector))_mm256_cvtps_pd(_mm_loadu_ps(x)))
#else
#define DML_EXP_BOUND(to, x) \
    for (int j = 0; j < 4; j++) \
        (to)[j] = (x)[j] < -708.0 ? -708.0 : (x)[j]
#define DML_EXP_DOUBLES(x) ((LOOP(exp_vector)){(x)[0], (x)[1], (x)[2], (x)[3]})
#endif

/* Sixteen times exp(x), for x that is not larger than 0: x = k ln 2 + r, exp(r) from a polynomial that is exact to 5e-12,
   fitted at Chebyshev's nodes such that exp(0) is 1. Each step is taken for all sixteen before the next, because one step
   waits long for the one before. */
DML_INLINE void LOOP(exp_sixteen)(LOOP(exp_vector) *values)
{
    typedef LOOP(exp_vector) vector;
    typedef LOOP(exp_bits) bits;
    /* Added to a number this leaves no bits for a fraction, and the integer in the lowest bits. */
    const double magic = 0x1.8p52;
    vector r[DML_EXP_VECTORS], shifted[DML_EXP_VECTORS], cube[DML_EXP_VECTORS], low[DML_EXP_VECTORS], high[DML_EXP_VECTORS];
#define DML_EACH for (int i = 0; i < DML_EXP_VECTORS; i++)
    DML_EACH DML_EXP_BOUND(r[i], values[i]);
    DML_EACH shifted[i] = r[i] * 0x1.71547652b82fep0 + magic;
    DML_EACH r[i] = r[i] - (shifted[i] - magic) * 0x1.62e42fefa39efp-1;
    DML_EACH high[i] = 2.485963629411109e-05 * r[i] + 0.00019899332056564083;
    DML_EACH low[i] = 0.008333298413941455 * r[i] + 0.04166666671913807;
    DML_EACH cube[i] = r[i] * r[i];
    DML_EACH high[i] = high[i] * r[i] + 0.001388885397983235;
    DML_EACH low[i] = low[i] * r[i] + 0.166666667191548;
    DML_EACH cube[i] = cube[i] * r[i];
    DML_EACH low[i] = high[i] * cube[i] + low[i];
    DML_EACH low[i] = low[i] * r[i] + 0.5;
    DML_EACH low[i] = low[i] * r[i] + 1.0;
    DML_EACH low[i] = low[i] * r[i] + 1.0;
    DML_EACH values[i] = low[i] * (vector)(((bits)shifted[i] + 1023) << 52);
#undef DML_EACH
}

DML_INLINE double LOOP(exp_sum)(const float *x, int64_t n, double shift)
{
    typedef LOOP(exp_vector) vector;
    vector sums[DML_EXP_VECTORS] = {{0}}, values[DML_EXP_VECTORS];
    float rest[16];
    for (int64_t i = 0; i < n; i += 16) {
        const float *part = x + i;
        if (n - i < 16) {
            for (int j = 0; j < 16; j++)
                rest[j] = j < n - i ? part[j] : -INFINITY;
            part = rest;
        }
        for (int j = 0; j < DML_EXP_VECTORS; j++)
            values[j] = DML_EXP_DOUBLES(part + DML_EXP_LANES * j) - shift;
        LOOP(exp_sixteen)(values);
        for (int j = 0; j < DML_EXP_VECTORS; j++)
            sums[j] += values[j];
    }
#if DML_EXP_VECTORS == 4
    sums[0] = sums[0] + sums[1] + (sums[2] + sums[3]);
    return sums[0][0] + sums[0][1] + (sums[0][2] + sums[0][3]);
#else
    return _mm512_reduce_add_pd((__m512d)(sums[0] + sums[1]));
#endif
}

/* The sum where the largest element is infinity: NaN if there is a NaN, else any other number. */
static double LOOP(exp_infinite)(const char *element, int64_t n, int64_t stride)
{
    double sum = 1.0;
    for (int64_t i = 0; i < n; i++, element += stride)
        sum = *(const float *)element == *(const float *)element ? sum : NAN;
    return sum;
}

static inline double LOOP(exp_one)(double x)
{
    LOOP(exp_vector) values[DML_EXP_VECTORS] = {{x}};
    LOOP(exp_sixteen)(values);
    return values[0][0];
}

static void LOOP(exp_rows)(void *state, void *second, const char *source, int64_t m, int64_t kept_stride, int64_t n,
                           int64_t reduced_stride, int64_t index)
{
    enum { CHUNK = 4096 };
    float *largest = state;
    double *sum = second;
    for (int64_t i = 0; i < m; i++) {
        const float *row = (const float *)(source + i * kept_stride);
        for (int64_t j = 0; j < n; j += CHUNK) {
            int64_t length = n - j < CHUNK ? n - j : CHUNK;
            float before = largest[i], now = LOOP(max_f32_row)(row + j, length);
            if (now == INFINITY || before == INFINITY) {
                largest[i] = INFINITY;
                sum[i] += LOOP(exp_infinite)((const char *)(row + j), length, 4);
                continue;
            }
            if (now > before) {
                sum[i] *= before == -INFINITY ? 0.0 : LOOP(exp_one)((double)before - (double)now);
                largest[i] = before = now;
            }
            sum[i] += LOOP(exp_sum)(row + j, length, isinf(before) ? 0.0 : before);
        }
    }
}

/* The same for columns, a few rows at a time. */
static void LOOP(exp_columns)(void *state, void *second, const char *source, int64_t m, int64_t kept_stride, int64_t n,
                              int64_t reduced_stride, int64_t index)
{
    typedef LOOP(exp_vector) vector;
    enum { COLUMNS = 128, ROWS = 32 };
    int64_t across = (m + COLUMNS - 1) / COLUMNS, tiles = (n + ROWS - 1) / ROWS * across;
    for (int64_t tile = 0; tile < tiles; tile++) {
        int64_t first = tile % across * COLUMNS, i = tile / across * ROWS, length = n - i < ROWS ? n - i : ROWS;
        int64_t width = m - first < COLUMNS ? m - first : COLUMNS, filled = (width + 15) / 16 * 16;
        float *largest = (float *)state + first;
        double *sum = (double *)second + first;
        double sums[COLUMNS], shift[COLUMNS], scale[COLUMNS];
        float before[COLUMNS], edge[16] = {0};
        const char *chunk = source + 4 * first + i * reduced_stride;
        memcpy(before, largest, width * sizeof *before);
        LOOP(max_f32_fold)(largest, chunk, width, length, reduced_stride);
        for (int64_t j = 0; j < filled; j++) {
            scale[j] = j >= width || largest[j] == before[j] ? 0.0 : (double)before[j] - (double)largest[j];
            shift[j] = j >= width || isinf(largest[j]) ? 0.0 : largest[j];
            sums[j] = j >= width ? 0.0 : sum[j];
        }
        for (int64_t j = 0; j < filled; j += 16) {
            vector total[DML_EXP_VECTORS], values[DML_EXP_VECTORS];
            for (int k = 0; k < DML_EXP_VECTORS; k++)
                values[k] = ((vector *)(scale + j))[k];
            LOOP(exp_sixteen)(values);
            for (int k = 0; k < DML_EXP_VECTORS; k++)
                total[k] = ((vector *)(sums + j))[k] * values[k];
            for (int64_t l = 0; l < length; l++) {
                const float *row = (const float *)(chunk + l * reduced_stride) + j;
                if (j + 16 > width) {
                    memcpy(edge, row, (size_t)(width - j) * sizeof *edge);
                    row = edge;
                }
                for (int k = 0; k < DML_EXP_VECTORS; k++)
                    values[k] = DML_EXP_DOUBLES(row + DML_EXP_LANES * k) - ((vector *)(shift + j))[k];
                LOOP(exp_sixteen)(values);
                for (int k = 0; k < DML_EXP_VECTORS; k++)
                    total[k] += values[k];
            }
            for (int k = 0; k < DML_EXP_VECTORS; k++)
                ((vector *)(sums + j))[k] = total[k];
        }
        for (int64_t j = 0; j < width; j++)
            sum[j] = largest[j] == INFINITY ? sum[j] + LOOP(exp_infinite)(chunk + 4 * j, length, reduced_stride) : sums[j];
    }
}
#undef DML_EXP_BOUND
#undef DML_EXP_DOUBLES
