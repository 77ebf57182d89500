/* Rounding to odd: a number that was rounded to odd, and then to FLOAT16, is the same as if it had been rounded once.
 */

#pragma once

#include "../common/vectors.h"
#include "../half/convert.h"
#include "float64_functions.h"
#if defined(__AVX2__)
#include "float32_functions.h"
#endif

/* Rounds FLOAT64 to FLOAT32 to odd: if digits are lost, the last one that remains becomes odd, so that the next
   rounding never finds a tie. */
#define DML_ODD(bits) (((bits) | ((((bits)&0x1fffffffu) + 0x1fffffffu) & 0x20000000u)) & ~(uint64_t)0x1fffffff)

static void odd_floats(float *floats, const double *values, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits;
        double odd;
        memcpy(&bits, values + i, sizeof bits);
        bits = DML_ODD(bits);
        memcpy(&odd, &bits, sizeof odd);
        floats[i] = (float)odd;
    }
}

#if defined(__AVX512F__)
DML_INLINE __m256i odd_of(__m512d values)
{
    __m256 cut = _mm512_cvt_roundpd_ps(values, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    __mmask8 lost = _mm512_cmp_pd_mask(_mm512_cvtps_pd(cut), values, _CMP_NEQ_OQ);
    __m256i bits = _mm256_castps_si256(cut);
    return _mm256_mask_or_epi32(bits, lost, bits, _mm256_set1_epi32(1));
}

/* x y + z of FLOAT32, of which FLOAT16 will be made: gives whether that is the same for the numbers on either side of
   each sum. */
DML_INLINE int round_once(float_vector x, float_vector y, float_vector z, float_vector *sums)
{
    float_vector up = _mm512_fmadd_round_ps(x, y, z, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
    *sums = _mm512_fmadd_round_ps(x, y, z, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    __m256i least = _mm512_cvtps_ph(*sums, _MM_FROUND_TO_NEAREST_INT),
            most = _mm512_cvtps_ph(up, _MM_FROUND_TO_NEAREST_INT);
    return _kortestz_mask16_u8(_mm256_cmpneq_epi16_mask(least, most), _mm512_cmp_ps_mask(up, up, _CMP_UNORD_Q));
}
#elif defined(__AVX2__)
/* x y + z of FLOAT32, of which FLOAT16 will be made: the nearest numbers; gives whether FLOAT16 has as many digits and
   no tie, or the sum no more digits. `rest` is what the nearest number lacks (Boldo, Muller 2011, "Exact and
   Approximated Error of the FMA"); a product is not to be fused once more. */
DML_INLINE int round_once(float_vector x, float_vector y, float_vector z, float_vector *sums)
{
    const float_vector zero = DML_ALL(0.0f), one = DML_ALL(1.0f);
    float_vector product = DML_F(mul)(x, y), sum, back, rest, tie, ordinary;
    __asm__("" : "+x"(product));
    *sums = DML_FMA(x, y, z);
    sum = product + z;
    back = sum - product;
    rest = (product - (sum - back)) + (z - back) + DML_F(fmsub)(x, y, product) + (sum - *sums);
    tie = DML_FROM_BITS((DML_BITS_OF(*sums) & DML_I(set1)(~0x1fff)) | DML_I(set1)(0x1000));
    ordinary = DML_WHERE(DML_IS(EQ, *sums, tie), zero, DML_MAGNITUDE_OF(*sums));
    ordinary = DML_WHERE(DML_IS(EQ, rest, zero), one, ordinary);
    return DML_EVERY(DML_IS(GE, ordinary, DML_ALL(0x1p-14f)));
}
#endif

#if defined(__AVX2__)
/* x y + z of FLOAT32, of which FLOAT16 will be made. Where rounding twice might show, FLOAT64 says on which side of a
   tie the sum is. */
DML_INLINE float_vector odd_sums(float_vector x, float_vector y, float_vector z)
{
    float_vector sums;
    dml_doubles halves[2];
    if (__builtin_expect(round_once(x, y, z, &sums), 1))
        return sums;
    for (int i = 0; i < 2; i++) {
        halves[i] = DML_HALF_OF(x, i) * DML_HALF_OF(y, i) + DML_HALF_OF(z, i);
        halves[i] = (dml_doubles)DML_ODD((dml_bits)halves[i]);
    }
    return DML_OF_HALVES(halves[0], halves[1]);
}
#endif

static void elementwise_store_wide_f16(void *elements, const void *lanes, int64_t count)
{
    enum { PART = 256 };
    uint16_t *halves = elements;
    const double *values = lanes;
    float narrow[PART];
    int64_t i = 0;
#if defined(__AVX512F__)
    for (; i + 8 <= count; i += 8)
        _mm_storeu_si128(
            (__m128i *)(halves + i),
            _mm256_cvtps_ph(_mm256_castsi256_ps(odd_of(_mm512_loadu_pd(values + i))), _MM_FROUND_TO_NEAREST_INT));
#endif
    for (; i < count; i += PART) {
        int64_t n = dml_least(count - i, PART);
        odd_floats(narrow, values + i, n);
        halves_of_floats(halves + i, narrow, n);
    }
}
