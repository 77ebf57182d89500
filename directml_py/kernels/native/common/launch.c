/* Launches: kernels that run one after the other. Between two calls from Python, the interpreter's data would be loaded
   from memory again: by the end of a node, its tensors have filled the caches. */

#include "../context.h"
#include "clock.h"
#include "declarations.h"

/* Python's handlers of signals may have to wait this long. */
#define DML_LAUNCH_NANOSECONDS 20000000

#define DML_LAUNCH(NUMBER, RUN)                                                                                        \
    case DML_LAUNCH_##NUMBER:                                                                                          \
        RUN(task);                                                                                                     \
        break;

static void dml_run_launch(const dml_launch *launch)
{
    void *task = (void *)launch->task;
    switch ((enum dml_launch_number)launch->kernel) {
        DML_LAUNCH(ADAM_CORRECTION_RUN, dml_adam_correction_run)
        DML_LAUNCH(CONV_RUN, dml_conv_run)
        DML_LAUNCH(DEPTHWISE_POOL_RUN, dml_depthwise_pool_run)
        DML_LAUNCH(DEPTHWISE_POOL_ADD, dml_depthwise_pool_add)
        DML_LAUNCH(ELEMENTWISE_RUN, dml_elementwise_run)
        DML_LAUNCH(FILL_RUN, dml_fill_run)
        DML_LAUNCH(GATHER_SCATTER_ND_RUN, dml_gather_scatter_nd_run)
        DML_LAUNCH(MATMUL_RUN, dml_matmul_run)
        DML_LAUNCH(INT8_GEMV_RUN, dml_int8_gemv_run)
        DML_LAUNCH(ATTENTION_RUN, dml_attention_run)
        DML_LAUNCH(PREPACK_RUN, dml_prepack_run)
        DML_LAUNCH(RECURRENT_RUN, dml_recurrent_run)
        DML_LAUNCH(REDUCE_RUN, dml_reduce_run)
        DML_LAUNCH(RESAMPLE_RUN, dml_resample_run)
        DML_LAUNCH(SCAN_RUN, dml_scan_run)
        DML_LAUNCH(SOFTMAX_NORM_RUN, dml_softmax_norm_run)
        DML_LAUNCH(TOP_K_RUN, dml_top_k_run)
    case DML_LAUNCH_MOVE_RUN:
        dml_move_run(task, launch->count);
        break;
    }
}
#undef DML_LAUNCH

int64_t dml_run_launches(const dml_launch *launches, int64_t count)
{
    int64_t until = dml_nanoseconds() + DML_LAUNCH_NANOSECONDS, i = 0;
    do
        dml_run_launch(launches + i++);
    while (i < count && dml_nanoseconds() < until);
    return i;
}
