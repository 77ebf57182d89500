/* Functions of a vector of FLOAT32. Errors are below 1.5 ULP unless a comment states otherwise. The argument
   reductions by multiples of ln 2 and pi / 2 need fused multiply-add to keep the low digits of the argument; processors
   without it compute in FLOAT64. The polynomials are minimax with FLOAT32 coefficients: the leading coefficients were
   rounded first, and the remaining ones were fitted to the residual. */

#pragma once

#if defined(__AVX2__)
#include "../common/lanes.h"
#include "float64_functions.h"

#if defined(__AVX512F__)
typedef __m512 float_vector;
typedef __m512i int_vector;
typedef __mmask16 mask_vector;
#define DML_F(operation) _mm512_##operation##_ps
#define DML_I(operation) _mm512_##operation##_epi32
#define DML_BITS_OF(x) _mm512_castps_si512(x)
#define DML_FROM_BITS(x) _mm512_castsi512_ps(x)
#define DML_NOT_SIGN(x) _mm512_and_si512(DML_BITS_OF(x), DML_I(set1)(0x7fffffff))
#define DML_WHERE(mask, a, b) _mm512_mask_blend_ps(mask, b, a)
#define DML_IS(relation, a, b) _mm512_cmp_ps_mask(a, b, _CMP_##relation##_OQ)
#define DML_EVERY(mask) ((mask) == 0xffff)
#define DML_COUNT(mask) __builtin_popcount(mask)
#define DML_NEAREST(x) _mm512_roundscale_ps(x, 0)
#define DML_AMONG(table, index) _mm512_permutexvar_ps(index, _mm512_broadcast_f32x8(table))
#define DML_HALF_OF(x, i) ((dml_doubles)_mm512_cvtps_pd((i) ? _mm512_extractf32x8_ps(x, 1) : _mm512_castps512_ps256(x)))
#define DML_OF_HALVES(low, high)                                                                                       \
    _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps((__m512d)(low))), _mm512_cvtpd_ps((__m512d)(high)), 1)
#else
typedef __m256 float_vector;
typedef __m256i int_vector;
typedef __m256 mask_vector;
#define DML_F(operation) _mm256_##operation##_ps
#define DML_I(operation) _mm256_##operation##_epi32
#define DML_BITS_OF(x) _mm256_castps_si256(x)
#define DML_FROM_BITS(x) _mm256_castsi256_ps(x)
#define DML_NOT_SIGN(x) _mm256_and_si256(DML_BITS_OF(x), DML_I(set1)(0x7fffffff))
#define DML_WHERE(mask, a, b) _mm256_blendv_ps(b, a, mask)
#define DML_IS(relation, a, b) _mm256_cmp_ps(a, b, _CMP_##relation##_OQ)
#define DML_EVERY(mask) (_mm256_movemask_ps(mask) == 0xff)
#define DML_COUNT(mask) __builtin_popcount((unsigned)_mm256_movemask_ps(mask))
#define DML_NEAREST(x) _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#define DML_AMONG(table, index) _mm256_permutevar8x32_ps(table, index)
#define DML_HALF_OF(x, i) ((dml_doubles)_mm256_cvtps_pd((i) ? _mm256_extractf128_ps(x, 1) : _mm256_castps256_ps128(x)))
#define DML_OF_HALVES(low, high)                                                                                       \
    _mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps((__m256d)(low))), _mm256_cvtpd_ps((__m256d)(high)), 1)
#endif
#define DML_ALL(number) DML_F(set1)(number)
#define DML_MAGNITUDE_OF(x) DML_FROM_BITS(DML_NOT_SIGN(x))
/* Sets the sign of `y` in `x`, whose own sign bit is clear or the same; sums lose the sign of -0. */
#define DML_LIKE(x, y) DML_FROM_BITS(DML_BITS_OF(x) | (DML_BITS_OF(y) ^ DML_NOT_SIGN(y)))
#define DML_FMA(a, b, c) DML_F(fmadd)(a, b, c)
/* Adds coefficients of a polynomial by Horner's rule. */
DML_INLINE float_vector float_horner(float_vector sum, float_vector x, const float *coefficients, const int count)
{
    DML_UNROLLED for (int i = 0; i < count; i++) sum = DML_FMA(sum, x, DML_ALL(coefficients[i]));
    return sum;
}
#define DML_HORNER(sum, x, ...)                                                                                        \
    sum = float_horner(sum, x, (const float[]){__VA_ARGS__}, sizeof(const float[]){__VA_ARGS__} / sizeof(float))

