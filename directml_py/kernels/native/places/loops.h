/* Coordinates become offsets, and elements are written there. */

#undef DML_NOWHERE
/* No offset of an element, nor the sum of one and itself. */
#define DML_NOWHERE (INT64_MIN / 2)

#undef DML_PLACES_ADD
/* `T`: the indices' type; `WIDE`: one that has all of it. Offsets that are nowhere stay so: what is added to them is
   less than half of what there is. */
#define DML_PLACES_ADD(NAME, T, WIDE, SIGNED)                                                                          \
    DML_INLINE void LOOP(NAME##_as)(const dml_places_line *line, const int mode, const int64_t stride)                 \
    {                                                                                                                  \
        const WIDE size = (WIDE)line->size;                                                                            \
        const int64_t step = line->step, own = line->own, own_step = line->own_step, count = line->count;              \
        const char *restrict indices = line->indices;                                                                  \
        int64_t *restrict offsets = line->offsets;                                                                              \
        for (int64_t i = 0; i < count; i++) {                                                                          \
            T index;                                                                                                   \
            memcpy(&index, indices + i * stride, sizeof index);                                                        \
            WIDE place = (WIDE)index;                                                                                  \
            if (mode == DML_PLACES_REVERSED) {                                                                         \
                WIDE at = (WIDE)(own + i * own_step);                                                                  \
                place = place < size ? place : size;                                                                   \
                offsets[i] += (int64_t)(at < place ? place - 1 - at : at) * step;                                      \
            } else if (mode == DML_PLACES_CLAMPED) {                                                                   \
                if (SIGNED) {                                                                                          \
                    WIDE turned = place < (WIDE)0 - size ? 0 : place + size;                                           \
                    place = place < 0 ? turned : place;                                                                \
                }                                                                                                      \
                place = place < size ? place : size - 1;                                                               \
                offsets[i] += (int64_t)place * step;                                                                   \
            } else {                                                                                                   \
                if (SIGNED)                                                                                            \
                    place = place < 0 && place >= (WIDE)0 - size ? place + size : place;                               \
                int64_t there = offsets[i] + (int64_t)((SIGNED && place < 0) || place >= size ? 0 : place) * step;     \
                offsets[i] = (SIGNED && place < 0) || place >= size || offsets[i] == DML_NOWHERE ? DML_NOWHERE : there; \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    DML_INLINE void LOOP(NAME##_mode)(const dml_places_line *line, const int mode)                                     \
    {                                                                                                                  \
        if (line->stride == (int64_t)sizeof(T))                                                                        \
            LOOP(NAME##_as)(line, mode, sizeof(T));                                                                    \
        else                                                                                                           \
            LOOP(NAME##_as)(line, mode, line->stride);                                                                 \
    }                                                                                                                  \
    static void LOOP(NAME##_clamped)(const dml_places_line *line)                                                      \
    {                                                                                                                  \
        LOOP(NAME##_mode)(line, DML_PLACES_CLAMPED);                                                                   \
    }                                                                                                                  \
    static void LOOP(NAME##_exact)(const dml_places_line *line)                                                        \
    {                                                                                                                  \
        LOOP(NAME##_mode)(line, DML_PLACES_EXACT);                                                                     \
    }                                                                                                                  \
    static void LOOP(NAME##_reversed)(const dml_places_line *line)                                                     \
    {                                                                                                                  \
        LOOP(NAME##_mode)(line, DML_PLACES_REVERSED);                                                                  \
    }
DML_PLACES_ADD(places_u32, uint32_t, int64_t, 0)
DML_PLACES_ADD(places_i32, int32_t, int64_t, 1)
DML_PLACES_ADD(places_u64, uint64_t, uint64_t, 0)
DML_PLACES_ADD(places_i64, int64_t, int64_t, 1)

DML_INLINE void LOOP(places_write)(char *array, const int64_t *offsets, const char *values, int64_t step, int64_t count,
                                   const int64_t item)
{
    for (int64_t i = 0; i < count; i++) {
#if defined(__x86_64__)
        if (i + 24 < count && offsets[i + 24] != DML_NOWHERE)
            __builtin_prefetch(array + offsets[i + 24], 1);
#endif
        if (offsets[i] != DML_NOWHERE)
            memcpy(array + offsets[i], values + i * step, (size_t)item);
    }
}

#define DML_ITEM(item)                                                                                                 \
    static void LOOP(places_write_##item)(char *array, const int64_t *offsets, const char *values, int64_t step,       \
                                          int64_t count)                                                               \
    {                                                                                                                  \
        if (step == item)                                                                                              \
            LOOP(places_write)(array, offsets, values, item, count, item);                                             \
        else                                                                                                           \
            LOOP(places_write)(array, offsets, values, step, count, item);                                             \
    }
DML_ITEM(1)
DML_ITEM(2)
DML_ITEM(4)
DML_ITEM(8)
DML_ITEM(16)
#undef DML_ITEM

static void LOOP(places_write_rows)(char *array, const int64_t *offsets, const char *values, int64_t step, int64_t count,
                                    int64_t bytes, int stream)
{
    for (int64_t i = 0; i < count; i++, values += step) {
#if defined(__x86_64__)
        /* Of the rows some are for other threads, so that the processor does not see where the next one is. */
        if (i + 16 < count && offsets[i + 16] != DML_NOWHERE) {
            LOOP(prefetch_row)(values + 16 * step, bytes);
            if (!stream)
                LOOP(prefetch_row)(array + offsets[i + 16], bytes);
        }
#endif
        if (offsets[i] == DML_NOWHERE)
            continue;
        if (stream)
            LOOP(stream_bytes)(array + offsets[i], values, bytes, values + step);
        else
            LOOP(copy_bytes)(array + offsets[i], values, bytes);
    }
}

#undef DML_BY_FOUR
#if defined(__clang__)
#define DML_BY_FOUR _Pragma("clang loop unroll_count(4)")
#else
#define DML_BY_FOUR _Pragma("GCC unroll 4")
#endif

/* Most indices are within their axis, and not negative: of the others a branch takes care. */
#undef DML_PLACES_SINGLE
#define DML_PLACES_SINGLE(NAME, T, SIGNED, ITEM)                                                                       \
    DML_INLINE void LOOP(NAME##_##ITEM##_as)(const dml_places_single *task, const int mode, const int64_t stride,      \
                                             const int64_t step, const int64_t own)                                    \
    {                                                                                                                  \
        const uint64_t size = (uint64_t)task->line.size, at = (uint64_t)task->line.own;                                \
        const int64_t count = task->line.count, values_step = task->values_step;                                       \
        const char *indices = task->line.indices;                                                                      \
        char *array = task->array, *values = task->values;                                                             \
        DML_BY_FOUR for (int64_t i = 0; i < count; i++)                                                                \
        {                                                                                                              \
            T index;                                                                                                   \
            memcpy(&index, indices + i * stride, sizeof index);                                                        \
            uint64_t place = (uint64_t)index;                                                                          \
            if (mode == DML_PLACES_REVERSED) {                                                                         \
                if (SIGNED && index < (T)0)                                                                            \
                    place = 0;                                                                                         \
                place = place < size ? place : size;                                                                   \
                place = at < place ? place - 1 - at : at;                                                              \
            } else {                                                                                                   \
                if (__builtin_expect(place >= size, 0)) {                                                              \
                    if (SIGNED && index < (T)0)                                                                        \
                        place += size;                                                                                 \
                    if (place >= size && mode == DML_PLACES_EXACT)                                                     \
                        continue;                                                                                      \
                    if (place >= size)                                                                                 \
                        place = SIGNED && index < (T)0 ? 0 : size - 1;                                                 \
                }                                                                                                      \
            }                                                                                                          \
            char *there = array + i * own + (int64_t)place * step;                                                     \
            if (mode == DML_PLACES_EXACT)                                                                              \
                memcpy(there, values + i * values_step, ITEM);                                                         \
            else                                                                                                       \
                memcpy(values + i * values_step, there, ITEM);                                                         \
        }                                                                                                              \
    }                                                                                                                  \
    DML_INLINE void LOOP(NAME##_##ITEM##_mode)(const dml_places_single *task, const int mode)                          \
    {                                                                                                                  \
        if (task->line.stride == (int64_t)sizeof(T) && task->line.step == ITEM && task->own == 0)                      \
            LOOP(NAME##_##ITEM##_as)(task, mode, sizeof(T), ITEM, 0);                                                  \
        else                                                                                                           \
            LOOP(NAME##_##ITEM##_as)(task, mode, task->line.stride, task->line.step, task->own);                       \
    }                                                                                                                  \
    static void LOOP(NAME##_##ITEM##_clamped)(const dml_places_single *task)                                           \
    {                                                                                                                  \
        LOOP(NAME##_##ITEM##_mode)(task, DML_PLACES_CLAMPED);                                                          \
    }                                                                                                                  \
    static void LOOP(NAME##_##ITEM##_exact)(const dml_places_single *task)                                             \
    {                                                                                                                  \
        LOOP(NAME##_##ITEM##_mode)(task, DML_PLACES_EXACT);                                                            \
    }                                                                                                                  \
    static void LOOP(NAME##_##ITEM##_reversed)(const dml_places_single *task)                                          \
    {                                                                                                                  \
        LOOP(NAME##_##ITEM##_as)(task, DML_PLACES_REVERSED, task->line.stride, task->line.step, task->own);            \
    }
#undef DML_PLACES_ITEMS
#define DML_PLACES_ITEMS(NAME, T, SIGNED)                                                                              \
    DML_PLACES_SINGLE(NAME, T, SIGNED, 1)                                                                              \
    DML_PLACES_SINGLE(NAME, T, SIGNED, 2)                                                                              \
    DML_PLACES_SINGLE(NAME, T, SIGNED, 4)                                                                              \
    DML_PLACES_SINGLE(NAME, T, SIGNED, 8)
DML_PLACES_ITEMS(single_u32, uint32_t, 0)
DML_PLACES_ITEMS(single_i32, int32_t, 1)
DML_PLACES_ITEMS(single_u64, uint64_t, 0)
DML_PLACES_ITEMS(single_i64, int64_t, 1)

#undef DML_SINGLE_TYPE
#undef DML_SINGLE_MODE
#define DML_SINGLE_TYPE(type, mode)                                                                                    \
    {LOOP(single_##type##_1_##mode), LOOP(single_##type##_2_##mode), LOOP(single_##type##_4_##mode),                   \
     LOOP(single_##type##_8_##mode)}
#define DML_SINGLE_MODE(mode)                                                                                          \
    {DML_SINGLE_TYPE(u32, mode), DML_SINGLE_TYPE(i32, mode), DML_SINGLE_TYPE(u64, mode), DML_SINGLE_TYPE(i64, mode)}
#undef DML_PLACES_MODE
#define DML_PLACES_MODE(mode)                                                                                          \
    {LOOP(places_u32_##mode), LOOP(places_i32_##mode), LOOP(places_u64_##mode), LOOP(places_i64_##mode)}
static const dml_places_table LOOP(places_table) = {
    .add = {DML_PLACES_MODE(clamped), DML_PLACES_MODE(exact), DML_PLACES_MODE(reversed)},
    .single_clamped = DML_SINGLE_MODE(clamped),
    .single_exact = DML_SINGLE_MODE(exact),
    .single_reversed = DML_SINGLE_MODE(reversed),
    .write_rows = LOOP(places_write_rows),
    .write = {LOOP(places_write_1), LOOP(places_write_2), LOOP(places_write_4), LOOP(places_write_8),
              LOOP(places_write_16)},
};
