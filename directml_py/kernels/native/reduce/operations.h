/* The operations that reductions are instantiated with: VALUE, JOIN, and of vectors LOAD, ONE and FOUR. */

#pragma once

#include "../common/vectors.h"

/* Integers are added and multiplied in an unsigned type, which wraps; types narrower than int are widened to unsigned
   first, because they would become int, which does not. */
#define DML_AS_IS(A, x) ((A)(x))
#define DML_ABSOLUTE(A, x) ((A)((x) < 0 ? 0u - (A)(x) : (A)(x)))
#define DML_SQUARE(A, x) ((A)((A)(x)*1u * (A)(x)))
#define DML_ADD(A, x, y) ((A)((x) + (y)))
#define DML_MULTIPLY(A, x, y) ((A)((x)*1u * (y)))
#define DML_FLOAT_ABSOLUTE(A, x) ((A)__builtin_fabsf(x))
#define DML_FLOAT_SQUARE(A, x) ((A)(x) * (A)(x))
#define DML_FLOAT_MULTIPLY(A, x, y) ((x) * (y))
/* A comparison with NaN is false. Results begin as numbers, so that NaN is passed over: of two operands only the new
   one, which is the second, may be NaN. */
#define DML_SMALLER(A, x, y) ((y) < (x) ? (y) : (x))
#define DML_LARGER(A, x, y) ((y) > (x) ? (y) : (x))

#if defined(__AVX2__)
/* Four elements are loaded at a time and converted at once; a vector of eight would have to be split. */
#define DML_FLOATS(x) _mm256_cvtps_pd(_mm_loadu_ps(x))
#define DML_FLOATS_ABSOLUTE(x) _mm256_andnot_pd(_mm256_set1_pd(-0.0), DML_FLOATS(x))
#define DML_FLOATS_SQUARE(x) _mm256_mul_pd(DML_FLOATS(x), DML_FLOATS(x))
#define DML_DOUBLES_INTO(OP, result, x) _mm256_storeu_pd(result, OP(_mm256_loadu_pd(result), x))
#define DML_FLOATS_SUM(result, x) DML_DOUBLES_INTO(_mm256_add_pd, result, x)
#define DML_FLOATS_PRODUCT(result, x) DML_DOUBLES_INTO(_mm256_mul_pd, result, x)
#define DML_FLOATS_FOUR_SUM(result, a, b, c, d)                                                                        \
    DML_FLOATS_SUM(result, _mm256_add_pd(_mm256_add_pd(a, b), _mm256_add_pd(c, d)))
#define DML_FLOATS_FOUR_PRODUCT(result, a, b, c, d)                                                                    \
    DML_FLOATS_PRODUCT(result, _mm256_mul_pd(_mm256_mul_pd(a, b), _mm256_mul_pd(c, d)))
#endif
