const char *dml_chosen_loops(void);
/* Chooses the loops for a kind of processor, the best for NULL; gives 0 if there are none, or this processor cannot
   run them. While they are chosen none may run. */
int dml_use_loops(const char *kind);
void dml_use_baseline_loops(void);
void dml_set_threads(int count);
int dml_get_threads(void);

/* A dimension of two layouts that are gone through together: strides are in bytes. */
typedef struct {
    int64_t size, output, input;
} dml_dimension;
