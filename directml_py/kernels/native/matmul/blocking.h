/* How C = A x B, {m, k} x {k, n}, is cut: blocks of mc rows and nc columns of C, each a unit of work for a thread,
   whose products are added up kc at a time by the microkernel, in register tiles of mr rows and nr columns. */

#pragma once

#include "../common/declarations.h"
#include "../common/dimensions.h"
#include "../context.h"

/* What one thread has on its stack: packed panels of kc by nc of B, and of mr by kc of A. */
#define DML_MATMUL_KC 256
#define DML_MATMUL_MAX_NC 384
/* The largest register tile of any kind of processor. */
#define DML_MATMUL_MR 8
#define DML_MATMUL_MAX_NR 32
/* A single row of A is converted so many elements at a time. */
#define DML_MATMUL_GEMV_KC 4096
/* More rows than these pay for packing B, if it does not fit into the L1 cache. */
#define DML_MATMUL_FEW_ROWS 16
#define DML_MATMUL_L1_BYTES (32 << 10)
#define DML_MATMUL_LINE_BYTES 64
/* Results that are still in the L2 cache for an epilogue, unless B, which is packed again for each part of a block,
   is as deep as this. */
#define DML_MATMUL_L2_BYTES (512 << 10)
#define DML_MATMUL_DEEP_K 512
/* Rows of a block that pay for packing its panels of B, and those that do where threads would be idle. */
#define DML_MATMUL_MIN_MC 128
#define DML_MATMUL_IDLE_MC 24
/* Columns of panels that few rows pass through at a time: two panels of the widest tile. */
#define DML_MATMUL_STREAM_NC (2 * DML_MATMUL_MAX_NR)
/* Columns of a GEMV at a time, which are streams of so many elements, and threads that there is work for. */
#define DML_MATMUL_GEMV_MIN_NC 384
#define DML_MATMUL_GEMV_MAX_NC 1536
#define DML_MATMUL_GEMV_UNITS 4
/* Products that take as long as a byte of memory. */
#define DML_MATMUL_PER_BYTE 5

typedef struct {
    int64_t mc, nc, units;
    int packs_a, packs_b, streams;
} dml_matmul_blocking;

/* A single row: nothing is used twice, so that B is read where it lies if its elements are in order. */
static int dml_matmul_is_gemv(const dml_matmul_products *task)
{
    int64_t item = task->b.is_half ? 2 : 4;
    return !task->is_packed && task->m == 1 && (task->b.column == item || task->b.row == item);
}

/* The most columns of a block. Where rows are few the time is that of reading B, which is cut for the sake of that: of
   panels each is read from end to end. */
static int64_t dml_matmul_max_nc(const dml_matmul_products *task)
{
    if (task->is_packed && task->m <= DML_MATMUL_MR)
        return DML_MATMUL_STREAM_NC;
    if (!dml_matmul_is_gemv(task))
        return DML_MATMUL_MAX_NC;
    int64_t nc = dml_quotient_up(task->n, DML_MATMUL_GEMV_UNITS);
    return nc < DML_MATMUL_GEMV_MIN_NC   ? DML_MATMUL_GEMV_MIN_NC
           : nc > DML_MATMUL_GEMV_MAX_NC ? DML_MATMUL_GEMV_MAX_NC
                                         : nc;
}

/* Whether C is so large that it is in no cache when it is read, and each line of it is stored at once. */
static int dml_matmul_streams(const dml_matmul_products *task, int64_t batch)
{
    uintptr_t places = task->out.memory | (uintptr_t)task->out.row;
    for (int i = 0; i < task->rank; i++)
        places |= (uintptr_t)task->out.batch[i];
    return task->k <= DML_MATMUL_KC && !task->epilogue.programs[0] && places % DML_MATMUL_LINE_BYTES == 0 &&
           dml_dispatch->matmul->nr * 4 % DML_MATMUL_LINE_BYTES == 0 &&
           batch * task->m * task->n * 4 >= dml_stream_bytes;
}

/* Blocks of equal sizes, enough of them for all threads; packing where the microkernel cannot read the matrix as it
   lies, or, for B, would read it too often. */
static dml_matmul_blocking dml_matmul_plan_blocking(const dml_matmul_products *task)
{
    int64_t batch = 1, n_blocks = dml_quotient_up(task->n, dml_matmul_max_nc(task));
    int reads_b_in_place = task->m <= DML_MATMUL_FEW_ROWS || task->k * task->n * 4 <= DML_MATMUL_L1_BYTES;
    const int64_t mr = dml_dispatch->matmul->mr;
    dml_matmul_blocking plan = {.mc = task->m};
    plan.packs_a = task->a.is_half || task->a.column != 4;
    plan.packs_b = !task->is_packed && (task->b.is_half || task->b.column != 4 || !reads_b_in_place);
    for (int i = 0; i < task->rank; i++)
        batch *= task->sizes[i];
    plan.streams = dml_matmul_streams(task, batch);
    plan.nc = dml_quotient_up(dml_quotient_up(task->n, n_blocks), DML_MATMUL_MAX_NR) * DML_MATMUL_MAX_NR;
    n_blocks = dml_quotient_up(task->n, plan.nc);
    while (batch * n_blocks * dml_quotient_up(task->m, plan.mc) < 4 && plan.mc > DML_MATMUL_MIN_MC)
        plan.mc = dml_quotient_up(plan.mc, 2 * mr) * mr;
    while (batch * n_blocks * dml_quotient_up(task->m, plan.mc) < dml_get_threads() &&
           plan.mc >= 2 * DML_MATMUL_IDLE_MC)
        plan.mc = dml_quotient_up(plan.mc, 2 * mr) * mr;
    plan.units = batch * n_blocks * dml_quotient_up(task->m, plan.mc);
    return plan;
}
