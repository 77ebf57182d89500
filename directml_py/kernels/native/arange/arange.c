#include "../context.h"
#include "../move/move.h"
#include "../threads/parallel.h"

/* Threads share at least this many blocks. */
#define DML_ARANGE_SHARE 4

typedef struct {
    char *elements;
    int item, is_float, stream;
    int64_t first, count;
    uint64_t start, delta;
    double wide_start, wide_delta;
} dml_arange_task;

static void dml_arange_share(void *context, int64_t begin, int64_t end)
{
    const dml_arange_task *task = context;
    const int size = __builtin_ctz((unsigned int)task->item);
    /* Elements go through a chunk that stays in the cache. */
    uint64_t chunk[DML_ARANGE_BLOCK] __attribute__((aligned(64)));
    for (; begin < end; begin++) {
        int64_t position = begin * DML_ARANGE_BLOCK, left = task->count - position, number = task->first + position;
        int64_t count = dml_least(left, DML_ARANGE_BLOCK);
        if (task->is_float)
            dml_dispatch->arange->floats[size](chunk, (double)number, task->wide_start, task->wide_delta, count);
        else
            dml_dispatch->arange->integers[size](chunk, task->start + (uint64_t)number * task->delta, task->delta,
                                                 count);
        dml_move_lines(task->elements + position * task->item, 0, (const char *)chunk, 0, 1, count * task->item,
                       task->stream);
    }
    if (task->stream)
        dml_dispatch->move->stream_end();
}

void dml_arange(uintptr_t elements, int item, int is_float, int64_t first, int64_t count, uint64_t start,
                uint64_t delta)
{
    dml_arange_task task = {
        (char *)elements, item, is_float, item * count >= dml_stream_bytes, first, count, start, delta};
    memcpy(&task.wide_start, &start, sizeof start);
    memcpy(&task.wide_delta, &delta, sizeof delta);
    dml_parallel(dml_arange_share, &task, (count + DML_ARANGE_BLOCK - 1) / DML_ARANGE_BLOCK, DML_ARANGE_SHARE,
                 item * count);
}