/* Returns exp(r) - 1 for x - `less` = k ln 2 + r, where k ln 2 is in range. `less` is subtracted after the reduction,
   since x may not have the digits for it. */
DML_INLINE float_vector exp_reduced(float_vector x, float_vector less, float_vector *k)
{
    float_vector r, sum = DML_ALL(0x1.6d815ep-10f);
    *k = DML_NEAREST(x * DML_ALL(0x1.715476p0f));
    r = DML_F(fnmadd)(*k, DML_ALL(0x1.62e430p-1f), x);
    r = DML_F(fnmadd)(*k, DML_ALL(-0x1.05c610p-29f), r) - less;
    DML_HORNER(sum, r, 0x1.123f90p-7f, 0x1.5554bap-5f, 0x1.55548ap-3f, 0.5f);
    return DML_FMA(sum, r * r, r);
}

/* Returns x 2^k, rounded once even where the result is subnormal or infinite. */
DML_INLINE float_vector float_scaled(float_vector x, float_vector k)
{
#if defined(__AVX512F__)
    return DML_F(scalef)(x, k);
#else
    __m256i whole = _mm256_cvtps_epi32(k), half = DML_I(srai)(whole, 1), one = DML_I(set1)(127);
    x = x * DML_FROM_BITS(DML_I(slli)(DML_I(add)(half, one), 23));
    return x * DML_FROM_BITS(DML_I(slli)(DML_I(add)(DML_I(sub)(whole, half), one), 23));
#endif
}

/* Clamps numbers to `low` and `high`; NaN stays NaN. */
DML_INLINE float_vector float_between(float_vector x, float low, float high)
{
    return DML_F(min)(DML_ALL(high), DML_F(max)(DML_ALL(low), x));
}

DML_INLINE float_vector float_exp(float_vector x)
{
    float_vector k, r = exp_reduced(float_between(x, -104.0f, 89.0f), DML_ALL(0.0f), &k);
    return float_scaled(r + DML_ALL(1.0f), k);
}

/* The sum (2^k - 1) + 2^k (exp(r) - 1) is fused, which keeps its last digits. It is computed at half scale, since 2^128
   overflows. */
DML_INLINE float_vector float_expm1(float_vector x)
{
    float_vector k, r, scale, inside = float_between(x, -30.0f, 89.0f);
    r = exp_reduced(inside, DML_ALL(0.0f), &k);
    scale = float_scaled(DML_ALL(0.5f), k);
    r = DML_FMA(r, scale, scale - DML_ALL(0.5f));
    return DML_WHERE(DML_IS(LT, DML_MAGNITUDE_OF(x), DML_ALL(0x1p-25f)), x, r + r);
}

#if defined(__AVX512F__)
/* Returns the correctly rounded root: the residual of an approximation corrects it (Markstein 2000, "IA-64 and
   Elementary Functions", chapter 9). Infinite lanes, and those whose residual would underflow, use the instruction. */
DML_INLINE float_vector float_sqrt(float_vector x)
{
    const __m512i least = DML_I(set1)(0x0d800000), numbers = DML_I(set1)(0x7f800000 - 0x0d800000);
    mask_vector ordinary = _mm512_cmplt_epu32_mask(DML_I(sub)(DML_BITS_OF(x), least), numbers);
    float_vector inverse = DML_F(rsqrt14)(x), root = x * inverse, half = inverse * DML_ALL(0.5f), less;
    less = DML_F(fnmadd)(root, half, DML_ALL(0.5f));
    root = DML_FMA(root, less, root);
    half = DML_FMA(half, less, half);
    root = DML_FMA(DML_F(fnmadd)(root, root, x), half, root);
    return DML_EVERY(ordinary) ? root : _mm512_mask_sqrt_ps(root, (mask_vector)~ordinary, x);
}
#else
DML_INLINE float_vector float_sqrt(float_vector x)
{
    return DML_F(sqrt)(x);
}
#endif

