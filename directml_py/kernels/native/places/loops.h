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

#undef DML_PLACES_MODE
#define DML_PLACES_MODE(mode)                                                                                          \
    {LOOP(places_u32_##mode), LOOP(places_i32_##mode), LOOP(places_u64_##mode), LOOP(places_i64_##mode)}
static const dml_places_table LOOP(places_table) = {
    .add = {DML_PLACES_MODE(clamped), DML_PLACES_MODE(exact), DML_PLACES_MODE(reversed)},
    .write = {LOOP(places_write_1), LOOP(places_write_2), LOOP(places_write_4), LOOP(places_write_8),
              LOOP(places_write_16)},
};
