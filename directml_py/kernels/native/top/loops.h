/* The first few of a row: each block of it is looked at as a whole, and seldom has one that comes before the last of
   those that are kept. */

#undef DML_TOP_LOOPS
#undef DML_TOP_BITS
#undef DML_TOP_FLIPPED
#undef DML_TOP_PAIR
#undef DML_TOP_FLOATS

/* `T`: elements; `KEY`: integers `K` that increase where elements come one after another. */
#define DML_TOP_LOOPS(NAME, T, K, KEY)                                                                                 \
    DML_INLINE void LOOP(NAME##_keys)(K *keys, const char *row, int64_t size)                                          \
    {                                                                                                                  \
        for (int64_t j = 0; j < size; j++) {                                                                           \
            T element;                                                                                                 \
            memcpy(&element, row + j * (int64_t)sizeof(T), sizeof element);                                            \
            keys[j] = (K)KEY(element);                                                                                 \
        }                                                                                                              \
    }                                                                                                                  \
    /* Puts a key in its place among those that are kept, of which there are `many`. */                                \
    DML_INLINE void LOOP(NAME##_keep)(K *kept, int64_t *found, int64_t many, K key, int64_t index)                     \
    {                                                                                                                  \
        for (; many > 0 && key < kept[many - 1]; many--) {                                                             \
            kept[many] = kept[many - 1];                                                                               \
            found[many] = found[many - 1];                                                                             \
        }                                                                                                              \
        kept[many] = key;                                                                                              \
        found[many] = index;                                                                                           \
    }                                                                                                                  \
    static void LOOP(NAME)(const char *row, int64_t length, int64_t count, int64_t *found)                             \
    {                                                                                                                  \
        enum { BLOCK = 64 };                                                                                           \
        const K most = (K)-1 > (K)0 ? (K)-1 : (K)(((uint64_t)1 << (8 * sizeof(K) - 1)) - 1), least = (K)~most;         \
        K kept[DML_TOP_MOST], keys[BLOCK], lanes[BLOCK], bound = most;                                                 \
        int64_t many = 0;                                                                                              \
        /* Of the least keys of BLOCK parts as many as are asked for are at most `bound`, as is all that comes first. */\
        if (length >= 2 * BLOCK) {                                                                                     \
            for (int j = 0; j < BLOCK; j++)                                                                            \
                lanes[j] = most;                                                                                       \
            for (int64_t i = 0; i + BLOCK <= length; i += BLOCK) {                                                     \
                LOOP(NAME##_keys)(keys, row + i * (int64_t)sizeof(T), BLOCK);                                          \
                for (int j = 0; j < BLOCK; j++)                                                                        \
                    lanes[j] = keys[j] < lanes[j] ? keys[j] : lanes[j];                                                \
            }                                                                                                          \
            for (int j = 0; j < BLOCK; j++)                                                                            \
                if (many < count || lanes[j] < kept[count - 1])                                                        \
                    LOOP(NAME##_keep)(kept, found, many < count ? many++ : count - 1, lanes[j], j);                    \
            bound = kept[count - 1];                                                                                   \
            many = 0;                                                                                                  \
        }                                                                                                              \
        for (int64_t i = 0, size; i < length; i += size) {                                                             \
            uint8_t chosen[BLOCK];                                                                                     \
            K lowest = most;                                                                                           \
            int hits = 0;                                                                                              \
            size = length - i < BLOCK ? length - i : BLOCK;                                                            \
            if (size == BLOCK) {                                                                                       \
                LOOP(NAME##_keys)(keys, row + i * (int64_t)sizeof(T), BLOCK);                                          \
                for (int j = 0; j < BLOCK; j++)                                                                        \
                    lowest = keys[j] < lowest ? keys[j] : lowest;                                                      \
                if (lowest > bound)                                                                                    \
                    continue;                                                                                          \
            } else {                                                                                                   \
                LOOP(NAME##_keys)(keys, row + i * (int64_t)sizeof(T), size);                                           \
            }                                                                                                          \
            for (int j = 0; j < (int)size; j++) {                                                                      \
                chosen[hits] = (uint8_t)j;                                                                             \
                hits += keys[j] <= bound;                                                                              \
            }                                                                                                          \
            for (int k = 0; k < hits; k++) {                                                                           \
                K key = keys[chosen[k]];                                                                               \
                if (key > bound)                                                                                       \
                    continue;                                                                                          \
                LOOP(NAME##_keep)(kept, found, many < count ? many++ : count - 1, key, i + chosen[k]);                 \
                if (many < count)                                                                                      \
                    continue;                                                                                          \
                /* Equal ones come too late. */                                                                        \
                if (kept[count - 1] == least)                                                                          \
                    return;                                                                                            \
                bound = (K)(kept[count - 1] - 1);                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }

/* Bits of floats, of zeros without their sign, as integers that increase with them; NaN behind all in both
   directions. */
#define DML_TOP_FLOATS(NAME, T, K, SIGN, INFINITE)                                                                     \
    DML_INLINE K LOOP(NAME##_key)(T bits, const int decreasing)                                                        \
    {                                                                                                                  \
        T magnitude = bits & (T)~SIGN;                                                                                 \
        K key = (K)((bits & SIGN) != 0 ? (K)0 - (K)magnitude : (K)magnitude);                                          \
        key = decreasing ? (K)0 - key : key;                                                                           \
        return magnitude > INFINITE ? (K)(~SIGN) : key;                                                                \
    }                                                                                                                  \
    DML_INLINE K LOOP(NAME##_up)(T bits)                                                                               \
    {                                                                                                                  \
        return LOOP(NAME##_key)(bits, 0);                                                                              \
    }                                                                                                                  \
    DML_INLINE K LOOP(NAME##_down)(T bits)                                                                             \
    {                                                                                                                  \
        return LOOP(NAME##_key)(bits, 1);                                                                              \
    }                                                                                                                  \
    DML_TOP_LOOPS(NAME##_increasing, T, K, LOOP(NAME##_up))                                                            \
    DML_TOP_LOOPS(NAME##_decreasing, T, K, LOOP(NAME##_down))

#define DML_TOP_FLIPPED(value) (~(value))
#define DML_TOP_PAIR(NAME, T, K)                                                                                       \
    DML_TOP_LOOPS(NAME##_increasing, T, K, )                                                                           \
    DML_TOP_LOOPS(NAME##_decreasing, T, K, DML_TOP_FLIPPED)

DML_TOP_FLOATS(top_f16, uint16_t, int16_t, 0x8000u, 0x7c00u)
DML_TOP_FLOATS(top_f32, uint32_t, int32_t, 0x80000000u, 0x7f800000u)
DML_TOP_FLOATS(top_f64, uint64_t, int64_t, 0x8000000000000000u, 0x7ff0000000000000u)
DML_TOP_PAIR(top_i8, int8_t, int8_t)
DML_TOP_PAIR(top_i16, int16_t, int16_t)
DML_TOP_PAIR(top_i32, int32_t, int32_t)
DML_TOP_PAIR(top_i64, int64_t, int64_t)
DML_TOP_PAIR(top_u8, uint8_t, uint8_t)
DML_TOP_PAIR(top_u16, uint16_t, uint16_t)
DML_TOP_PAIR(top_u32, uint32_t, uint32_t)
DML_TOP_PAIR(top_u64, uint64_t, uint64_t)

#undef DML_TOP_ENTRY
#define DML_TOP_ENTRY(TYPE) {LOOP(top_##TYPE##_increasing), LOOP(top_##TYPE##_decreasing)}
static const dml_top_table LOOP(top_table) = {
    .find = {DML_TOP_ENTRY(f16), DML_TOP_ENTRY(f32), DML_TOP_ENTRY(f64), DML_TOP_ENTRY(i8), DML_TOP_ENTRY(i16),
             DML_TOP_ENTRY(i32), DML_TOP_ENTRY(i64), DML_TOP_ENTRY(u8), DML_TOP_ENTRY(u16), DML_TOP_ENTRY(u32),
             DML_TOP_ENTRY(u64)},
};
