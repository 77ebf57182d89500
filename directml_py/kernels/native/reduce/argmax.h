/* The index of the largest or smallest element. NaN is passed over, because no comparison with it is true, even where
   it is the first: that it keeps its index then is found out at the end. As long as nothing was better than the worst
   value, the index is -1. */

#pragma once

#include "../common/compiler.h"
#include "sum_min_max.h"
#include "convert.h"

/* `WINS(x, y)`: whether x, which comes after y, replaces it. Indices have as many bits as elements, so that both are
   compared and selected alike. */
#define DML_ARG_COLUMNS(NAME, T, I, WINS)                                                                              \
    DML_INLINE void NAME##_take(T *restrict best, I *restrict found, const T *restrict a, int64_t m, I index)          \
    {                                                                                                                  \
        for (int64_t j = 0; j < m; j++) {                                                                              \
            found[j] = WINS(a[j], best[j]) ? index : found[j];                                                         \
            best[j] = WINS(a[j], best[j]) ? a[j] : best[j];                                                            \
        }                                                                                                              \
    }                                                                                                                  \
    DML_INLINE void NAME##_take_two(T *restrict best, I *restrict found, const T *restrict a, const T *restrict b,     \
                                    int64_t m, I index)                                                                \
    {                                                                                                                  \
        for (int64_t j = 0; j < m; j++) {                                                                              \
            T value = best[j];                                                                                         \
            I position = found[j];                                                                                     \
            position = WINS(a[j], value) ? index : position;                                                           \
            value = WINS(a[j], value) ? a[j] : value;                                                                  \
            found[j] = WINS(b[j], value) ? index + 1 : position;                                                       \
            best[j] = WINS(b[j], value) ? b[j] : value;                                                                \
        }                                                                                                              \
    }                                                                                                                  \
    static void NAME##_columns(void *state, void *second, const char *source, int64_t m, int64_t kept_stride,          \
                               int64_t n, int64_t reduced_stride, int64_t index)                                       \
    {                                                                                                                  \
        int64_t i = 0;                                                                                                 \
        for (; i + 2 <= n; i += 2, source += 2 * reduced_stride)                                                       \
            NAME##_take_two(state, second, (const T *)source, (const T *)(source + reduced_stride), m,                 \
                            (I)(index + i));                                                                           \
        if (i < n)                                                                                                     \
            NAME##_take(state, second, (const T *)source, m, (I)(index + i));                                          \
    }

#define DML_SAME(element, value) ((element) == (value))
#define DML_LESS(x, y) ((x) < (y))
#define DML_GREATER(x, y) ((x) > (y))
#define DML_NOT_GREATER(x, y) ((x) <= (y))
#define DML_NOT_LESS(x, y) ((x) >= (y))
/* The four functions of columns whose elements have the type of the accumulators. */
#define DML_ARGS_COLUMNS(TYPE, T, I)                                                                                   \
    DML_ARG_COLUMNS(argmin_##TYPE, T, I, DML_LESS)                                                                     \
    DML_ARG_COLUMNS(argmax_##TYPE, T, I, DML_GREATER)                                                                  \
    DML_ARG_COLUMNS(argmin_last_##TYPE, T, I, DML_NOT_GREATER)                                                         \
    DML_ARG_COLUMNS(argmax_last_##TYPE, T, I, DML_NOT_LESS)

#define TYPE f32
#define T float
#include "arg_type.inc"
DML_ARGS_COLUMNS(f32, float, int32_t)

#define TYPE i32
#define T int32_t
#include "arg_type.inc"
DML_ARGS_COLUMNS(i32, int32_t, int32_t)

#define TYPE u32
#define T uint32_t
#include "arg_type.inc"
DML_ARGS_COLUMNS(u32, uint32_t, int32_t)

#define TYPE i64
#define T int64_t
#define I int64_t
#include "arg_type.inc"
DML_ARGS_COLUMNS(i64, int64_t, int64_t)

#define TYPE u64
#define T uint64_t
#define I int64_t
#include "arg_type.inc"
DML_ARGS_COLUMNS(u64, uint64_t, int64_t)

#define TYPE i8
#define T int8_t
#define S int32_t
#include "arg_type.inc"

#define TYPE u8
#define T uint8_t
#define S int32_t
#include "arg_type.inc"

#define TYPE i16
#define T int16_t
#define S int32_t
#include "arg_type.inc"

#define TYPE u16
#define T uint16_t
#define S int32_t
#include "arg_type.inc"

#if defined(__AVX2__)
/* A FLOAT16 is searched for by its bits. Zero has two patterns, so that its sign does not count. */
typedef struct {
    uint16_t bits;
    uint16_t kept;
} dml_half_key;
static inline dml_half_key half_key(float value)
{
    uint16_t bits = _cvtss_sh(value, 0);
    return bits & 0x7fffu ? (dml_half_key){bits, 0xffffu} : (dml_half_key){0, 0x7fffu};
}
#define DML_SAME_HALF(element, key) (((element) & (key).kept) == (key).bits)
#define TYPE f16
#define T uint16_t
#define S float
#define K dml_half_key
#define KEY half_key
#define VALUE DML_HALF
#define SAME DML_SAME_HALF
#include "arg_type.inc"
#endif
