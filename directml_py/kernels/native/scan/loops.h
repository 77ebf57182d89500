/* Running sums and products. FLOAT16 is kept in FLOAT32 on the way; integers wrap. */

#if defined(DML_AVX2)
DML_INLINE float LOOP(scan_widened)(uint16_t half)
{
    return _cvtsh_ss(half);
}

DML_INLINE uint16_t LOOP(scan_narrowed)(float value)
{
    return _cvtss_sh(value, 0);
}
#else
DML_INLINE float LOOP(scan_widened)(uint16_t half)
{
    return dml_float_of_half(half);
}

DML_INLINE uint16_t LOOP(scan_narrowed)(float value)
{
    return dml_half_of_float(value);
}
#endif

DML_INLINE void LOOP(scan_write_items)(char *output, int64_t step, const char *line, int64_t count, int stream,
                                       const int64_t item)
{
    if (step != item)
        LOOP(strided_line)(output, step, line, item, count, item);
    else if (stream)
        LOOP(stream_bytes)(output, line, count * item, line);
    else
        LOOP(copy_bytes)(output, line, count * item);
}

#define DML_ITEM(item)                                                                                                 \
    static DML_ONCE void LOOP(scan_write_##item)(char *output, int64_t step, const char *line, int64_t count,          \
                                                 int stream)                                                           \
    {                                                                                                                  \
        LOOP(scan_write_items)(output, step, line, count, stream, item);                                               \
    }
DML_ITEM(1)
DML_ITEM(2)
DML_ITEM(4)
DML_ITEM(8)
#undef DML_ITEM

DML_INLINE void LOOP(scan_write)(char *output, int64_t step, const char *line, int64_t count, int stream,
                                 const int64_t item)
{
    if (item == 1)
        LOOP(scan_write_1)(output, step, line, count, stream);
    else if (item == 2)
        LOOP(scan_write_2)(output, step, line, count, stream);
    else if (item == 4)
        LOOP(scan_write_4)(output, step, line, count, stream);
    else
        LOOP(scan_write_8)(output, step, line, count, stream);
}

/* Elements that are widened and narrowed together; the compiler does not make vectors of single ones of FLOAT16. */
#undef DML_SCAN_CONVERSIONS
#define DML_SCAN_CONVERSIONS(TYPE, T, K, LOADED, STORED)                                                               \
    DML_INLINE void LOOP(scan_widen_##TYPE)(K *values, const char *x, int64_t stride, int64_t count)                   \
    {                                                                                                                  \
        DML_ROLLED                                                                                                     \
        for (int64_t j = 0; j < count; j++) {                                                                          \
            T element;                                                                                                 \
            memcpy(&element, x + j * stride, sizeof element);                                                          \
            values[j] = (K)LOADED(element);                                                                            \
        }                                                                                                              \
    }                                                                                                                  \
    DML_INLINE void LOOP(scan_narrow_##TYPE)(T *line, const K *values, int64_t count)                                  \
    {                                                                                                                  \
        DML_ROLLED                                                                                                     \
        for (int64_t j = 0; j < count; j++)                                                                            \
            line[j] = (T)STORED(values[j]);                                                                            \
    }
#if defined(DML_AVX2)
DML_INLINE void LOOP(scan_widen_f16)(float *values, const char *x, int64_t stride, int64_t count)
{
    int64_t j = 0;
    for (; stride == 2 && j + 8 <= count; j += 8)
        _mm256_storeu_ps(values + j, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(x + 2 * j))));
    for (; j < count; j++) {
        uint16_t element;
        memcpy(&element, x + j * stride, sizeof element);
        values[j] = LOOP(scan_widened)(element);
    }
}

DML_INLINE void LOOP(scan_narrow_f16)(uint16_t *line, const float *values, int64_t count)
{
    int64_t j = 0;
    for (; j + 8 <= count; j += 8)
        _mm_storeu_si128((__m128i *)(line + j), _mm256_cvtps_ph(_mm256_loadu_ps(values + j), 0));
    for (; j < count; j++)
        line[j] = LOOP(scan_narrowed)(values[j]);
}
#else
DML_SCAN_CONVERSIONS(f16, uint16_t, float, LOOP(scan_widened), LOOP(scan_narrowed))
#endif
DML_SCAN_CONVERSIONS(f32, float, float, , )
DML_SCAN_CONVERSIONS(f64, double, double, , )
DML_SCAN_CONVERSIONS(i8, uint8_t, uint8_t, , )
DML_SCAN_CONVERSIONS(i16, uint16_t, uint32_t, , )
DML_SCAN_CONVERSIONS(i32, uint32_t, uint32_t, , )
DML_SCAN_CONVERSIONS(i64, uint64_t, uint64_t, , )

