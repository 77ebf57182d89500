/* The activations of post-operations, in registers. */

#pragma once

#include "../common/lanes.h"
#include "declarations.h"

DML_INLINE dml_floats activation_chosen(dml_ints which, dml_floats values, dml_floats others)
{
    return (dml_floats)(((dml_ints)values & which) | ((dml_ints)others & ~which));
}

/* max(x, low), which is `low` for NaN, and min(x, high), which is `high` for NaN. */
#if defined(__AVX512F__)
#define DML_ACTIVATION_MAX(x, low) (dml_floats)_mm512_max_ps((__m512)(x), _mm512_set1_ps(low))
#define DML_ACTIVATION_MIN(x, high) (dml_floats)_mm512_min_ps((__m512)(x), _mm512_set1_ps(high))
#elif defined(__AVX2__)
#define DML_ACTIVATION_MAX(x, low) (dml_floats)_mm256_max_ps((__m256)(x), _mm256_set1_ps(low))
#define DML_ACTIVATION_MIN(x, high) (dml_floats)_mm256_min_ps((__m256)(x), _mm256_set1_ps(high))
#else
#define DML_ACTIVATION_MAX(x, low) activation_chosen((x) > (low), x, (dml_floats){0} + (low))
#define DML_ACTIVATION_MIN(x, high) activation_chosen((x) < (high), x, (dml_floats){0} + (high))
#endif
DML_INLINE dml_floats activated(dml_floats sums, const dml_post_ops *post_ops, int activation)
{
    if (activation == DML_ACTIVATION_RELU)
        sums = DML_ACTIVATION_MAX(sums, 0.0f);
    else if (activation == DML_ACTIVATION_LEAKY_RELU)
        sums = activation_chosen(sums < 0.0f, sums * post_ops->slope, sums);
    else if (activation == DML_ACTIVATION_CLIP)
        sums = DML_ACTIVATION_MAX(DML_ACTIVATION_MIN(sums, post_ops->high), post_ops->low);
    return sums;
}
#undef DML_ACTIVATION_MAX
#undef DML_ACTIVATION_MIN
