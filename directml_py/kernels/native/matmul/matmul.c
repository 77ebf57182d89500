/* Matrix multiplication: C = A x B. B is packed into panels of nr columns, a block of which stays in the L2 cache; it
   is read in place if it is small, or if few rows of A use it. */

#include "../common/assert.h"
#include "../common/dimensions.h"
#include "../context.h"
#include "../elementwise/elementwise.h"
#include "../threads/parallel.h"
#include "blocking.h"

/* The address of a matrix of a batch. */
static char *dml_matmul_address(const dml_matmul_products *task, const dml_matrix *matrix, int64_t number)
{
    char *address = (char *)matrix->memory;
    for (int axis = task->rank - 1; axis >= 0; axis--) {
        address += number % task->sizes[axis] * matrix->batch[axis];
        number /= task->sizes[axis];
    }
    return address;
}

/* Computes a row of C by a GEMV, which reads B in place. */
static void dml_matmul_gemv(const dml_matmul_products *task, const char *a, const char *b, float *out, int64_t n)
{
    float a_block[DML_MATMUL_GEMV_KC];
    const dml_matmul_table *kernels = dml_dispatch->matmul;
    const dml_matrix *left = &task->a, *right = &task->b;
    int64_t item = right->is_half ? 2 : 4;
    for (int64_t j = 0; j < n; j++)
        out[j] = 0.0f;
    for (int64_t pc = 0; pc < task->k; pc += DML_MATMUL_GEMV_KC) {
        int64_t kc = dml_least(task->k - pc, DML_MATMUL_GEMV_KC);
        kernels->pack(a_block, 1, a + pc * left->column, 0, left->column, 1, kc, left->is_half);
        if (right->column == item)
            kernels->gemv_axpy(out, a_block, b + pc * right->row, right->row, n, kc, right->is_half);
        else
            for (int64_t j = 0; j < n; j++)
                out[j] += kernels->gemv_dot(a_block, b + pc * right->row + j * right->column, kc, right->is_half);
    }
}

/* Stores the remainder of a row of tiles, which was computed in a buffer, in whole vectors. */
static void dml_matmul_store_tail(float *c, int64_t c_row, const float *tile, int64_t nr, int64_t rows, int64_t columns,
                                  int adds)
{
    for (int64_t i = 0; i < rows; i++, c = (float *)((char *)c + c_row))
        for (int64_t j = 0; j < columns; j++) {
            float sum = tile[i * nr + j];
            c[j] = adds ? c[j] + sum : sum;
        }
}

/* Computes a row of C from panels, which it reads from end to end; the sums are those that the row has among others. */
static void dml_matmul_gemv_packed(const dml_matmul_products *task, const char *a, const float *b, float *out,
                                   int64_t n)
{
    float a_block[DML_MATMUL_KC], tail[2 * DML_MATMUL_MAX_NR] __attribute__((aligned(64)));
    const dml_matmul_table *kernels = dml_dispatch->matmul;
    const int64_t nr = kernels->nr;
    for (int64_t pc = 0; pc < task->k; pc += DML_MATMUL_KC) {
        int64_t kc = dml_least(task->k - pc, DML_MATMUL_KC);
        kernels->pack(a_block, 1, a + pc * task->a.column, 0, task->a.column, 1, kc, task->a.is_half);
        for (int64_t j = 0; j < n; j += 2 * nr) {
            int64_t left = n - j, panel_stride = left > nr ? nr * task->k : 0;
            const float *panels = b + j * task->k + pc * nr;
            if (left >= 2 * nr) {
                kernels->gemv_panels(out + j, a_block, panels, panel_stride, kc, pc > 0);
                continue;
            }
            kernels->gemv_panels(tail, a_block, panels, panel_stride, kc, 0);
            dml_matmul_store_tail(out + j, 0, tail, nr, 1, left, pc > 0);
        }
    }
}

