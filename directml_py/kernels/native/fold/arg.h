/* The index of the largest or smallest element. NaN is passed over, because no comparison with it is true, even where
   it is the first: that it keeps its place there is found out at the end. While nothing was better than the worst that
   there can be, the index is -1. */

/* `WINS(x, y)`: x, which comes after y, takes its place. Indices have as many bits as elements, so that both are compared
   and chosen alike. */
#define DML_ARG_COLUMNS(NAME, T, I, WINS) \
    DML_INLINE void LOOP(NAME##_take)(T *restrict best, I *restrict found, \
                                                                        const T *restrict a, int64_t m, I index) \
    { \
        for (int64_t j = 0; j < m; j++) { \
            found[j] = WINS(a[j], best[j]) ? index : found[j]; \
            best[j] = WINS(a[j], best[j]) ? a[j] : best[j]; \
        } \
    } \
    DML_INLINE void LOOP(NAME##_take_two)( \
        T *restrict best, I *restrict found, const T *restrict a, const T *restrict b, int64_t m, I index) \
    { \
        for (int64_t j = 0; j < m; j++) { \
            T value = best[j]; \
            I place = found[j]; \
            place = WINS(a[j], value) ? index : place; \
            value = WINS(a[j], value) ? a[j] : value; \
            found[j] = WINS(b[j], value) ? index + 1 : place; \
            best[j] = WINS(b[j], value) ? b[j] : value; \
        } \
    } \
    static void LOOP(NAME##_columns)(void *state, void *second, const char *source, int64_t m, int64_t kept_stride, int64_t n, \
                                     int64_t reduced_stride, int64_t index) \
    { \
        int64_t i = 0; \
        for (; i + 2 <= n; i += 2, source += 2 * reduced_stride) \
            LOOP(NAME##_take_two)(state, second, (const T *)source, (const T *)(source + reduced_stride), m, (I)(index + i)); \
        if (i < n) \
            LOOP(NAME##_take)(state, second, (const T *)source, m, (I)(index + i)); \
    }

#define DML_SAME(element, value) ((element) == (value))
/* Rows of elements `T`, of which the best is kept as `S`. It is found by the fold `BEST`; `SAME` says of an element whether
   it is the `KEY` of that. `FIRST`: 1 if the first of equals counts, 0 if the last. */
#define DML_ARG_ROWS(NAME, T, S, I, WINS, BEST, FIRST, K, KEY, VALUE, SAME) \
    static DML_ONCE int64_t LOOP(NAME##_find)(const T *row, int64_t n, S value) \
    { \
        enum { STEP = 32 }; \
        const K key = KEY(value); \
        int64_t begin = 0, end = n; \
        while (end - begin >= STEP) { \
            const T *part = FIRST ? row + begin : row + end - STEP; \
            int equal = 0; \
            for (int j = 0; j < STEP; j++) \
                equal |= SAME(part[j], key); \
            if (equal) \
                break; \
            if (FIRST) \
                begin += STEP; \
            else \
                end -= STEP; \
        } \
        for (int64_t i = 0; i < end - begin; i++) { \
            int64_t at = FIRST ? begin + i : end - 1 - i; \
            if (SAME(row[at], key)) \
                return at; \
        } \
        return -1; \
    } \
    /* What the best of a block comes to, which begins at element `begin` of a row. It is looked for only if it wins; a \
       block of NaN has its best nowhere. */ \
    DML_INLINE void LOOP(NAME##_consider)(S *best, I *found, const T *block, int64_t n, \
                                                                            int64_t begin, S candidate) \
    { \
        int64_t at = WINS(candidate, *best) ? LOOP(NAME##_find)(block, n, candidate) : -1; \
        if (at >= 0) { \
            *best = candidate; \
            *found = (I)(begin + at); \
        } \
    } \
    DML_INLINE void LOOP(NAME##_short_row)(S *best, I *found, const T *row, int64_t n, \
                                                                             int64_t index) \
    { \
        int64_t place = -1; \
        S value = *best; \
        for (int64_t j = 0; j < n; j++) { \
            S element = VALUE(S, row[j]); \
            place = WINS(element, value) ? j : place; \
            value = WINS(element, value) ? element : value; \
        } \
        *best = value; \
        if (place >= 0) \
            *found = (I)(index + place); \
    } \
    /* Memory is read once: in blocks that fit into the nearest cache, of four rows in step where there are so many, else \
       of one row. */ \
    static void LOOP(NAME##_rows)(void *state, void *second, const char *source, int64_t m, int64_t kept_stride, int64_t n, \
                                  int64_t reduced_stride, int64_t index) \
    { \
        enum { BYTES = 4096, BLOCK = BYTES / sizeof(T), SHORT = 32 }; \
        S *best = state; \
        I *found = second; \
        __typeof__(LOOP(BEST##_row)(NULL, 0)) four[4]; \
        int64_t i = 0, quarter = n * (int64_t)sizeof(T) >= DML_FOLD_LONG ? m / 4 : 0; \
        for (; i < quarter; i++) \
            for (int64_t j = 0; j < n; j += BLOCK) { \
                const char *part = source + i * kept_stride + j * (int64_t)sizeof(T); \
                int64_t length = n - j < BLOCK ? n - j : BLOCK; \
                LOOP(BEST##_four_rows)(four, part, length, quarter * kept_stride); \
                for (int64_t k = 0; k < 4; k++, part += quarter * kept_stride) \
                    LOOP(NAME##_consider)(best + i + k * quarter, found + i + k * quarter, (const T *)part, length, index + j, \
                                          four[k]); \
            } \
        for (i *= 4; i < m; i++) { \
            const T *row = (const T *)(source + i * kept_stride); \
            int64_t j = 0; \
            for (; n - j >= 4 * BLOCK; j += 4 * BLOCK) { \
                LOOP(BEST##_four_rows)(four, (const char *)(row + j), BLOCK, BYTES); \
                for (int64_t k = 0; k < 4; k++) \
                    LOOP(NAME##_consider)(best + i, found + i, row + j + k * BLOCK, BLOCK, index + j + k * BLOCK, four[k]); \
            } \
            for (; n - j >= SHORT; j += BLOCK) { \
                int64_t length = n - j < BLOCK ? n - j : BLOCK; \
                LOOP(NAME##_consider)(best + i, found + i, row + j, length, index + j, LOOP(BEST##_row)(row + j, length)); \
            } \
            if (j < n) \
                LOOP(NAME##_short_row)(best + i, found + i, row + j, n - j, index + j); \
        } \
    }

#define DML_LESS(x, y) ((x) < (y))
#define DML_GREATER(x, y) ((x) > (y))
#define DML_NOT_GREATER(x, y) ((x) <= (y))
#define DML_NOT_LESS(x, y) ((x) >= (y))
/* The four functions, of rows; and of columns, for which elements have the type that the best is kept in. */
#define DML_ARGS_ROWS(TYPE, T, S, I, K, KEY, VALUE, SAME) \
    DML_ARG_ROWS(argmin_##TYPE, T, S, I, DML_LESS, min_##TYPE, 1, K, KEY, VALUE, SAME) \
    DML_ARG_ROWS(argmax_##TYPE, T, S, I, DML_GREATER, max_##TYPE, 1, K, KEY, VALUE, SAME) \
    DML_ARG_ROWS(argmin_last_##TYPE, T, S, I, DML_NOT_GREATER, min_##TYPE, 0, K, KEY, VALUE, SAME) \
    DML_ARG_ROWS(argmax_last_##TYPE, T, S, I, DML_NOT_LESS, max_##TYPE, 0, K, KEY, VALUE, SAME)
#define DML_ARGS(TYPE, T, I) \
    DML_ARGS_ROWS(TYPE, T, T, I, T, , DML_AS_IS, DML_SAME) \
    DML_ARG_COLUMNS(argmin_##TYPE, T, I, DML_LESS) \
    DML_ARG_COLUMNS(argmax_##TYPE, T, I, DML_GREATER) \
    DML_ARG_COLUMNS(argmin_last_##TYPE, T, I, DML_NOT_GREATER) \
    DML_ARG_COLUMNS(argmax_last_##TYPE, T, I, DML_NOT_LESS)

DML_ARGS(f32, float, int32_t)
DML_ARGS(i32, int32_t, int32_t)
DML_ARGS(u32, uint32_t, int32_t)
DML_ARGS(i64, int64_t, int64_t)
DML_ARGS(u64, uint64_t, int64_t)
DML_ARGS_ROWS(i8, int8_t, int32_t, int32_t, int8_t, (int8_t), DML_AS_IS, DML_SAME)
DML_ARGS_ROWS(u8, uint8_t, int32_t, int32_t, uint8_t, (uint8_t), DML_AS_IS, DML_SAME)
DML_ARGS_ROWS(i16, int16_t, int32_t, int32_t, int16_t, (int16_t), DML_AS_IS, DML_SAME)
DML_ARGS_ROWS(u16, uint16_t, int32_t, int32_t, uint16_t, (uint16_t), DML_AS_IS, DML_SAME)
#if defined(DML_AVX2)
/* A FLOAT16 is looked for by its bits. Zero has two patterns, so its sign does not count. */
typedef struct {
    uint16_t bits;
    uint16_t kept;
} dml_half_key;
static inline dml_half_key LOOP(half_key)(float value)
{
    uint16_t bits = _cvtss_sh(value, 0);
    return bits & 0x7fffu ? (dml_half_key){bits, 0xffffu} : (dml_half_key){0, 0x7fffu};
}
#define DML_SAME_HALF(element, key) (((element) & (key).kept) == (key).bits)
DML_ARGS_ROWS(f16, uint16_t, float, int32_t, dml_half_key, LOOP(half_key), DML_HALF, DML_SAME_HALF)
#endif