#if defined(__AVX512F__)
/* The piecewise polynomials of tanh: the breakpoints are the multiples of 1/4 up to 1, of 1/2 up to 3, of 1 up to 7,
   and 9. The first row holds the centers of expansion, chosen where tanh is almost a FLOAT32; each other row holds the
   coefficients of one power. The column is the exponent and the first two bits of the fraction of |x| + 1, and the
   columns are rotated to begin with the piece from 1 on. */
static const float tanh_parts[8][16] = {
    {1.24971187f, 1.74976504f, 2.24957728f, 2.74926591f, 3.50058651f, 4.49812365f, 5.49858046f, 6.49897194f,
     7.99809265f, 10.0f, 12.0f, 14.0f, 0.0f, 0.375086069f, 0.625106633f, 0.875141978f},
    {0.848202825f, 0.941348791f, 0.978007734f, 0.991847813f, 0.998180032f, 0.999752283f, 0.999966502f, 0.99999547f,
     0.999999762f, 1.0f, 1.0f, 1.0f, 0.0f, 0.358432412f, 0.554673553f, 0.703977227f},
    {0.280551851f, 0.113862403f, 0.0435008705f, 0.0162379183f, 0.00363669218f, 0.000495382934f, 6.69959336e-05f,
     9.06007972e-06f, 4.51922915e-07f, 0.0f, 0.0f, 0.0f, 1.0f, 0.871526182f, 0.692337275f, 0.504416049f},
    {-0.237964988f, -0.107184216f, -0.0425441787f, -0.0161055401f, -0.00363005279f, -0.000495255692f, -6.69931396e-05f,
     -9.05997422e-06f, -2.32580391e-07f, 0.0f, 0.0f, 0.0f, -1.0974062e-06f, -0.312383294f, -0.384021133f,
     -0.355097443f},
    {0.108340502f, 0.0629502609f, 0.0271085817f, 0.010561252f, 0.00240895781f, 0.000329661212f, 4.46116719e-05f,
     6.03350054e-06f, 2.9936021e-07f, 0.0f, 0.0f, 0.0f, -0.333270192f, -0.178536013f, -0.0177826397f, 0.0818441212f},
    {-0.0125572393f, -0.0235289503f, -0.0123315919f, -0.00510702468f, -0.00119590398f, -0.000164716359f,
     -2.23084899e-05f, -3.01733576e-06f, -7.31403816e-07f, 0.0f, 0.0f, 0.0f, -0.00118373556f, 0.168133944f,
     0.137857869f, 0.0607576147f},
    {-0.0197156072f, 0.00348025886f, 0.00397909898f, 0.00191716093f, 0.000489709317f, 6.85463965e-05f, 9.30418082e-06f,
     1.25884378e-06f, 6.72441658e-08f, 0.0f, 0.0f, 0.0f, 0.143084303f, 0.0186118279f, -0.0541456752f, -0.0587672777f},
    {0.0151017178f, 0.00210170564f, -0.00071599771f, -0.000545515155f, -0.000157669798f, -2.26138745e-05f,
     -3.08393419e-06f, -4.17834173e-07f, 3.64447288e-07f, 0.0f, 0.0f, 0.0f, -0.0369770452f, -0.0698742196f,
     -0.023597708f, 0.0127730556f},
};

DML_INLINE float_vector float_tanh(float_vector x)
{
    float_vector a = DML_F(min)(DML_ALL(14.0f), DML_MAGNITUDE_OF(x)), t, sum;
    int_vector index = DML_I(srli)(DML_BITS_OF(a + DML_ALL(1.0f)), 21);
#define DML_TANH_ROW(row) _mm512_permutexvar_ps(index, _mm512_loadu_ps(tanh_parts[row]))
    t = a - DML_TANH_ROW(0);
    sum = DML_TANH_ROW(7);
    for (int row = 6; row > 0; row--)
        sum = DML_FMA(sum, t, DML_TANH_ROW(row));
#undef DML_TANH_ROW
    return DML_LIKE(sum, x);
}
#else
/* From 0.625 on the result is 1 - 2 / (exp(2 |x|) + 1). */
DML_INLINE float_vector float_tanh(float_vector x)
{
    const float_vector one = DML_ALL(1.0f);
    float_vector a = DML_MAGNITUDE_OF(x), z = x * x, k, e, sum = DML_ALL(-0x1.75619ap-8f), far;
    far = DML_F(min)(DML_ALL(10.0f), a);
    e = one + exp_reduced(far + far, DML_ALL(0.0f), &k);
    e = float_scaled(e, k);
    far = one - DML_ALL(2.0f) / (e + one);
    DML_HORNER(sum, z, 0x1.5207b8p-6f, -0x1.b83738p-5f, 0x1.1106fcp-3f, -0x1.555532p-2f);
    return DML_LIKE(DML_WHERE(DML_IS(LT, a, DML_ALL(0.625f)), DML_FMA(sum * z, x, x), far), x);
}
#endif