/* Computes a block of C: mc rows and nc columns of it, over all of k. */
static void dml_matmul_block(const dml_matmul_products *task, const char *a, const char *b, char *c, int64_t mc,
                             int64_t nc)
{
    const dml_matmul_table *kernels = dml_dispatch->matmul;
    const dml_matmul_plan *plan = &task->plan;
    const dml_matrix *left = &task->a, *right = &task->b;
    const int64_t nr = kernels->nr;
    const int streams = dml_matmul_streams(task);
    float b_panels[DML_MATMUL_KC * DML_MATMUL_MAX_NC] __attribute__((aligned(64)));
    float a_panel[DML_MATMUL_MR * DML_MATMUL_KC] __attribute__((aligned(64)));
    float tail[DML_MATMUL_MR * DML_MATMUL_MAX_NR] __attribute__((aligned(64)));
    for (int64_t pc = 0; pc < task->k; pc += DML_MATMUL_KC) {
        int64_t kc = dml_least(task->k - pc, DML_MATMUL_KC);
        const char *b_block = task->is_packed ? b : b + pc * right->row;
        /* The first of the last columns that do not fill a tile; B is read in place up to them. */
        int64_t first = plan->packs_b ? 0 : task->is_packed ? nc : nc / nr * nr;
        for (int64_t jr = first; jr < nc; jr += nr)
            kernels->pack(b_panels + jr * DML_MATMUL_KC, nr, b_block + jr * right->column, right->column, right->row,
                          dml_least(nc - jr, nr), kc, right->is_half);
        for (int64_t ir = 0; ir < mc; ir += kernels->mr) {
            int64_t mr = dml_least(mc - ir, kernels->mr), a_row = left->row / 4, a_k_stride = 1;
            const char *a_block = a + ir * left->row + pc * left->column;
            const float *a_lines = (const float *)a_block;
            if (plan->packs_a) {
                kernels->pack(a_panel, DML_MATMUL_MR, a_block, left->row, left->column, mr, kc, left->is_half);
                a_lines = a_panel;
                a_row = 1;
                a_k_stride = DML_MATMUL_MR;
            }
            for (int64_t jr = 0; jr < nc; jr += nr) {
                int is_whole = nc - jr >= nr, in_place = !plan->packs_b && is_whole;
                float *c_tile = (float *)(c + ir * task->out.row) + jr;
                const float *b_panel = in_place ? (const float *)(b_block + jr * 4) : b_panels + jr * DML_MATMUL_KC;
                int64_t b_k_stride = in_place && !task->is_packed ? right->row / 4 : nr;
                if (task->is_packed)
                    b_panel = (const float *)b + jr * task->k + pc * nr;
                if (is_whole) {
                    kernels->tiles(mr, kc, a_lines, a_row, a_k_stride, b_panel, b_k_stride, c_tile, task->out.row / 4,
                                   streams ? DML_MATMUL_STREAMS : pc > 0);
                    continue;
                }
                kernels->tiles(mr, kc, a_lines, a_row, a_k_stride, b_panel, b_k_stride, tail, nr, 0);
                dml_matmul_store_tail(c_tile, task->out.row, tail, nr, mr, nc - jr, pc > 0);
            }
        }
    }
}

static void dml_matmul_units(void *context, int64_t begin, int64_t end)
{
    const dml_matmul_products *task = context;
    int64_t n_blocks = dml_quotient_up(task->n, task->plan.nc), m_blocks = dml_quotient_up(task->m, task->plan.mc);
    const int64_t mr = dml_dispatch->matmul->mr;
    for (; begin < end; begin++) {
        int64_t jc = begin % n_blocks * task->plan.nc, ic = begin / n_blocks % m_blocks * task->plan.mc;
        int64_t number = begin / n_blocks / m_blocks;
        int64_t mc = dml_least(task->m - ic, task->plan.mc);
        int64_t nc = dml_least(task->n - jc, task->plan.nc);
        const char *a = dml_matmul_address(task, &task->a, number) + ic * task->a.row;
        const char *b = dml_matmul_address(task, &task->b, number);
        b += jc * (task->is_packed ? task->k * (int64_t)sizeof(float) : task->b.column);
        char *c = dml_matmul_address(task, &task->out, number) + ic * task->out.row + jc * 4;
        int64_t part = mc, rows;
        if (task->post_ops.epilogue.programs[0] && task->k < DML_MATMUL_DEEP_K)
            part = dml_quotient_up(DML_MATMUL_L2_BYTES, nc * 4 * mr) * mr;
        for (int64_t i = 0; i < mc; i += part) {
            rows = dml_least(mc - i, part);
            if (dml_matmul_is_gemv(task))
                dml_matmul_gemv(task, a, b, (float *)c, nc);
            else if (task->is_packed && task->m == 1)
                dml_matmul_gemv_packed(task, a, (const float *)b, (float *)c, nc);
            else
                dml_matmul_block(task, a + i * task->a.row, b, c + i * task->out.row, rows, nc);
            dml_elementwise_finish_block(&task->post_ops.epilogue, number, ic + i, rows, jc, nc);
        }
    }
    /* For a product that is not streamed, this does nothing. */
    dml_dispatch->move->stream_end();
}

int64_t dml_prepack_size(int64_t gates, int64_t hidden, int64_t k)
{
    return gates * k * dml_quotient_up(hidden, DML_MATMUL_MAX_NR) * DML_MATMUL_MAX_NR * (int64_t)sizeof(float);
}

static void dml_prepack_blocks(void *context, int64_t begin, int64_t end)
{
    const dml_prepack *task = context;
    const dml_matmul_table *kernels = dml_dispatch->matmul;
    const dml_matrix *from = &task->matrix;
    const int64_t blocks = dml_quotient_up(task->hidden, kernels->nr), size = task->k * kernels->nr;
    for (; begin < end; begin++) {
        int64_t number = begin / blocks, unit = begin % blocks * kernels->nr, left = task->hidden - unit;
        float *panels = (float *)task->panels + unit * task->gates * task->k +
                        number * dml_prepack_size(task->gates, task->hidden, task->k) / (int64_t)sizeof(float);
        for (int64_t gate = 0; gate < task->gates; gate++)
            kernels->pack(panels + gate * size, kernels->nr,
                          (const char *)from->memory + number * from->batch[0] +
                              (gate * task->hidden + unit) * from->row,
                          from->row, from->column, dml_least(left, kernels->nr), task->k, from->is_half);
    }
}

