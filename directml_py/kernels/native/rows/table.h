/* What the loops of rows are called with: where the tensors' elements of a row begin. */
typedef void (*dml_rows_loop)(const dml_rows *task, char *const *places);

typedef struct {
    dml_rows_loop floats, halves;
} dml_rows_table;
