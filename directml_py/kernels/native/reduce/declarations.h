#pragma once
#include "../common/declarations.h"
#include "../half/declarations.h"

/* The functions of REDUCE. Those of the ARG kind count the elements of the reduced dimensions in row-major order; of
   equal elements they take the first, or the last where they are named LAST. */
enum {
    DML_FUNCTION_SUM,
    DML_FUNCTION_AVERAGE,
    DML_FUNCTION_L1,
    DML_FUNCTION_L2,
    DML_FUNCTION_SUM_SQUARE,
    DML_FUNCTION_LOG_SUM,
    DML_FUNCTION_LOG_SUM_EXP,
    DML_FUNCTION_MULTIPLY,
    DML_FUNCTION_MIN,
    DML_FUNCTION_MAX,
    DML_FUNCTION_ARGMIN,
    DML_FUNCTION_ARGMAX,
    DML_FUNCTION_ARGMIN_LAST,
    DML_FUNCTION_ARGMAX_LAST
};
/* The plan of a reduction, which dml_reduce_prepare makes of its arguments. Dimensions begin with the
   innermost; there is at least one kept and one reduced dimension. */
typedef struct {
    int32_t function, type, output_type, fold, computed_type, state_type;
    int32_t rows, across, gathers;
    int32_t kept_rank, reduced_rank;
    uint64_t identity;
    dml_dimension kept[DML_MAX_DIMENSIONS], reduced[DML_MAX_DIMENSIONS];
    int64_t count;
    int64_t block, blocks, units, pieces;
    int64_t bytes;
    uintptr_t input, output;
} dml_reduce;
/* Strides are in bytes and may be negative or 0; `axes` has a bit for each reduced dimension, whose output stride
   does not matter. Returns 0 if there is no kernel for the combination. */
int dml_reduce_prepare(dml_reduce *task, int function, int type, int output_type, int rank, const int64_t *sizes,
                       const int64_t *input_strides, const int64_t *output_strides, uint32_t axes, uintptr_t input,
                       uintptr_t output);
/* Lets a reduction that was prepared for packed rows read the same rows where they lie, as two kept and two reduced
   dimensions, the innermost ones first. Rows that lie side by side are added up `across`; each other row, whose lines
   have gaps between them, is packed in the cache first. Returns 0 if no kernel would add up in the order of packed
   rows. */
int dml_reduce_lay(dml_reduce *task, const dml_dimension *kept, const dml_dimension *reduced);
void dml_reduce_run(const dml_reduce *task);
