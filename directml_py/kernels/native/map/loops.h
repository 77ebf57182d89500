/* The loops of single steps, over blocks that stay in the nearest cache. Results may lie where operands do. */

#include "functions.h"
#if defined(DML_AVX2)
#include "floats.h"
#endif

#undef DML_ALIKE
#if defined(__clang__)
#define DML_ALIKE _Pragma("clang loop vectorize(assume_safety)")
#else
#define DML_ALIKE _Pragma("GCC ivdep")
#endif

DML_INLINE void LOOP(load_float64)(DML_DOUBLES *x, const double *from)
{
    memcpy(x, from, sizeof *x);
}

DML_INLINE void LOOP(load_float32)(DML_DOUBLES *x, const float *from)
{
    LOOP(map_floats) lanes;
    memcpy(&lanes, from, sizeof lanes);
    *x = __builtin_convertvector(lanes, DML_DOUBLES);
}

DML_INLINE void LOOP(store_float64)(double *to, const DML_DOUBLES *x)
{
    memcpy(to, x, sizeof *x);
}

DML_INLINE void LOOP(store_float32)(float *to, const DML_DOUBLES *x)
{
    LOOP(map_floats) lanes = __builtin_convertvector(*x, LOOP(map_floats));
    memcpy(to, &lanes, sizeof lanes);
}

