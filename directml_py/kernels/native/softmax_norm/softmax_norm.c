/* Rows are computed one after the other, each read from memory once: later passes find it in the cache. */

#include "../common/assert.h"
#include "../common/compiler.h"
#include "../context.h"
#include "../move/move.h"
#include "../threads/parallel.h"

/* A thread takes this many bytes at a time from the counter that threads share; fewer where there are few such parts,
   so that no thread waits long for the last part of another. */
#define DML_SOFTMAX_NORM_GRAIN (64 << 10)
#define DML_SOFTMAX_NORM_LEAST_GRAIN (8 << 10)
#define DML_SOFTMAX_NORM_PARTS 16
/* The longest row that is computed in a buffer first. */
#define DML_SOFTMAX_NORM_STREAMED (32 << 10)

/* Computes a row of lines as a packed row, which stays in the cache. */
static void dml_softmax_norm_lines(const dml_softmax_norm *task, dml_softmax_norm_kernel kernel, char *const *addresses)
{
    char packed[DML_SOFTMAX_NORM_LONGEST_PACKED] __attribute__((aligned(64))), *aside[DML_SOFTMAX_NORM_TENSORS];
    const int64_t bytes = task->line * (task->is_half ? 2 : 4), lines = task->count / task->line;
    memcpy(aside, addresses, sizeof aside);
    if (task->line_strides[1] != bytes) {
        dml_move_lines(packed, bytes, addresses[1], task->line_strides[1], lines, bytes, 0);
        aside[1] = packed;
    }
    if (task->line_strides[0] != bytes)
        aside[0] = packed;
    kernel(task, aside, 0);
    if (task->line_strides[0] != bytes)
        dml_move_lines(addresses[0], task->line_strides[0], packed, bytes, lines, bytes, 0);
}

/* A row that is written by streaming stores is computed in a buffer that stays in the cache. The memory behind its
   input is prefetched when the row is copied, if it is more than shifted, or else meanwhile. */
static void dml_softmax_norm_row(const dml_softmax_norm *task, dml_softmax_norm_kernel kernel, char *const *addresses)
{
    char made[DML_SOFTMAX_NORM_STREAMED] __attribute__((aligned(64))), *aside[DML_SOFTMAX_NORM_TENSORS];
    int64_t bytes = task->count * (task->is_half ? 2 : 4);
    const dml_elementwise_ahead next = {addresses[1] + bytes, 64};
    int fetches = task->function == DML_SOFTMAX_NORM_MEAN_VARIANCE ? task->uses_variance
                                                                   : task->function <= DML_SOFTMAX_NORM_LOG_SOFTMAX;
    if (bytes > DML_SOFTMAX_NORM_STREAMED || task->rows * bytes < dml_stream_bytes) {
        kernel(task, addresses, 0);
        return;
    }
    memcpy(aside, addresses, sizeof aside);
    aside[0] = made;
    kernel(task, aside, fetches);
    dml_dispatch->elementwise->stream(addresses[0], made, bytes, &next, !fetches);
}

/* The floats of work memory, on the stack, for a strip of columns or short rows: 8 KiB a column. */
#define DML_SOFTMAX_NORM_WORK (DML_SOFTMAX_NORM_STRIP * 2048)

/* The columns, or short rows, that SOFTMAX computes together; else 1. */
static int64_t dml_softmax_norm_strip_of(const dml_softmax_norm *task)
{
    enum { SHORT = 256, MOST = DML_SOFTMAX_NORM_WORK };
    if (task->column_strides[0] == 0)
        return task->function <= DML_SOFTMAX_NORM_LOG_SOFTMAX && task->count <= SHORT ? 16 : 1;
    if (task->function == DML_SOFTMAX_NORM_BATCH_NORM)
        return DML_SOFTMAX_NORM_STRIP;
    if (task->function == DML_SOFTMAX_NORM_MEAN_VARIANCE)
        return DML_SOFTMAX_NORM_COLUMNS;
    return task->count * DML_SOFTMAX_NORM_STRIP <= MOST ? DML_SOFTMAX_NORM_STRIP : MOST / task->count / 16 * 16;
}

/* Computes columns, those that lie one after the other transposed in the cache. */
static __attribute__((noinline)) void dml_softmax_norm_across(const dml_softmax_norm *task,
                                                              dml_softmax_norm_strip several, char *const *addresses,
                                                              int64_t m, float *work)
{
    char lines[DML_SOFTMAX_NORM_WORK * 4] __attribute__((aligned(64)));
    const int64_t size = task->is_half ? 2 : 4, line = (m + 15) / 16 * 16 * size, *strides = task->strides[0];
    const dml_span in = {lines, addresses[1], task->count, line, size, m, size, strides[1]};
    const dml_span out = {addresses[0], lines, m, strides[0], size, task->count, size, line};
    char *aside[] = {strides[0] == size ? addresses[0] : lines, strides[1] == size ? addresses[1] : lines};
    dml_softmax_norm columns = *task;
    for (int k = 0; k < 2; k++)
        if (strides[k] != size)
            columns.column_strides[k] = line;
    if (strides[1] != size)
        dml_dispatch->move->tiles[size / 2](&in, 0);
    several(&columns, aside, m, work);
    if (strides[0] != size)
        dml_dispatch->move->tiles[size / 2](&out, 0);
}

