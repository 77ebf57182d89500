/* Instructions over narrow elements, without lanes: integers wrap in their own type, FLOAT16 is rounded as it is
   stored. */

#pragma once

#include "../common/vectors.h"
#include "../half/convert.h"
#include "dispatch.h"

#if defined(__AVX2__)
#include "float64_functions.h"
#include "float32_functions.h"
#endif
#include "round_to_odd.h"

#define DML_DIRECT(NAME, R, T, VALUE)                                                                                  \
    static void direct_##NAME(const dml_elementwise_rows *rows)                                                        \
    {                                                                                                                  \
        for (int64_t row = 0; row < rows->rows; row++) {                                                               \
            R *to = (R *)(rows->result + row * rows->result_line);                                                     \
            const T *left = (const T *)(rows->first + row * rows->first_line);                                         \
            const T *right = (const T *)(rows->second ? rows->second + row * rows->second_line : NULL);                \
            DML_ALIKE for (int64_t i = 0; i < rows->count; i++)                                                        \
            {                                                                                                          \
                const T x = left[i], y = right[i];                                                                     \
                (void)y;                                                                                               \
                to[i] = (R)(VALUE);                                                                                    \
            }                                                                                                          \
        }                                                                                                              \
    }
#if defined(__AVX512F__)
/* The bytes of a row that no vector of 64 fills are masked. */
#define DML_DIRECT_BITS(NAME, T, VALUE)                                                                                \
    static void direct_##NAME(const dml_elementwise_rows *rows)                                                        \
    {                                                                                                                  \
        typedef T vector __attribute__((vector_size(64)));                                                             \
        const int64_t bytes = rows->count * (int64_t)sizeof(T), whole = bytes & -64;                                   \
        const __mmask64 rest = ((__mmask64)1 << (bytes - whole)) - 1;                                                  \
        const char *left = rows->first, *right = rows->second;                                                         \
        char *to = rows->result;                                                                                       \
        for (int64_t row = rows->rows; row > 0; row--) {                                                               \
            for (int64_t i = 0; i < whole; i += 64) {                                                                  \
                const vector x = (vector)_mm512_loadu_si512(left + i), y = (vector)_mm512_loadu_si512(right + i);      \
                _mm512_storeu_si512(to + i, (__m512i)(VALUE));                                                         \
            }                                                                                                          \
            if (rest) {                                                                                                \
                const vector x = (vector)_mm512_maskz_loadu_epi8(rest, left + whole);                                  \
                const vector y = (vector)_mm512_maskz_loadu_epi8(rest, right + whole);                                 \
                _mm512_mask_storeu_epi8(to + whole, rest, (__m512i)(VALUE));                                           \
            }                                                                                                          \
            left += rows->first_line;                                                                                  \
            right += rows->second_line;                                                                                \
            to += rows->result_line;                                                                                   \
        }                                                                                                              \
    }
#else
#define DML_DIRECT_BITS(NAME, T, VALUE) DML_DIRECT(NAME, T, T, VALUE)
#endif
DML_DIRECT_BITS(add_8, uint8_t, x + y)
DML_DIRECT_BITS(add_16, uint16_t, x + y)
DML_DIRECT_BITS(subtract_8, uint8_t, x - y)
DML_DIRECT_BITS(subtract_16, uint16_t, x - y)
DML_DIRECT(float_i8, float, int8_t, x)
DML_DIRECT(float_u8, float, uint8_t, x)
DML_DIRECT(float_i16, float, int16_t, x)
DML_DIRECT(float_u16, float, uint16_t, x)
#undef DML_DIRECT_BITS
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
    static void direct_##NAME(const dml_elementwise_rows *rows)                                                        \
    {                                                                                                                  \
        const int64_t whole = rows->count / DML_FLOAT_LANES * DML_FLOAT_LANES, rest = rows->count - whole;             \
        const uint16_t *one = (const uint16_t *)rows->first, *other = (const uint16_t *)rows->second;                  \
        uint16_t *to = (uint16_t *)rows->result;                                                                       \
        float_vector x, y = DML_ALL(other ? 0.0f : rows->lanes[0]), z = DML_ALL(rows->lanes[1]);                       \
        const int varies = other && !rows->is_one;                                                                     \
        (void)z;                                                                                                       \
        for (int64_t row = rows->rows; row > 0; row--) {                                                               \
            if (rows->is_one && other)                                                                                 \
                y = DML_ALL(_cvtsh_ss(*other));                                                                        \
            for (int64_t i = 0; i < whole; i += DML_FLOAT_LANES) {                                                     \
                x = DML_LOAD_HALVES(one + i);                                                                          \
                y = varies ? DML_LOAD_HALVES(other + i) : y;                                                           \
                DML_STORE_HALVES(to + i, VALUE);                                                                       \
            }                                                                                                          \
            if (rest > 0) {                                                                                            \
                x = (float_vector)load_some_halves(one + whole, rest);                                                 \
                y = varies ? (float_vector)load_some_halves(other + whole, rest) : y;                                  \
                store_some_halves(to + whole, (dml_floats)(VALUE), rest);                                              \
            }                                                                                                          \
            one = (const uint16_t *)((const char *)one + rows->first_line);                                            \
            other = other ? (const uint16_t *)((const char *)other + rows->second_line) : NULL;                        \
            to = (uint16_t *)((char *)to + rows->result_line);                                                         \
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
DML_ELEMENTWISE_OPCODES(DML_NONE, DML_NONE, DML_NONE, DML_NONE, DML_NONE, DML_FUNCTION_OF_HALVES, DML_NONE)
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
    DML_ELEMENTWISE_OPCODES(DML_NONE, DML_NONE, DML_NONE, DML_NONE, DML_NONE, DML_FUNCTION_OF_HALVES, DML_NONE)
#undef DML_FUNCTION_OF_HALVES
#undef DML_NONE
#endif
};
