/* What is read after a row, and how many bytes of it to fetch for each element: 0 if it is in a cache anyway. */
typedef struct {
    const char *place;
    int64_t size;
} dml_rows_next;

/* What the loops of rows are called with: where the tensors' elements of a row begin, and whether what lies behind its
   input is to be fetched. */
typedef void (*dml_rows_loop)(const dml_rows *task, char *const *places, int fetches);

typedef struct {
    dml_rows_loop floats, halves;
} dml_rows_table;

/* As FLOAT16 has it. */
static inline double dml_rows_half(double value)
{
    return (double)dml_float_of_half(dml_half_of_float((float)value));
}

static inline double dml_rows_factor(float variance, double epsilon, float scale)
{
    return 1.0 / sqrt((double)variance + epsilon) * (double)scale;
}

static inline dml_rows_channel dml_rows_channel_by(float mean, double factor, float shift, int32_t relu)
{
    int is_short = fabs((double)mean) <= 0x1p100 && fabs(factor) >= 0x1p-100 && fabs(factor) <= 0x1p100;
    return (dml_rows_channel){factor, mean, shift, (float)factor, is_short, relu};
}

/* Before channels of this run are normalized; whether FLOAT32 does for all of them. */
static inline int dml_rows_prepare(const dml_rows_given *given)
{
    dml_rows_channel *channels = (dml_rows_channel *)given->prepared;
    int is_short = 1;
    for (int64_t i = 0; channels && i < given->channels; i++) {
        float numbers[4];
        for (int k = 0; k < 4; k++)
            numbers[k] = *(const float *)(given->memory[k] + (uintptr_t)(i * given->strides[k]));
        channels[i] = dml_rows_channel_by(numbers[0], dml_rows_factor(numbers[1], given->epsilon, numbers[2]),
                                          numbers[3], given->relu);
        is_short &= channels[i].is_short;
    }
    return is_short;
}

/* NULL if there is nothing to do. */
static inline const dml_rows_channel *dml_rows_channel_of(const dml_rows_given *given, int64_t channel)
{
    return given->prepared ? (const dml_rows_channel *)given->prepared + channel : NULL;
}
