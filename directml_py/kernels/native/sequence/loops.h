/* Elements from their numbers, a block at a time. */

#undef DML_SEQUENCE_INTEGERS
#define DML_SEQUENCE_INTEGERS(NAME, T)                                                                                 \
    static void LOOP(NAME)(void *elements, uint64_t first, uint64_t delta, int64_t count)                              \
    {                                                                                                                  \
        T *restrict items = elements;                                                                                  \
        const T from = (T)first, by = (T)delta;                                                                        \
        for (int32_t i = 0; i < (int32_t)count; i++)                                                                   \
            items[i] = (T)(from + (T)((T)i * by));                                                                     \
    }
DML_SEQUENCE_INTEGERS(sequence_8, uint8_t)
DML_SEQUENCE_INTEGERS(sequence_16, uint16_t)
DML_SEQUENCE_INTEGERS(sequence_32, uint32_t)
DML_SEQUENCE_INTEGERS(sequence_64, uint64_t)

/* Products are stored first, so that no compiler makes one operation, which rounds once, of the product and the sum. */
#undef DML_SEQUENCE_FLOATS
#define DML_SEQUENCE_FLOATS(NAME, T)                                                                                   \
    static void LOOP(NAME)(void *elements, double first, double start, double delta, int64_t count)                    \
    {                                                                                                                  \
        T products[DML_SEQUENCE_BLOCK], *restrict items = elements;                                                    \
        const T from = (T)start, by = (T)delta;                                                                        \
        for (int32_t i = 0; i < (int32_t)count; i++)                                                                   \
            products[i] = (T)(first + (double)i) * by;                                                                 \
        for (int32_t i = 0; i < (int32_t)count; i++)                                                                   \
            items[i] = products[i] + from;                                                                             \
    }
DML_SEQUENCE_FLOATS(sequence_f32, float)
DML_SEQUENCE_FLOATS(sequence_f64, double)

static void LOOP(sequence_f16)(void *elements, double first, double start, double delta, int64_t count)
{
    float wide[DML_SEQUENCE_BLOCK];
    LOOP(sequence_f32)(wide, first, start, delta, count);
    LOOP(map_store_f16)(elements, wide, count);
}

static const dml_sequence_table LOOP(sequence_table) = {
    .integers = {LOOP(sequence_8), LOOP(sequence_16), LOOP(sequence_32), LOOP(sequence_64)},
    .floats = {NULL, LOOP(sequence_f16), LOOP(sequence_f32), LOOP(sequence_f64)},
};
