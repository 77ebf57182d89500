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

/* A task of a loop, at `task`, and the number of the function that runs it; of DML_LAUNCH_MOVE there are `count`. */
enum {
    DML_LAUNCH_RESAMPLE,
    DML_LAUNCH_BYTE_ROW,
    DML_LAUNCH_CONV,
    DML_LAUNCH_REDUCE,
    DML_LAUNCH_ELEMENTWISE,
    DML_LAUNCH_MOVE,
    DML_LAUNCH_GATHER,
    DML_LAUNCH_GATHER_SCATTER_ND,
    DML_LAUNCH_MATMUL,
    DML_LAUNCH_SOFTMAX_NORM,
    DML_LAUNCH_SCAN,
    DML_LAUNCH_DEPTHWISE_POOL,
    DML_LAUNCH_TOP_K
};
typedef struct {
    uintptr_t task;
    int64_t function, count;
} dml_launch;
/* Gives how many have run: others are left when it has taken so long that somebody may want to interrupt it. */
int64_t dml_run_launches(const dml_launch *turns, int64_t count);
