/* Copies of FLOAT16, and of elements that are not contiguous or are too narrow, in a type that there are kernels for.
 */

#pragma once

#include "../common/element_types.h"
#include "../common/vectors.h"
#include "../half/convert.h"
#include "../half/scalar.h"
#include "dispatch.h"
#include "operations.h"

#define DML_PACK(FROM, TO, CONVERT)                                                                                    \
    do {                                                                                                               \
        for (int64_t i = 0; i < outer; i++) {                                                                          \
            const char *element = source + i * outer_stride;                                                           \
            TO *restrict row = (TO *)packed + i * inner;                                                               \
            if (inner_stride == (int64_t)sizeof(FROM))                                                                 \
                for (int64_t j = 0; j < inner; j++)                                                                    \
                    row[j] = CONVERT(((const FROM *)element)[j]);                                                      \
            else                                                                                                       \
                for (int64_t j = 0; j < inner; j++, element += inner_stride)                                           \
                    row[j] = CONVERT(*(const FROM *)element);                                                          \
        }                                                                                                              \
        return;                                                                                                        \
    } while (0)

/* `widen`: narrow integers become INT32. FLOAT16 always becomes FLOAT32. */
static void reduce_pack(void *packed, const char *source, int type, int widen, int64_t outer, int64_t outer_stride,
                        int64_t inner, int64_t inner_stride)
{
    if (type == DML_TYPE_FLOAT16 && inner_stride == 2) {
        for (int64_t i = 0; i < outer; i++)
            floats_of_halves((float *)packed + i * inner, (const uint16_t *)(source + i * outer_stride), inner);
        return;
    }
    if (widen)
        switch (type) {
        case DML_TYPE_INT8:
            DML_PACK(int8_t, int32_t, );
        case DML_TYPE_UINT8:
            DML_PACK(uint8_t, int32_t, );
        case DML_TYPE_INT16:
            DML_PACK(int16_t, int32_t, );
        case DML_TYPE_UINT16:
            DML_PACK(uint16_t, int32_t, );
        default:
            DML_PACK(uint16_t, float, dml_float_of_half);
        }
    switch (dml_type_sizes[type]) {
    case 1:
        DML_PACK(uint8_t, uint8_t, );
    case 2:
        DML_PACK(uint16_t, uint16_t, );
    case 4:
        DML_PACK(uint32_t, uint32_t, );
    default:
        DML_PACK(uint64_t, uint64_t, );
    }
}
#undef DML_PACK

#if defined(__AVX2__)
/* FLOAT16 that need no copy. Four elements are added up in FLOAT32, and their sums in FLOAT64. */
#define DML_HALVES(i) _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(i)))
#define DML_HALF(A, x) ((A)_cvtsh_ss(x))
#define DML_HALF_ABSOLUTE(A, x) ((A)__builtin_fabsf(_cvtsh_ss(x)))
#define DML_HALF_SQUARE(A, x) ((A)_cvtsh_ss(x) * (A)_cvtsh_ss(x))
#define DML_HALVES_ABSOLUTE(i) _mm256_andnot_ps(_mm256_set1_ps(-0.0f), DML_HALVES(i))
#define DML_HALVES_SQUARE(i) _mm256_mul_ps(DML_HALVES(i), DML_HALVES(i))
#define DML_HALVES_INTO_SUM(result, x)                                                                                 \
    __m256 four = x;                                                                                                   \
    __m256d low = _mm256_cvtps_pd(_mm256_castps256_ps128(four)),                                                       \
            high = _mm256_cvtps_pd(_mm256_extractf128_ps(four, 1));                                                    \
    _mm256_storeu_pd(result, _mm256_add_pd(_mm256_loadu_pd(result), low));                                             \
    _mm256_storeu_pd((result) + 4, _mm256_add_pd(_mm256_loadu_pd((result) + 4), high))
#define DML_HALVES_INTO_MIN(result, x) _mm256_storeu_ps(result, _mm256_min_ps(x, _mm256_loadu_ps(result)))
#define DML_HALVES_INTO_MAX(result, x) _mm256_storeu_ps(result, _mm256_max_ps(x, _mm256_loadu_ps(result)))
/* NaN is passed over by being the first operand; so two new elements must not meet before they meet the accumulator. */
#define DML_HALVES_FOUR_MIN(result, a, b, c, d)                                                                        \
    _mm256_storeu_ps(result,                                                                                           \
                     _mm256_min_ps(d, _mm256_min_ps(c, _mm256_min_ps(b, _mm256_min_ps(a, _mm256_loadu_ps(result))))))
#define DML_HALVES_FOUR_MAX(result, a, b, c, d)                                                                        \
    _mm256_storeu_ps(result,                                                                                           \
                     _mm256_max_ps(d, _mm256_max_ps(c, _mm256_max_ps(b, _mm256_max_ps(a, _mm256_loadu_ps(result))))))
#define DML_HALVES_FOUR_SUM(result, a, b, c, d)                                                                        \
    DML_HALVES_INTO_SUM(result, _mm256_add_ps(_mm256_add_ps(a, b), _mm256_add_ps(c, d)))

#define NAME sum_f16
#define T uint16_t
#define A double
#define WIDTH 8
#define LOAD DML_HALVES
#define FOUR DML_HALVES_FOUR_SUM
#define ONE DML_HALVES_INTO_SUM
#define VALUE DML_HALF
#define ROWS 4
#include "fold.inc"

#define NAME absolute_f16
#define T uint16_t
#define A double
#define WIDTH 8
#define LOAD DML_HALVES_ABSOLUTE
#define FOUR DML_HALVES_FOUR_SUM
#define ONE DML_HALVES_INTO_SUM
#define VALUE DML_HALF_ABSOLUTE
#define ROWS 4
#include "fold.inc"

#define NAME square_f16
#define T uint16_t
#define A double
#define WIDTH 8
#define LOAD DML_HALVES_SQUARE
#define FOUR DML_HALVES_FOUR_SUM
#define ONE DML_HALVES_INTO_SUM
#define VALUE DML_HALF_SQUARE
#define ROWS 4
#include "fold.inc"

#define NAME min_f16
#define T uint16_t
#define A float
#define WIDTH 8
#define LOAD DML_HALVES
#define FOUR DML_HALVES_FOUR_MIN
#define ONE DML_HALVES_INTO_MIN
#define VALUE DML_HALF
#define JOIN DML_SMALLER
#define IDENTITY INFINITY
#define ROWS 4
#include "fold.inc"

#define NAME max_f16
#define T uint16_t
#define A float
#define WIDTH 8
#define LOAD DML_HALVES
#define FOUR DML_HALVES_FOUR_MAX
#define ONE DML_HALVES_INTO_MAX
#define VALUE DML_HALF
#define JOIN DML_LARGER
#define IDENTITY -INFINITY
#define ROWS 4
#include "fold.inc"
#endif
