/* Folds whose result is one number: sums, products, the smallest, the largest. The loops are written so that compilers
   vectorise them: neighbouring results never wait for each other. A row is folded as if it were many short rows under
   each other, as wide as results fit into registers, which are joined at the end. */

/* `T` is an element, `A` a result, `VALUE` makes the one of the other, and `JOIN` takes both into one result.
   LOOP(NAME##_fold) is the loop that all is made of: n rows of m elements each, `stride` bytes apart; it takes STEPS of
   them at a time. */
#define DML_FOLD_TILES(NAME, T, A, VALUE, JOIN, IDENTITY, STEPS) \
    static void LOOP(NAME##_columns)(void *state, void *second, const char *source, int64_t m, int64_t kept_stride, int64_t n, \
                                     int64_t reduced_stride, int64_t index) \
    { \
        LOOP(NAME##_fold)(state, source, m, n, reduced_stride); \
    } \
    DML_INLINE A LOOP(NAME##_lane)(A *lanes, int width) \
    { \
        for (int w = width / 2; w > 0; w /= 2) \
            DML_ROLLED for (int j = 0; j < w; j++) \
                lanes[j] = JOIN(A, lanes[j], lanes[j + w]); \
        return lanes[0]; \
    } \
    DML_INLINE A LOOP(NAME##_lanes)(const T *row, int64_t n) \
    { \
        enum { width = 64 / sizeof(A) }; \
        A lanes[width] __attribute__((aligned(64))); \
        int64_t i = 0; \
        for (int j = 0; j < width; j++) \
            lanes[j] = IDENTITY; \
        for (; i + STEPS * width <= n; i += STEPS * width) \
            LOOP(NAME##_fold)(lanes, (const char *)(row + i), width, STEPS, width * (int64_t)sizeof(T)); \
        for (; STEPS > 1 && i + width <= n; i += width) \
            LOOP(NAME##_fold)(lanes, (const char *)(row + i), width, 1, 0); \
        if (i < n) \
            LOOP(NAME##_fold)(lanes, (const char *)(row + i), n - i, 1, 0); \
        return LOOP(NAME##_lane)(lanes, width); \
    } \
    static DML_ONCE A LOOP(NAME##_row)(const T *row, int64_t n) \
    { \
        A even = IDENTITY, odd = IDENTITY; \
        int64_t i = 0; \
        if (n >= 32) \
            return LOOP(NAME##_lanes)(row, n); \
        for (; i + 2 <= n; i += 2) { \
            even = JOIN(A, even, VALUE(A, row[i])); \
            odd = JOIN(A, odd, VALUE(A, row[i + 1])); \
        } \
        if (i < n) \
            even = JOIN(A, even, VALUE(A, row[i])); \
        return JOIN(A, even, odd); \
    } \
    /* Four rows of n elements, `distance` bytes apart, in step: the processor fetches several streams of memory better \
       than one. */ \
    static DML_ONCE void LOOP(NAME##_four_rows)(A *results, const char *source, int64_t n, int64_t distance) \
    { \
        enum { WIDE = 256 / sizeof(A), STEP = STEPS * WIDE }; \
        A lanes[4 * WIDE] __attribute__((aligned(64))); \
        int64_t i = 0; \
        for (int j = 0; j < 4 * WIDE; j++) \
            lanes[j] = IDENTITY; \
        for (; i + STEP <= n; i += STEP) \
            for (int k = 0; k < 4; k++) \
                LOOP(NAME##_fold)(lanes + k * WIDE, source + k * distance + i * (int64_t)sizeof(T), WIDE, STEPS, \
                                  WIDE * (int64_t)sizeof(T)); \
        for (int k = 0; k < 4; k++) { \
            A rest = LOOP(NAME##_row)((const T *)(source + k * distance) + i, n - i); \
            results[k] = JOIN(A, LOOP(NAME##_lane)(lanes + k * WIDE, WIDE), rest); \
        } \
    } \
    static A LOOP(NAME##_long_row)(const T *row, int64_t n) \
    { \
        enum { PART = DML_FOLD_STREAM / sizeof(T) }; \
        A result = IDENTITY, four[4]; \
        for (int64_t part; n >= DML_FOLD_LONG / (int64_t)sizeof(T); row += 4 * part, n -= 4 * part) { \
            part = n < 4 * PART ? n / 4 : PART; \
            LOOP(NAME##_four_rows)(four, (const char *)row, part, part * (int64_t)sizeof(T)); \
            for (int k = 0; k < 4; k++) \
                result = JOIN(A, result, four[k]); \
        } \
        return JOIN(A, result, LOOP(NAME##_row)(row, n)); \
    } \
    static void LOOP(NAME##_rows)(void *state, void *second, const char *source, int64_t m, int64_t kept_stride, int64_t n, \
                                  int64_t reduced_stride, int64_t index) \
    { \
        A *result = state, four[4]; \
        int64_t i = 0, quarter = m / 4; \
        for (; n >= DML_FOLD_LONG / (int64_t)sizeof(T) && i < quarter; i++) { \
            LOOP(NAME##_four_rows)(four, source + i * kept_stride, n, quarter * kept_stride); \
            for (int k = 0; k < 4; k++) \
                result[i + k * quarter] = JOIN(A, result[i + k * quarter], four[k]); \
        } \
        for (i *= 4; i < m; i++) { \
            A row = LOOP(NAME##_long_row)((const T *)(source + i * kept_stride), n); \
            result[i] = JOIN(A, result[i], row); \
        } \
    }

/* Four elements are taken at a time for each result, so that results are not loaded and stored for each element. */
#define DML_FOLD(NAME, T, A, VALUE, JOIN, IDENTITY) \
    DML_INLINE void LOOP(NAME##_four)( \
        A *restrict result, const T *restrict a, const T *restrict b, const T *restrict c, const T *restrict d, int64_t m) \
    { \
        for (int64_t j = 0; j < m; j++) \
            result[j] = \
                JOIN(A, JOIN(A, JOIN(A, JOIN(A, result[j], VALUE(A, a[j])), VALUE(A, b[j])), VALUE(A, c[j])), VALUE(A, d[j])); \
    } \
    DML_INLINE void LOOP(NAME##_one)(A *restrict result, const T *restrict a, int64_t m) \
    { \
        DML_ROLLED for (int64_t j = 0; j < m; j++) \
            result[j] = JOIN(A, result[j], VALUE(A, a[j])); \
    } \
    DML_INLINE void LOOP(NAME##_fold)(A *result, const char *source, int64_t m, int64_t n, \
                                                                        int64_t stride) \
    { \
        int64_t i = 0; \
        for (; i + 4 <= n; i += 4, source += 4 * stride) \
            LOOP(NAME##_four)(result, (const T *)source, (const T *)(source + stride), (const T *)(source + 2 * stride), \
                              (const T *)(source + 3 * stride), m); \
        for (; i < n; i++, source += stride) \
            LOOP(NAME##_one)(result, (const T *)source, m); \
    } \
    DML_FOLD_TILES(NAME, T, A, VALUE, JOIN, IDENTITY, 1)

/* The same by hand, for types that compilers convert in roundabout ways: `LOAD` makes a vector of WIDTH elements, `ONE` takes
   one of these into results, `FOUR` four. */
#define DML_FOLD_VECTORS(NAME, T, A, WIDTH, LOAD, FOUR, ONE, VALUE, JOIN, IDENTITY, STEPS) \
    DML_INLINE void LOOP(NAME##_fold)(A *result, const char *source, int64_t m, int64_t n, \
                                                                        int64_t stride) \
    { \
        int64_t vectors = m / WIDTH * WIDTH; \
        while (n > 0) { \
            int64_t step = n >= 4 ? 4 : 1; \
            const T *a = (const T *)source, *b = (const T *)(source + stride), \
                           *c = (const T *)(source + 2 * stride), *d = (const T *)(source + 3 * stride); \
            if (step == 4) \
                for (int64_t j = 0; j < vectors; j += WIDTH) { \
                    FOUR(result + j, LOAD(a + j), LOAD(b + j), LOAD(c + j), LOAD(d + j)); \
                } \
            else \
                for (int64_t j = 0; j < vectors; j += WIDTH) { \
                    ONE(result + j, LOAD(a + j)); \
                } \
            for (int64_t k = 0; k < step; k++, source += stride) \
                for (int64_t j = vectors; j < m; j++) \
                    result[j] = JOIN(A, result[j], VALUE(A, ((const T *)source)[j])); \
            n -= step; \
        } \
    } \
    DML_FOLD_TILES(NAME, T, A, VALUE, JOIN, IDENTITY, STEPS)

/* Integers are added and multiplied in an unsigned type, which wraps; types narrower than int are widened to unsigned
   first, because they would become int, which does not. */
#define DML_AS_IS(A, x) ((A)(x))
#define DML_ABSOLUTE(A, x) ((A)((x) < 0 ? 0u - (A)(x) : (A)(x)))
#define DML_SQUARE(A, x) ((A)((A)(x) * 1u * (A)(x)))
#define DML_ADD(A, x, y) ((A)((x) + (y)))
#define DML_MULTIPLY(A, x, y) ((A)((x) * 1u * (y)))
#define DML_FLOAT_ABSOLUTE(A, x) ((A)__builtin_fabsf(x))
#define DML_FLOAT_SQUARE(A, x) ((A)(x) * (A)(x))
#define DML_FLOAT_MULTIPLY(A, x, y) ((x) * (y))
/* A comparison with NaN is false. Results begin as numbers, so that NaN is passed over: of two operands only the new
   one, which is the second, may be NaN. */
#define DML_SMALLER(A, x, y) ((y) < (x) ? (y) : (x))
#define DML_LARGER(A, x, y) ((y) > (x) ? (y) : (x))

#define DML_FOLD_INTEGER(BITS) \
    DML_FOLD(sum_u##BITS, uint##BITS##_t, uint##BITS##_t, DML_AS_IS, DML_ADD, 0) \
    DML_FOLD(absolute_i##BITS, int##BITS##_t, uint##BITS##_t, DML_ABSOLUTE, DML_ADD, 0) \
    DML_FOLD(square_u##BITS, uint##BITS##_t, uint##BITS##_t, DML_SQUARE, DML_ADD, 0) \
    DML_FOLD(product_u##BITS, uint##BITS##_t, uint##BITS##_t, DML_AS_IS, DML_MULTIPLY, 1) \
    DML_FOLD(min_i##BITS, int##BITS##_t, int##BITS##_t, DML_AS_IS, DML_SMALLER, INT##BITS##_MAX) \
    DML_FOLD(max_i##BITS, int##BITS##_t, int##BITS##_t, DML_AS_IS, DML_LARGER, INT##BITS##_MIN) \
    DML_FOLD(min_u##BITS, uint##BITS##_t, uint##BITS##_t, DML_AS_IS, DML_SMALLER, UINT##BITS##_MAX) \
    DML_FOLD(max_u##BITS, uint##BITS##_t, uint##BITS##_t, DML_AS_IS, DML_LARGER, 0)

DML_FOLD_INTEGER(8)
DML_FOLD_INTEGER(16)
DML_FOLD_INTEGER(32)
DML_FOLD_INTEGER(64)
/* -0 is what leaves every number as it is, -0 included. */
#if defined(DML_AVX2)
/* Loaded four at a time they are converted at once; eight would have to be taken apart. */
#define DML_FLOATS(x) _mm256_cvtps_pd(_mm_loadu_ps(x))
#define DML_FLOATS_ABSOLUTE(x) _mm256_andnot_pd(_mm256_set1_pd(-0.0), DML_FLOATS(x))
#define DML_FLOATS_SQUARE(x) _mm256_mul_pd(DML_FLOATS(x), DML_FLOATS(x))
#define DML_DOUBLES_INTO(OP, result, x) _mm256_storeu_pd(result, OP(_mm256_loadu_pd(result), x))
#define DML_FLOATS_SUM(result, x) DML_DOUBLES_INTO(_mm256_add_pd, result, x)
#define DML_FLOATS_PRODUCT(result, x) DML_DOUBLES_INTO(_mm256_mul_pd, result, x)
#define DML_FLOATS_FOUR_SUM(result, a, b, c, d) \
    DML_FLOATS_SUM(result, _mm256_add_pd(_mm256_add_pd(a, b), _mm256_add_pd(c, d)))
#define DML_FLOATS_FOUR_PRODUCT(result, a, b, c, d) \
    DML_FLOATS_PRODUCT(result, _mm256_mul_pd(_mm256_mul_pd(a, b), _mm256_mul_pd(c, d)))
#define DML_FOLD_FLOAT(NAME, LOAD, KIND, VALUE, JOIN, IDENTITY) \
    DML_FOLD_VECTORS(NAME, float, double, 4, LOAD, DML_FLOATS_FOUR_##KIND, DML_FLOATS_##KIND, VALUE, JOIN, IDENTITY, 1)
#else
#define DML_FOLD_FLOAT(NAME, LOAD, KIND, VALUE, JOIN, IDENTITY) DML_FOLD(NAME, float, double, VALUE, JOIN, IDENTITY)
#endif
DML_FOLD_FLOAT(sum_f32, DML_FLOATS, SUM, DML_AS_IS, DML_ADD, -0.0)
DML_FOLD_FLOAT(absolute_f32, DML_FLOATS_ABSOLUTE, SUM, DML_FLOAT_ABSOLUTE, DML_ADD, -0.0)
DML_FOLD_FLOAT(square_f32, DML_FLOATS_SQUARE, SUM, DML_FLOAT_SQUARE, DML_ADD, -0.0)
DML_FOLD_FLOAT(product_f32, DML_FLOATS, PRODUCT, DML_AS_IS, DML_FLOAT_MULTIPLY, 1.0)
#undef DML_FOLD_FLOAT
DML_FOLD(sum_f64, double, double, DML_AS_IS, DML_ADD, -0.0)
DML_FOLD(product_f64, double, double, DML_AS_IS, DML_FLOAT_MULTIPLY, 1.0)
DML_FOLD(min_f32, float, float, DML_AS_IS, DML_SMALLER, INFINITY)
DML_FOLD(max_f32, float, float, DML_AS_IS, DML_LARGER, -INFINITY)