static void dml_softmax_norm_range(void *context, int64_t begin, int64_t end)
{
    const dml_softmax_norm *task = context;
    dml_softmax_norm_kernel kernel =
        task->is_half ? dml_dispatch->softmax_norm->halves : dml_dispatch->softmax_norm->floats;
    int64_t at[DML_MAX_DIMENSIONS] = {0}, rest = begin;
    const dml_softmax_norm_table *table = dml_dispatch->softmax_norm;
    dml_softmax_norm_strip several = task->column_strides[0] == 0                       ? table->short_rows
                                     : task->function == DML_SOFTMAX_NORM_RESPONSE      ? table->response_columns
                                     : task->function == DML_SOFTMAX_NORM_BATCH_NORM    ? table->batch_norm_columns
                                     : task->function == DML_SOFTMAX_NORM_MEAN_VARIANCE ? table->mean_variance_columns
                                                                                        : table->columns;
    int64_t strip = dml_softmax_norm_strip_of(task);
    float work[DML_SOFTMAX_NORM_WORK] __attribute__((aligned(64)));
    char *addresses[DML_SOFTMAX_NORM_TENSORS];
    for (int k = 0; k < DML_SOFTMAX_NORM_TENSORS; k++)
        addresses[k] = (char *)task->memory[k];
    for (int i = 0; i < task->rank && rest > 0; i++) {
        at[i] = rest % task->sizes[i];
        rest /= task->sizes[i];
        for (int k = 0; k < DML_SOFTMAX_NORM_TENSORS; k++)
            addresses[k] += at[i] * task->strides[i][k];
    }
    for (int64_t row = begin, m; row < end; row += m) {
        m = dml_least(end - row, strip);
        if (task->rank > 0 && m > task->sizes[0] - at[0])
            m = task->sizes[0] - at[0];
        if (task->line > 0)
            dml_softmax_norm_lines(task, kernel, addresses);
        else if (strip == 1)
            dml_softmax_norm_row(task, kernel, addresses);
        else if (task->column_strides[0] != 0 && task->function <= DML_SOFTMAX_NORM_LOG_SOFTMAX)
            dml_softmax_norm_across(task, several, addresses, m, work);
        else
            several(task, addresses, m, work);
        for (int64_t i = 0, moved = m; i < task->rank; i++, moved = 1) {
            int is_last = (at[i] += moved) == task->sizes[i];
            for (int k = 0; k < DML_SOFTMAX_NORM_TENSORS; k++)
                addresses[k] += (is_last ? moved - at[i] : moved) * task->strides[i][k];
            if (!is_last)
                break;
            at[i] = 0;
        }
    }
    dml_dispatch->move->stream_end();
}

void dml_softmax_norm_run(const dml_softmax_norm *task)
{
    const int64_t size = task->is_half ? 2 : 4;
    DML_ASSERT(DML_IS_INDEX(task->function, DML_SOFTMAX_NORM_GRADIENT + 1));
    DML_ASSERT(!task->is_half || task->function != DML_SOFTMAX_NORM_GRADIENT);
    DML_ASSERT(DML_IS_RANK(task->rank) && task->rows >= 0 && task->count >= 1);
    DML_ASSERT_EACH(i, task->rank, task->sizes[i] >= 0);
    DML_ASSERT(!task->is_half || task->function == DML_SOFTMAX_NORM_BATCH_NORM ||
               task->count <= DML_SOFTMAX_NORM_LONGEST_HALVES);
    DML_ASSERT((task->column_strides[0] == 0) == (task->column_strides[1] == 0));
    DML_ASSERT(task->column_strides[0] != 0 || task->function != DML_SOFTMAX_NORM_RESPONSE);
    DML_ASSERT(task->before >= 0 && task->behind >= 0);
    DML_ASSERT(task->column_strides[0] == 0 || task->function != DML_SOFTMAX_NORM_GRADIENT);
    DML_ASSERT(task->column_strides[0] == 0 || task->function != DML_SOFTMAX_NORM_MEAN_VARIANCE || !task->is_half);
    DML_ASSERT(task->column_strides[0] == 0 || task->function == DML_SOFTMAX_NORM_BATCH_NORM ||
               task->function == DML_SOFTMAX_NORM_MEAN_VARIANCE ||
               task->count <= DML_SOFTMAX_NORM_LONGEST_COLUMN);
    DML_ASSERT(task->column_strides[0] == 0 || task->rank >= 1);
    DML_ASSERT_EACH(k, task->column_strides[0] == 0 ? 0 : 2,
                    (task->function <= DML_SOFTMAX_NORM_LOG_SOFTMAX ? task->column_strides[k] : 0) == size ||
                        task->strides[0][k] == size);
    DML_ASSERT(task->line == 0 || (task->function == DML_SOFTMAX_NORM_MEAN_VARIANCE && task->count % task->line == 0));
    DML_ASSERT(task->line == 0 || task->count * size <= DML_SOFTMAX_NORM_LONGEST_PACKED);
    DML_ASSERT(task->memory[0] && task->memory[1]);
    DML_ASSERT_EACH(i, DML_SOFTMAX_NORM_TENSORS, DML_IS_ALIGNED(task->memory[i], size));
    const int64_t row = task->count * size, bytes = 2 * task->rows * row;
    int64_t part = task->rows * row / DML_SOFTMAX_NORM_PARTS;
    part = part < DML_SOFTMAX_NORM_LEAST_GRAIN ? DML_SOFTMAX_NORM_LEAST_GRAIN
           : dml_least(part, DML_SOFTMAX_NORM_GRAIN);
    /* Exponentials and powers are worth more threads than memory alone. */
    int64_t strip = dml_softmax_norm_strip_of(task), grain = part / row < strip ? strip : part / row / strip * strip;
    dml_parallel(dml_softmax_norm_range, (void *)task, task->rows, grain,
                 task->function <= DML_SOFTMAX_NORM_RESPONSE ? 4 * bytes : bytes);
}