/* The error is below 2.5 ULP. */
DML_INLINE float_vector float_sigmoid(float_vector x)
{
    const float_vector one = DML_ALL(1.0f), zero = DML_ALL(0.0f);
    float_vector a = DML_F(max)(DML_ALL(-104.0f), DML_FROM_BITS(DML_BITS_OF(x) | DML_I(set1)(INT32_MIN))), k, e;
    e = one + exp_reduced(a, zero, &k);
    e = float_scaled(e, k);
    return DML_WHERE(DML_IS(LT, x, zero), e, one) / (one + e);
}

/* FLOAT64 computes it, since its roundings in FLOAT32 would cost too many digits. */
DML_INLINE float_vector float_softplus(float_vector x)
{
    dml_doubles halves[2];
    for (int i = 0; i < 2; i++) {
        halves[i] = DML_HALF_OF(x, i);
        elementwise_softplus(&halves[i]);
    }
    return DML_OF_HALVES(halves[0], halves[1]);
}

/* Splits positive numbers, including subnormal ones: x = m 2^e with m between 3/4 and 3/2. */
DML_INLINE float_vector float_parts(float_vector x, float_vector *e)
{
#if defined(__AVX512F__)
    float_vector m = DML_F(getmant)(x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_zero);
    *e = DML_F(getexp)(x) - DML_F(getexp)(m);
    return m;
#else
    __m256 small = DML_IS(LT, x, DML_ALL(0x1p-126f));
    __m256i bits, above;
    x = DML_WHERE(small, x * DML_ALL(0x1p24f), x);
    bits = DML_BITS_OF(x);
    above = DML_I(srai)(DML_I(sub)(bits, DML_I(set1)(0x3f400000)), 23);
    *e = _mm256_cvtepi32_ps(above) - _mm256_and_ps(small, DML_ALL(24.0f));
    return DML_FROM_BITS(DML_I(sub)(bits, DML_I(slli)(above, 23)));
#endif
}

DML_INLINE float_vector float_log(float_vector x)
{
    float_vector e, f = float_parts(x, &e) - DML_ALL(1.0f), z = f * f, sum = DML_ALL(0x1.340cf2p-5f), rest;
    DML_HORNER(sum, f, -0x1.74ff40p-4f, 0x1.df1c2cp-4f, -0x1.04ad9ep-3f, 0x1.246390p-3f, -0x1.5519d2p-3f,
               0x1.999764p-3f, -0x1.00006ep-2f, 0x1.55555ap-2f);
    /* The sum is f - f^2 / 2 + f^3 (1/3 ...), with e ln 2 added in two parts. */
    rest = DML_FMA(e, DML_ALL(-0x1.05c610p-29f), sum * f * z);
    rest = DML_FMA(z, DML_ALL(-0.5f), rest);
    rest = DML_FMA(e, DML_ALL(0x1.62e430p-1f), f + rest);
#if defined(__AVX512F__)
    /* Each hexadecimal digit is the response to one class of x, the lowest digit to NaN: 0 keeps the result, 1 is x, 3
       is NaN, 4 and 5 are the infinities. */
    return _mm512_fixupimm_ps(rest, x, DML_I(set1)(0x03530411), 0);
#else
    rest = DML_WHERE(DML_IS(LT, x, DML_ALL(INFINITY)), rest, x);
    rest = DML_WHERE(DML_IS(EQ, x, DML_ALL(0.0f)), DML_ALL(-INFINITY), rest);
    return DML_WHERE(DML_IS(LT, x, DML_ALL(0.0f)), DML_ALL(NAN), rest);
#endif
}

