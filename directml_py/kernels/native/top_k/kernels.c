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
    }                                                                                                                  \
    DML_INLINE K NAME##_up(T bits)                                                                                     \
    {                                                                                                                  \
        return NAME##_key(bits, 0);                                                                                    \
    }                                                                                                                  \
    DML_INLINE K NAME##_down(T bits)                                                                                   \
    {                                                                                                                  \
        return NAME##_key(bits, 1);                                                                                    \
    }

#define DML_TOP_K_FLIPPED(value) (~(value))

DML_TOP_K_FLOATS(top_k_f16, uint16_t, int16_t, 0x8000u, 0x7c00u)
#define TYPE f16
#define T uint16_t
#define K int16_t
#define INCREASING top_k_f16_up
#define DECREASING top_k_f16_down
#include "element_type.inc"

DML_TOP_K_FLOATS(top_k_f32, uint32_t, int32_t, 0x80000000u, 0x7f800000u)
#define TYPE f32
#define T uint32_t
#define K int32_t
#define INCREASING top_k_f32_up
#define DECREASING top_k_f32_down
#include "element_type.inc"

DML_TOP_K_FLOATS(top_k_f64, uint64_t, int64_t, 0x8000000000000000u, 0x7ff0000000000000u)
#define TYPE f64
#define T uint64_t
#define K int64_t
#define INCREASING top_k_f64_up
#define DECREASING top_k_f64_down
#include "element_type.inc"

#define TYPE i8
#define T int8_t
#define K int8_t
#define INCREASING
#define DECREASING DML_TOP_K_FLIPPED
#include "element_type.inc"

#define TYPE i16
#define T int16_t
#define K int16_t
#define INCREASING
#define DECREASING DML_TOP_K_FLIPPED
#include "element_type.inc"

#define TYPE i32
#define T int32_t
#define K int32_t
#define INCREASING
#define DECREASING DML_TOP_K_FLIPPED
#include "element_type.inc"

#define TYPE i64
#define T int64_t
#define K int64_t
#define INCREASING
#define DECREASING DML_TOP_K_FLIPPED
#include "element_type.inc"

#define TYPE u8
#define T uint8_t
#define K uint8_t
#define INCREASING
#define DECREASING DML_TOP_K_FLIPPED
#include "element_type.inc"

#define TYPE u16
#define T uint16_t
#define K uint16_t
#define INCREASING
#define DECREASING DML_TOP_K_FLIPPED
#include "element_type.inc"

#define TYPE u32
#define T uint32_t
#define K uint32_t
#define INCREASING
#define DECREASING DML_TOP_K_FLIPPED
#include "element_type.inc"

#define TYPE u64
#define T uint64_t
#define K uint64_t
#define INCREASING
#define DECREASING DML_TOP_K_FLIPPED
#include "element_type.inc"

#define DML_TOP_K_ENTRY(TYPE)                                                                                          \
    {                                                                                                                  \
        top_k_##TYPE##_increasing, top_k_##TYPE##_decreasing                                                           \
    }
const dml_top_k_table DML_TABLE(top_k) = {
    .find = {DML_TOP_K_ENTRY(f16), DML_TOP_K_ENTRY(f32), DML_TOP_K_ENTRY(f64), DML_TOP_K_ENTRY(i8),
             DML_TOP_K_ENTRY(i16), DML_TOP_K_ENTRY(i32), DML_TOP_K_ENTRY(i64), DML_TOP_K_ENTRY(u8),
             DML_TOP_K_ENTRY(u16), DML_TOP_K_ENTRY(u32), DML_TOP_K_ENTRY(u64)},
};