#define DML_UNARY(NAME, R, T, VALUE) \
    static void LOOP(map_step_##NAME)(void *result, const void *const *operands, int64_t count) \
    { \
        R *to = result; \
        const T *first = operands[0]; \
        DML_ALIKE for (int64_t i = 0; i < count; i++) \
        { \
            const T x = first[i]; \
            to[i] = VALUE; \
        } \
    }
/* Of what is the same everywhere one element is read; `operands` ends with a bit for each such operand that the step can
   read so. */
#define DML_UNIFORM(operands) (uintptr_t)(operands)[3]
#define DML_BINARY(NAME, R, T, VALUE) \
    static void LOOP(map_step_##NAME)(void *result, const void *const *operands, int64_t count) \
    { \
        R *to = result; \
        const T *first = operands[0], *second = operands[1]; \
        if (DML_UNIFORM(operands) == 2) { \
            const T y = *second; \
            DML_ALIKE for (int64_t i = 0; i < count; i++) \
            { \
                const T x = first[i]; \
                to[i] = VALUE; \
            } \
            return; \
        } \
        DML_ALIKE for (int64_t i = 0; i < count; i++) \
        { \
            const T x = first[i], y = second[i]; \
            to[i] = VALUE; \
        } \
    }
#define DML_TERNARY(NAME, R, A, B, C, VALUE) \
    static void LOOP(map_step_##NAME)(void *result, const void *const *operands, int64_t count) \
    { \
        R *to = result; \
        const A *first = operands[0]; \
        const B *second = operands[1]; \
        const C *third = operands[2]; \
        if (DML_UNIFORM(operands) == 6) { \
            const B y = *second; \
            const C z = *third; \
            DML_ALIKE for (int64_t i = 0; i < count; i++) \
            { \
                const A x = first[i]; \
                to[i] = VALUE; \
            } \
            return; \
        } \
        DML_ALIKE for (int64_t i = 0; i < count; i++) \
        { \
            const A x = first[i]; \
            const B y = second[i]; \
            const C z = third[i]; \
            to[i] = VALUE; \
        } \
    }
/* As many elements at a time as there are lanes. The last ones are completed with 1. */
#define DML_BY_LANES(NAME, T, lane) \
    DML_INLINE void LOOP(map_lanes_##NAME##_##lane)(T *to, const T *first) \
    { \
        DML_DOUBLES x; \
        LOOP(load_##lane)(&x, first); \
        LOOP(map_##NAME)(&x); \
        LOOP(store_##lane)(to, &x); \
    } \
    static void LOOP(map_step_##NAME##_##lane)(void *result, const void *const *operands, int64_t count) \
    { \
        T *to = result, rest[8] = {1, 1, 1, 1, 1, 1, 1, 1}; \
        const T *first = operands[0]; \
        int64_t i = 0; \
        for (; i + DML_LANES <= count; i += DML_LANES) \
            LOOP(map_lanes_##NAME##_##lane)(to + i, first + i); \
        if (i < count) { \
            memcpy(rest, first + i, (size_t)(count - i) * sizeof(T)); \
            LOOP(map_lanes_##NAME##_##lane)(rest, rest); \
            memcpy(to + i, rest, (size_t)(count - i) * sizeof(T)); \
        } \
    }
#define DML_BY_LANES2(NAME, T, lane) \
    DML_INLINE void LOOP(map_lanes_##NAME##_##lane)(T *to, const T *first, const T *second) \
    { \
        DML_DOUBLES x, y; \
        LOOP(load_##lane)(&x, first); \
        LOOP(load_##lane)(&y, second); \
        LOOP(map_##NAME)(&x, &y); \
        LOOP(store_##lane)(to, &x); \
    } \
    static void LOOP(map_step_##NAME##_##lane)(void *result, const void *const *operands, int64_t count) \
    { \
        T *to = result, rest[8] = {1, 1, 1, 1, 1, 1, 1, 1}, others[8] = {1, 1, 1, 1, 1, 1, 1, 1}; \
        const T *first = operands[0], *second = operands[1]; \
        int64_t i = 0; \
        for (; i + DML_LANES <= count; i += DML_LANES) \
            LOOP(map_lanes_##NAME##_##lane)(to + i, first + i, second + i); \
        if (i < count) { \
            memcpy(rest, first + i, (size_t)(count - i) * sizeof(T)); \
            memcpy(others, second + i, (size_t)(count - i) * sizeof(T)); \
            LOOP(map_lanes_##NAME##_##lane)(rest, rest, others); \
            memcpy(to + i, rest, (size_t)(count - i) * sizeof(T)); \
        } \
    }
#if defined(DML_AVX2)
/* The same for FLOAT32 that is computed in FLOAT32. */
#define DML_BY_FLOATS(NAME) \
    static void LOOP(map_step_##NAME##_float32)(void *result, const void *const *operands, int64_t count) \
    { \
        const float *first = operands[0]; \
        float *to = result, rest[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}; \
        int64_t i = 0; \
        for (; i + DML_FLOAT_LANES <= count; i += DML_FLOAT_LANES) \
            DML_F(storeu)(to + i, LOOP(float_##NAME)(DML_F(loadu)(first + i))); \
        if (i < count) { \
            memcpy(rest, first + i, (size_t)(count - i) * sizeof(float)); \
            DML_F(storeu)(rest, LOOP(float_##NAME)(DML_F(loadu)(rest))); \
            memcpy(to + i, rest, (size_t)(count - i) * sizeof(float)); \
        } \
    }
#define DML_BY_FLOATS2(NAME) \
    static void LOOP(map_step_##NAME##_float32)(void *result, const void *const *operands, int64_t count) \
    { \
        const float *first = operands[0], *second = operands[1]; \
        float *to = result, rest[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, others[16]; \
        int64_t i = 0; \
        for (; i + DML_FLOAT_LANES <= count; i += DML_FLOAT_LANES) \
            DML_F(storeu)(to + i, LOOP(float_##NAME)(DML_F(loadu)(first + i), DML_F(loadu)(second + i))); \
        if (i < count) { \
            memcpy(others, rest, sizeof others); \
            memcpy(rest, first + i, (size_t)(count - i) * sizeof(float)); \
            memcpy(others, second + i, (size_t)(count - i) * sizeof(float)); \
            DML_F(storeu)(rest, LOOP(float_##NAME)(DML_F(loadu)(rest), DML_F(loadu)(others))); \
            memcpy(to + i, rest, (size_t)(count - i) * sizeof(float)); \
        } \
    }
#else
#define DML_BY_FLOATS(NAME) DML_BY_LANES(NAME, float, float32)
#define DML_BY_FLOATS2(NAME) DML_BY_LANES2(NAME, float, float32)
#endif
#define DML_FUNCTION(NAME) DML_BY_FLOATS(NAME) DML_BY_LANES(NAME, double, float64)
#define DML_FUNCTION2(NAME) DML_BY_FLOATS2(NAME) DML_BY_LANES2(NAME, double, float64)
/* Defined below. */
#define DML_LATER(NAME)
DML_MAP_STEPS(DML_UNARY, DML_BINARY, DML_TERNARY, DML_LATER, DML_FUNCTION, DML_FUNCTION2)

#define DML_CONVERT(NAME, R, T) \
    static void LOOP(map_##NAME)(void *result, const void *elements, int64_t count) \
    { \
        LOOP(map_step_##NAME)(result, &elements, count); \
    }
#define DML_CONVERSION(NAME, R, T) DML_UNARY(NAME, R, T, (R)x) DML_CONVERT(NAME, R, T)
DML_CONVERSION(load_i8, int32_t, int8_t)
DML_CONVERSION(load_i16, int32_t, int16_t)
DML_CONVERSION(load_u8, uint32_t, uint8_t)
DML_CONVERSION(load_u16, uint32_t, uint16_t)
DML_CONVERSION(store_8, uint8_t, uint32_t)
DML_CONVERSION(store_16, uint16_t, uint32_t)
DML_CONVERSION(store_f32, float, double)

static void LOOP(map_load_f16)(void *lanes, const void *elements, int64_t count)
{
    LOOP(floats_of_halves)(lanes, elements, count);
}

static void LOOP(map_store_f16)(void *elements, const void *lanes, int64_t count)
{
    LOOP(halves_of_floats)(elements, lanes, count);
}

/* FLOAT32 of FLOAT64: if digits are lost, the last one that is left is made odd, so that what is rounded next is never a
   tie by that. */
static void LOOP(odd_floats)(float *floats, const double *values, int64_t count)
{
    enum { PART = 256 };
    const uint64_t lost = 0x1fffffffu, last = 0x20000000u;
    uint64_t bits[PART];
    double odd[PART];
    for (int64_t i = 0; i < count; i += PART) {
        int64_t n = count - i < PART ? count - i : PART;
        memcpy(bits, values + i, (size_t)n * sizeof(double));
        for (int64_t j = 0; j < n; j++)
            bits[j] = (bits[j] | (((bits[j] & lost) + lost) & last)) & ~lost;
        memcpy(odd, bits, (size_t)n * sizeof(double));
        for (int64_t j = 0; j < n; j++)
            floats[i + j] = (float)odd[j];
    }
}

#if defined(DML_AVX512)
DML_INLINE __m256i LOOP(odd_of)(__m512d values)
{
    __m256 cut = _mm512_cvt_roundpd_ps(values, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    __mmask8 lost = _mm512_cmp_pd_mask(_mm512_cvtps_pd(cut), values, _CMP_NEQ_OQ);
    __m256i bits = _mm256_castps_si256(cut);
    return _mm256_mask_or_epi32(bits, lost, bits, _mm256_set1_epi32(1));
}
#endif

static void LOOP(map_store_wide_f16)(void *elements, const void *lanes, int64_t count)
{
    enum { PART = 256 };
    uint16_t *halves = elements;
    const double *values = lanes;
    float narrow[PART];
    int64_t i = 0;
#if defined(DML_AVX512)
    for (; i + 8 <= count; i += 8)
        _mm_storeu_si128((__m128i *)(halves + i),
                         _mm256_cvtps_ph(_mm256_castsi256_ps(LOOP(odd_of)(_mm512_loadu_pd(values + i))),
                                         _MM_FROUND_TO_NEAREST_INT));
#endif
    for (; i < count; i += PART) {
        int64_t n = count - i < PART ? count - i : PART;
        LOOP(odd_floats)(narrow, values + i, n);
        LOOP(halves_of_floats)(halves + i, narrow, n);
    }
}

/* FLOAT64 has all digits of a product. A multiple by a power of two needs none of them: what fused multiplication and
   addition rounds once is then what is left of FLOAT64. */
static void LOOP(map_step_multiply_add_float32)(void *result, const void *const *operands, int64_t count)
{
    float *to = result;
    const float *first = operands[0], *second = operands[1], *third = operands[2];
    if (DML_UNIFORM(operands) == 6) {
        const float y = *second, z = *third;
#if defined(DML_AVX2)
        uint32_t bits;
        memcpy(&bits, &y, sizeof bits);
        if ((bits & 0x007fffffu) == 0 && (bits & 0x7f800000u) != 0x7f800000u) {
            DML_ALIKE for (int64_t i = 0; i < count; i++)
                to[i] = __builtin_fmaf(first[i], y, z);
            return;
        }
#endif
        DML_ALIKE for (int64_t i = 0; i < count; i++)
            to[i] = (float)((double)first[i] * y + z);
        return;
    }
    DML_ALIKE for (int64_t i = 0; i < count; i++)
        to[i] = (float)((double)first[i] * second[i] + third[i]);
}

#if defined(DML_AVX512)
/* x y + z of FLOAT32, with the last digit odd if some are lost: of the two neighbours that the exact sum is between one is
   odd. FLOAT64, which rounds sums too, may come to a number that FLOAT32 has where the exact one is next to it. That
   shows where FLOAT16 has a tie, or less digits: there FLOAT64 has to say. */
DML_INLINE __m512 LOOP(odd_sums)(__m512 x, __m512 y, __m512 z)
{
    enum { BEFORE_TIE = 0x1001, DIGITS = 0x1ffd, NORMAL = 0x38800000 };
    __m512 low = _mm512_fmadd_round_ps(x, y, z, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    __m512 high = _mm512_fmadd_round_ps(x, y, z, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
    __mmask16 is_odd = _mm512_test_epi32_mask(_mm512_castps_si512(low), _mm512_set1_epi32(1));
    __m512 sums = _mm512_mask_blend_ps(is_odd, high, low);
    __m512i bits = _mm512_castps_si512(sums);
    __mmask16 is_tie = _mm512_testn_epi32_mask(_mm512_add_epi32(bits, _mm512_set1_epi32(BEFORE_TIE)),
                                               _mm512_set1_epi32(DIGITS));
    __mmask16 is_tiny = _mm512_cmplt_epu32_mask(_mm512_and_si512(bits, _mm512_set1_epi32(INT32_MAX)),
                                                _mm512_set1_epi32(NORMAL));
    if (__builtin_expect(_kortestz_mask16_u8(is_tie, is_tiny), 1))
        return sums;
    __m256i halves[2];
    for (int i = 0; i < 2; i++)
        halves[i] = LOOP(odd_of)((__m512d)(DML_HALF_OF(x, i) * DML_HALF_OF(y, i) + DML_HALF_OF(z, i)));
    return _mm512_castsi512_ps(_mm512_inserti64x4(_mm512_castsi256_si512(halves[0]), halves[1], 1));
}
#endif

static void LOOP(map_step_multiply_add_odd)(void *result, const void *const *operands, int64_t count)
{
    enum { PART = 256 };
    float *to = result;
    const float *first = operands[0], *second = operands[1], *third = operands[2];
    const int step = DML_UNIFORM(operands) != 6;
    double sums[PART];
    int64_t i = 0;
#if defined(DML_AVX512)
    __m512 factor = _mm512_set1_ps(*second), addend = _mm512_set1_ps(*third);
    for (; i + 16 <= count; i += 16) {
        if (step) {
            factor = _mm512_loadu_ps(second + i);
            addend = _mm512_loadu_ps(third + i);
        }
        _mm512_storeu_ps(to + i, LOOP(odd_sums)(_mm512_loadu_ps(first + i), factor, addend));
    }
#endif
    for (; i < count; i += PART) {
        int64_t n = count - i < PART ? count - i : PART;
        if (step)
            for (int64_t j = 0; j < n; j++)
                sums[j] = (double)first[i + j] * second[i + j] + third[i + j];
        else
            for (int64_t j = 0; j < n; j++)
                sums[j] = (double)first[i + j] * *second + *third;
        LOOP(odd_floats)(to + i, sums, n);
    }
}

/* In parts, as a result may lie where its operand does, and its elements are not as long. */
#define DML_THROUGH_HALVES(NAME, R, T, TO_HALVES, OF_HALVES) \
    static void LOOP(map_step_##NAME)(void *result, const void *const *operands, int64_t count) \
    { \
        enum { PART = 256 }; \
        uint16_t halves[PART]; \
        for (int64_t i = 0; i < count; i += PART) { \
            int64_t n = count - i < PART ? count - i : PART; \
            TO_HALVES(halves, (const T *)operands[0] + i, n); \
            OF_HALVES((R *)result + i, halves, n); \
        } \
    }
DML_THROUGH_HALVES(half_float32, float, float, LOOP(map_store_f16), LOOP(map_load_f16))
DML_THROUGH_HALVES(half_float64, float, double, LOOP(map_store_wide_f16), LOOP(map_load_f16))
DML_THROUGH_HALVES(bits_half, uint32_t, float, LOOP(map_store_f16), LOOP(map_load_u16))
DML_THROUGH_HALVES(half_bits, float, uint32_t, LOOP(map_store_16), LOOP(map_load_f16))

#define DML_CODE(NAME, ...) LOOP(map_step_##NAME),
#define DML_CODES(NAME) LOOP(map_step_##NAME##_float32), LOOP(map_step_##NAME##_float64),
static const dml_map_function LOOP(map_steps)[] = {
    DML_MAP_STEPS(DML_CODE, DML_CODE, DML_CODE, DML_CODE, DML_CODES, DML_CODES)};

/* Parts of cache lines are written as usual: past the caches each part goes to memory by itself. */
static void LOOP(map_stream)(char *output, const char *results, int64_t bytes, const dml_map_ahead *ahead, int count)
{
    int64_t done = 0;
#if defined(__x86_64__)
    const char *from[DML_MAP_TENSORS];
    if (bytes >= 512) {
        done = -(int64_t)(uintptr_t)output & 63;
        memcpy(output, results, (size_t)done);
    }
    for (int k = 0; k < count; k++)
        from[k] = ahead[k].from;
    for (; bytes >= 512 && done + 64 <= bytes; done += 64) {
        for (int k = 0; k < count; k++) {
            for (int64_t i = 0; i < ahead[k].step; i += 64)
                _mm_prefetch(from[k] + i, _MM_HINT_T0);
            from[k] += ahead[k].step;
        }
#if defined(DML_AVX512)
        _mm512_stream_si512((__m512i *)(output + done), _mm512_loadu_si512(results + done));
#else
        for (int64_t i = done; i < done + 64; i += 16)
            _mm_stream_si128((__m128i *)(output + i), _mm_loadu_si128((const __m128i *)(results + i)));
#endif
    }
#else
    (void)ahead;
    (void)count;
#endif
    memcpy(output + done, results + done, (size_t)(bytes - done));
}

static const dml_map_table LOOP(map_table) = {
    .stream = LOOP(map_stream),
    .steps = LOOP(map_steps),
    .load = {[DML_MAP_F16] = LOOP(map_load_f16),
             [DML_MAP_I8] = LOOP(map_load_i8),
             [DML_MAP_I16] = LOOP(map_load_i16),
             [DML_MAP_U8] = LOOP(map_load_u8),
             [DML_MAP_U16] = LOOP(map_load_u16)},
    .store = {[DML_MAP_F16] = LOOP(map_store_f16),
              [DML_MAP_I8] = LOOP(map_store_8),
              [DML_MAP_I16] = LOOP(map_store_16),
              [DML_MAP_U8] = LOOP(map_store_8),
              [DML_MAP_U16] = LOOP(map_store_16)},
    .store_wide = {[DML_MAP_F16] = LOOP(map_store_wide_f16), [DML_MAP_F32] = LOOP(map_store_f32)},
};
#undef DML_UNARY
#undef DML_BINARY
#undef DML_UNIFORM
#undef DML_TERNARY
#undef DML_BY_LANES
#undef DML_BY_LANES2
#undef DML_BY_FLOATS
#undef DML_BY_FLOATS2
#undef DML_FUNCTION
#undef DML_FUNCTION2
#undef DML_CODE
#undef DML_CODES
#undef DML_CONVERT
#undef DML_CONVERSION
#undef DML_THROUGH_HALVES
