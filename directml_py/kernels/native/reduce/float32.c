/* The reductions that gain by the longest vectors: sums of FLOAT32, which are converted, exponentials and logarithms.
 */

#include "../common/vectors.h"
#include "dispatch.h"
#include "log.h"
#include "log_sum_exp.h"
#include "short_rows.h"

#define NAME sum_f32
#define T float
#define A double
#if defined(__AVX512F__)
#define DML_WIDE_SUM(result, x) _mm512_storeu_pd(result, _mm512_add_pd(_mm512_loadu_pd(result), x))
#define DML_WIDE_FOUR_SUM(result, a, b, c, d)                                                                          \
    DML_WIDE_SUM(result, _mm512_add_pd(_mm512_add_pd(a, b), _mm512_add_pd(c, d)))
#define WIDTH 8
#define LOAD(x) _mm512_cvtps_pd(_mm256_loadu_ps(x))
#define FOUR DML_WIDE_FOUR_SUM
#define ONE DML_WIDE_SUM
#else
#define LOAD DML_FLOATS
#endif
#include "fold.inc"

#if defined(__AVX2__)
/* Short rows do not fill longer vectors. */
DML_SHORT_SUM(sum_f32, float, DML_FOUR_FLOATS, DML_FOUR_SAME, DML_SHORT_MOST)
#define DML_SUM_ROWS sum_f32_all_rows
#else
#define DML_SUM_ROWS sum_f32_rows
#endif

const dml_reduce_float32_table DML_TABLE(reduce_float32) = {
    .sum = {DML_SUM_ROWS, sum_f32_columns, sum_f32_across}, .exp = {exp_rows, exp_columns, NULL}, .logs = reduce_logs};