/* Up to 1 the result is x plus a polynomial of x, from there on 1 - 2^(-|x| G(|x|)). */
DML_INLINE float_vector float_erf(float_vector x)
{
    const float_vector one = DML_ALL(1.0f);
    float_vector a = DML_F(min)(DML_ALL(4.0f), DML_MAGNITUDE_OF(x)), z = x * x, k, t;
    float_vector sum = DML_ALL(0x1.4771fep-14f), tail = DML_ALL(0x1.3eaa42p-12f), power = DML_ALL(0x1.5fa100p-10f);
    DML_HORNER(sum, z, -0x1.a3515ep-11f, 0x1.53f224p-8f, -0x1.b7f71ap-6f, 0x1.ce2ce6p-4f, -0x1.81273ep-2f,
               0x1.06eba8p-3f);
    DML_HORNER(tail, a, -0x1.2d532ep-8f, 0x1.0d7242p-5f, -0x1.3694acp-3f, -0x1.d5a9c2p-1f, -0x1.a0c80ep0f);
    tail = tail * a;
    k = DML_NEAREST(tail);
    t = tail - k;
    DML_HORNER(power, t, 0x1.3cebbap-7f, 0x1.c6add8p-5f, 0x1.ebf9b8p-3f, 0x1.62e432p-1f);
    tail = one - float_scaled(DML_FMA(power, t, one), k);
    return DML_WHERE(DML_IS(LT, a, one), DML_FMA(sum, x, x), DML_LIKE(tail, x));
}

/* The piecewise polynomials of R(a) = exp(a^2 / 2) Q(a), where Q is the upper tail of the normal distribution: the
   breakpoints are 0, 1/2, 1, 2, 3, 5, 7, 11 and 15. The first row holds the centers of expansion; each other row holds
   the coefficients of one power. The column is the exponent and the first bit of the fraction of a + 1, and the columns
   are rotated to begin with the piece from 1 on. */
static const float gelu_shares[9][8] = {
    {1.5f, 2.5f, 4.0f, 6.0f, 9.0f, 13.0f, 0.25f, 0.75f},
    {0.20578067f, 0.14133133f, 0.094410643f, 0.0647793114f, 0.0437987857f, 0.0305094142f, 0.414032102f, 0.30023247f},
    {-0.0902712792f, -0.045613952f, -0.0212997161f, -0.0102663944f, -0.00475318031f, -0.00231989194f, -0.295434266f,
     -0.173767939f},
    {0.035186749f, 0.0136483386f, 0.00460591866f, 0.00159052154f, 0.000510096434f, 0.000175410547f, 0.170087188f,
     0.0849522725f},
    {-0.0124969576f, -0.00383115141f, -0.00095871673f, -0.00024119328f, -5.41489972e-05f, -1.31896231e-05f,
     -0.0843031406f, -0.0366835073f},
    {0.00411048345f, 0.00101625803f, 0.000192517211f, 3.57170466e-05f, 5.67256166e-06f, 9.854665e-07f, 0.0372328572f,
     0.0143910982f},
    {-0.00126653677f, -0.00025710871f, -3.75124109e-05f, -5.19824061e-06f, -5.90036223e-07f, -7.33006047e-08f,
     -0.0150220757f, -0.00521063851f},
    {0.000376378855f, 6.69112051e-05f, 7.5450348e-06f, 8.4503921e-07f, 6.64451534e-08f, 5.71072523e-09f, 0.005845231f,
     0.00147393497f},
    {-0.000103175422f, -1.56336773e-05f, -1.3758148e-06f, -1.25784084e-07f, -6.73702916e-09f, -4.20551455e-10f,
     -0.0017980854f, -0.000295300444f},
};

/* Returns x times the normal distribution function of x: x Q(|x|) for negative x, x (1 - Q(|x|)) otherwise. The error
   is below 3.5 ULP. */
