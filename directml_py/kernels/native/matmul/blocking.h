/* How C = A x B, {m, k} x {k, n}, is cut: blocks of mc rows and nc columns of C, each a unit of work for a thread,
   whose products are added up kc at a time by the microkernel, in register tiles of mr rows and nr columns. */

#pragma once

#include "../common/declarations.h"
#include "../common/dimensions.h"
#include "../context.h"

/* A thread has packed panels of kc by nc of B, and of mr by kc of A, on its stack. */
#define DML_MATMUL_KC 256
#define DML_MATMUL_MAX_NC 384
/* The largest register tile of any instruction set. */
#define DML_MATMUL_MR 8
#define DML_MATMUL_MAX_NR 32
/* A single row of A is converted this many elements at a time. */
#define DML_MATMUL_GEMV_KC 4096
/* More rows than these pay for packing B, if it does not fit into the L1 cache. */
#define DML_MATMUL_FEW_ROWS 16
#define DML_MATMUL_L1_BYTES (32 << 10)
#define DML_MATMUL_LINE_BYTES 64
/* Results of this size are still in the L2 cache for an epilogue, unless B, which is packed again for each part of a
   block, is as deep as DML_MATMUL_DEEP_K. */
#define DML_MATMUL_L2_BYTES (512 << 10)
#define DML_MATMUL_DEEP_K 512
/* A block of MIN_MC rows pays for packing its panels of B, and one of IDLE_MC rows does where threads would be idle. */
#define DML_MATMUL_MIN_MC 128
#define DML_MATMUL_IDLE_MC 24
/* The columns of panels that few rows pass through at a time: two panels of the widest tile. */
#define DML_MATMUL_STREAM_NC (2 * DML_MATMUL_MAX_NR)
/* A GEMV computes this many columns at a time, each of which is a stream of memory, and has this many units for each
   thread. */
#define DML_MATMUL_GEMV_MIN_NC 384
#define DML_MATMUL_GEMV_MAX_NC 1536
#define DML_MATMUL_GEMV_UNITS 4
/* A thread computes this many products in the time that a byte of memory takes. */
#define DML_MATMUL_PER_BYTE 5

/* Whether a single row is multiplied. Nothing is used twice then, so that B is read in place if its elements are in
   order. */
static int dml_matmul_is_gemv(const dml_matmul_products *task)
{
    int64_t item = task->b.is_half ? 2 : 4;
    return !task->is_packed && task->m == 1 && (task->b.column == item || task->b.row == item);
}

/* The most columns of a block. With few rows, the time is that of reading B, which is cut accordingly: each panel is
   read from end to end. */
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

/* Whether C is so large that no cache has it when it is read, and each cache line of it is stored as a whole. */
static int dml_matmul_streams(const dml_matmul_products *task)
{
    uintptr_t addresses = task->out.memory | (uintptr_t)task->out.row;
    int64_t batch = 1;
    for (int i = 0; i < task->rank; i++) {
        addresses |= (uintptr_t)task->out.batch[i];
        batch *= task->sizes[i];
    }
    return task->k <= DML_MATMUL_KC && !task->post_ops.epilogue.programs[0] && addresses % DML_MATMUL_LINE_BYTES == 0 &&
           dml_dispatch->matmul->nr * 4 % DML_MATMUL_LINE_BYTES == 0 &&
           batch * task->m * task->n * 4 >= dml_stream_bytes;
}

/* Plans blocks of equal sizes, enough of them for all threads. A matrix is packed where the microkernel cannot read it
   in place, or, as for B, would read it too often. */
static dml_matmul_plan dml_matmul_plan_blocks(const dml_matmul_products *task)
{
    int64_t batch = 1, n_blocks = dml_quotient_up(task->n, dml_matmul_max_nc(task));
    int reads_b_in_place = task->m <= DML_MATMUL_FEW_ROWS || task->k * task->n * 4 <= DML_MATMUL_L1_BYTES;
    const int64_t mr = dml_dispatch->matmul->mr;
    dml_matmul_plan plan = {.mc = task->m};
    plan.packs_a = task->a.is_half || task->a.column != 4;
    plan.packs_b = !task->is_packed && (task->b.is_half || task->b.column != 4 || !reads_b_in_place);
    for (int i = 0; i < task->rank; i++)
        batch *= task->sizes[i];
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
