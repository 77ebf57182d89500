/* Reductions. SUM to MAX as in REDUCE; the functions of the ARG kind count the elements of the reduced dimensions in
   row-major order and take the first of equals, those named LAST the last. */
enum {
    DML_REDUCE_SUM,
    DML_REDUCE_AVERAGE,
    DML_REDUCE_L1,
    DML_REDUCE_L2,
    DML_REDUCE_SUM_SQUARE,
    DML_REDUCE_LOG_SUM,
    DML_REDUCE_LOG_SUM_EXP,
    DML_REDUCE_MULTIPLY,
    DML_REDUCE_MIN,
    DML_REDUCE_MAX,
    DML_REDUCE_ARGMIN,
    DML_REDUCE_ARGMAX,
    DML_REDUCE_ARGMIN_LAST,
    DML_REDUCE_ARGMAX_LAST
};
enum {
    DML_REDUCE_FLOAT16,
    DML_REDUCE_FLOAT32,
    DML_REDUCE_INT8,
    DML_REDUCE_INT16,
    DML_REDUCE_INT32,
    DML_REDUCE_INT64,
    DML_REDUCE_UINT8,
    DML_REDUCE_UINT16,
    DML_REDUCE_UINT32,
    DML_REDUCE_UINT64
};
/* A reduction as it is run. Dimensions begin with the innermost; there is at least one of each kind. */
typedef struct {
    int32_t function, type, output_type, fold, computed_type, state_type;
    int32_t rows;
    int32_t kept_rank, reduced_rank;
    uint64_t identity;
    int64_t kept_sizes[8], kept_inputs[8], kept_outputs[8];
    int64_t reduced_sizes[8], reduced_inputs[8];
    int64_t count;
    int64_t block, blocks, units, pieces;
    int64_t bytes;
    uintptr_t input, output;
} dml_reduce;
/* Strides are in bytes and may be negative or 0; `axes` has a bit for each reduced dimension, whose output stride does
   not matter. Returns 0 if there are no loops for the combination. */
int dml_reduce_prepare(dml_reduce *task, int function, int type, int output_type, int rank, const int64_t *sizes,
                       const int64_t *input_strides, const int64_t *output_strides, uint32_t axes, uintptr_t input,
                       uintptr_t output);
void dml_reduce_run(const dml_reduce *task);
