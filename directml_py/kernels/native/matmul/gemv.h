/* Matrix times vector: axpy over rows of B, or dot products with its columns, or sums over panels, whichever reads B in
   the order of its memory. */

#pragma once

#include "../common/vectors.h"
#include "../half/scalar.h"
#include "dispatch.h"
#include "microkernel.h"

DML_INLINE dml_floats matmul_load(const char *from, int is_half)
{
    if (!is_half)
        return *(const dml_floats *)from;
#if defined(__AVX512F__)
    return (dml_floats)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)from));
#elif defined(__AVX2__)
    return (dml_floats)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)from));
#else
    dml_floats values;
    for (int i = 0; i < DML_FLOAT_LANES; i++)
        values[i] = dml_float_of_half(((const uint16_t *)from)[i]);
    return values;
#endif
}

DML_INLINE float matmul_load_scalar(const char *from, int is_half)
{
    return is_half ? dml_float_of_half(*(const uint16_t *)from) : *(const float *)from;
}

/* Adds up rows of B times elements of A, several at a time, so that sums are loaded and stored less often. */
DML_INLINE void matmul_axpy_rows(float *to, const float *a, const char *b, int64_t b_k_stride, int64_t count,
                                 const int rows, const int is_half)
{
    const int64_t item = is_half ? 2 : 4;
    int64_t i = 0;
    for (; i + DML_FLOAT_LANES <= count; i += DML_FLOAT_LANES) {
        dml_floats sum = *(dml_floats *)(to + i);
        DML_UNROLLED for (int k = 0; k < rows; k++) sum += a[k] * matmul_load(b + k * b_k_stride + i * item, is_half);
        *(dml_floats *)(to + i) = sum;
    }
    for (; i < count; i++)
        for (int k = 0; k < rows; k++)
            to[i] += a[k] * matmul_load_scalar(b + k * b_k_stride + i * item, is_half);
}

static DML_ONCE void matmul_gemv_axpy(float *to, const float *a, const char *b, int64_t b_k_stride, int64_t count,
                                      int64_t kc, int is_half)
{
    int64_t k = 0;
    for (; k + 8 <= kc; k += 8)
        if (is_half)
            matmul_axpy_rows(to, a + k, b + k * b_k_stride, b_k_stride, count, 8, 1);
        else
            matmul_axpy_rows(to, a + k, b + k * b_k_stride, b_k_stride, count, 8, 0);
    for (; k < kc; k++)
        if (is_half)
            matmul_axpy_rows(to, a + k, b + k * b_k_stride, b_k_stride, count, 1, 1);
        else
            matmul_axpy_rows(to, a + k, b + k * b_k_stride, b_k_stride, count, 1, 0);
}

DML_INLINE float matmul_dot_product(const float *a, const char *b, int64_t kc, const int is_half)
{
    const int64_t item = is_half ? 2 : 4;
    dml_floats sums[4] = {{0}, {0}, {0}, {0}};
    float sum = 0.0f;
    int64_t k = 0;
    for (; k + 4 * DML_FLOAT_LANES <= kc; k += 4 * DML_FLOAT_LANES)
        DML_UNROLLED for (int i = 0; i < 4; i++) sums[i] += *(const dml_floats *)(a + k + i * DML_FLOAT_LANES) *
                                                            matmul_load(b + (k + i * DML_FLOAT_LANES) * item, is_half);
    sums[0] = sums[0] + sums[1] + (sums[2] + sums[3]);
    for (; k < kc; k++)
        sum += a[k] * matmul_load_scalar(b + k * item, is_half);
    for (int i = 0; i < DML_FLOAT_LANES; i++)
        sum += sums[0][i];
    return sum;
}

static DML_ONCE float matmul_gemv_dot(const float *a, const char *b, int64_t kc, int is_half)
{
    return is_half ? matmul_dot_product(a, b, kc, 1) : matmul_dot_product(a, b, kc, 0);
}

/* Multiplies a row of A by two panels {kc, nr}, `panel_stride` elements apart: two streams, and enough chains of sums
   to keep up with them. */
static DML_ONCE void matmul_gemv_panels(float *to, const float *a, const float *b, int64_t panel_stride, int64_t kc,
                                        int adds)
{
    dml_floats sums[4] = {{0}, {0}, {0}, {0}}, *target = (dml_floats *)to;
    for (int64_t k = 0; k < kc; k++, b += 2 * DML_FLOAT_LANES) {
        const dml_floats *first = (const dml_floats *)b, *second = (const dml_floats *)(b + panel_stride);
        sums[0] += a[k] * first[0];
        sums[1] += a[k] * first[1];
        sums[2] += a[k] * second[0];
        sums[3] += a[k] * second[1];
    }
    DML_UNROLLED for (int i = 0; i < 4; i++)
    {
        if (adds)
            sums[i] = target[i] + sums[i];
        target[i] = sums[i];
    }
}

DML_INLINE void matmul_axpy_int8_rows(uint32_t *restrict to, const int32_t *a, const uint8_t *restrict b,
                                      int64_t b_k_stride, int64_t count, const int rows, const int is_signed)
{
    for (int64_t i = 0; i < count; i++) {
        uint32_t sum = to[i];
        DML_UNROLLED for (int k = 0; k < rows; k++)
        {
            const uint8_t byte = b[k * b_k_stride + i];
            sum += (uint32_t)(a[k] * (is_signed ? (int8_t)byte : byte));
        }
        to[i] = sum;
    }
}

static DML_ONCE void matmul_gemv_int8(int32_t *to, const int32_t *a, const uint8_t *b, int64_t b_k_stride,
                                      int64_t count, int64_t kc, int is_signed)
{
    int64_t k = 0;
    for (; k + 8 <= kc; k += 8)
        if (is_signed)
            matmul_axpy_int8_rows((uint32_t *)to, a + k, b + k * b_k_stride, b_k_stride, count, 8, 1);
        else
            matmul_axpy_int8_rows((uint32_t *)to, a + k, b + k * b_k_stride, b_k_stride, count, 8, 0);
    for (; k < kc; k++)
        matmul_axpy_int8_rows((uint32_t *)to, a + k, b + k * b_k_stride, b_k_stride, count, 1, is_signed);
}
