/* Instructions over narrow elements, without lanes: integers wrap in their own type, FLOAT16 is rounded as it is
   stored. */

#pragma once

#include "../common/vectors.h"
#include "dispatch.h"

#if defined(__AVX2__)
#include "float64_functions.h"
#include "float32_functions.h"
#endif
#include "round_to_odd.h"

#define DML_DIRECT(NAME, R, T, VALUE)                                                                                  \
    static void direct_##NAME(void *result, const void *first, const void *second, const float *lanes, int64_t count)  \
    {                                                                                                                  \
        R *to = result;                                                                                                \
        const T *left = first, *right = second;                                                                        \
        DML_ALIKE for (int64_t i = 0; i < count; i++)                                                                  \
        {                                                                                                              \
            const T x = left[i], y = right[i];                                                                         \
            to[i] = (R)(VALUE);                                                                                        \
        }                                                                                                              \
    }
DML_DIRECT(add_8, uint8_t, uint8_t, x + y)
DML_DIRECT(add_16, uint16_t, uint16_t, x + y)
DML_DIRECT(subtract_8, uint8_t, uint8_t, x - y)
DML_DIRECT(subtract_16, uint16_t, uint16_t, x - y)
DML_DIRECT(float_i8, float, int8_t, x)
DML_DIRECT(float_u8, float, uint8_t, x)
DML_DIRECT(float_i16, float, int16_t, x)
DML_DIRECT(float_u16, float, uint16_t, x)
#undef DML_DIRECT

#if defined(__AVX2__)
#if defined(__AVX512F__)
#define DML_LOAD_HALVES(from) _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(from)))
#define DML_STORE_HALVES(to, x) _mm256_storeu_si256((__m256i *)(to), _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT))
#else
#define DML_LOAD_HALVES(from) _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from)))
#define DML_STORE_HALVES(to, x) _mm_storeu_si128((__m128i *)(to), _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT))
#endif
#define DML_DIRECT_HALVES(NAME, VALUE)                                                                                 \
    static void direct_##NAME(void *result, const void *first, const void *second, const float *lanes, int64_t count)  \
    {                                                                                                                  \
        uint16_t *to = result, left[DML_FLOAT_LANES] = {0}, right[DML_FLOAT_LANES] = {0};                              \
        const uint16_t *one = first, *other = second;                                                                  \
        float_vector x, y = DML_ALL(other ? 0.0f : lanes[0]), z = DML_ALL(lanes[1]);                                   \
        (void)z;                                                                                                       \
        int64_t i = 0;                                                                                                 \
        for (; i + DML_FLOAT_LANES <= count; i += DML_FLOAT_LANES) {                                                   \
            x = DML_LOAD_HALVES(one + i);                                                                              \
            y = other ? DML_LOAD_HALVES(other + i) : y;                                                                \
            DML_STORE_HALVES(to + i, VALUE);                                                                           \
        }                                                                                                              \
        if (i < count) {                                                                                               \
            memcpy(left, one + i, (size_t)(count - i) * sizeof *left);                                                 \
            if (other)                                                                                                 \
                memcpy(right, other + i, (size_t)(count - i) * sizeof *right);                                         \
            direct_##NAME(left, left, other ? right : NULL, lanes, DML_FLOAT_LANES);                                   \
            memcpy(to + i, left, (size_t)(count - i) * sizeof *left);                                                  \
        }                                                                                                              \
    }
DML_DIRECT_HALVES(add_f16, x + y)
DML_DIRECT_HALVES(subtract_f16, x - y)
DML_DIRECT_HALVES(multiply_f16, x * y)
DML_DIRECT_HALVES(divide_f16, x / y)
/* For NaN and a number the result is the number, for equal operands the first; instructions of the processor give the
   second. */
DML_DIRECT_HALVES(fmin_f16, DML_WHERE(DML_IS(EQ, x, x), DML_F(min)(y, x), y))
DML_DIRECT_HALVES(fmax_f16, DML_WHERE(DML_IS(EQ, x, x), DML_F(max)(y, x), y))
DML_DIRECT_HALVES(fmin_swapped_f16, DML_F(min)(x, y))
DML_DIRECT_HALVES(fmax_swapped_f16, DML_F(max)(x, y))
DML_DIRECT_HALVES(multiply_add_f16, odd_sums(x, y, z))
#define DML_NONE(...)
#define DML_FUNCTION_OF_HALVES(NAME) DML_DIRECT_HALVES(NAME##_f16, float_##NAME(x))
DML_ELEMENTWISE_OPCODES(DML_NONE, DML_NONE, DML_NONE, DML_NONE, DML_FUNCTION_OF_HALVES, DML_NONE)
#undef DML_FUNCTION_OF_HALVES
#undef DML_DIRECT_HALVES
#endif

static const dml_elementwise_direct elementwise_direct[DML_ELEMENTWISE_CODES][DML_ELEMENTWISE_TYPES] = {
    [DML_OPCODE_add_bits] = {[DML_ELEMENTWISE_I8] = direct_add_8,
                             [DML_ELEMENTWISE_U8] = direct_add_8,
                             [DML_ELEMENTWISE_I16] = direct_add_16,
                             [DML_ELEMENTWISE_U16] = direct_add_16},
    [DML_OPCODE_subtract_bits] = {[DML_ELEMENTWISE_I8] = direct_subtract_8,
                                  [DML_ELEMENTWISE_U8] = direct_subtract_8,
                                  [DML_ELEMENTWISE_I16] = direct_subtract_16,
                                  [DML_ELEMENTWISE_U16] = direct_subtract_16},
    [DML_OPCODE_float32_int32] = {[DML_ELEMENTWISE_I8] = direct_float_i8, [DML_ELEMENTWISE_I16] = direct_float_i16},
    [DML_OPCODE_float32_uint32] = {[DML_ELEMENTWISE_U8] = direct_float_u8, [DML_ELEMENTWISE_U16] = direct_float_u16},
#if defined(__AVX2__)
    [DML_OPCODE_add_float32] = {[DML_ELEMENTWISE_F16] = direct_add_f16},
    [DML_OPCODE_subtract_float32] = {[DML_ELEMENTWISE_F16] = direct_subtract_f16},
    [DML_OPCODE_multiply_float32] = {[DML_ELEMENTWISE_F16] = direct_multiply_f16},
    [DML_OPCODE_divide_float32] = {[DML_ELEMENTWISE_F16] = direct_divide_f16},
    [DML_OPCODE_fmin_float32] = {[DML_ELEMENTWISE_F16] = direct_fmin_f16},
    [DML_OPCODE_fmax_float32] = {[DML_ELEMENTWISE_F16] = direct_fmax_f16},
    [DML_OPCODE_multiply_add_odd] = {[DML_ELEMENTWISE_F16] = direct_multiply_add_f16},
#define DML_FUNCTION_OF_HALVES(NAME) [DML_OPCODE_##NAME##_float32] = {[DML_ELEMENTWISE_F16] = direct_##NAME##_f16},
    DML_ELEMENTWISE_OPCODES(DML_NONE, DML_NONE, DML_NONE, DML_NONE, DML_FUNCTION_OF_HALVES, DML_NONE)
#undef DML_FUNCTION_OF_HALVES
#undef DML_NONE
#endif
};
