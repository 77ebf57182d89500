/* Attention, head by head. Keys and values of all heads are brought into panels first; then threads take some queries
   at a time: their scores stay in a near cache until they have weighed the values. */

#ifndef DML_UNIT
#include "../common/editor.h"
#include "blocking.h"
#endif

/* Queries that a thread works on at a time. */
#define DML_ATTENTION_ROWS 32

/* Where panels and scores begin in the scratch memory, in elements, and how long a row is with what completes a tile. */
typedef struct {
    int64_t keys, values, key_panels, value_panels, scores, end;
} dml_attention_room;

static int64_t dml_rounded_up(int64_t count, int64_t part)
{
    return dml_quotient_up(count, part) * part;
}

static dml_attention_room dml_attention_rooms(const dml_attention *task, int64_t width)
{
    dml_attention_room room = {.keys = dml_rounded_up(task->keys, width),
                               .values = dml_rounded_up(task->value_size, width)};
    room.value_panels = task->heads * room.keys * task->size;
    room.scores = room.value_panels + task->heads * task->keys * room.values;
    room.end = room.scores + task->places * DML_ATTENTION_ROWS * room.keys;
    return room;
}

int64_t dml_attention_scratch(int64_t heads, int64_t queries, int64_t keys, int64_t size, int64_t value_size,
                              int64_t places)
{
    dml_attention task = {heads, queries, keys, size, value_size, .places = places};
    return dml_attention_rooms(&task, DML_MATMUL_MAX_NR).end * (int64_t)sizeof(float) + 64;
}

static float *dml_attention_memory(const dml_attention *task)
{
    return (float *)(task->scratch + (-task->scratch & 63));
}

static const char *dml_attention_head(const dml_matrix *matrix, int64_t head)
{
    return (const char *)matrix->memory + head * matrix->batch[0];
}

/* The panels of some heads: those of the keys have a step for each element of a key, those of the values one for each
   key. */
static void dml_attention_pack(void *context, int64_t begin, int64_t end)
{
    const dml_attention *task = context;
    const dml_matmul_table *kernels = dml_dispatch->matmul;
    const int64_t width = kernels->nr;
    const dml_attention_room room = dml_attention_rooms(task, width);
    for (; begin < end; begin++) {
        const char *k = dml_attention_head(&task->k, begin), *v = dml_attention_head(&task->v, begin);
        float *keys = dml_attention_memory(task) + begin * room.keys * task->size;
        float *values = dml_attention_memory(task) + room.value_panels + begin * task->keys * room.values;
        for (int64_t j = 0; j < task->keys; j += width)
            kernels->pack(keys + j * task->size, width, k + j * task->k.row, task->k.row, task->k.column,
                         task->keys - j < width ? task->keys - j : width, task->size, task->k.is_half);
        for (int64_t j = 0; j < task->value_size; j += width)
            kernels->pack(values + j * task->keys, width, v + j * task->v.column, task->v.column, task->v.row,
                         task->value_size - j < width ? task->value_size - j : width, task->keys, task->v.is_half);
    }
}

/* Rows of weights times the values of a head. */
static void dml_attention_values(const dml_attention *task, const float *weights, int64_t row_step, const float *panels,
                                 char *out, int64_t rows)
{
    const dml_matmul_table *kernels = dml_dispatch->matmul;
    const int64_t width = kernels->nr;
    float part[DML_ATTENTION_ROWS * DML_MATMUL_MAX_NR] __attribute__((aligned(64)));
    for (int64_t j = 0; j < task->value_size; j += width, panels += task->keys * width) {
        int is_whole = task->value_size - j >= width;
        float *target = is_whole ? (float *)out + j : part;
        int64_t target_row = is_whole ? task->out.row / 4 : width;
        for (int64_t k = 0; k < task->keys; k += DML_MATMUL_KC)
            kernels->tiles(rows, task->keys - k < DML_MATMUL_KC ? task->keys - k : DML_MATMUL_KC, weights + k,
                           row_step, 1, panels + k * width, width, target, target_row, k > 0);
        for (int64_t row = 0; row < rows && !is_whole; row++)
            memcpy(out + row * task->out.row + j * 4, part + row * width, (size_t)(task->value_size - j) * 4);
    }
}

