/* Functions of a vector of FLOAT64, or of four where vectors hold fewer, whose results are rounded to FLOAT32. Errors
   are at most 4e-9, and much less unless a comment says otherwise; roots are correctly rounded. The polynomials
   interpolate at Chebyshev nodes, and no function branches. */

#pragma once

#include "../common/lanes.h"
#include "../common/log.h"

typedef float elementwise_floats __attribute__((vector_size(4 * DML_LANES), aligned(4), may_alias));
#define DML_GATHER(mask, a, b) ((dml_doubles)(((dml_bits)(mask) & (dml_bits)(a)) | (~(dml_bits)(mask) & (dml_bits)(b))))
/* Clamps numbers to `low` and `high`; NaN stays NaN. */
#if defined(__AVX512F__)
#define DML_BETWEEN(x, low, high)                                                                                      \
    x = (dml_doubles)_mm512_min_pd(_mm512_set1_pd(high), _mm512_max_pd(_mm512_set1_pd(low), (__m512d)(x)))
#elif defined(__AVX2__)
#define DML_BETWEEN(x, low, high)                                                                                      \
    x = (dml_doubles)_mm256_min_pd(_mm256_set1_pd(high), _mm256_max_pd(_mm256_set1_pd(low), (__m256d)(x)))
#else
#define DML_BETWEEN(x, low, high)                                                                                      \
    x = DML_GATHER(x < (low), (dml_doubles){0} + (low), x);                                                            \
    x = DML_GATHER(x > (high), (dml_doubles){0} + (high), x)
#endif
#define DML_SIGN 0x8000000000000000u
#define DML_MAGNITUDE(x) ((dml_doubles)((dml_bits)(x) & ~DML_SIGN))
/* Adding this rounds a number to an integer, which the lowest bits of the sum hold. */
#define DML_WHOLE 0x1.8p52

/* For x = k ln 2 + r stores exp(r) - 1 in `x`, and 2^k in `scale`; callers handle overflow. NaN stays NaN. */
DML_INLINE void exp_parts(dml_doubles *x, dml_doubles *scale)
{
    dml_doubles r = *x, shifted, k, sum;
    DML_BETWEEN(r, -708.0, 709.0);
    shifted = r * 0x1.71547652b82fep0 + DML_WHOLE;
    k = shifted - DML_WHOLE;
    r = r - k * 0x1.62e42fefa39efp-1;
    *scale = (dml_doubles)(((dml_bits)shifted + 1023) << 52);
    sum = r * 0.000198992860970568 + 0.0013941118899499568;
    DML_POLYNOMIAL(sum, r, 0.008333298468885862, 0.04166635277105741, 0.1666666671903285, 0.5000000047146076, 1.0);
    *x = sum * r;
}

DML_INLINE void elementwise_exp(dml_doubles *x)
{
    dml_doubles r = *x, scale;
    dml_bits much = (dml_bits)(r > 709.0), little = (dml_bits)(r < -708.0);
    exp_parts(&r, &scale);
    r = DML_GATHER(little, (dml_doubles){0}, r * scale + scale);
    *x = DML_GATHER(much, (dml_doubles){0} + INFINITY, r);
}

DML_INLINE void elementwise_expm1(dml_doubles *x)
{
    dml_doubles r = *x, scale;
    dml_bits much = (dml_bits)(r > 709.0), zero = (dml_bits)(r == 0.0);
    exp_parts(&r, &scale);
    r = DML_GATHER(zero, *x, r * scale + (scale - 1.0));
    *x = DML_GATHER(much, (dml_doubles){0} + INFINITY, r);
}

/* The result is -d / (d + 2) for d = exp(-2 |x|) - 1, with the sign of x. */
DML_INLINE void elementwise_tanh(dml_doubles *x)
{
    dml_doubles d = DML_MAGNITUDE(*x) * -2.0, scale;
    exp_parts(&d, &scale);
    d = d * scale + (scale - 1.0);
    d = DML_MAGNITUDE(d / (d + 2.0));
    *x = (dml_doubles)((dml_bits)d | ((dml_bits)*x & DML_SIGN));
}

DML_INLINE void elementwise_sigmoid(dml_doubles *x)
{
    dml_doubles e = -*x;
    elementwise_exp(&e);
    *x = 1.0 / (1.0 + e);
}

