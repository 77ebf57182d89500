/* The kernels of single instructions, over blocks that stay in the L1 cache. Results may be stored over operands. */

#include "../common/vectors.h"
#include "../half/convert.h"

#include "dispatch.h"
#include "float64_functions.h"
#if defined(__AVX2__)
#include "float32_functions.h"
#endif
#include "round_to_odd.h"

DML_INLINE void load_float64(DML_DOUBLES *x, const double *from)
{
    memcpy(x, from, sizeof *x);
}

DML_INLINE void load_float32(DML_DOUBLES *x, const float *from)
{
    elementwise_floats lanes;
    memcpy(&lanes, from, sizeof lanes);
    *x = __builtin_convertvector(lanes, DML_DOUBLES);
}

DML_INLINE void store_float64(double *to, const DML_DOUBLES *x)
{
    memcpy(to, x, sizeof *x);
}

DML_INLINE void store_float32(float *to, const DML_DOUBLES *x)
{
    elementwise_floats lanes = __builtin_convertvector(*x, elementwise_floats);
    memcpy(to, &lanes, sizeof lanes);
}

#define DML_UNARY(NAME, R, T, VALUE)                                                                                   \
    static void elementwise_instruction_##NAME(void *result, const void *const *operands, int64_t count)               \
    {                                                                                                                  \
        R *to = result;                                                                                                \
        const T *first = operands[0];                                                                                  \
        DML_ALIKE for (int64_t i = 0; i < count; i++)                                                                  \
        {                                                                                                              \
            const T x = first[i];                                                                                      \
            to[i] = VALUE;                                                                                             \
        }                                                                                                              \
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
            DML_ALIKE for (int64_t i = 0; i < count; i++)                                                              \
            {                                                                                                          \
                const T x = first[i];                                                                                  \
                to[i] = VALUE;                                                                                         \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        DML_ALIKE for (int64_t i = 0; i < count; i++)                                                                  \
        {                                                                                                              \
            const T x = first[i], y = second[i];                                                                       \
            to[i] = VALUE;                                                                                             \
        }                                                                                                              \
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
            DML_ALIKE for (int64_t i = 0; i < count; i++)                                                              \
            {                                                                                                          \
                const A x = first[i];                                                                                  \
                to[i] = VALUE;                                                                                         \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        DML_ALIKE for (int64_t i = 0; i < count; i++)                                                                  \
        {                                                                                                              \
            const A x = first[i];                                                                                      \
            const B y = second[i];                                                                                     \
            const C z = third[i];                                                                                      \
            to[i] = VALUE;                                                                                             \
        }                                                                                                              \
    }
/* Elements are computed a vector at a time. The last vector is padded with 1. */
#define DML_BY_LANES(NAME, T, lane)                                                                                    \
    DML_INLINE void elementwise_lanes_##NAME##_##lane(T *to, const T *first)                                           \
    {                                                                                                                  \
        DML_DOUBLES x;                                                                                                 \
        load_##lane(&x, first);                                                                                        \
        elementwise_##NAME(&x);                                                                                        \
        store_##lane(to, &x);                                                                                          \
    }                                                                                                                  \
    static void elementwise_instruction_##NAME##_##lane(void *result, const void *const *operands, int64_t count)      \
    {                                                                                                                  \
        T *to = result, rest[8] = {1, 1, 1, 1, 1, 1, 1, 1};                                                            \
        const T *first = operands[0];                                                                                  \
        int64_t i = 0;                                                                                                 \
        for (; i + DML_LANES <= count; i += DML_LANES)                                                                 \
            elementwise_lanes_##NAME##_##lane(to + i, first + i);                                                      \
        if (i < count) {                                                                                               \
            memcpy(rest, first + i, (size_t)(count - i) * sizeof(T));                                                  \
            elementwise_lanes_##NAME##_##lane(rest, rest);                                                             \
            memcpy(to + i, rest, (size_t)(count - i) * sizeof(T));                                                     \
        }                                                                                                              \
    }
#define DML_BY_LANES2(NAME, T, lane)                                                                                   \
    DML_INLINE void elementwise_lanes_##NAME##_##lane(T *to, const T *first, const T *second)                          \
    {                                                                                                                  \
        DML_DOUBLES x, y;                                                                                              \
        load_##lane(&x, first);                                                                                        \
        load_##lane(&y, second);                                                                                       \
        elementwise_##NAME(&x, &y);                                                                                    \
        store_##lane(to, &x);                                                                                          \
    }                                                                                                                  \
    static void elementwise_instruction_##NAME##_##lane(void *result, const void *const *operands, int64_t count)      \
    {                                                                                                                  \
        T *to = result, rest[8] = {1, 1, 1, 1, 1, 1, 1, 1}, others[8] = {1, 1, 1, 1, 1, 1, 1, 1};                      \
        const T *first = operands[0], *second = operands[1];                                                           \
        int64_t i = 0;                                                                                                 \
        for (; i + DML_LANES <= count; i += DML_LANES)                                                                 \
            elementwise_lanes_##NAME##_##lane(to + i, first + i, second + i);                                          \
        if (i < count) {                                                                                               \
            memcpy(rest, first + i, (size_t)(count - i) * sizeof(T));                                                  \
            memcpy(others, second + i, (size_t)(count - i) * sizeof(T));                                               \
            elementwise_lanes_##NAME##_##lane(rest, rest, others);                                                     \
            memcpy(to + i, rest, (size_t)(count - i) * sizeof(T));                                                     \
        }                                                                                                              \
    }
#if defined(__AVX2__)
/* The same for FLOAT32 that is computed in FLOAT32. */
#define DML_BY_FLOATS(NAME)                                                                                            \
    static void elementwise_instruction_##NAME##_float32(void *result, const void *const *operands, int64_t count)     \
    {                                                                                                                  \
        const float *first = operands[0];                                                                              \
        float *to = result, rest[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};                               \
        int64_t i = 0;                                                                                                 \
        for (; i + DML_FLOAT_LANES <= count; i += DML_FLOAT_LANES)                                                     \
            DML_F(storeu)(to + i, float_##NAME(DML_F(loadu)(first + i)));                                              \
        if (i < count) {                                                                                               \
            memcpy(rest, first + i, (size_t)(count - i) * sizeof(float));                                              \
            DML_F(storeu)(rest, float_##NAME(DML_F(loadu)(rest)));                                                     \
            memcpy(to + i, rest, (size_t)(count - i) * sizeof(float));                                                 \
        }                                                                                                              \
    }
#define DML_BY_FLOATS2(NAME)                                                                                           \
    static void elementwise_instruction_##NAME##_float32(void *result, const void *const *operands, int64_t count)     \
    {                                                                                                                  \
        const float *first = operands[0], *second = operands[1];                                                       \
        float *to = result, rest[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, others[16];                   \
        int64_t i = 0;                                                                                                 \
        for (; i + DML_FLOAT_LANES <= count; i += DML_FLOAT_LANES)                                                     \
            DML_F(storeu)(to + i, float_##NAME(DML_F(loadu)(first + i), DML_F(loadu)(second + i)));                    \
        if (i < count) {                                                                                               \
            memcpy(others, rest, sizeof others);                                                                       \
            memcpy(rest, first + i, (size_t)(count - i) * sizeof(float));                                              \
            memcpy(others, second + i, (size_t)(count - i) * sizeof(float));                                           \
            DML_F(storeu)(rest, float_##NAME(DML_F(loadu)(rest), DML_F(loadu)(others)));                               \
            memcpy(to + i, rest, (size_t)(count - i) * sizeof(float));                                                 \
        }                                                                                                              \
    }
#else
#define DML_BY_FLOATS(NAME) DML_BY_LANES(NAME, float, float32)
#define DML_BY_FLOATS2(NAME) DML_BY_LANES2(NAME, float, float32)
#endif
#define DML_FUNCTION(NAME) DML_BY_FLOATS(NAME) DML_BY_LANES(NAME, double, float64)
#define DML_FUNCTION2(NAME) DML_BY_FLOATS2(NAME) DML_BY_LANES2(NAME, double, float64)
/* Defined below. */
#define DML_LATER(NAME)
DML_ELEMENTWISE_OPCODES(DML_UNARY, DML_BINARY, DML_TERNARY, DML_LATER, DML_FUNCTION, DML_FUNCTION2)

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
        int64_t n = count - i < PART ? count - i : PART;
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
            int64_t n = count - i < PART ? count - i : PART;                                                           \
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
    DML_ELEMENTWISE_OPCODES(DML_CODE, DML_CODE, DML_CODE, DML_CODE, DML_CODES, DML_CODES)};

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
