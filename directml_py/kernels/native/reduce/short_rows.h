/* Rows of some vectors of floats, as small images have them, are reduced in registers: accumulators are not in memory.
   The last elements are loaded together with some before them, which change no extreme a second time, and which sums
   replace by -0. Longer and shorter rows are left to the other kernels. */

#pragma once

#include "../common/vectors.h"
#include "dispatch.h"
#include "operations.h"

#if defined(__AVX2__)
#define DML_SHORT_LEAST 8
#define DML_SHORT_MOST DML_REDUCE_SHORT
/* Halves are widened twice on the way to a sum: more of them at a time are faster. */
#define DML_SHORT_MOST_HALVES 128
#define DML_SHORT_ROWS(NAME, T, A, ROW, JOIN, MOST)                                                                    \
    static void NAME##_all_rows(void *state, void *second, const char *source, int64_t m, int64_t kept_stride,         \
                                int64_t n, int64_t reduced_stride, int64_t index)                                      \
    {                                                                                                                  \
        A *result = state;                                                                                             \
        if (n < DML_SHORT_LEAST || n > (MOST)) {                                                                       \
            NAME##_rows(state, second, source, m, kept_stride, n, reduced_stride, index);                              \
            return;                                                                                                    \
        }                                                                                                              \
        for (int64_t i = 0; i < m; i++) {                                                                              \
            A row = ROW((const T *)(source + i * kept_stride), n);                                                     \
            result[i] = JOIN(A, result[i], row);                                                                       \
        }                                                                                                              \
    }

#define DML_EIGHT_FLOATS(from) _mm256_loadu_ps(from)
#define DML_EIGHT_HALVES(from) _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from)))
#define DML_FOUR_FLOATS(from) _mm_loadu_ps(from)
#define DML_FOUR_HALVES(from) _mm_cvtph_ps(_mm_loadl_epi64((const __m128i *)(from)))

/* If the first operand is NaN, instructions return the second one. */
#define DML_SHORT_EXTREME(NAME, T, LOAD, BEST, JOIN, IDENTITY)                                                         \
    DML_INLINE float NAME##_short(const T *row, int64_t n)                                                             \
    {                                                                                                                  \
        __m256 even = _mm256_set1_ps(IDENTITY), odd = even;                                                            \
        __m128 half;                                                                                                   \
        for (int64_t i = 0; i + 16 <= n; i += 16) {                                                                    \
            even = _mm256_##BEST##_ps(LOAD(row + i), even);                                                            \
            odd = _mm256_##BEST##_ps(LOAD(row + i + 8), odd);                                                          \
        }                                                                                                              \
        if (n & 8)                                                                                                     \
            even = _mm256_##BEST##_ps(LOAD(row + (n & ~(int64_t)15)), even);                                           \
        if (n & 7)                                                                                                     \
            odd = _mm256_##BEST##_ps(LOAD(row + n - 8), odd);                                                          \
        even = _mm256_##BEST##_ps(even, odd);                                                                          \
        half = _mm_##BEST##_ps(_mm256_castps256_ps128(even), _mm256_extractf128_ps(even, 1));                          \
        half = _mm_##BEST##_ps(half, _mm_movehl_ps(half, half));                                                       \
        return _mm_cvtss_f32(_mm_##BEST##_ss(half, _mm_movehdup_ps(half)));                                            \
    }                                                                                                                  \
    DML_SHORT_ROWS(NAME, T, float, NAME##_short, JOIN, DML_SHORT_MOST)

#define DML_SHORT_SUM(NAME, T, LOAD, VALUE, MOST)                                                                      \
    DML_INLINE double NAME##_short(const T *row, int64_t n)                                                            \
    {                                                                                                                  \
        static const int32_t kept[] = {0, 0, 0, 0, -1, -1, -1, -1};                                                    \
        __m256d sums[4], total;                                                                                        \
        __m128d half;                                                                                                  \
        int64_t i = 0;                                                                                                 \
        DML_UNROLLED for (int k = 0; k < 4; k++) sums[k] = _mm256_set1_pd(-0.0);                                       \
        for (; i + 16 <= n; i += 16)                                                                                   \
            DML_UNROLLED for (int k = 0; k < 4; k++) sums[k] =                                                         \
                _mm256_add_pd(sums[k], VALUE(_mm256_cvtps_pd(LOAD(row + i + 4 * k))));                                 \
        for (; i + 4 <= n; i += 4)                                                                                     \
            sums[0] = _mm256_add_pd(sums[0], VALUE(_mm256_cvtps_pd(LOAD(row + i))));                                   \
        if (i < n) {                                                                                                   \
            __m128 mask = _mm_loadu_ps((const float *)(const void *)(kept + n - i));                                   \
            __m128 rest = _mm_blendv_ps(_mm_set1_ps(-0.0f), LOAD(row + n - 4), mask);                                  \
            sums[1] = _mm256_add_pd(sums[1], VALUE(_mm256_cvtps_pd(rest)));                                            \
        }                                                                                                              \
        total = _mm256_add_pd(_mm256_add_pd(sums[0], sums[1]), _mm256_add_pd(sums[2], sums[3]));                       \
        half = _mm_add_pd(_mm256_castpd256_pd128(total), _mm256_extractf128_pd(total, 1));                             \
        return _mm_cvtsd_f64(_mm_add_sd(half, _mm_unpackhi_pd(half, half)));                                           \
    }                                                                                                                  \
    DML_SHORT_ROWS(NAME, T, double, NAME##_short, DML_ADD, MOST)
#define DML_FOUR_SAME(x) (x)
#define DML_FOUR_ABSOLUTE(x) _mm256_andnot_pd(_mm256_set1_pd(-0.0), x)
#define DML_FOUR_SQUARE(x) _mm256_mul_pd(x, x)
#endif
