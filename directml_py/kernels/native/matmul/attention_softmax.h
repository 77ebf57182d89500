/* The softmax between the two products of attention. */

#pragma once

#include "../common/vectors.h"
#include "dispatch.h"
#include "microkernel.h"

/* Exponentials of numbers that are not above 0, with an error of at most 1e-7; below -87 they are 0. */
DML_INLINE dml_floats matmul_exp(dml_floats x)
{
    typedef dml_ints ints;
    const ints little = (ints)(x < -87.0f);
    dml_floats inside = (dml_floats)(~little & (ints)x);
    dml_floats shifted = inside * 0x1.715476p0f + 0x1.8p23f, whole = shifted - 0x1.8p23f;
    dml_floats r = inside - whole * 0x1.62e4p-1f, sum;
    r = r - whole * 0x1.7f7d1cp-20f;
    sum = r * (1.0f / 720) + 1.0f / 120;
    sum = sum * r + 1.0f / 24;
    sum = sum * r + 1.0f / 6;
    sum = sum * r + 0.5f;
    sum = sum * r + 1.0f;
    sum = sum * r + 1.0f;
    sum *= (dml_floats)((((ints)shifted - (ints)((dml_floats){0} + 0x1.8p23f)) + 127) << 23);
    return (dml_floats)(~little & (ints)sum);
}

static DML_ONCE void matmul_softmax(float *x, const dml_attention_scores *scores, int64_t count)
{
    dml_floats maxima = (dml_floats){0} - INFINITY, sums = {0}, rest;
    const float *bias = scores->bias, *added = scores->added, scale = scores->scale;
    const int32_t *key_mask = scores->key_mask;
    float largest = -INFINITY, sum = 0.0f, mask_value = 0.0f;
    int32_t any_key = 0;
    int64_t i = 0, whole = count / DML_FLOAT_LANES * DML_FLOAT_LANES;
    for (i = 0; key_mask && i < count; i++)
        any_key |= key_mask[i];
    mask_value = any_key ? scores->mask_value : 0.0f;
    for (i = 0; i < whole; i += DML_FLOAT_LANES) {
        dml_floats values = *(const dml_floats *)(x + i) * scale;
        if (bias)
            values += *(const dml_floats *)(bias + i);
        if (added)
            values += *(const dml_floats *)(added + i);
        if (key_mask) {
            const dml_ints masked = *(const dml_ints *)(key_mask + i) == 0;
            values += (dml_floats)(masked & (dml_ints)((dml_floats){0} + mask_value));
        }
        *(dml_floats *)(x + i) = values;
        maxima = dml_larger(values, maxima);
    }
    for (; i < count; i++) {
        float score = x[i] * scale;
        score = bias ? score + bias[i] : score;
        score = added ? score + added[i] : score;
        x[i] = key_mask && key_mask[i] == 0 ? score + mask_value : score;
    }
    for (int j = 0; j < DML_FLOAT_LANES; j++)
        largest = maxima[j] > largest ? maxima[j] : largest;
    for (i = whole; i < count; i++)
        largest = x[i] > largest ? x[i] : largest;
    for (i = 0; i < whole; i += DML_FLOAT_LANES) {
        const dml_floats values = matmul_exp(*(const dml_floats *)(x + i) - largest);
        sums += values;
        *(dml_floats *)(x + i) = values;
    }
    if (whole < count) {
        for (int j = 0; j < DML_FLOAT_LANES; j++)
            rest[j] = whole + j < count ? x[whole + j] - largest : -INFINITY;
        rest = matmul_exp(rest);
        sums += rest;
        for (int j = 0; whole + j < count; j++)
            x[whole + j] = rest[j];
    }
    for (int j = 0; j < DML_FLOAT_LANES; j++)
        sum += sums[j];
    sum = 1.0f / sum;
    for (i = 0; i < count; i++)
        x[i] *= sum;
}