DML_INLINE float_vector float_gelu(float_vector x)
{
    float_vector a = DML_F(min)(DML_ALL(14.875f), DML_MAGNITUDE_OF(x)), z = a * a, k, share, sum;
    int_vector index = DML_I(srli)(DML_BITS_OF(a + DML_ALL(1.0f)), 22);
    mask_vector is_negative = DML_IS(LE, x, DML_ALL(0.0f));
#define DML_GELU_ROW(row) DML_AMONG(_mm256_loadu_ps(gelu_shares[row]), index)
    float_vector t = a - DML_GELU_ROW(0);
    sum = DML_GELU_ROW(8);
    for (int row = 7; row > 0; row--)
        sum = DML_FMA(sum, t, DML_GELU_ROW(row));
#undef DML_GELU_ROW
    /* The exponential also takes the rounding error of a^2 / 2. */
    share = exp_reduced(z * DML_ALL(-0.5f), DML_F(fmsub)(a, a, z) * DML_ALL(0.5f), &k);
    share = DML_FMA(share, sum, sum);
    share = float_scaled(DML_WHERE(is_negative, share * a, share), k);
    /* The result for -infinity is NaN, since it is a product of infinity and 0. */
    return DML_WHERE(is_negative, DML_F(fmsub)(x, DML_ALL(0.0f), share), x * (DML_ALL(1.0f) - share));
}

/* Returns the sine of x + quarters * pi / 2 for |x| up to 2^14. Multiples of pi / 2 are subtracted in three parts, none
   of which is negative, so that -0 stays -0. */
DML_INLINE float_vector float_wave(float_vector x, int quarters)
{
    float_vector shifted = DML_FMA(x, DML_ALL(0x1.45f306p-1f), DML_ALL(0x1.8p23f)), k = shifted - DML_ALL(0x1.8p23f);
    float_vector r, z, sine = DML_ALL(0x1.7c1a24p-19f), cosine = DML_ALL(0x1.99e0ecp-16f);
    int_vector quarter = DML_I(add)(DML_BITS_OF(shifted), DML_I(set1)(quarters)), sign;
    r = DML_F(fnmadd)(k, DML_ALL(0x1.921fb4p0f), x);
    r = DML_F(fnmadd)(k, DML_ALL(0x1.4442d0p-24f), r);
    r = DML_F(fnmadd)(k, DML_ALL(0x1.84698ap-48f), r);
    z = r * r;
    DML_HORNER(sine, z, -0x1.a05930p-13f, 0x1.111174p-7f, -0x1.555556p-3f);
    sine = DML_LIKE(DML_FMA(sine * z, r, r), r);
    DML_HORNER(cosine, z, -0x1.6c0c1ap-10f, 0x1.55554ap-5f, -0.5f);
    cosine = DML_FMA(cosine, z, DML_ALL(1.0f));
    sign = DML_I(slli)(DML_I(srli)(quarter, 1), 31);
#if defined(__AVX512F__)
    sine = DML_WHERE(_mm512_test_epi32_mask(quarter, DML_I(set1)(1)), cosine, sine);
#else
    sine = DML_WHERE(DML_FROM_BITS(DML_I(slli)(quarter, 31)), cosine, sine);
#endif
    return DML_FROM_BITS(DML_BITS_OF(sine) ^ sign);
}

/* FLOAT64 computes arguments above 2^14, where k pi / 2 has more digits than the three parts of FLOAT32 subtract. */
DML_INLINE float_vector float_shifted_sine(float_vector x, int quarters)
{
    mask_vector near = DML_IS(LT, DML_MAGNITUDE_OF(x), DML_ALL(0x1p14f));
    float_vector result = float_wave(x, quarters);
    dml_doubles halves[2];
    if (DML_EVERY(near))
        return result;
    for (int i = 0; i < 2; i++) {
        halves[i] = DML_HALF_OF(x, i);
        elementwise_shifted_sine(&halves[i], quarters);
    }
    return DML_WHERE(near, result, DML_OF_HALVES(halves[0], halves[1]));
}

DML_INLINE float_vector float_sin(float_vector x)
{
    return float_shifted_sine(x, 0);
}

DML_INLINE float_vector float_cos(float_vector x)
{
    return float_shifted_sine(x, 1);
}

/* Returns the binary exponent of x^y, y log2 x for x = m 2^e, in FLOAT64, split into its integer and fractional part.
   The odd and the even powers of the polynomial are summed apart, since the two chains do not depend on each other. */
