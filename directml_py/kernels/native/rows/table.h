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

static inline const float *dml_rows_given_at(const dml_rows_given *given, int which, int64_t channel)
{
    return (const float *)(given->memory[which] + (uintptr_t)(channel * given->strides[which]));
}

/* What normalizes a channel: (x - mean) * factor + shift. */
typedef struct {
    double mean, factor, shift;
    int32_t is_there, relu;
} dml_rows_channel;

static inline dml_rows_channel dml_rows_channel_of(const dml_rows_given *given, int64_t channel)
{
    if (!given->factors)
        return (dml_rows_channel){.is_there = 0};
    return (dml_rows_channel){*dml_rows_given_at(given, 0, channel), ((const double *)given->factors)[channel],
                              *dml_rows_given_at(given, 3, channel), 1, given->relu};
}

/* Before rows of this run are shifted. */
static inline void dml_rows_find_factors(const dml_rows_given *given)
{
    double *factors = (double *)given->factors;
    for (int64_t i = 0; factors && i < given->channels; i++)
        factors[i] = 1.0 / sqrt((double)*dml_rows_given_at(given, 1, i) + given->epsilon) *
                     (double)*dml_rows_given_at(given, 2, i);
}
