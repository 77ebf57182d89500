/* The kernels of single instructions, over blocks that stay in the L1 cache. Results may be stored over operands. */

#include "../common/vectors.h"
#include "../half/convert.h"

#include "dispatch.h"
#include "float64_functions.h"
#if defined(__AVX2__)
#include "float32_functions.h"
#endif
#include "round_to_odd.h"

DML_INLINE void load_float64(dml_doubles *x, const double *from)
{
    memcpy(x, from, sizeof *x);
}

DML_INLINE void load_float32(dml_doubles *x, const float *from)
{
    elementwise_floats lanes;
    memcpy(&lanes, from, sizeof lanes);
    *x = __builtin_convertvector(lanes, dml_doubles);
}

DML_INLINE void store_float64(double *to, const dml_doubles *x)
{
    memcpy(to, x, sizeof *x);
}

DML_INLINE void store_float32(float *to, const dml_doubles *x)
{
    elementwise_floats lanes = __builtin_convertvector(*x, elementwise_floats);
    memcpy(to, &lanes, sizeof lanes);
}

#define DML_EACH(VALUE, ...)                                                                                           \
    DML_ALIKE for (int64_t i = 0; i < count; i++)                                                                      \
    {                                                                                                                  \
        __VA_ARGS__;                                                                                                   \
        to[i] = VALUE;                                                                                                 \
    }
#define DML_UNARY(NAME, R, T, VALUE)                                                                                   \
    static void elementwise_instruction_##NAME(void *result, const void *const *operands, int64_t count)               \
    {                                                                                                                  \
        R *to = result;                                                                                                \
        const T *first = operands[0];                                                                                  \
        DML_EACH(VALUE, const T x = first[i])                                                                          \
    }
/* A uniform operand is read as one element; `operands` ends with a bit for each such operand that the instruction can
   read so. */
#define DML_UNIFORM(operands) (uintptr_t)(operands)[3]
#define DML_BINARY(NAME, R, T, VALUE)                                                                                  \
    static void elementwise_instruction_##NAME(void *result, const void *const *operands, int64_t count)               \
    {                                                                                                                  \
        R *to = result;                                                                                                \
        const T *first = operands[0], *second = operands[1];                                                           \
        if (DML_UNIFORM(operands) == 2) {                                                                              \
            const T y = *second;                                                                                       \
            DML_EACH(VALUE, const T x = first[i])                                                                      \
            return;                                                                                                    \
        }                                                                                                              \
        DML_EACH(VALUE, const T x = first[i], y = second[i])                                                           \
    }
/* Where the second operand is a constant other than 0 or NaN, equal operands have equal bits, and the processor's own
   minimum, which gives the second operand unless the first is smaller, suits NaN too. */
