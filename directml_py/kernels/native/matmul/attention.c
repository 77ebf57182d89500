/* Attention, head by head. Keys and values of all heads are packed first, unless few queries read them; then threads
   take mc queries at a time, whose scores stay in the L2 cache until the values are multiplied by their softmax. */

#include "../common/assert.h"
#include "../common/dimensions.h"
#include "../context.h"
#include "../threads/parallel.h"
#include "blocking.h"

/* This many queries, as those of a decoding step, do not pay for packing keys and values. */
#define DML_ATTENTION_FEW_QUERIES 2

/* The layout of the scratch memory, in elements: where panels and scores begin, and sizes padded to whole tiles. */
typedef struct {
    int64_t padded_keys, padded_values, value_panels, scores, end;
} dml_attention_layout;

static dml_attention_layout dml_attention_layout_of(const dml_attention *task, int64_t nr)
{
    dml_attention_layout layout = {.padded_keys = dml_round_up(task->keys, nr),
                                   .padded_values = dml_round_up(task->value_size, nr)};
    layout.value_panels = task->heads * layout.padded_keys * task->size;
    layout.scores = layout.value_panels + task->heads * task->keys * layout.padded_values;
    layout.end = layout.scores + task->workers * DML_ATTENTION_MC * layout.padded_keys;
    return layout;
}

int64_t dml_attention_scratch(int64_t heads, int64_t queries, int64_t keys, int64_t size, int64_t value_size,
                              int64_t workers)
{
    dml_attention task = {heads, queries, keys, size, value_size, .workers = workers};
    return dml_attention_layout_of(&task, DML_MATMUL_MAX_NR).end * (int64_t)sizeof(float) + 64;
}

static float *dml_attention_memory(const dml_attention *task)
{
    return (float *)(task->scratch + (-task->scratch & 63));
}

static const char *dml_attention_head(const dml_matrix *matrix, int64_t head)
{
    return (const char *)matrix->memory + head * matrix->batch[0];
}

/* Packs the panels of some heads: those of the keys have one row for each element of a key, those of the values one row
   for each key. */
static void dml_attention_pack(void *context, int64_t begin, int64_t end)
{
    const dml_attention *task = context;
    const dml_matmul_table *kernels = dml_dispatch->matmul;
    const int64_t nr = kernels->nr;
    const dml_attention_layout layout = dml_attention_layout_of(task, nr);
    for (; begin < end; begin++) {
        const char *k = dml_attention_head(&task->k, begin), *v = dml_attention_head(&task->v, begin);
        float *keys = dml_attention_memory(task) + begin * layout.padded_keys * task->size;
        float *values = dml_attention_memory(task) + layout.value_panels + begin * task->keys * layout.padded_values;
        for (int64_t j = 0; j < task->keys; j += nr)
            kernels->pack(keys + j * task->size, nr, k + j * task->k.row, task->k.row, task->k.column,
                          dml_least(task->keys - j, nr), task->size, task->k.is_half);
        for (int64_t j = 0; j < task->value_size; j += nr)
            kernels->pack(values + j * task->keys, nr, v + j * task->v.column, task->v.column, task->v.row,
                          dml_least(task->value_size - j, nr), task->keys, task->v.is_half);
    }
}

/* Multiplies softmax weights {m, keys} by the values of a head. */
static void dml_attention_values(const dml_attention *task, const float *weights, int64_t row_stride,
                                 const float *panels, char *out, int64_t m)
{
    const dml_matmul_table *kernels = dml_dispatch->matmul;
    const int64_t nr = kernels->nr;
    float tail[DML_ATTENTION_MC * DML_MATMUL_MAX_NR] __attribute__((aligned(64)));
    for (int64_t jr = 0; jr < task->value_size; jr += nr, panels += task->keys * nr) {
        int is_whole = task->value_size - jr >= nr;
        float *target = is_whole ? (float *)out + jr : tail;
        int64_t target_row = is_whole ? task->out.row / 4 : nr;
        for (int64_t pc = 0; pc < task->keys; pc += DML_MATMUL_KC)
            kernels->tiles(m, dml_least(task->keys - pc, DML_MATMUL_KC), weights + pc,
                           row_stride, 1, panels + pc * nr, nr, target, target_row, pc > 0);
        for (int64_t row = 0; row < m && !is_whole; row++)
            memcpy(out + row * task->out.row + jr * 4, tail + row * nr, (size_t)(task->value_size - jr) * 4);
    }
}

static const void *dml_attention_mask_row(const dml_attention *task, uintptr_t memory, int number, int64_t head,
                                          int64_t row)
{
    return memory ? (const char *)memory + head * task->head_strides[number] + row * task->row_strides[number] : NULL;
}

/* Whether keys and values are read in place: the elements of each of them, and of queries, are contiguous. */
static int dml_attention_reads_in_place(const dml_attention *task)
{
    int64_t items = task->k.is_half ? 2 : 4, value_items = task->v.is_half ? 2 : 4;
    return task->queries <= DML_ATTENTION_FEW_QUERIES && task->q.column == 4 && task->k.column == items &&
           task->v.column == value_items;
}

