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

/* Memory holds no more elements than FLOAT64 has integers. The products are stored first, so that no compiler makes one
   operation, which rounds once, of the product and the sum. */
DML_INLINE void LOOP(sequence_products)(double *restrict products, double number, double delta, int64_t count)
{
    for (int32_t i = 0; i < (int32_t)count; i++)
        products[i] = (number + (double)i) * delta;
}

static void LOOP(sequence_f64)(void *elements, double number, double start, double delta, int64_t count)
{
    double products[DML_SEQUENCE_BLOCK], *restrict items = elements;
    LOOP(sequence_products)(products, number, delta, count);
    for (int64_t i = 0; i < count; i++)
        items[i] = products[i] + start;
}

static void LOOP(sequence_f32)(void *elements, double number, double start, double delta, int64_t count)
{
    double products[DML_SEQUENCE_BLOCK];
    float *restrict items = elements;
    LOOP(sequence_products)(products, number, delta, count);
    for (int64_t i = 0; i < count; i++)
        items[i] = (float)(products[i] + start);
}

static void LOOP(sequence_f16)(void *elements, double number, double start, double delta, int64_t count)
{
    double wide[DML_SEQUENCE_BLOCK];
    LOOP(sequence_f64)(wide, number, start, delta, count);
    LOOP(map_store_wide_f16)(elements, wide, count);
}

static const dml_sequence_table LOOP(sequence_table) = {
    .integers = {LOOP(sequence_8), LOOP(sequence_16), LOOP(sequence_32), LOOP(sequence_64)},
    .floats = {NULL, LOOP(sequence_f16), LOOP(sequence_f32), LOOP(sequence_f64)},
};