#define DML_EXTREME(NAME, T, RELATION)                                                                                 \
    static void elementwise_instruction_##NAME(void *result, const void *const *operands, int64_t count)               \
    {                                                                                                                  \
        T *to = result;                                                                                                \
        const T *first = operands[0], *second = operands[1], y = *second;                                              \
        if (DML_UNIFORM(operands) != 2)                                                                                \
            DML_EACH(x RELATION##= second[i] || second[i] != second[i] ? x : second[i], const T x = first[i])          \
        else if (y < 0 || y > 0)                                                                                       \
            DML_EACH(x RELATION y ? x : y, const T x = first[i])                                                       \
        else if (y == 0 && copysign(1.0, y) > 0)                                                                       \
            DML_EACH(x RELATION##= 0 ? x : 0, const T x = first[i])                                                    \
        else                                                                                                           \
            DML_EACH(x RELATION##= y || y != y ? x : y, const T x = first[i])                                          \
    }
#define DML_TERNARY(NAME, R, A, B, C, VALUE)                                                                           \
    static void elementwise_instruction_##NAME(void *result, const void *const *operands, int64_t count)               \
    {                                                                                                                  \
        R *to = result;                                                                                                \
        const A *first = operands[0];                                                                                  \
        const B *second = operands[1];                                                                                 \
        const C *third = operands[2];                                                                                  \
        if (DML_UNIFORM(operands) == 6) {                                                                              \
            const B y = *second;                                                                                       \
            const C z = *third;                                                                                        \
            DML_EACH(VALUE, const A x = first[i])                                                                      \
            return;                                                                                                    \
        }                                                                                                              \
        DML_EACH(VALUE, const A x = first[i]; const B y = second[i]; const C z = third[i])                             \
    }
/* Elements are computed a vector of LANES at a time, by VECTOR(to, x, y). The last vector is padded with 1. Functions
   of one operand read it as the second one too, for nothing. */
#define DML_BY_VECTORS(NAME, T, LANES, SECOND, VECTOR)                                                                 \
    static void elementwise_instruction_##NAME(void *result, const void *const *operands, int64_t count)               \
    {                                                                                                                  \
        T *to = result, rest[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, others[16];                       \
        const T *first = operands[0], *second = operands[SECOND];                                                      \
        int64_t i = 0;                                                                                                 \
        for (; i + LANES <= count; i += LANES)                                                                         \
            VECTOR(to + i, first + i, second + i);                                                                     \
        if (i < count) {                                                                                               \
            memcpy(others, rest, sizeof others);                                                                       \
            memcpy(rest, first + i, (size_t)(count - i) * sizeof(T));                                                  \
            memcpy(others, second + i, (size_t)(count - i) * sizeof(T));                                               \
            VECTOR(rest, rest, others);                                                                                \
            memcpy(to + i, rest, (size_t)(count - i) * sizeof(T));                                                     \
        }                                                                                                              \
    }
/* The operands that the function takes are the last arguments. */
#define DML_BY_LANES(NAME, T, lane, SECOND, ...)                                                                       \
    DML_INLINE void elementwise_lanes_##NAME##_##lane(T *to, const T *first, const T *second)                          \
    {                                                                                                                  \
        dml_doubles x, y;                                                                                              \
        load_##lane(&x, first);                                                                                        \
        load_##lane(&y, second);                                                                                       \
        elementwise_##NAME(__VA_ARGS__);                                                                               \
        store_##lane(to, &x);                                                                                          \
    }                                                                                                                  \
    DML_BY_VECTORS(NAME##_##lane, T, DML_LANES, SECOND, elementwise_lanes_##NAME##_##lane)
#if defined(__AVX2__)
/* The same for FLOAT32 that is computed in FLOAT32. */
#define DML_BY_FLOATS(NAME, SECOND, ...)                                                                               \
    DML_INLINE void elementwise_floats_##NAME(float *to, const float *first, const float *second)                      \
    {                                                                                                                  \
        const float_vector x = DML_F(loadu)(first), y = DML_F(loadu)(second);                                          \
        (void)y;                                                                                                       \
        DML_F(storeu)(to, float_##NAME(__VA_ARGS__));                                                                  \
    }                                                                                                                  \
    DML_BY_VECTORS(NAME##_float32, float, DML_FLOAT_LANES, SECOND, elementwise_floats_##NAME)
#define DML_FUNCTION(NAME) DML_BY_FLOATS(NAME, 0, x) DML_BY_LANES(NAME, double, float64, 0, &x)
#define DML_FUNCTION2(NAME) DML_BY_FLOATS(NAME, 1, x, y) DML_BY_LANES(NAME, double, float64, 1, &x, &y)
#else
#define DML_FUNCTION(NAME) DML_BY_LANES(NAME, float, float32, 0, &x) DML_BY_LANES(NAME, double, float64, 0, &x)
#define DML_FUNCTION2(NAME)                                                                                            \
    DML_BY_LANES(NAME, float, float32, 1, &x, &y) DML_BY_LANES(NAME, double, float64, 1, &x, &y)
#endif
/* Defined below. */
#define DML_LATER(NAME)
DML_ELEMENTWISE_OPCODES(DML_UNARY, DML_BINARY, DML_EXTREME, DML_TERNARY, DML_LATER, DML_FUNCTION, DML_FUNCTION2)

#define DML_CONVERT(NAME, R, T)                                                                                        \
    static void elementwise_##NAME(void *result, const void *elements, int64_t count)                                  \
    {                                                                                                                  \
        elementwise_instruction_##NAME(result, &elements, count);                                                      \
    }
#define DML_CONVERSION(NAME, R, T) DML_UNARY(NAME, R, T, (R)x) DML_CONVERT(NAME, R, T)
DML_CONVERSION(load_i8, int32_t, int8_t)
DML_CONVERSION(load_i16, int32_t, int16_t)
DML_CONVERSION(load_u8, uint32_t, uint8_t)
DML_CONVERSION(load_u16, uint32_t, uint16_t)
DML_CONVERSION(store_8, uint8_t, uint32_t)
DML_CONVERSION(store_16, uint16_t, uint32_t)
DML_CONVERSION(store_f32, float, double)

static void elementwise_load_f16(void *lanes, const void *elements, int64_t count)
{
    floats_of_halves(lanes, elements, count);
}

static void elementwise_store_f16(void *elements, const void *lanes, int64_t count)
{
    halves_of_floats(elements, lanes, count);
}

/* FLOAT64 represents a product exactly. A multiple by a power of two needs no FLOAT64: a fused multiplication and
   addition rounds it once. */
static void elementwise_instruction_multiply_add_float32(void *result, const void *const *operands, int64_t count)
{
    float *to = result;
    const float *first = operands[0], *second = operands[1], *third = operands[2];
    if (DML_UNIFORM(operands) == 6) {
        const float y = *second, z = *third;
#if defined(__AVX2__)
        uint32_t bits;
        memcpy(&bits, &y, sizeof bits);
        if ((bits & 0x007fffffu) == 0 && (bits & 0x7f800000u) != 0x7f800000u) {
            DML_ALIKE for (int64_t i = 0; i < count; i++) to[i] = __builtin_fmaf(first[i], y, z);
            return;
        }
#endif
        DML_ALIKE for (int64_t i = 0; i < count; i++) to[i] = (float)((double)first[i] * y + z);
        return;
    }
    DML_ALIKE for (int64_t i = 0; i < count; i++) to[i] = (float)((double)first[i] * second[i] + third[i]);
}

static void elementwise_instruction_multiply_add_odd(void *result, const void *const *operands, int64_t count)
{
    enum { PART = 256 };
    float *to = result;
    const float *first = operands[0], *second = operands[1], *third = operands[2];
    const int varies = DML_UNIFORM(operands) != 6;
    double sums[PART];
    int64_t i = 0;
#if defined(__AVX2__)
    float_vector factor = DML_ALL(*second), addend = DML_ALL(*third);
    for (; i + DML_FLOAT_LANES <= count; i += DML_FLOAT_LANES) {
        if (varies) {
            factor = DML_F(loadu)(second + i);
            addend = DML_F(loadu)(third + i);
        }
        DML_F(storeu)(to + i, odd_sums(DML_F(loadu)(first + i), factor, addend));
    }
#endif
    for (; i < count; i += PART) {
        int64_t n = dml_least(count - i, PART);
        if (varies)
            for (int64_t j = 0; j < n; j++)
                sums[j] = (double)first[i + j] * second[i + j] + third[i + j];
        else
            for (int64_t j = 0; j < n; j++)
                sums[j] = (double)first[i + j] * *second + *third;
        odd_floats(to + i, sums, n);
    }
}

/* Results are converted in parts, as they may be stored over their operand, whose elements have another size. */
#define DML_THROUGH_HALVES(NAME, R, T, TO_HALVES, OF_HALVES)                                                           \
    static void elementwise_instruction_##NAME(void *result, const void *const *operands, int64_t count)               \
    {                                                                                                                  \
        enum { PART = 256 };                                                                                           \
        uint16_t halves[PART];                                                                                         \
        for (int64_t i = 0; i < count; i += PART) {                                                                    \
            int64_t n = dml_least(count - i, PART);                                                                    \
            TO_HALVES(halves, (const T *)operands[0] + i, n);                                                          \
            OF_HALVES((R *)result + i, halves, n);                                                                     \
        }                                                                                                              \
    }
DML_THROUGH_HALVES(half_float32, float, float, elementwise_store_f16, elementwise_load_f16)
DML_THROUGH_HALVES(half_float64, float, double, elementwise_store_wide_f16, elementwise_load_f16)
DML_THROUGH_HALVES(bits_half, uint32_t, float, elementwise_store_f16, elementwise_load_u16)
DML_THROUGH_HALVES(half_bits, float, uint32_t, elementwise_store_16, elementwise_load_f16)

#define DML_CODE(NAME, ...) elementwise_instruction_##NAME,
#define DML_CODES(NAME) elementwise_instruction_##NAME##_float32, elementwise_instruction_##NAME##_float64,
static const dml_elementwise_function elementwise_instructions[] = {
    DML_ELEMENTWISE_OPCODES(DML_CODE, DML_CODE, DML_CODE, DML_CODE, DML_CODE, DML_CODES, DML_CODES)};

#include "direct_loops.h"
#include "requantize_lanes.h"

/* Parts of cache lines are written by ordinary stores: each streaming store of a part would go to memory by itself. */
static void elementwise_stream(char *output, const char *results, int64_t bytes, const dml_elementwise_ahead *ahead,
                               int count)
{
    int64_t done = 0;
#if defined(__x86_64__)
    const char *from[DML_ELEMENTWISE_MAX_TENSORS];
    if (bytes >= 512) {
        done = -(int64_t)(uintptr_t)output & 63;
        memcpy(output, results, (size_t)done);
    }
    for (int k = 0; k < count; k++)
        from[k] = ahead[k].from;
    for (; bytes >= 512 && done + 64 <= bytes; done += 64) {
        for (int k = 0; k < count; k++) {
            for (int64_t i = 0; i < ahead[k].stride; i += 64)
                _mm_prefetch(from[k] + i, _MM_HINT_T0);
            from[k] += ahead[k].stride;
        }
#if defined(__AVX512F__)
        _mm512_stream_si512((__m512i *)(output + done), _mm512_loadu_si512(results + done));
#else
        for (int64_t i = done; i < done + 64; i += 16)
            _mm_stream_si128((__m128i *)(output + i), _mm_loadu_si128((const __m128i *)(results + i)));
#endif
    }
#else
    (void)ahead, (void)count;
#endif
    memcpy(output + done, results + done, (size_t)(bytes - done));
}

const dml_elementwise_table DML_TABLE(elementwise) = {
    .stream = elementwise_stream,
    .requantize = elementwise_requantize,
    .instructions = elementwise_instructions,
    .direct = elementwise_direct,
#if defined(__AVX2__)
    .direct_swapped = {direct_fmin_swapped_f16, direct_fmax_swapped_f16},
#endif
    .load = {[DML_ELEMENTWISE_F16] = elementwise_load_f16,
             [DML_ELEMENTWISE_I8] = elementwise_load_i8,
             [DML_ELEMENTWISE_I16] = elementwise_load_i16,
             [DML_ELEMENTWISE_U8] = elementwise_load_u8,
             [DML_ELEMENTWISE_U16] = elementwise_load_u16},
    .store = {[DML_ELEMENTWISE_F16] = elementwise_store_f16,
              [DML_ELEMENTWISE_I8] = elementwise_store_8,
              [DML_ELEMENTWISE_I16] = elementwise_store_16,
              [DML_ELEMENTWISE_U8] = elementwise_store_8,
              [DML_ELEMENTWISE_U16] = elementwise_store_16},
    .store_wide = {[DML_ELEMENTWISE_F16] = elementwise_store_wide_f16, [DML_ELEMENTWISE_F32] = elementwise_store_f32},
};
