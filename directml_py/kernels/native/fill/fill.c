#include "../common/assert.h"
#include "../common/dimensions.h"
#include "../context.h"
#include "../move/move.h"
#include "../threads/parallel.h"

/* Threads share at least this many blocks. */
#define DML_FILL_SHARE 4

static const int64_t dml_fill_items[DML_FILL_KINDS] = {1, 2, 4, 8, 2, 4, 8, 4};

static void dml_fill_share(void *context, int64_t begin, int64_t end)
{
    const dml_fill *task = context;
    const int64_t item = dml_fill_items[task->kind];
    const int stream = item * task->count >= dml_stream_bytes;
    /* Elements go through a chunk that stays in the cache. */
    uint64_t chunk[DML_FILL_BLOCK] __attribute__((aligned(64)));
    for (; begin < end; begin++) {
        int64_t position = begin * DML_FILL_BLOCK, count = dml_least(task->count - position, DML_FILL_BLOCK);
        dml_dispatch->fill->elements[task->kind](chunk, task, task->first + position, count);
        dml_move_lines((char *)task->elements + position * item, 0, (const char *)chunk, 0, 1, count * item, stream);
    }
    if (stream)
        dml_dispatch->move->stream_end();
}

void dml_fill_run(const dml_fill *task)
{
    DML_ASSERT(DML_IS_INDEX(task->kind, DML_FILL_KINDS) && task->first >= 0 && task->count >= 0);
    dml_parallel(dml_fill_share, (void *)task, dml_quotient_up(task->count, DML_FILL_BLOCK), DML_FILL_SHARE,
                 task->count * dml_fill_items[task->kind]);
}
