/* A copy between two memory layouts of the same sizes, as dml_copy_prepare understood it. The last two dimensions are
   the ones that the loops know; there are always at least two. */
typedef struct {
    int64_t sizes[8], output_strides[8], input_strides[8];
    uintptr_t output, input;
    int64_t item;
    int rank, kind;
    /* The work in equal portions, which threads share: whole rows, pieces of long rows, or blocks of a plane. */
    int64_t units, pieces, bytes;
} dml_copy;

/* Strides are in bytes; those of the input may be negative or 0. Items have 1, 2, 4 or 8 bytes; rank is at most 8.
   Input and output are either apart or the very same elements. */
void dml_copy_prepare(dml_copy *task, int64_t item, int rank, const int64_t *sizes, const int64_t *output_strides,
                      const int64_t *input_strides, uintptr_t output, uintptr_t input);
void dml_copy_run(const dml_copy *tasks, int64_t count);
