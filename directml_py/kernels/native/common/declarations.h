const char *dml_chosen_loops(void);
void dml_use_baseline_loops(void);
void dml_set_threads(int count);
int dml_get_threads(void);

/* A dimension of two layouts that are gone through together: strides are in bytes. */
typedef struct {
    int64_t size, output, input;
} dml_dimension;