/* log(1 + exp(x)) is max(x, 0) + log(1 + e) for e = exp(-|x|), and log(1 + e) is 2 atanh(e / (2 + e)). */
DML_INLINE void elementwise_softplus(dml_doubles *x)
{
    dml_doubles e = -DML_MAGNITUDE(*x), s, z, sum;
    elementwise_exp(&e);
    s = e / (e + 2.0);
    z = s * s;
    sum = z * 0.2439390734394351 + 0.21398560630495922;
    DML_POLYNOMIAL(sum, z, 0.2862020740649018, 0.3999871124636203, 0.6666667902645588, 1.9999999998090046);
    *x = DML_GATHER(*x > 0.0, *x, (dml_doubles){0}) + sum * s;
}

DML_INLINE void elementwise_sqrt(dml_doubles *x)
{
#if defined(__AVX512F__)
    *x = (dml_doubles)_mm512_sqrt_pd((__m512d)*x);
#elif defined(__AVX2__)
    *x = (dml_doubles)_mm256_sqrt_pd((__m256d)*x);
#else
    for (int i = 0; i < DML_LANES; i++)
        (*x)[i] = sqrt((*x)[i]);
#endif
}

/* Subnormal numbers need no case of their own: no FLOAT32 converts to a subnormal FLOAT64. */
DML_INLINE void elementwise_log(dml_doubles *x)
{
    dml_doubles result = *x;
    dml_log_positive(&result);
    result = DML_GATHER(*x < INFINITY, result, *x);
    result = DML_GATHER(*x == 0.0, (dml_doubles){0} - INFINITY, result);
    *x = DML_GATHER(*x < 0.0, (dml_doubles){0} + NAN, result);
}

/* The polynomial is erf(x) / x in t = x^2 / 8 - 1; from 4 on erf rounds to 1 in FLOAT32. */
DML_INLINE void elementwise_erf(dml_doubles *x)
{
    dml_doubles inside = *x, t, sum;
    DML_BETWEEN(inside, -4.0, 4.0);
    t = inside * inside * 0.125 - 1.0;
    sum = t * -0.00023753031503777797 + 0.0005955966168787401;
    DML_POLYNOMIAL(sum, t, -0.0003632395497940404, 0.0006199185878712251, -0.002843842227270619, 0.005571999517447538,
                   -0.008445061457535985, 0.013912674173346157, -0.022530380791170555, 0.0332148846541129,
                   -0.04575393376864029, 0.05985653047771719, -0.07472896226649528, 0.09021197583841245,
                   -0.1077104012535271, 0.13167500462302462, -0.17657623355634583, 0.35353099633699625);
    *x = sum * inside;
}

/* Returns x times the normal distribution function of x. Its upper tail q beyond |x| is exp(-x^2/2) R(|x|), where
   R(a) (a + 4) is approximated by a polynomial in (a - 4) / (a + 4). */
DML_INLINE void elementwise_gelu(dml_doubles *x)
{
    dml_doubles a = DML_MAGNITUDE(*x), q = *x * *x * -0.5, t, sum;
    elementwise_exp(&q);
    a = DML_GATHER(a > 16.0, (dml_doubles){0} + 16.0, a) + 4.0;
    a = 1.0 / a;
    t = ((1.0 - 8.0 * a) + 0.2) * 1.25;
    sum = t * 1.3447598424439395e-06 - 5.179091469168877e-06;
    DML_POLYNOMIAL(sum, t, -2.0831833741870764e-05, 8.231509044757486e-05, 0.00023143990812239204,
                   -0.001431338744620092, -0.0006880380839309197, 0.026794331527326094, -0.12145189732576478,
                   0.3289950791467708, -0.6296958755160585, 0.8939409337012927);
    q = q * sum * a;
    *x = *x * DML_GATHER(*x < 0.0, q, 1.0 - q);
}

/* Returns the sine of x + quarters * pi / 2 for |x| up to 2^20. Multiples of pi / 2 are subtracted in three parts, so
   that no digit is lost even where the sine is almost 0. */
