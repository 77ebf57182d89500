/* Tasks one after the other. Between two calls from Python, what an interpreter needs is fetched from far away again: by
   the time that a network's next step begins, the last one has filled the caches. */

/* So long Python's handlers of signals may wait. */
#define DML_LAUNCH_NANOSECONDS 20000000

static void dml_launch_one(const dml_launch *turn)
{
    const void *task = (const void *)turn->task;
    switch (turn->function) {
#define DML_LAUNCH_CASE(NUMBER, run)                                                                                          \
    case DML_LAUNCH_##NUMBER:                                                                                            \
        run(task);                                                                                                     \
        break
        DML_LAUNCH_CASE(RESAMPLE, dml_resample_run);
        DML_LAUNCH_CASE(BYTE_ROW, dml_byte_row_run);
        DML_LAUNCH_CASE(CONV, dml_conv_run);
        DML_LAUNCH_CASE(REDUCE, dml_reduce_run);
        DML_LAUNCH_CASE(ELEMENTWISE, dml_elementwise_run);
        DML_LAUNCH_CASE(GATHER, dml_gather_run);
        DML_LAUNCH_CASE(GATHER_SCATTER_ND, dml_gather_scatter_nd_run);
        DML_LAUNCH_CASE(MATMUL, dml_matmul_run);
        DML_LAUNCH_CASE(SOFTMAX_NORM, dml_softmax_norm_run);
        DML_LAUNCH_CASE(SCAN, dml_scan_run);
        DML_LAUNCH_CASE(DEPTHWISE_POOL, dml_depthwise_pool_run);
        DML_LAUNCH_CASE(TOP_K, dml_top_k_run);
#undef DML_LAUNCH_CASE
    case DML_LAUNCH_MOVE:
        dml_move_run(task, turn->count);
        break;
    }
}

int64_t dml_run_launches(const dml_launch *turns, int64_t count)
{
    int64_t until = dml_nanoseconds() + DML_LAUNCH_NANOSECONDS, i = 0;
    do
        dml_launch_one(turns + i++);
    while (i < count && dml_nanoseconds() < until);
    return i;
}