DML_INLINE void power_exponent(dml_doubles m, dml_doubles e, dml_doubles y, dml_doubles *whole, dml_doubles *rest)
{
    dml_doubles f = m - 1.0, z = f * f, even, odd;
    odd = z * -0.03229314763735128 + -0.1267618887661847;
    even = z * 0.0905482557212498 + 0.1365876527964499;
    odd = odd * z + -0.1447477962044754;
    even = even * z + 0.15992483840686234;
    odd = odd * z + -0.18026577374435004;
    even = even * z + 0.2061098073543288;
    odd = odd * z + -0.24045190495690938;
    even = even * z + 0.2885388887418658;
    odd = odd * z + -0.3606737213303205;
    even = even * z + 0.4808983474237922;
    odd = odd * z + -0.721347520595798;
    even = even * z + 1.4426950408885733;
    even = ((odd * f + even) * f + e) * y;
    DML_BETWEEN(even, -160.0, 160.0);
    odd = even + DML_WHOLE;
    *whole = odd - DML_WHOLE;
    *rest = even - *whole;
}

/* Returns the lanes whose base is positive and whose base and exponent are both finite. */
DML_INLINE mask_vector float_is_ordinary(float_vector x, float_vector y)
{
    const float_vector infinity = DML_ALL(INFINITY);
#if defined(__AVX512F__)
    mask_vector base = _mm512_mask_cmp_ps_mask(DML_IS(GT, x, DML_ALL(0.0f)), x, infinity, _CMP_LT_OQ);
    return _mm512_mask_cmp_ps_mask(base, DML_MAGNITUDE_OF(y), infinity, _CMP_LT_OQ);
#else
    mask_vector base = _mm256_and_ps(DML_IS(GT, x, DML_ALL(0.0f)), DML_IS(LT, x, infinity));
    return _mm256_and_ps(base, DML_IS(LT, DML_MAGNITUDE_OF(y), infinity));
#endif
}

/* The special cases are those of elementwise_power. */
DML_INLINE float_vector float_power(float_vector x, float_vector y)
{
    const float_vector zero = DML_ALL(0.0f), one = DML_ALL(1.0f), infinity = DML_ALL(INFINITY);
    float_vector a = DML_MAGNITUDE_OF(x), half = y * DML_ALL(0.5f), k, t, sum = DML_ALL(0x1.4447b8p-13f), sign;
    float_vector m = float_parts(a, &k);
    dml_doubles whole[2], rest[2];
    for (int i = 0; i < 2; i++)
        power_exponent(DML_HALF_OF(m, i), DML_HALF_OF(k, i), DML_HALF_OF(y, i), &whole[i], &rest[i]);
    k = DML_OF_HALVES(whole[0], whole[1]);
    t = DML_OF_HALVES(rest[0], rest[1]);
    DML_HORNER(sum, t, 0x1.5f0960p-10f, 0x1.3b2a28p-7f, 0x1.c6af7ap-5f, 0x1.ebfbe0p-3f, 0x1.62e430p-1f);
    sum = float_scaled(DML_FMA(sum, t, one), k);
    if (DML_EVERY(float_is_ordinary(x, y)))
        return sum;
    /* The logarithm above is undefined for the bases 0 and infinity, and its product for an infinite exponent. */
    t = DML_WHERE(DML_IS(LT, y, zero), infinity, DML_WHERE(DML_IS(EQ, y, zero), DML_ALL(NAN), zero));
    sum = DML_WHERE(DML_IS(EQ, a, zero), t, sum);
    t = DML_WHERE(DML_IS(LT, y, zero), zero, DML_WHERE(DML_IS(EQ, y, zero), DML_ALL(NAN), infinity));
    sum = DML_WHERE(DML_IS(EQ, a, infinity), t, sum);
    sum = DML_WHERE(DML_IS(EQ, a, one), DML_FMA(y, zero, one), sum);
    sign = DML_WHERE(DML_IS(EQ, DML_NEAREST(half), half), DML_WHERE(DML_IS(LT, y, DML_ALL(0x1p31f)), zero, x), x);
    t = DML_WHERE(DML_IS(EQ, DML_NEAREST(y), y), DML_LIKE(sum, sign), DML_ALL(NAN));
    sum = DML_WHERE(DML_IS(LT, x, zero), t, sum);
    return DML_WHERE(DML_IS(EQ, x, x), DML_WHERE(DML_IS(EQ, y, y), sum, y), x);
}
#endif