DML_INLINE void elementwise_wave(dml_doubles *x, uint64_t quarters)
{
    dml_doubles shifted = *x * 0x1.45f306dc9c883p-1 + DML_WHOLE, k = shifted - DML_WHOLE, r, t, sum, sine;
    dml_bits quarter = (dml_bits)shifted + quarters;
    r = *x - k * 0x1.921fb544p0;
    r = r - k * 0x1.0b4611a6p-34;
    r = r - k * 0x1.3198a2e037073p-69;
    t = r * r;
    sum = t * 2.71733766842087e-06 - 0.00019839201340575774;
    DML_POLYNOMIAL(sum, t, 0.008333328779546133, -0.16666666631560617, 0.9999999999956681);
    sine = sum * r;
    sum = t * 2.4379747280143e-05 - 0.001388661709248211;
    DML_POLYNOMIAL(sum, t, 0.04166661666252168, -0.4999999961454848, 0.9999999999524414);
    sum = DML_GATHER(0 - (quarter & 1), sum, sine);
    *x = (dml_doubles)((dml_bits)sum ^ ((quarter & 2) << 62));
}

/* Returns whether a lane is too large for the reduction by pi / 2 in three parts. The C library computes such lanes one
   by one, which does not change the results of the other lanes. */
DML_INLINE int elementwise_is_far(const dml_doubles *x)
{
    dml_doubles magnitude = DML_MAGNITUDE(*x);
#if defined(__AVX512F__)
    return _mm512_cmp_pd_mask((__m512d)magnitude, _mm512_set1_pd(0x1p20), _CMP_LT_OQ) != 0xff;
#elif defined(__AVX2__)
    return _mm256_movemask_pd((__m256d)(magnitude < 0x1p20)) != 0xf;
#else
    dml_bits near = (dml_bits)(magnitude < 0x1p20);
    return (near[0] & near[1] & near[2] & near[3]) == 0;
#endif
}

static DML_ONCE void elementwise_far(double *results, const double *x, int quarters)
{
    for (int i = 0; i < DML_LANES; i++)
        if (!(fabs(x[i]) < 0x1p20))
            results[i] = quarters ? cos(x[i]) : sin(x[i]);
}

DML_INLINE void elementwise_shifted_sine(dml_doubles *x, int quarters)
{
    dml_doubles angle = *x;
    double angles[DML_LANES], results[DML_LANES];
    elementwise_wave(x, quarters);
    if (elementwise_is_far(&angle)) {
        memcpy(angles, &angle, sizeof angles);
        memcpy(results, x, sizeof results);
        elementwise_far(results, angles, quarters);
        memcpy(x, results, sizeof results);
    }
}

DML_INLINE void elementwise_sin(dml_doubles *x)
{
    elementwise_shifted_sine(x, 0);
}

DML_INLINE void elementwise_cos(dml_doubles *x)
{
    elementwise_shifted_sine(x, 1);
}

/* Returns exp(y log|x|), negated for a negative base with an odd exponent; 0^0, inf^0 and 1^inf are NaN. An exponent is
   odd if its conversion to int32 is, which saturates from 2^31 on. */
DML_INLINE void elementwise_power(dml_doubles *x, const dml_doubles *exponent)
{
    dml_doubles base = *x, y = *exponent, large = DML_MAGNITUDE(y), result = DML_MAGNITUDE(base), whole, half, product;
    dml_bits odd, fraction, negative = (dml_bits)(base < 0.0);
    elementwise_log(&result);
    /* All numbers from 2^52 on are integers. */
    whole = DML_GATHER(large < 0x1p52, (large + 0x1p52) - 0x1p52, large);
    fraction = (dml_bits)(whole != large);
    half = large * 0.5;
    half = DML_GATHER(large < 0x1p31, (half + 0x1p52) - 0x1p52 - half, (dml_doubles){0});
    odd = ((dml_bits)(half != 0.0) | (dml_bits)(y >= 0x1p31)) & ~fraction;
    product = result * y;
    elementwise_exp(&product);
    result = DML_GATHER(fraction & negative, (dml_doubles){0} + NAN, product);
    result = (dml_doubles)((dml_bits)result ^ (odd & negative & DML_SIGN));
    *x = DML_GATHER((dml_bits)(y != y) | (dml_bits)(base != base), (dml_doubles){0} + NAN, result);
}
