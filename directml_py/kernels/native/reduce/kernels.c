/* The kernels of reductions, by their function and the type of the elements. */

#include "../common/compiler.h"

#include "dispatch.h"
#include "sum_min_max.h"
#include "convert.h"
#include "short_rows.h"
#include "argmax.h"

#if defined(__AVX2__)
DML_SHORT_EXTREME(min_f32, float, DML_EIGHT_FLOATS, min, DML_SMALLER, INFINITY)
DML_SHORT_EXTREME(max_f32, float, DML_EIGHT_FLOATS, max, DML_LARGER, -INFINITY)
DML_SHORT_EXTREME(min_f16, uint16_t, DML_EIGHT_HALVES, min, DML_SMALLER, INFINITY)
DML_SHORT_EXTREME(max_f16, uint16_t, DML_EIGHT_HALVES, max, DML_LARGER, -INFINITY)
DML_SHORT_SUM(sum_f16, uint16_t, DML_FOUR_HALVES, DML_FOUR_SAME, DML_SHORT_MOST_HALVES)
DML_SHORT_SUM(absolute_f32, float, DML_FOUR_FLOATS, DML_FOUR_ABSOLUTE, DML_SHORT_MOST)
DML_SHORT_SUM(absolute_f16, uint16_t, DML_FOUR_HALVES, DML_FOUR_ABSOLUTE, DML_SHORT_MOST_HALVES)
DML_SHORT_SUM(square_f32, float, DML_FOUR_FLOATS, DML_FOUR_SQUARE, DML_SHORT_MOST)
DML_SHORT_SUM(square_f16, uint16_t, DML_FOUR_HALVES, DML_FOUR_SQUARE, DML_SHORT_MOST_HALVES)
#endif

#define DML_TILES(NAME) {NAME##_rows, NAME##_columns, NULL}
/* Signed and unsigned integers of the same width have sums, squares and products of the same bits: there `s` is u. */
#define DML_TILES_OF_INTEGERS(SIGNED, s, UNSIGNED) \
    [DML_TYPE_INT8] = DML_TILES(SIGNED##_##s##8), [DML_TYPE_UINT8] = DML_TILES(UNSIGNED##_u8), \
    [DML_TYPE_INT16] = DML_TILES(SIGNED##_##s##16), [DML_TYPE_UINT16] = DML_TILES(UNSIGNED##_u16), \
    [DML_TYPE_INT32] = DML_TILES(SIGNED##_##s##32), [DML_TYPE_UINT32] = DML_TILES(UNSIGNED##_u32), \
    [DML_TYPE_INT64] = DML_TILES(SIGNED##_##s##64), [DML_TYPE_UINT64] = DML_TILES(UNSIGNED##_u64)
/* Columns are compared in four bytes or eight, as many as indices have; narrower elements are widened first. */
#define DML_TILES_OF_ARG(NAME) \
    [DML_TYPE_INT8] = {NAME##_i8_rows, NULL, NULL}, [DML_TYPE_UINT8] = {NAME##_u8_rows, NULL, NULL}, \
    [DML_TYPE_INT16] = {NAME##_i16_rows, NULL, NULL}, [DML_TYPE_UINT16] = {NAME##_u16_rows, NULL, NULL}, \
    [DML_TYPE_FLOAT32] = DML_TILES(NAME##_f32), \
    [DML_TYPE_INT32] = DML_TILES(NAME##_i32), [DML_TYPE_UINT32] = DML_TILES(NAME##_u32), \
    [DML_TYPE_INT64] = DML_TILES(NAME##_i64), [DML_TYPE_UINT64] = DML_TILES(NAME##_u64)
#if defined(__AVX2__)
#define DML_SHORT_TILES(NAME) \
    [DML_TYPE_FLOAT16] = {NAME##_f16_all_rows, NAME##_f16_columns, NAME##_f16_across}, \
    [DML_TYPE_FLOAT32] = {NAME##_f32_all_rows, NAME##_f32_columns, NAME##_f32_across}
#define DML_SHORT_TILES_OF_HALF(NAME) [DML_TYPE_FLOAT16] = {NAME##_f16_all_rows, NAME##_f16_columns, NAME##_f16_across},
#define DML_SOFTMAX_NORM_OF_HALF(NAME) [DML_TYPE_FLOAT16] = {NAME##_f16_rows, NULL, NULL},
#else
#define DML_SHORT_TILES_OF_HALF(NAME)
#define DML_SOFTMAX_NORM_OF_HALF(NAME)
#define DML_SHORT_TILES(NAME) [DML_TYPE_FLOAT32] = {NAME##_f32_rows, NAME##_f32_columns, NAME##_f32_across}
#endif

static const dml_reduce_kernel reduce_kernels[DML_FOLDS][DML_TYPES] = {
    [DML_REDUCE_SUM] = {DML_SHORT_TILES_OF_HALF(sum) DML_TILES_OF_INTEGERS(sum, u, sum),
                        [DML_TYPE_FLOAT64] = DML_TILES(sum_f64)},
    [DML_REDUCE_ABSOLUTE] = {DML_SHORT_TILES(absolute), DML_TILES_OF_INTEGERS(absolute, i, sum)},
    [DML_REDUCE_SQUARE] = {DML_SHORT_TILES(square), DML_TILES_OF_INTEGERS(square, u, square)},
    [DML_REDUCE_PRODUCT] = {DML_TILES_OF_INTEGERS(product, u, product),
                          [DML_TYPE_FLOAT32] = {product_f32_rows, product_f32_columns, product_f32_across},
                          [DML_TYPE_FLOAT64] = DML_TILES(product_f64)},
    [DML_REDUCE_MIN] = {DML_SHORT_TILES(min), DML_TILES_OF_INTEGERS(min, i, min)},
    [DML_REDUCE_MAX] = {DML_SHORT_TILES(max), DML_TILES_OF_INTEGERS(max, i, max)},
    [DML_REDUCE_ARGMIN] = {DML_SOFTMAX_NORM_OF_HALF(argmin) DML_TILES_OF_ARG(argmin)},
    [DML_REDUCE_ARGMAX] = {DML_SOFTMAX_NORM_OF_HALF(argmax) DML_TILES_OF_ARG(argmax)},
    [DML_REDUCE_ARGMIN_LAST] = {DML_SOFTMAX_NORM_OF_HALF(argmin_last) DML_TILES_OF_ARG(argmin_last)},
    [DML_REDUCE_ARGMAX_LAST] = {DML_SOFTMAX_NORM_OF_HALF(argmax_last) DML_TILES_OF_ARG(argmax_last)},
};
const dml_reduce_table DML_TABLE(reduce) = {
    .kernels = reduce_kernels, .pack = reduce_pack};
