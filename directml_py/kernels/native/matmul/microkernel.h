/* Microkernels of matmul: register tiles of up to mr rows and two vectors of columns. Each sum is accumulated in the
   order of k, whatever tile it is in. */

#pragma once

#include "../common/lanes.h"
#include "dispatch.h"

#if defined(__AVX512F__)
#define DML_MATMUL_TILE_MR 8
#define DML_MATMUL_STREAM(to, floats) _mm512_stream_ps((float *)(to), (__m512)(floats))
#elif defined(__AVX2__)
#define DML_MATMUL_TILE_MR 6
#define DML_MATMUL_STREAM(to, floats) _mm256_stream_ps((float *)(to), (__m256)(floats))
#else
#define DML_MATMUL_TILE_MR 4
#define DML_MATMUL_STREAM(to, floats) (*(to) = (floats))
#endif

#define DML_MATMUL_TILE(NAME, MR)                                                                                      \
    static DML_ONCE void matmul_tile_##NAME(int64_t kc, const float *a, int64_t a_row, int64_t a_k_stride,             \
                                            const float *b, int64_t b_k_stride, float *c, int64_t c_row, int adds)     \
    {                                                                                                                  \
        dml_floats left[MR], right[MR];                                                                                \
        DML_UNROLLED for (int i = 0; i < MR; i++) left[i] = right[i] = (dml_floats){0};                                \
        for (int64_t k = 0; k < kc; k++, a += a_k_stride, b += b_k_stride) {                                           \
            const dml_floats first = *(const dml_floats *)b,                                                           \
                             second = *(const dml_floats *)(b + DML_FLOAT_LANES);                                      \
            DML_UNROLLED for (int i = 0; i < MR; i++)                                                                  \
            {                                                                                                          \
                left[i] += a[i * a_row] * first;                                                                       \
                right[i] += a[i * a_row] * second;                                                                     \
            }                                                                                                          \
        }                                                                                                              \
        DML_UNROLLED for (int i = 0; i < MR; i++)                                                                      \
        {                                                                                                              \
            dml_floats *row = (dml_floats *)(c + i * c_row);                                                           \
            if (adds == DML_MATMUL_STREAMS) {                                                                          \
                DML_MATMUL_STREAM(row, left[i]);                                                                       \
                DML_MATMUL_STREAM(row + 1, right[i]);                                                                  \
                continue;                                                                                              \
            }                                                                                                          \
            if (adds) {                                                                                                \
                left[i] = row[0] + left[i];                                                                            \
                right[i] = row[1] + right[i];                                                                          \
            }                                                                                                          \
            row[0] = left[i];                                                                                          \
            row[1] = right[i];                                                                                         \
        }                                                                                                              \
    }
DML_MATMUL_TILE(1, 1)
DML_MATMUL_TILE(2, 2)
DML_MATMUL_TILE(4, 4)
DML_MATMUL_TILE(most, DML_MATMUL_TILE_MR)
#undef DML_MATMUL_TILE

static void matmul_tiles(int64_t m, int64_t kc, const float *a, int64_t a_row, int64_t a_k_stride, const float *b,
                         int64_t b_k_stride, float *c, int64_t c_row, int adds)
{
    while (m > 0) {
        int64_t mr = m >= DML_MATMUL_TILE_MR ? DML_MATMUL_TILE_MR : m >= 4 ? 4 : m >= 2 ? 2 : 1;
        if (mr == DML_MATMUL_TILE_MR)
            matmul_tile_most(kc, a, a_row, a_k_stride, b, b_k_stride, c, c_row, adds);
        else if (mr == 4)
            matmul_tile_4(kc, a, a_row, a_k_stride, b, b_k_stride, c, c_row, adds);
        else if (mr == 2)
            matmul_tile_2(kc, a, a_row, a_k_stride, b, b_k_stride, c, c_row, adds);
        else
            matmul_tile_1(kc, a, a_row, a_k_stride, b, b_k_stride, c, c_row, adds);
        m -= mr;
        a += mr * a_row;
        c += mr * c_row;
    }
}
