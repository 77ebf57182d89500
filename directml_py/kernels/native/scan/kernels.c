/* Running sums and products. FLOAT16 is accumulated in FLOAT32; integers wrap. */

#include "../common/vectors.h"
#include "../half/scalar.h"
#include "../move/copy.h"

#include "dispatch.h"

#if defined(__AVX2__)
DML_INLINE float scan_widened(uint16_t half)
{
    return _cvtsh_ss(half);
}

DML_INLINE uint16_t scan_narrowed(float value)
{
    return _cvtss_sh(value, 0);
}
#else
DML_INLINE float scan_widened(uint16_t half)
{
    return dml_float_of_half(half);
}

DML_INLINE uint16_t scan_narrowed(float value)
{
    return dml_half_of_float(value);
}
#endif

DML_INLINE void scan_write_items(char *output, int64_t stride, const char *line, int64_t count, int stream,
                                 const int64_t item)
{
    if (stride != item)
        strided_line(output, stride, line, item, count, item);
    else if (stream)
        stream_bytes(output, line, count * item, line);
    else
        copy_bytes(output, line, count * item);
}

#define DML_ITEM(item)                                                                                                 \
    static DML_ONCE void scan_write_##item(char *output, int64_t stride, const char *line, int64_t count, int stream)  \
    {                                                                                                                  \
        scan_write_items(output, stride, line, count, stream, item);                                                   \
    }
DML_ITEM(1)
DML_ITEM(2)
DML_ITEM(4)
DML_ITEM(8)
#undef DML_ITEM

/* By the bytes of an item. */
static __typeof__(scan_write_1) *const scan_write[] = {
    [1] = scan_write_1, [2] = scan_write_2, [4] = scan_write_4, [8] = scan_write_8};

#define DML_SCAN_PLUS(a, b) ((a) + (b))
#define DML_SCAN_TIMES(a, b) ((a) * (b))

#if defined(__AVX2__)
/* Compilers do not vectorize conversions of single FLOAT16. */
DML_INLINE void scan_widen_f16(float *values, const char *x, int64_t stride, int64_t count)
{
    int64_t j = 0;
    for (; stride == 2 && j + 8 <= count; j += 8)
        _mm256_storeu_ps(values + j, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(x + 2 * j))));
    for (; j < count; j++) {
        uint16_t element;
        memcpy(&element, x + j * stride, sizeof element);
        values[j] = scan_widened(element);
    }
}

DML_INLINE void scan_narrow_f16(uint16_t *line, const float *values, int64_t count)
{
    int64_t j = 0;
    for (; j + 8 <= count; j += 8)
        _mm_storeu_si128((__m128i *)(line + j), _mm256_cvtps_ph(_mm256_loadu_ps(values + j), 0));
    for (; j < count; j++)
        line[j] = scan_narrowed(values[j]);
}
#define CONVERTS_VECTORS
#endif

#define TYPE f16
#define T uint16_t
#define K float
#define LOADED scan_widened
#define STORED scan_narrowed
#define ZERO -0.0f
#include "element_type.inc"

#define TYPE f32
#define T float
#define ZERO -0.0f
#include "element_type.inc"

#define TYPE f64
#define T double
#define ZERO -0.0
#include "element_type.inc"

#define TYPE i8
#define T uint8_t
#include "element_type.inc"

/* Products of UINT16 promote to INT32, which must not overflow. */
#define TYPE i16
#define T uint16_t
#define K uint32_t
#include "element_type.inc"

#define TYPE i32
#define T uint32_t
#include "element_type.inc"

#define TYPE i64
#define T uint64_t
#include "element_type.inc"

#define DML_SCAN_ENTRY(NAME)                                                                                           \
    {                                                                                                                  \
        NAME##_rows, NAME##_columns, NAME##_start, NAME##_carry                                                        \
    }
#define DML_SCAN_ENTRIES(FUNCTION)                                                                                     \
    {                                                                                                                  \
        DML_SCAN_ENTRY(scan_##FUNCTION##_f16), DML_SCAN_ENTRY(scan_##FUNCTION##_f32),                                  \
            DML_SCAN_ENTRY(scan_##FUNCTION##_f64), DML_SCAN_ENTRY(scan_##FUNCTION##_i8),                               \
            DML_SCAN_ENTRY(scan_##FUNCTION##_i16), DML_SCAN_ENTRY(scan_##FUNCTION##_i32),                              \
            DML_SCAN_ENTRY(scan_##FUNCTION##_i64),                                                                     \
    }
const dml_scan_table DML_TABLE(scan) = {.kernels = {DML_SCAN_ENTRIES(add), DML_SCAN_ENTRIES(multiply)}};
