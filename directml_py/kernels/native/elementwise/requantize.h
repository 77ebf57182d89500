/* Requantization: sums of products of bytes become bytes again. */
#pragma once

#include "../common/compiler.h"

/* Quotients that are nearer than this to halfway between two integers are computed exactly: the error of a product with
   `factor` is less than the rest to 0.5, for all quotients within the range of bytes. */
#define DML_REQUANTIZE_NEAR 0.4998f

/* A sum plus its bias is multiplied by `unit`, divided by `divisor`, and rounded to FLOAT32; divided by the scale,
   rounded, and added to the zero point; and clamped to `low` and `high`. `factor` is unit / divisor / scale, or NaN
   where an intermediate result may leave FLOAT32. */
typedef struct {
    double unit, divisor;
    int32_t bias;
    float scale, zero, low, high, factor;
} dml_requantization;

/* Sums are from -`most` to `most`. */
__attribute__((unused)) static dml_requantization
dml_requantization_of(double unit, double divisor, int32_t bias, int64_t most, float scale, float zero, int is_signed)
{
    const double one = fabs(unit / divisor), quotient = unit / divisor / (double)scale;
    const int is_normal = one >= 0x1p-126 && one <= 0x1p96 && fabs(quotient) >= 0x1p-126;
    const float low = is_signed ? -128.0f : 0.0f;
    const float factor = is_normal && most + llabs((int64_t)bias) <= INT32_MAX ? (float)quotient : NAN;
    return (dml_requantization){unit, divisor, bias, scale, zero, low, low + 255.0f, factor};
}