static void dml_attention_scores_in_place(const dml_attention *task, int64_t head, const float *query, float *scores)
{
    const char *key = dml_attention_head(&task->k, head);
    for (int64_t j = 0; j < task->keys; j++, key += task->k.row)
        scores[j] = dml_dispatch->matmul->gemv_dot(query, key, task->size, task->k.is_half);
}

static void dml_attention_values_in_place(const dml_attention *task, int64_t head, const float *weights, float *out)
{
    memset(out, 0, (size_t)task->value_size * sizeof *out);
    dml_dispatch->matmul->gemv_axpy(out, weights, dml_attention_head(&task->v, head), task->v.row, task->value_size,
                                    task->keys, task->v.is_half);
}

static void dml_attention_queries(const dml_attention *task, int64_t head, int64_t first, float *scores)
{
    const dml_matmul_table *kernels = dml_dispatch->matmul;
    const int64_t nr = kernels->nr, remaining = task->queries - first;
    const int64_t m = dml_least(remaining, DML_ATTENTION_MC);
    const dml_attention_layout layout = dml_attention_layout_of(task, nr);
    const float *q = (const float *)(dml_attention_head(&task->q, head) + first * task->q.row);
    const float *keys = dml_attention_memory(task) + head * layout.padded_keys * task->size;
    const float *values = dml_attention_memory(task) + layout.value_panels + head * task->keys * layout.padded_values;
    const int in_place = dml_attention_reads_in_place(task);
    char *out = (char *)dml_attention_head(&task->out, head) + first * task->out.row;
    for (int64_t row = 0; row < m && in_place; row++)
        dml_attention_scores_in_place(task, head, q + row * task->q.row / 4, scores + row * layout.padded_keys);
    for (int64_t jr = 0; jr < task->keys && !in_place; jr += nr)
        kernels->tiles(m, task->size, q, task->q.row / 4, task->q.column / 4, keys + jr * task->size, nr, scores + jr,
                       layout.padded_keys, 0);
    for (int64_t row = 0; row < m; row++) {
        dml_attention_scores added = {task->scale, task->mask_value,
                                      dml_attention_mask_row(task, task->biases[0], 0, head, first + row),
                                      dml_attention_mask_row(task, task->biases[1], 1, head, first + row),
                                      dml_attention_mask_row(task, task->key_mask, 2, head, first + row)};
        kernels->softmax(scores + row * layout.padded_keys, &added, task->keys);
    }
    for (int64_t row = 0; row < m && in_place; row++)
        dml_attention_values_in_place(task, head, scores + row * layout.padded_keys,
                                      (float *)(out + row * task->out.row));
    if (!in_place)
        dml_attention_values(task, scores, layout.padded_keys, values, out, m);
}

typedef struct {
    const dml_attention *task;
    int64_t next;
} dml_attention_share;

/* A worker has scores of its own in the scratch memory, and takes the next block of queries until none is left. */
static void dml_attention_worker(void *context, int64_t begin, int64_t end)
{
    dml_attention_share *share = context;
    const dml_attention *task = share->task;
    const dml_attention_layout layout = dml_attention_layout_of(task, dml_dispatch->matmul->nr);
    const int64_t blocks = dml_quotient_up(task->queries, DML_ATTENTION_MC);
    float *scores = dml_attention_memory(task) + layout.scores + begin * DML_ATTENTION_MC * layout.padded_keys;
    (void)end;
    for (;;) {
        int64_t number = __atomic_fetch_add(&share->next, 1, __ATOMIC_RELAXED);
        if (number >= task->heads * blocks)
            return;
        dml_attention_queries(task, number / blocks, number % blocks * DML_ATTENTION_MC, scores);
    }
}

void dml_attention_run(const dml_attention *task)
{
    DML_ASSERT(task->heads >= 1 && task->queries >= 1 && task->keys >= 1 && task->size >= 1 && task->value_size >= 1);
    DML_ASSERT(task->workers >= 1 && task->scratch);
    DML_ASSERT(!task->q.is_half && !task->out.is_half && DML_IS_ALIGNED(task->q.row | task->q.column, 4));
    DML_ASSERT(DML_IS_ALIGNED(task->q.memory, 4) && DML_IS_ALIGNED(task->out.memory, 4));
    DML_ASSERT_EACH(i, 2, DML_IS_ALIGNED(task->biases[i], 4) && DML_IS_ALIGNED(task->row_strides[i], 4));
    dml_attention_share share = {task, 0};
    int64_t packed = task->heads * task->keys * (task->size + task->value_size);
    int64_t products = packed * task->queries / DML_MATMUL_PER_BYTE;
    int in_place = dml_attention_reads_in_place(task);
    if (!in_place)
        dml_parallel(dml_attention_pack, (void *)task, task->heads, 1, packed * 4);
    dml_parallel(dml_attention_worker, &share, task->workers, 1, in_place ? packed * 4 : products);
}