static const void *dml_attention_row(const dml_attention *task, uintptr_t memory, int number, int64_t head, int64_t row)
{
    return memory ? (const char *)memory + head * task->head_steps[number] + row * task->row_steps[number] : NULL;
}

static void dml_attention_queries(const dml_attention *task, int64_t head, int64_t first, float *scores)
{
    const dml_matmul_table *kernels = dml_dispatch->matmul;
    const int64_t width = kernels->nr, left = task->queries - first;
    const int64_t rows = left < DML_ATTENTION_ROWS ? left : DML_ATTENTION_ROWS;
    const dml_attention_room room = dml_attention_rooms(task, width);
    const float *q = (const float *)(dml_attention_head(&task->q, head) + first * task->q.row);
    const float *keys = dml_attention_memory(task) + head * room.keys * task->size;
    const float *values = dml_attention_memory(task) + room.value_panels + head * task->keys * room.values;
    for (int64_t j = 0; j < task->keys; j += width)
        kernels->tiles(rows, task->size, q, task->q.row / 4, task->q.column / 4, keys + j * task->size, width, scores + j,
                       room.keys, 0);
    for (int64_t row = 0; row < rows; row++) {
        dml_weights weights = {task->scale, task->mask_value,
                               dml_attention_row(task, task->others[0], 0, head, first + row),
                               dml_attention_row(task, task->others[1], 1, head, first + row),
                               dml_attention_row(task, task->marks, 2, head, first + row)};
        kernels->weigh(scores + row * room.keys, &weights, task->keys);
    }
    dml_attention_values(task, scores, room.keys, values,
                         (char *)dml_attention_head(&task->out, head) + first * task->out.row, rows);
}

typedef struct {
    const dml_attention *task;
    int64_t next;
} dml_attention_share;

/* Whoever has a place in the scratch memory takes what nobody has taken before. */
static void dml_attention_places(void *context, int64_t begin, int64_t end)
{
    dml_attention_share *share = context;
    const dml_attention *task = share->task;
    const dml_attention_room room = dml_attention_rooms(task, dml_dispatch->matmul->nr);
    const int64_t blocks = dml_quotient_up(task->queries, DML_ATTENTION_ROWS);
    float *scores = dml_attention_memory(task) + room.scores + begin * DML_ATTENTION_ROWS * room.keys;
    (void)end;
    for (;;) {
        int64_t number = __atomic_fetch_add(&share->next, 1, __ATOMIC_RELAXED);
        if (number >= task->heads * blocks)
            return;
        dml_attention_queries(task, number / blocks, number % blocks * DML_ATTENTION_ROWS, scores);
    }
}

void dml_attention_run(const dml_attention *task)
{
    DML_ASSERT(task->heads >= 1 && task->queries >= 1 && task->keys >= 1 && task->size >= 1 && task->value_size >= 1);
    DML_ASSERT(task->places >= 1 && task->scratch);
    DML_ASSERT(!task->q.is_half && !task->out.is_half && DML_IS_ALIGNED(task->q.row | task->q.column, 4));
    DML_ASSERT(DML_IS_ALIGNED(task->q.memory, 4) && DML_IS_ALIGNED(task->out.memory, 4));
    DML_ASSERT_EACH(i, 2, DML_IS_ALIGNED(task->others[i], 4) && DML_IS_ALIGNED(task->row_steps[i], 4));
    dml_attention_share share = {task, 0};
    int64_t packed = task->heads * task->keys * (task->size + task->value_size);
    dml_parallel(dml_attention_pack, (void *)task, task->heads, 1, packed * 4);
    dml_parallel(dml_attention_places, &share, task->places, 1, packed * task->queries / DML_MATMUL_PER_BYTE);
}