#undef DML_SCAN_LOOPS
/* `T`: elements; `K`: what is kept of them; `FIRST`: it before there are any, `SHOWN` if that is a result. */
#define DML_SCAN_LOOPS(NAME, TYPE, T, K, LOADED, STORED, OPERATION, FIRST, SHOWN)                                      \
    /* One element more of each of `count` scans, which are side by side. */                                           \
    DML_INLINE void LOOP(NAME##_step)(const char *x, int64_t stride, K *restrict kept, T *restrict line,               \
                                      int64_t count, const int exclusive)                                              \
    {                                                                                                                  \
        K values[64 / sizeof(T)] __attribute__((aligned(64)));                                                         \
        LOOP(scan_widen_##TYPE)(values, x, stride, count);                                                             \
        DML_ROLLED                                                                                                     \
        for (int64_t j = 0; j < count; j++) {                                                                          \
            K next = (K)OPERATION(kept[j], values[j]);                                                                 \
            values[j] = exclusive ? kept[j] : next;                                                                    \
            kept[j] = next;                                                                                            \
        }                                                                                                              \
        LOOP(scan_narrow_##TYPE)(line, values, count);                                                                 \
    }                                                                                                                  \
    DML_INLINE void LOOP(NAME##_rows_as)(const dml_scan_rows *rows, const int exclusive, const int writes)             \
    {                                                                                                                  \
        enum { PART = 512 };                                                                                           \
        T parts[DML_SCAN_ROWS][PART] __attribute__((aligned(64)));                                                     \
        K kept[DML_SCAN_ROWS];                                                                                         \
        int64_t step = rows->x_step;                                                                                   \
        for (int k = 0; k < DML_SCAN_ROWS; k++)                                                                        \
            memcpy(&kept[k], rows->kept[k], sizeof(K));                                                                \
        for (int64_t i = 0, count; i < rows->length; i += count) {                                                     \
            count = rows->length - i < PART ? rows->length - i : PART;                                                 \
            for (int64_t j = 0; j < count; j++)                                                                        \
                for (int k = 0; k < DML_SCAN_ROWS; k++) {                                                              \
                    T element;                                                                                         \
                    K next;                                                                                            \
                    memcpy(&element, rows->x[k] + (i + j) * step, sizeof element);                                     \
                    next = (K)OPERATION(kept[k], (K)LOADED(element));                                                  \
                    if (writes)                                                                                        \
                        parts[k][j] = (T)STORED(exclusive ? kept[k] : next);                                           \
                    kept[k] = next;                                                                                    \
                }                                                                                                      \
            for (int k = 0; writes && k < rows->count; k++)                                                            \
                LOOP(scan_write)                                                                                       \
                (rows->output[k] + i * rows->output_step, rows->output_step, (const char *)parts[k], count,            \
                 rows->stream, sizeof(T));                                                                             \
        }                                                                                                              \
        for (int k = 0; k < rows->count; k++)                                                                          \
            memcpy(rows->kept[k], &kept[k], sizeof(K));                                                                \
    }                                                                                                                  \
    static void LOOP(NAME##_rows)(const dml_scan_rows *rows)                                                           \
    {                                                                                                                  \
        if (rows->output[0] == NULL)                                                                                   \
            LOOP(NAME##_rows_as)(rows, 0, 0);                                                                          \
        else if (rows->exclusive)                                                                                      \
            LOOP(NAME##_rows_as)(rows, 1, 1);                                                                          \
        else                                                                                                           \
            LOOP(NAME##_rows_as)(rows, 0, 1);                                                                          \
    }                                                                                                                  \
    DML_INLINE void LOOP(NAME##_line)(const char *x, int64_t stride, int64_t step, K *restrict kept, T *restrict line, \
                                      int64_t count, const int exclusive)                                              \
    {                                                                                                                  \
        enum { PIECE = 64 / sizeof(T) };                                                                               \
        int64_t j = 0;                                                                                                 \
        /* The processor does not foresee where the next line begins. */                                               \
        for (; j + PIECE <= count; j += PIECE) {                                                                       \
            __builtin_prefetch(x + step + j * stride);                                                                 \
            LOOP(NAME##_step)(x + j * stride, stride, kept + j, line + j, PIECE, exclusive);                           \
        }                                                                                                              \
        LOOP(NAME##_step)(x + j * stride, stride, kept + j, line + j, count - j, exclusive);                           \
    }                                                                                                                  \
    static void LOOP(NAME##_columns)(const dml_scan_columns *columns)                                                  \
    {                                                                                                                  \
        T line[DML_SCAN_COLUMNS] __attribute__((aligned(64)));                                                         \
        K kept[DML_SCAN_COLUMNS] __attribute__((aligned(64)));                                                         \
        const int64_t count = columns->count, stride = columns->x_stride;                                              \
        for (int64_t j = 0; j < count; j++)                                                                            \
            kept[j] = columns->exclusive ? SHOWN : FIRST;                                                              \
        for (int64_t i = 0; i < columns->length; i++) {                                                                \
            const char *x = columns->x + i * columns->x_step;                                                          \
            if (stride != (int64_t)sizeof(T))                                                                          \
                LOOP(NAME##_line)(x, stride, columns->x_step, kept, line, count, columns->exclusive);                  \
            else if (columns->exclusive)                                                                               \
                LOOP(NAME##_line)(x, sizeof(T), columns->x_step, kept, line, count, 1);                                \
            else                                                                                                       \
                LOOP(NAME##_line)(x, sizeof(T), columns->x_step, kept, line, count, 0);                                \
            LOOP(scan_write)                                                                                           \
            (columns->output + i * columns->output_step, columns->output_stride, (const char *)line, count,            \
             columns->stream, sizeof(T));                                                                              \
        }                                                                                                              \
    }                                                                                                                  \
    static void LOOP(NAME##_start)(char *kept, int exclusive)                                                          \
    {                                                                                                                  \
        K value = exclusive ? SHOWN : FIRST;                                                                           \
        memcpy(kept, &value, sizeof value);                                                                            \
    }                                                                                                                  \
    static void LOOP(NAME##_carry)(char *kept, int64_t count, int64_t step, char *value)                               \
    {                                                                                                                  \
        K before, own;                                                                                                 \
        memcpy(&before, value, sizeof before);                                                                         \
        for (int64_t i = 0; i < count; i++, kept += step) {                                                            \
            memcpy(&own, kept, sizeof own);                                                                            \
            memcpy(kept, &before, sizeof before);                                                                      \
            before = (K)OPERATION(before, own);                                                                        \
        }                                                                                                              \
        memcpy(value, &before, sizeof before);                                                                         \
    }

#undef DML_SCAN_PLUS
#undef DML_SCAN_TIMES
#undef DML_SCAN_BOTH
#undef DML_SCAN_ENTRY
#undef DML_SCAN_ENTRIES
#define DML_SCAN_PLUS(a, b) ((a) + (b))
#define DML_SCAN_TIMES(a, b) ((a) * (b))
/* -0 is what every number can be added to, -0 too, but it is no sum to be shown. */
#define DML_SCAN_BOTH(TYPE, T, K, LOADED, STORED, ZERO)                                                                \
    DML_SCAN_LOOPS(scan_add_##TYPE, TYPE, T, K, LOADED, STORED, DML_SCAN_PLUS, ZERO, 0)                                \
    DML_SCAN_LOOPS(scan_multiply_##TYPE, TYPE, T, K, LOADED, STORED, DML_SCAN_TIMES, 1, 1)
DML_SCAN_BOTH(f16, uint16_t, float, LOOP(scan_widened), LOOP(scan_narrowed), -0.0f)
DML_SCAN_BOTH(f32, float, float, , , -0.0f)
DML_SCAN_BOTH(f64, double, double, , , -0.0)
DML_SCAN_BOTH(i8, uint8_t, uint8_t, , , 0)
/* UINT16 would be multiplied as INT32, which must not overflow. */
DML_SCAN_BOTH(i16, uint16_t, uint32_t, , , 0)
DML_SCAN_BOTH(i32, uint32_t, uint32_t, , , 0)
DML_SCAN_BOTH(i64, uint64_t, uint64_t, , , 0)

#define DML_SCAN_ENTRY(NAME) {LOOP(NAME##_rows), LOOP(NAME##_columns), LOOP(NAME##_start), LOOP(NAME##_carry)}
#define DML_SCAN_ENTRIES(FUNCTION)                                                                                     \
    {                                                                                                                  \
        DML_SCAN_ENTRY(scan_##FUNCTION##_f16), DML_SCAN_ENTRY(scan_##FUNCTION##_f32),                                  \
            DML_SCAN_ENTRY(scan_##FUNCTION##_f64), DML_SCAN_ENTRY(scan_##FUNCTION##_i8),                               \
            DML_SCAN_ENTRY(scan_##FUNCTION##_i16), DML_SCAN_ENTRY(scan_##FUNCTION##_i32),                              \
            DML_SCAN_ENTRY(scan_##FUNCTION##_i64),                                                                     \
    }
static const dml_scan_table LOOP(scan_table) = {.loops = {DML_SCAN_ENTRIES(add), DML_SCAN_ENTRIES(multiply)}};
