/* The instructions of element-wise programs: each has a name, the types of its result and operands, and an expression.
   Truth values are 32 bits, all set or all clear. signed_fmin and signed_fmax order +0 above -0, which they do by
   adding the zeros. */

#pragma once

#include "../common/compiler.h"

/* EXTREME gives the smaller or larger operand: of equal ones the first, and a number rather than NaN. */
#define DML_OF_FLOATS(UNARY, BINARY, EXTREME, lane, T, suffix) \
    BINARY(add_##lane, T, T, x + y) \
    BINARY(subtract_##lane, T, T, x - y) \
    BINARY(multiply_##lane, T, T, x * y) \
    BINARY(divide_##lane, T, T, x / y) \
    EXTREME(fmin_##lane, T, <) \
    EXTREME(fmax_##lane, T, >) \
    BINARY(signed_fmin_##lane, T, T, x == 0 && y == 0 ? -(-x - y) : x <= y || y != y ? x : y) \
    BINARY(signed_fmax_##lane, T, T, x == 0 && y == 0 ? x + y : x >= y || y != y ? x : y) \
    BINARY(minimum_##lane, T, T, x <= y || x != x ? x : y) \
    BINARY(maximum_##lane, T, T, x >= y || x != x ? x : y) \
    BINARY(copysign_##lane, T, T, copysign##suffix(x, y)) \
    UNARY(absolute_##lane, T, T, fabs##suffix(x)) \
    UNARY(negative_##lane, T, T, -x) \
    UNARY(floor_##lane, T, T, floor##suffix(x)) \
    UNARY(ceil_##lane, T, T, ceil##suffix(x)) \
    UNARY(trunc_##lane, T, T, trunc##suffix(x)) \
    UNARY(rint_##lane, T, T, rint##suffix(x)) \
    BINARY(less_##lane, uint32_t, T, -(uint32_t)(x < y)) \
    BINARY(less_equal_##lane, uint32_t, T, -(uint32_t)(x <= y)) \
    BINARY(equal_##lane, uint32_t, T, -(uint32_t)(x == y)) \
    BINARY(not_equal_##lane, uint32_t, T, -(uint32_t)(x != y))

#define DML_OF_INTEGERS(UNARY, BINARY, lane, T) \
    BINARY(minimum_##lane, T, T, x < y ? x : y) \
    BINARY(maximum_##lane, T, T, x > y ? x : y) \
    BINARY(less_##lane, uint32_t, T, -(uint32_t)(x < y)) \
    BINARY(less_equal_##lane, uint32_t, T, -(uint32_t)(x <= y)) \
    UNARY(float32_##lane, float, T, (float)x) \
    UNARY(float64_##lane, double, T, (double)x)

/* Conversions saturate to the range of the integer, and turn NaN into 0. */
#define DML_INT32_OF(x) \
    (x >= 0x1p31f ? INT32_MAX : (int32_t)(x >= 0x1p31f || x != x ? 0 : x < -0x1p31f ? -0x1p31f : x))
#define DML_UINT32_OF(x) (x >= 0x1p32f ? UINT32_MAX : (uint32_t)(x > 0 && x < 0x1p32f ? x : 0))

#define DML_OF_BITS(UNARY, BINARY) \
    BINARY(add_bits, uint32_t, uint32_t, x + y) \
    BINARY(subtract_bits, uint32_t, uint32_t, x - y) \
    BINARY(multiply_bits, uint32_t, uint32_t, x *y) \
    BINARY(and_bits, uint32_t, uint32_t, x &y) \
    BINARY(or_bits, uint32_t, uint32_t, x | y) \
    BINARY(xor_bits, uint32_t, uint32_t, x ^ y) \
    BINARY(equal_bits, uint32_t, uint32_t, -(uint32_t)(x == y)) \
    BINARY(not_equal_bits, uint32_t, uint32_t, -(uint32_t)(x != y)) \
    BINARY(left_shift_bits, uint32_t, uint32_t, x << (y & 31)) \
    BINARY(right_shift_bits, uint32_t, uint32_t, x >> (y & 31)) \
    UNARY(invert_bits, uint32_t, uint32_t, ~x) \
    UNARY(negative_bits, uint32_t, uint32_t, 0 - x) \
    UNARY(absolute_int32, uint32_t, int32_t, x < 0 ? 0 - (uint32_t)x : (uint32_t)x) \
    UNARY(int8_bits, int32_t, uint32_t, (int8_t)x) \
    UNARY(int16_bits, int32_t, uint32_t, (int16_t)x)

/* Returns `value` clamped to `low` and `high`, as an integer; NaN becomes `low`. */
static inline int32_t dml_within(float value, float low, float high)
{
    float bounded = value >= low ? value : low;
    return (int32_t)(bounded <= high ? bounded : high);
}

/* The operands are an element, a scale and a zero point. */
#define DML_QUANTIZATIONS(TERNARY) \
    TERNARY(quantize_int8, int32_t, float, float, int32_t, dml_within(rintf(x / y) + (float)z, INT8_MIN, INT8_MAX)) \
    TERNARY(quantize_uint8, int32_t, float, float, int32_t, dml_within(rintf(x / y) + (float)z, 0, UINT8_MAX)) \
    TERNARY(quantize_int16, int32_t, float, float, int32_t, dml_within(rintf(x / y) + (float)z, INT16_MIN, INT16_MAX)) \
    TERNARY(quantize_uint16, int32_t, float, float, int32_t, dml_within(rintf(x / y) + (float)z, 0, UINT16_MAX)) \
    TERNARY(dequantize_int32, float, int32_t, float, int32_t, (float)(x - z) * y)

#define DML_CONVERSIONS(UNARY) \
    UNARY(saturated_float32_int32, int32_t, float, DML_INT32_OF(x)) \
    UNARY(saturated_float64_int32, int32_t, double, DML_INT32_OF(x)) \
    UNARY(saturated_float32_uint32, uint32_t, float, DML_UINT32_OF(x)) \
    UNARY(saturated_float64_uint32, uint32_t, double, DML_UINT32_OF(x)) \
    UNARY(float64_float32, double, float, x) \
    UNARY(float32_float64, float, double, (float)x)

/* SEPARATE instructions have loops of their own, in this order: x y + z rounded to FLOAT32; x y + z rounded to odd, so
   that rounding it to FLOAT16 rounds once; a FLOAT32 or FLOAT64 lane rounded to FLOAT16 precision; the bits of a
   FLOAT16 in an integer lane; and such bits as a FLOAT32. */
#define DML_ELEMENTWISE_OPCODES(UNARY, BINARY, EXTREME, TERNARY, SEPARATE, FUNCTION, FUNCTION2) \
    DML_OF_FLOATS(UNARY, BINARY, EXTREME, float32, float, f) \
    DML_OF_FLOATS(UNARY, BINARY, EXTREME, float64, double, ) \
    DML_OF_INTEGERS(UNARY, BINARY, int32, int32_t) \
    DML_OF_INTEGERS(UNARY, BINARY, uint32, uint32_t) \
    DML_OF_BITS(UNARY, BINARY) \
    DML_CONVERSIONS(UNARY) \
    DML_QUANTIZATIONS(TERNARY) \
    TERNARY(where_bits, uint32_t, uint32_t, uint32_t, uint32_t, x ? y : z) \
    TERNARY(where_float64, double, uint32_t, double, double, x ? y : z) \
    SEPARATE(multiply_add_float32) \
    SEPARATE(multiply_add_odd) \
    SEPARATE(half_float32) \
    SEPARATE(half_float64) \
    SEPARATE(bits_half) \
    SEPARATE(half_bits) \
    FUNCTION(sqrt) \
    FUNCTION(exp) \
    FUNCTION(expm1) \
    FUNCTION(log) \
    FUNCTION(tanh) \
    FUNCTION(sigmoid) \
    FUNCTION(softplus) \
    FUNCTION(erf) \
    FUNCTION(gelu) \
    FUNCTION(sin) \
    FUNCTION(cos) \
    FUNCTION2(power)
