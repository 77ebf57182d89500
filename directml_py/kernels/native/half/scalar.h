/* Conversions of single numbers between FLOAT16 and FLOAT32. */

#pragma once

#include "../common/compiler.h"

/* The exponent of a FLOAT16 is biased by 15, that of a FLOAT32 by 127: shifted into the bits of a FLOAT32, the bits of
   a FLOAT16 are the number times 2^-112. The product is exact, of subnormal numbers too; the largest exponent is that
   of infinity and NaN. */
DML_INLINE float dml_float_of_half(uint16_t half)
{
    uint32_t magnitude = half & 0x7fffu, bits;
    float value;
    bits = magnitude << 13;
    memcpy(&value, &bits, 4);
    value *= 0x1p112f;
    memcpy(&bits, &value, 4);
    bits |= (magnitude >= 0x7c00u ? 0x7f800000u : 0u) | (half & 0x8000u) << 16;
    memcpy(&value, &bits, 4);
    return value;
}

/* There is no branch, so that compilers vectorize it. */
DML_INLINE uint16_t dml_half_of_float(float value)
{
    uint32_t bits, magnitude, small, half;
    float raised = fabsf(value) + 0.5f;
    memcpy(&bits, &value, 4);
    magnitude = bits & 0x7fffffffu;
    /* Next to 0.5 a FLOAT32 is a multiple of 2^-24, as subnormal FLOAT16 are. */
    memcpy(&small, &raised, 4);
    half = (magnitude + 0xfffu + (magnitude >> 13 & 1u) - 0x38000000u) >> 13;
    half = magnitude < 0x38800000u ? small - 0x3f000000u : half;
    /* From halfway between the largest FLOAT16 and the next power of two on, the result is infinity. */
    half = magnitude >= 0x477ff000u ? 0x7c00u : half;
    half = magnitude > 0x7f800000u ? 0x7e00u : half;
    return (uint16_t)((bits >> 16 & 0x8000u) | half);
}

/* Loads a FLOAT32, or a FLOAT16. */
DML_INLINE float dml_load_float(const char *address, int is_half)
{
    float value;
    uint16_t half;
    if (is_half) {
        memcpy(&half, address, 2);
        return dml_float_of_half(half);
    }
    memcpy(&value, address, 4);
    return value;
}
