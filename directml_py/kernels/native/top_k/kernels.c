/* The top k of a row. Each block of the row is compared as a whole, and seldom has an element that comes before the
   last of those that are kept. */

#include "../common/compiler.h"

#include "dispatch.h"

/* The bits of floats as integers in the same order: zeros lose their sign, and NaN is behind all others in both orders.
 */
#define DML_TOP_K_FLOATS(NAME, T, K, SIGN, INFINITE)                                                                   \
    DML_INLINE K NAME##_key(T bits, const int decreasing)                                                              \
    {                                                                                                                  \
        T magnitude = bits & (T)~SIGN;                                                                                 \
        K key = (K)((bits & SIGN) != 0 ? (K)0 - (K)magnitude : (K)magnitude);                                          \
        key = decreasing ? (K)0 - key : key;                                                                           \
        return magnitude > INFINITE ? (K)(~SIGN) : key;                                                                \
    }

DML_TOP_K_FLOATS(top_k_f16, uint16_t, int16_t, 0x8000u, 0x7c00u)
#define NAME top_k_f16
#define T uint16_t
#define K int16_t
#define KEY top_k_f16_key
#include "element_type.inc"

DML_TOP_K_FLOATS(top_k_f32, uint32_t, int32_t, 0x80000000u, 0x7f800000u)
#define NAME top_k_f32
#define T uint32_t
#define K int32_t
#define KEY top_k_f32_key
#include "element_type.inc"

DML_TOP_K_FLOATS(top_k_f64, uint64_t, int64_t, 0x8000000000000000u, 0x7ff0000000000000u)
#define NAME top_k_f64
#define T uint64_t
#define K int64_t
#define KEY top_k_f64_key
#include "element_type.inc"

#define NAME top_k_i8
#define T int8_t
#include "element_type.inc"

#define NAME top_k_i16
#define T int16_t
#include "element_type.inc"

#define NAME top_k_i32
#define T int32_t
#include "element_type.inc"

#define NAME top_k_i64
#define T int64_t
#include "element_type.inc"

#define NAME top_k_u8
#define T uint8_t
#include "element_type.inc"

#define NAME top_k_u16
#define T uint16_t
#include "element_type.inc"

#define NAME top_k_u32
#define T uint32_t
#include "element_type.inc"

#define NAME top_k_u64
#define T uint64_t
#include "element_type.inc"

#define DML_TOP_K_ENTRY(NAME, TYPE) [DML_TYPE_##NAME] = {top_k_##TYPE##_increasing, top_k_##TYPE##_decreasing}
const dml_top_k_table DML_TABLE(top_k) = {
    .find = {DML_TOP_K_ENTRY(FLOAT16, f16), DML_TOP_K_ENTRY(FLOAT32, f32), DML_TOP_K_ENTRY(FLOAT64, f64),
             DML_TOP_K_ENTRY(INT8, i8), DML_TOP_K_ENTRY(INT16, i16), DML_TOP_K_ENTRY(INT32, i32),
             DML_TOP_K_ENTRY(INT64, i64), DML_TOP_K_ENTRY(UINT8, u8), DML_TOP_K_ENTRY(UINT16, u16),
             DML_TOP_K_ENTRY(UINT32, u32), DML_TOP_K_ENTRY(UINT64, u64)},
};
