#include "../half/declarations.h"
/* Products of matrices of FLOAT32 or FLOAT16, added up in FLOAT32. */
enum { DML_PRODUCT_RANK = 6 };
/* A factor, or the result; strides are in bytes. `batch` has those of the dimensions before the last two. */
typedef struct {
    uintptr_t memory;
    int64_t batch[6], row, column;
    int32_t is_half;
} dml_matrix;

/* `out` = `a` x `b`, for each element of the `rank` leading dimensions. Elements of `out` are FLOAT32, in rows next to
   each other; all are aligned, and sizes at least 1. `row_block` and `column_block` are what is computed at a time. */
typedef struct {
    int64_t rows, columns, depth;
    int32_t rank;
    int64_t sizes[6];
    dml_matrix a, b, out;
    int64_t row_block, column_block, units;
} dml_products;
void dml_product_prepare(dml_products *task);
void dml_product_run(const dml_products *task);
