/* What of reductions gains by longer vectors: sums of FLOAT32, which are converted, exponentials and logarithms. */

#define DML_WIDE_FLOATS(x) _mm512_cvtps_pd(_mm256_loadu_ps(x))
#define DML_WIDE_SUM(result, x) _mm512_storeu_pd(result, _mm512_add_pd(_mm512_loadu_pd(result), x))
#define DML_WIDE_FOUR_SUM(result, a, b, c, d) \
    DML_WIDE_SUM(result, _mm512_add_pd(_mm512_add_pd(a, b), _mm512_add_pd(c, d)))
DML_FOLD_VECTORS(sum_f32, float, double, 8, DML_WIDE_FLOATS, DML_WIDE_FOUR_SUM, DML_WIDE_SUM, DML_AS_IS, DML_ADD, -0.0, 1)
DML_FOLD(max_f32, float, float, DML_AS_IS, DML_LARGER, -INFINITY)
#include "exp.h"
#include "log.h"

/* Short rows do not fill longer vectors. */
static void LOOP(sum_f32_all_rows)(void *state, void *second, const char *source, int64_t m, int64_t kept_stride,
                                   int64_t n, int64_t reduced_stride, int64_t index)
{
    if (n <= DML_SHORT_MOST)
        sum_f32_all_rows_avx2(state, second, source, m, kept_stride, n, reduced_stride, index);
    else
        LOOP(sum_f32_rows)(state, second, source, m, kept_stride, n, reduced_stride, index);
}

static const dml_fold_kernel LOOP(fold_sum) = {LOOP(sum_f32_all_rows), LOOP(sum_f32_columns)}, LOOP(fold_exp) = DML_TILES(exp);
