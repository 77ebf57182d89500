/* The softmax between the two products of attention. */

#pragma once

#include "../common/vectors.h"
#include "dispatch.h"
#include "microkernel.h"

typedef int32_t matmul_ints __attribute__((vector_size(4 * DML_MATMUL_LANES), may_alias));
typedef int32_t matmul_unaligned_ints __attribute__((vector_size(4 * DML_MATMUL_LANES), aligned(4), may_alias));

/* The larger of two numbers; the second operand where the first is NaN. */
DML_INLINE DML_MATMUL_FLOATS matmul_max(DML_MATMUL_FLOATS first, DML_MATMUL_FLOATS second)
{
#if defined(__AVX512F__)
    return (DML_MATMUL_FLOATS)_mm512_max_ps((__m512)first, (__m512)second);
#elif defined(__AVX2__)
    return (DML_MATMUL_FLOATS)_mm256_max_ps((__m256)first, (__m256)second);
#else
    const matmul_ints above = (matmul_ints)(first > second);
    return (DML_MATMUL_FLOATS)((above & (matmul_ints)first) | (~above & (matmul_ints)second));
#endif
}

/* Exponentials of numbers that are not above 0, with an error of at most 1e-7; below -87 they are 0. */
DML_INLINE DML_MATMUL_FLOATS matmul_exp(DML_MATMUL_FLOATS x)
{
    typedef matmul_ints ints;
    const ints little = (ints)(x < -87.0f);
    DML_MATMUL_FLOATS inside = (DML_MATMUL_FLOATS)(~little & (ints)x);
    DML_MATMUL_FLOATS shifted = inside * 0x1.715476p0f + 0x1.8p23f, whole = shifted - 0x1.8p23f;
    DML_MATMUL_FLOATS r = inside - whole * 0x1.62e4p-1f, sum;
    r = r - whole * 0x1.7f7d1cp-20f;
    sum = r * (1.0f / 720) + 1.0f / 120;
    sum = sum * r + 1.0f / 24;
    sum = sum * r + 1.0f / 6;
    sum = sum * r + 0.5f;
    sum = sum * r + 1.0f;
    sum = sum * r + 1.0f;
    sum *= (DML_MATMUL_FLOATS)((((ints)shifted - (ints)((DML_MATMUL_FLOATS){0} + 0x1.8p23f)) + 127) << 23);
    return (DML_MATMUL_FLOATS)(~little & (ints)sum);
}

static DML_ONCE void matmul_softmax(float *x, const dml_attention_scores *scores, int64_t count)
{
    DML_MATMUL_FLOATS maxima = (DML_MATMUL_FLOATS){0} - INFINITY, sums = {0}, rest;
    const float *bias = scores->bias, *added = scores->added, scale = scores->scale;
    const int32_t *key_mask = scores->key_mask;
    float largest = -INFINITY, sum = 0.0f, mask_value = 0.0f;
    int32_t any_key = 0;
    int64_t i = 0, whole = count / DML_MATMUL_LANES * DML_MATMUL_LANES;
    for (i = 0; key_mask && i < count; i++)
        any_key |= key_mask[i];
    mask_value = any_key ? scores->mask_value : 0.0f;
    for (i = 0; i < whole; i += DML_MATMUL_LANES) {
        DML_MATMUL_FLOATS values = *(const DML_MATMUL_FLOATS *)(x + i) * scale;
        if (bias)
            values += *(const DML_MATMUL_FLOATS *)(bias + i);
        if (added)
            values += *(const DML_MATMUL_FLOATS *)(added + i);
        if (key_mask) {
            const matmul_ints masked = *(const matmul_unaligned_ints *)(key_mask + i) == 0;
            values += (DML_MATMUL_FLOATS)(masked & (matmul_ints)((DML_MATMUL_FLOATS){0} + mask_value));
        }
        *(DML_MATMUL_FLOATS *)(x + i) = values;
        maxima = matmul_max(values, maxima);
    }
    for (; i < count; i++) {
        float score = x[i] * scale;
        score = bias ? score + bias[i] : score;
        score = added ? score + added[i] : score;
        x[i] = key_mask && key_mask[i] == 0 ? score + mask_value : score;
    }
    for (int j = 0; j < DML_MATMUL_LANES; j++)
        largest = maxima[j] > largest ? maxima[j] : largest;
    for (i = whole; i < count; i++)
        largest = x[i] > largest ? x[i] : largest;
    for (i = 0; i < whole; i += DML_MATMUL_LANES) {
        const DML_MATMUL_FLOATS values = matmul_exp(*(const DML_MATMUL_FLOATS *)(x + i) - largest);
        sums += values;
        *(DML_MATMUL_FLOATS *)(x + i) = values;
    }
    if (whole < count) {
        for (int j = 0; j < DML_MATMUL_LANES; j++)
            rest[j] = whole + j < count ? x[whole + j] - largest : -INFINITY;
        rest = matmul_exp(rest);
        sums += rest;
        for (int j = 0; whole + j < count; j++)
            x[whole + j] = rest[j];
    }
    for (int j = 0; j < DML_MATMUL_LANES; j++)
        sum += sums[j];
    sum = 1.0f / sum;
    for (i = 0; i < count; i++)
        x[i] *= sum;
}
