/* The loops of reductions, by what is folded and the type of the elements. */

#include "simple.h"
#include "half.h"
#include "short.h"
#include "arg.h"
#include "exp.h"
#include "log.h"

#define DML_TILES(NAME) {LOOP(NAME##_rows), LOOP(NAME##_columns)}
/* Signed and unsigned integers of as many bits have sums, squares and products of the same bits. */
#define DML_TILES_OF_BITS(NAME) \
    [DML_TYPE_INT8] = DML_TILES(NAME##_u8), [DML_TYPE_UINT8] = DML_TILES(NAME##_u8), \
    [DML_TYPE_INT16] = DML_TILES(NAME##_u16), [DML_TYPE_UINT16] = DML_TILES(NAME##_u16), \
    [DML_TYPE_INT32] = DML_TILES(NAME##_u32), [DML_TYPE_UINT32] = DML_TILES(NAME##_u32), \
    [DML_TYPE_INT64] = DML_TILES(NAME##_u64), [DML_TYPE_UINT64] = DML_TILES(NAME##_u64)
#define DML_TILES_OF_INTEGERS(SIGNED, UNSIGNED) \
    [DML_TYPE_INT8] = DML_TILES(SIGNED##_i8), [DML_TYPE_UINT8] = DML_TILES(UNSIGNED##_u8), \
    [DML_TYPE_INT16] = DML_TILES(SIGNED##_i16), [DML_TYPE_UINT16] = DML_TILES(UNSIGNED##_u16), \
    [DML_TYPE_INT32] = DML_TILES(SIGNED##_i32), [DML_TYPE_UINT32] = DML_TILES(UNSIGNED##_u32), \
    [DML_TYPE_INT64] = DML_TILES(SIGNED##_i64), [DML_TYPE_UINT64] = DML_TILES(UNSIGNED##_u64)
/* Columns are compared in four bytes or eight, as many as indices have; what is narrower is widened first. */
#define DML_TILES_OF_ARG(NAME) \
    [DML_TYPE_INT8] = {LOOP(NAME##_i8_rows), NULL}, [DML_TYPE_UINT8] = {LOOP(NAME##_u8_rows), NULL}, \
    [DML_TYPE_INT16] = {LOOP(NAME##_i16_rows), NULL}, [DML_TYPE_UINT16] = {LOOP(NAME##_u16_rows), NULL}, \
    [DML_TYPE_FLOAT32] = DML_TILES(NAME##_f32), \
    [DML_TYPE_INT32] = DML_TILES(NAME##_i32), [DML_TYPE_UINT32] = DML_TILES(NAME##_u32), \
    [DML_TYPE_INT64] = DML_TILES(NAME##_i64), [DML_TYPE_UINT64] = DML_TILES(NAME##_u64)
#if defined(DML_AVX2)
#define DML_TILES_OF_HALF(NAME) [DML_TYPE_FLOAT16] = DML_TILES(NAME##_f16),
#define DML_SHORT_TILES(NAME) \
    [DML_TYPE_FLOAT16] = {LOOP(NAME##_f16_all_rows), LOOP(NAME##_f16_columns)}, \
    [DML_TYPE_FLOAT32] = {LOOP(NAME##_f32_all_rows), LOOP(NAME##_f32_columns)}
#define DML_ROWS_OF_HALF(NAME) [DML_TYPE_FLOAT16] = {LOOP(NAME##_f16_rows), NULL},
#else
#define DML_ROWS_OF_HALF(NAME)
#define DML_TILES_OF_HALF(NAME)
#define DML_SHORT_TILES(NAME) [DML_TYPE_FLOAT32] = DML_TILES(NAME##_f32)
#endif

static const dml_fold_kernel LOOP(fold_kernels)[DML_FOLDS][DML_TYPES] = {
    [DML_FOLD_SUM] = {DML_SHORT_TILES(sum), DML_TILES_OF_BITS(sum), [DML_TYPE_FLOAT64] = DML_TILES(sum_f64)},
    [DML_FOLD_ABSOLUTE] = {DML_TILES_OF_HALF(absolute) DML_TILES_OF_INTEGERS(absolute, sum),
                           [DML_TYPE_FLOAT32] = DML_TILES(absolute_f32)},
    [DML_FOLD_SQUARE] = {DML_TILES_OF_HALF(square) DML_TILES_OF_BITS(square), [DML_TYPE_FLOAT32] = DML_TILES(square_f32)},
    [DML_FOLD_PRODUCT] = {DML_TILES_OF_BITS(product), [DML_TYPE_FLOAT32] = DML_TILES(product_f32),
                          [DML_TYPE_FLOAT64] = DML_TILES(product_f64)},
    [DML_FOLD_MIN] = {DML_SHORT_TILES(min), DML_TILES_OF_INTEGERS(min, min)},
    [DML_FOLD_MAX] = {DML_SHORT_TILES(max), DML_TILES_OF_INTEGERS(max, max)},
    [DML_FOLD_EXP] = {[DML_TYPE_FLOAT32] = DML_TILES(exp)},
    [DML_FOLD_ARGMIN] = {DML_ROWS_OF_HALF(argmin) DML_TILES_OF_ARG(argmin)},
    [DML_FOLD_ARGMAX] = {DML_ROWS_OF_HALF(argmax) DML_TILES_OF_ARG(argmax)},
    [DML_FOLD_ARGMIN_LAST] = {DML_ROWS_OF_HALF(argmin_last) DML_TILES_OF_ARG(argmin_last)},
    [DML_FOLD_ARGMAX_LAST] = {DML_ROWS_OF_HALF(argmax_last) DML_TILES_OF_ARG(argmax_last)},
};
#undef DML_TILES_OF_HALF
#undef DML_SHORT_TILES
#undef DML_ROWS_OF_HALF

static const dml_fold_table LOOP(fold_table) = {
    .kernels = LOOP(fold_kernels), .pack = LOOP(fold_pack), .logs = LOOP(fold_logs)};