void dml_prepack_run(const dml_prepack *task)
{
    const int64_t blocks = dml_quotient_up(task->hidden, dml_dispatch->matmul->nr);
    dml_parallel(dml_prepack_blocks, (void *)task, task->count * blocks, 1,
                 task->count * dml_prepack_size(task->gates, task->hidden, task->k));
}

void dml_matmul_prepare(dml_matmul_products *task)
{
    task->plan = dml_matmul_plan_blocks(task);
}

/* Asserts what the tiles rely on: vectors are loaded at multiples of an element. */
static void dml_matmul_check(const dml_matmul_products *task)
{
    DML_ASSERT(task->m >= 1 && task->n >= 1 && task->k >= 1);
    DML_ASSERT(DML_IS_INDEX(task->rank, DML_MATMUL_BATCH_DIMENSIONS + 1));
    DML_ASSERT_EACH(i, task->rank, task->sizes[i] >= 1);
    DML_ASSERT(DML_IS_ALIGNED(task->a.memory, task->a.is_half ? 2 : 4));
    DML_ASSERT(DML_IS_ALIGNED(task->b.memory, task->b.is_half ? 2 : 4));
    DML_ASSERT(DML_IS_ALIGNED(task->a.row | task->a.column, task->a.is_half ? 2 : 4));
    DML_ASSERT(DML_IS_ALIGNED(task->b.row | task->b.column, task->b.is_half ? 2 : 4));
    DML_ASSERT(!task->out.is_half && DML_IS_ALIGNED(task->out.memory, 4) && DML_IS_ALIGNED(task->out.row, 4));
    DML_ASSERT(task->n == 1 || task->out.column == 4);
    DML_ASSERT(task->plan.units >= 1 && task->plan.mc >= 1 && task->plan.nc >= 1);
    DML_ASSERT(dml_matmul_is_gemv(task) || task->plan.nc <= DML_MATMUL_MAX_NC);
    DML_ASSERT(!task->post_ops.activation && !task->post_ops.residual && !task->post_ops.normalization.prepared);
    (void)task;
}

void dml_matmul_run(const dml_matmul_products *task)
{
    dml_matmul_check(task);
    double m = (double)task->m, n = (double)task->n, k = (double)task->k;
    double operations = m * n * k / DML_MATMUL_PER_BYTE, bytes = 4 * (m * k + k * n + m * n);
    double cost = operations > bytes ? operations : bytes;
    for (int i = 0; i < task->rank; i++)
        cost *= (double)task->sizes[i];
    dml_parallel(dml_matmul_units, (void *)task, task->plan.units, 1, (int64_t)cost);
}

static int32_t dml_byte(const uint8_t *address, int is_signed)
{
    return is_signed ? (int8_t)*address : *address;
}

static void dml_int8_gemv_columns(void *context, int64_t begin, int64_t end)
{
    const dml_int8_gemv *task = context;
    const uint8_t *a = (const uint8_t *)task->a;
    const int32_t a_zero = task->a_zero ? dml_byte((const uint8_t *)task->a_zero, task->a_is_signed) : 0;
    int32_t a_block[DML_MATMUL_GEMV_KC], *out = (int32_t *)task->out;
    uint32_t total = 0;
    memset(out + begin, 0, (size_t)(end - begin) * sizeof *out);
    for (int64_t pc = 0; pc < task->k; pc += DML_MATMUL_GEMV_KC) {
        int64_t kc = dml_least(task->k - pc, DML_MATMUL_GEMV_KC);
        for (int64_t i = 0; i < kc; i++) {
            a_block[i] = dml_byte(a + (pc + i) * task->a_stride, task->a_is_signed) - a_zero;
            total += (uint32_t)a_block[i];
        }
        dml_dispatch->matmul->gemv_int8(out + begin, a_block, (const uint8_t *)task->b + pc * task->b_stride + begin,
                                        task->b_stride, end - begin, kc, task->b_is_signed);
    }
    if (task->b_zero)
        for (int64_t i = begin; i < end; i++) {
            const uint8_t *zero = (const uint8_t *)task->b_zero + i * task->b_zero_stride;
            out[i] = (int32_t)((uint32_t)out[i] - (uint32_t)dml_byte(zero, task->b_is_signed) * total);
        }
}

void dml_int8_gemv_run(const dml_int8_gemv *task)
{
    DML_ASSERT(task->n >= 0 && task->k >= 0);
    DML_ASSERT(DML_IS_ALIGNED(task->out, 4));
    dml_parallel(dml_int8_gemv_columns, (void *)task, task->n, 512, task->n * task->k);
}
