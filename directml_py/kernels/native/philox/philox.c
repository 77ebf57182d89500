#include "../context.h"
#include "../move/move.h"
#include "../threads/parallel.h"

/* Threads share at least this many values of the counter. */
#define DML_PHILOX_BLOCK 1024

typedef struct {
    char *words;
    uint64_t low, high;
    uint32_t key_low, key_high;
    int64_t count;
    int stream;
} dml_philox_task;

static void dml_philox_share(void *context, int64_t begin, int64_t end)
{
    const dml_philox_task *task = context;
    for (; begin < end; begin++) {
        /* Words go through a chunk that stays in the cache. */
        uint32_t words[4 * DML_PHILOX_BLOCK] __attribute__((aligned(64)));
        int64_t first = begin * DML_PHILOX_BLOCK, left = task->count - 4 * first;
        int64_t count = dml_least(left, 4 * DML_PHILOX_BLOCK);
        uint64_t low = task->low + (uint64_t)first, high = task->high + (low < task->low);
        dml_dispatch->philox->words(words, low, high, task->key_low, task->key_high, (count + 3) / 4);
        dml_move_lines(task->words + 16 * first, 0, (const char *)words, 0, 1, 4 * count, task->stream);
    }
    if (task->stream)
        dml_dispatch->move->stream_end();
}

void dml_philox(uintptr_t words, uint64_t low, uint64_t high, uint32_t key_low, uint32_t key_high, int64_t count)
{
    dml_philox_task task = {(char *)words, low, high, key_low, key_high, count, 4 * count >= dml_stream_bytes};
    int64_t blocks = ((count + 3) / 4 + DML_PHILOX_BLOCK - 1) / DML_PHILOX_BLOCK;
    dml_parallel(dml_philox_share, &task, blocks, 1, 4 * count);
}
