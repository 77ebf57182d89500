/* Launches: kernels that run one after the other. Between two calls from Python, the interpreter's data would be loaded
   from memory again: by the end of a node, its tensors have filled the caches. */

#include "../context.h"
#include "clock.h"
#include "declarations.h"

/* Python's handlers of signals may have to wait this long. */
#define DML_LAUNCH_NANOSECONDS 20000000

static void dml_run_launch(const dml_launch *launch)
{
    void *task = (void *)launch->task;
    switch ((enum dml_launch_number)launch->kernel) {
    case DML_LAUNCH_CONV_RUN:
        dml_conv_run(task);
        break;
    case DML_LAUNCH_DEPTHWISE_POOL_RUN:
        dml_depthwise_pool_run(task);
        break;
    case DML_LAUNCH_DEPTHWISE_POOL_ADD:
        dml_depthwise_pool_add(task);
        break;
    case DML_LAUNCH_ELEMENTWISE_RUN:
        dml_elementwise_run(task);
        break;
    case DML_LAUNCH_GATHER_RUN:
        dml_gather_run(task);
        break;
    case DML_LAUNCH_GATHER_SCATTER_ND_RUN:
        dml_gather_scatter_nd_run(task);
        break;
    case DML_LAUNCH_MATMUL_RUN:
        dml_matmul_run(task);
        break;
    case DML_LAUNCH_INT8_GEMV_RUN:
        dml_int8_gemv_run(task);
        break;
    case DML_LAUNCH_ATTENTION_RUN:
        dml_attention_run(task);
        break;
    case DML_LAUNCH_REDUCE_RUN:
        dml_reduce_run(task);
        break;
    case DML_LAUNCH_RESAMPLE_RUN:
        dml_resample_run(task);
        break;
    case DML_LAUNCH_SCAN_RUN:
        dml_scan_run(task);
        break;
    case DML_LAUNCH_SOFTMAX_NORM_RUN:
        dml_softmax_norm_run(task);
        break;
    case DML_LAUNCH_TOP_K_RUN:
        dml_top_k_run(task);
        break;
    case DML_LAUNCH_MOVE_RUN:
        dml_move_run(task, launch->count);
        break;
    }
}

int64_t dml_run_launches(const dml_launch *launches, int64_t count)
{
    int64_t until = dml_nanoseconds() + DML_LAUNCH_NANOSECONDS, i = 0;
    do
        dml_run_launch(launches + i++);
    while (i < count && dml_nanoseconds() < until);
    return i;
}
