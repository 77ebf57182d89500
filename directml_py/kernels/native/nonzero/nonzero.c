#include "../common/assert.h"
#include "../common/dimensions.h"
#include "../context.h"
#include "../move/move.h"
#include "../threads/parallel.h"

/* Elements are counted in at most this many blocks, whose counts say where the coordinates of each block begin. */
#define DML_NONZERO_BLOCKS 4096
#define DML_NONZERO_BLOCK 8192

typedef struct {
    const dml_nonzero *task;
    int64_t count, block, *firsts;
    int stream;
} dml_nonzero_plan;

/* The position of an element, by its number in row-major order, and how many elements follow it in its line. */
typedef struct {
    int64_t at[8], left;
    const char *x;
} dml_nonzero_position;

static dml_nonzero_position dml_nonzero_seek(const dml_nonzero *task, int64_t number)
{
    dml_nonzero_position position = {.x = (const char *)task->x};
    for (int i = task->rank - 1; i >= 0; i--) {
        position.at[i] = number % task->sizes[i];
        number /= task->sizes[i];
        position.x += position.at[i] * task->strides[i];
    }
    position.left = task->sizes[task->rank - 1] - position.at[task->rank - 1];
    return position;
}

/* The items of one line, contiguous: in place, or copied to `line`. */
static const char *dml_nonzero_items(const dml_nonzero *task, const char *x, int64_t count, char *line)
{
    dml_span span = {line, x, 1, 0, 0, count, task->item, task->strides[task->rank - 1]};
    if (span.input_stride == task->item || count == 1)
        return x;
    if (span.input_stride == 0)
        dml_dispatch->move->fill[__builtin_ctzll((unsigned long long)task->item)](&span, 0);
    else
        dml_dispatch->move->strided[__builtin_ctzll((unsigned long long)task->item)](&span, 0);
    return line;
}

static void dml_nonzero_share_counts(void *context, int64_t begin, int64_t end)
{
    const dml_nonzero_plan *plan = context;
    const dml_nonzero *task = plan->task;
    int index = __builtin_ctzll((unsigned long long)task->item);
    for (; begin < end; begin++) {
        int64_t first = begin * plan->block, last = dml_least(first + plan->block, plan->count), total = 0;
        for (int64_t i = first, part; i < last; i += part) {
            char line[DML_NONZERO_LINE * 8];
            dml_nonzero_position position = dml_nonzero_seek(task, i);
            part = dml_least(dml_least(position.left, last - i), DML_NONZERO_LINE);
            total +=
                dml_dispatch->nonzero->count[index](dml_nonzero_items(task, position.x, part, line), part, task->mask);
        }
        plan->firsts[begin] = total;
    }
}

/* Writes rows of coordinates that follow each other. */
static void dml_nonzero_write(const dml_nonzero_plan *plan, int64_t first, const uint32_t *rows, int64_t count)
{
    const dml_nonzero *task = plan->task;
    char *output = (char *)task->coordinates + first * task->row_stride;
    if (task->column_stride == 4 && task->row_stride == 4 * task->width) {
        dml_move_lines(output, 0, (const char *)rows, 0, 1, count * task->row_stride, plan->stream);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        for (int k = 0; k < task->width; k++)
            memcpy(output + i * task->row_stride + k * task->column_stride, rows + i * task->width + k, 4);
}

static void dml_nonzero_share_positions(void *context, int64_t begin, int64_t end)
{
    const dml_nonzero_plan *plan = context;
    const dml_nonzero *task = plan->task;
    int index = __builtin_ctzll((unsigned long long)task->item), width = task->width, outer = task->rank - width;
    for (; begin < end; begin++) {
        int64_t last = dml_least((begin + 1) * plan->block, plan->count), target = plan->firsts[begin];
        for (int64_t i = begin * plan->block, part; i < last; i += part) {
            char line[DML_NONZERO_LINE * 8];
            uint32_t found[DML_NONZERO_LINE], rows[DML_NONZERO_LINE * 8], before[8];
            dml_nonzero_position position = dml_nonzero_seek(task, i);
            int64_t many;
            part = dml_least(dml_least(position.left, last - i), DML_NONZERO_LINE);
            for (int k = 0; k < width; k++)
                before[k] = (uint32_t)position.at[outer + k];
            many = dml_dispatch->nonzero->find[index](dml_nonzero_items(task, position.x, part, line), part, task->mask,
                                                      found);
            dml_dispatch->nonzero->spread(rows, found, many, before, width, before[width - 1]);
            dml_nonzero_write(plan, target, rows, many);
            target += many;
        }
    }
    if (plan->stream)
        dml_dispatch->move->stream_end();
}

int64_t dml_nonzero_run(const dml_nonzero *task)
{
    DML_ASSERT(DML_IS_ITEM(task->item) && DML_IS_RANK(task->rank));
    DML_ASSERT(task->width >= 0 && task->width <= task->rank && task->size >= 0);
    DML_ASSERT_EACH(i, task->rank, task->sizes[i] >= 0);
    int64_t firsts[DML_NONZERO_BLOCKS], blocks, total = 0;
    dml_nonzero_plan plan = {task, dml_element_count(task->rank, task->sizes), DML_NONZERO_BLOCK, firsts, 0};
    dml_move rest;
    const uint32_t zero = 0;
    if (plan.count > plan.block * DML_NONZERO_BLOCKS)
        plan.block = dml_quotient_up(plan.count, DML_NONZERO_BLOCKS);
    blocks = dml_quotient_up(plan.count, plan.block);
    dml_parallel(dml_nonzero_share_counts, &plan, blocks, 1, plan.count * task->item);
    for (int64_t i = 0; i < blocks; i++) {
        int64_t many = firsts[i];
        firsts[i] = total;
        total += many;
    }
    plan.stream = total * 4 * task->width >= dml_stream_bytes;
    dml_parallel(dml_nonzero_share_positions, &plan, blocks, 1, plan.count * task->item + total * 4 * task->width);
    int64_t sizes[2] = {task->size - total, task->width}, to[2] = {task->row_stride, task->column_stride},
            from[2] = {0, 0};
    dml_move_prepare(&rest, 4, 2, sizes, to, from, task->coordinates + (uintptr_t)(total * task->row_stride),
                     (uintptr_t)&zero);
    dml_move_run(&rest, 1);
    return total;
}
