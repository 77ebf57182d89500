#include "../common/assert.h"
#include "../common/dimensions.h"
#include "../context.h"
#include "../move/move.h"
#include "../threads/parallel.h"

/* This many offsets are computed at once, which leaves room for the elements in the L1 cache; fewer if they move much
   memory, which threads share. */
#define DML_GATHER_SCATTER_ND_BLOCK 1024
#define DML_GATHER_SCATTER_ND_BLOCK_BYTES (1 << 17)
/* This many index tuples or fewer read by copies, whose bytes threads share, if each has at least so many. */
#define DML_GATHER_SCATTER_ND_FEW 16
#define DML_GATHER_SCATTER_ND_FEW_BYTES 4096
/* This much of a line is reversed at once. */
#define DML_GATHER_SCATTER_ND_LINE (1 << 14)
/* Lines of the array of up to this size are prefetched before they are needed. */
#define DML_GATHER_SCATTER_ND_AHEAD (1 << 16)
/* An array of this size stays in a second-level cache, where prefetching its rows costs more than it saves. */
#define DML_GATHER_SCATTER_ND_NEAR (1 << 19)
/* The most threads that write ranges of an array: each of them has to compute all offsets to find its own. */
#define DML_GATHER_SCATTER_ND_RANGES 8

/* What an index tuple stands for: one of a few copies, a row, an item, or a slice of several dimensions. */
enum { DML_COPY_FEW, DML_COPY_ROWS, DML_COPY_ITEMS, DML_COPY_NESTED };

static void dml_gather_scatter_nd_reach(dml_gather_scatter_nd *task, int64_t size, int64_t stride)
{
    dml_gather_scatter_nd_plan *plan = &task->plan;
    int64_t reach = (size - 1) * stride;
    plan->lowest += dml_least(reach, 0);
    plan->extent += dml_magnitude(reach);
}

/* Chooses how the bytes of one index tuple are copied, and how many tuples are taken at once. */
static void dml_gather_scatter_nd_choose(dml_gather_scatter_nd *task, int64_t moved, int64_t tuples)
{
    const dml_gather_scatter_nd_params *params = &task->params;
    dml_gather_scatter_nd_plan *plan = &task->plan;
    const dml_move *trail = &plan->trail;
    const int last = params->rank - 1;
    int64_t block = DML_GATHER_SCATTER_ND_BLOCK_BYTES / moved;
    /* A trail whose strides are negative on both sides is one piece that does not begin at its first element. */
    const int begins = trail->output == 0 && trail->input == 0;
    plan->block = block < 1 ? 1 : dml_least(block, DML_GATHER_SCATTER_ND_BLOCK);
    plan->kind = DML_COPY_NESTED;
    if (trail->item == moved && begins) {
        plan->kind = DML_COPY_ITEMS;
    } else if (!params->is_write && tuples <= DML_GATHER_SCATTER_ND_FEW && moved >= DML_GATHER_SCATTER_ND_FEW_BYTES) {
        plan->kind = DML_COPY_FEW;
        plan->block = 1;
    } else if (trail->kind == DML_MOVE_ROWS && trail->dimensions[trail->rank - 1].size == moved && begins) {
        plan->kind = DML_COPY_ROWS;
    }
    plan->is_repeated = params->mode == DML_GATHER_SCATTER_ND_CLAMPED && last > 0 && params->sizes[last] <= plan->block;
    for (int k = 0; k < params->count; k++)
        for (int i = 0; i < last; i++)
            plan->is_repeated &= params->coordinates[k].strides[i] == 0;
    plan->is_single = params->count == 1 && plan->kind == DML_COPY_ITEMS && trail->item <= 8 && !plan->is_repeated;
    plan->is_lines = plan->is_single && params->mode == DML_GATHER_SCATTER_ND_REVERSED &&
                     params->coordinates[0].along == last;
    if (plan->is_lines)
        plan->block = DML_GATHER_SCATTER_ND_LINE;
}

int dml_gather_scatter_nd_prepare(dml_gather_scatter_nd *task, int64_t item, int rank, const int64_t *sizes,
                                  const int64_t *array_strides, const int64_t *values_strides)
{
    const dml_gather_scatter_nd_params *params = &task->params;
    dml_gather_scatter_nd_plan *plan = &task->plan;
    int64_t moved = item * dml_element_count(rank, sizes), tuples = dml_element_count(params->rank, params->sizes);
    if (rank < 0 || rank > 8 || (item != 1 && item != 2 && item != 4 && item != 8))
        return 0;
    if (params->is_write)
        dml_move_layout(&plan->trail, item, rank, sizes, array_strides, values_strides);
    else
        dml_move_layout(&plan->trail, item, rank, sizes, values_strides, array_strides);
    plan->bytes = moved * tuples;
    if (moved == 0)
        return 1;
    dml_gather_scatter_nd_choose(task, moved, tuples);
    plan->extent = 1;
    for (int i = 0; i < params->rank; i++)
        dml_gather_scatter_nd_reach(task, params->sizes[i], params->array_strides[i]);
    for (int k = 0; k < params->count; k++)
        dml_gather_scatter_nd_reach(task, params->coordinates[k].size, params->coordinates[k].array_stride);
    return 1;
}

/* Computes the offsets of `count` index tuples that follow each other along the last dimension, from these coordinates
   on; `first` is the offset of the first of them without its indices. */
static void dml_gather_scatter_nd_find(dml_gather_scatter_nd *task, const int64_t *at, int64_t first, int64_t count,
                                       int64_t *offsets)
{
    const dml_gather_scatter_nd_params *params = &task->params;
    int last = params->rank - 1;
    for (int64_t i = 0; i < count; i++)
        offsets[i] = first + i * params->array_strides[last];
    for (int k = 0; k < params->count; k++) {
        const int along = params->coordinates[k].along;
        const int64_t *strides = params->coordinates[k].strides;
        const char *indices = (const char *)params->coordinates[k].indices;
        for (int i = 0; i <= last; i++)
            indices += at[i] * strides[i];
        dml_gather_scatter_nd_line line = {
            indices, strides[last], count, params->coordinates[k].size, params->coordinates[k].array_stride,
            along < 0 ? 0 : at[along], along == last, offsets, &task->outside};
#if defined(__x86_64__)
        /* Indices are read once, with pauses: the next ones are prefetched meanwhile. */
        for (int64_t i = 0; line.stride > 0 && line.stride <= 8 && i < count * line.stride; i += 64)
            __builtin_prefetch(indices + count * line.stride + i);
#endif
        dml_dispatch->gather_scatter_nd->add[params->mode][params->coordinates[k].type](&line);
    }
}

/* Reads or writes one by one. */
static void dml_gather_scatter_nd_one_by_one(dml_gather_scatter_nd *task, const int64_t *at, int64_t count,
                                             char *values)
{
    const dml_gather_scatter_nd_params *params = &task->params;
    int last = params->rank - 1, along = params->coordinates[0].along,
        item = __builtin_ctzll((unsigned long long)task->plan.trail.item);
    dml_gather_scatter_nd_single single = {.line = {.indices = (const char *)params->coordinates[0].indices,
                                                    .stride = params->coordinates[0].strides[last],
                                                    .count = count,
                                                    .size = params->coordinates[0].size,
                                                    .coordinate_stride = params->coordinates[0].array_stride,
                                                    .position = along < 0 ? 0 : at[along],
                                                    .outside = &task->outside},
                                           .array = (char *)params->array,
                                           .values = values,
                                           .array_stride = params->array_strides[last],
                                           .values_stride = params->values_strides[last]};
    for (int i = 0; i <= last; i++) {
        single.array += at[i] * params->array_strides[i];
        single.line.indices += at[i] * params->coordinates[0].strides[i];
    }
#if defined(__x86_64__)
    /* A short line of the array is better prefetched from end to end, before it is needed, than in the order of its
       indices. */
    int64_t span = params->coordinates[0].size * params->coordinates[0].array_stride;
    if (single.array_stride == 0 && last > 0 && span > 0 && span <= DML_GATHER_SCATTER_ND_AHEAD)
        for (int64_t i = at[last] * 64; i < (at[last] + count) * 64 && i < span; i += 64)
            __builtin_prefetch(single.array + params->array_strides[last - 1] + i);
#endif
    dml_dispatch->gather_scatter_nd->single[params->mode][params->coordinates[0].type][item](&single);
}

static int64_t dml_gather_scatter_nd_length(int type, const char *address, int64_t size)
{
    int is_wide = type == DML_INDEX_UINT64 || type == DML_INDEX_INT64;
    uint64_t length = 0;
    uint32_t word;
    memcpy(is_wide ? (void *)&length : (void *)&word, address, is_wide ? sizeof length : sizeof word);
    length = is_wide ? length : word;
    if ((type == DML_INDEX_INT32 && length > INT32_MAX) || (type == DML_INDEX_INT64 && length > INT64_MAX))
        return 0;
    return length < (uint64_t)size ? (int64_t)length : size;
}

/* Copies part of a line, backwards as far as its length reaches. */
static void dml_gather_scatter_nd_reverse(const dml_gather_scatter_nd *task, const int64_t *at, int64_t count,
                                          char *values, int stream)
{
    const dml_gather_scatter_nd_params *params = &task->params;
    const dml_gather_scatter_nd_plan *plan = &task->plan;
    int last = params->rank - 1, item = __builtin_ctzll((unsigned long long)plan->trail.item);
    int64_t begin = at[last], end = begin + count, stride = params->coordinates[0].array_stride,
            values_stride = params->values_strides[last];
    const char *array = (const char *)params->array, *lengths = (const char *)params->coordinates[0].indices;
    for (int i = 0; i < last; i++) {
        array += at[i] * params->array_strides[i];
        lengths += at[i] * params->coordinates[0].strides[i];
    }
    int64_t length = dml_gather_scatter_nd_length(params->coordinates[0].type, lengths, params->coordinates[0].size);
    int64_t reversed_end = length < begin ? begin : dml_least(length, end);
    dml_span span = {.output = values,
                     .input = array + (length - 1 - begin) * stride,
                     .lines = 1,
                     .length = reversed_end - begin,
                     .output_stride = values_stride,
                     .input_stride = -stride};
    if (reversed_end > begin)
        dml_dispatch->move->strided[item](&span, stream);
    span.output += span.length * values_stride;
    span.input = array + reversed_end * stride;
    span.length = end - reversed_end;
    span.input_stride = stride;
    if (stride == plan->trail.item && values_stride == stride) {
        span.length *= stride;
        dml_dispatch->move->rows(&span, stream);
    } else if (reversed_end < end) {
        dml_dispatch->move->strided[item](&span, stream);
    }
}

static void dml_gather_scatter_nd_write(const dml_gather_scatter_nd *task, const int64_t *offsets, const char *values,
                                        int64_t count)
{
    const dml_gather_scatter_nd_params *params = &task->params;
    const dml_gather_scatter_nd_plan *plan = &task->plan;
    int64_t stride = params->values_strides[params->rank - 1];
    char *array = (char *)params->array + (plan->kind == DML_COPY_ITEMS ? 0 : (intptr_t)plan->trail.output);
    int stream = plan->bytes >= dml_stream_bytes;
    if (plan->kind == DML_COPY_ITEMS) {
        dml_dispatch->gather_scatter_nd->write[__builtin_ctzll((unsigned long long)plan->trail.item)](
            array, offsets, values, stride, count);
        return;
    }
    values += (intptr_t)plan->trail.input;
    if (plan->kind == DML_COPY_ROWS) {
        dml_dispatch->gather_scatter_nd->write_rows(array, offsets, values, stride, count, plan->trail.bytes,
                                                    stream);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        if (offsets[i] != INT64_MIN / 2)
            dml_move_part(&plan->trail, array + offsets[i], values + i * stride, 0, plan->trail.units, 0);
}

/* Writes at all index tuples from `at` up to `end`, in the order of their coordinates, whose offsets are in `range`, if
   there is one. */
static void dml_gather_scatter_nd_write_box(dml_gather_scatter_nd *task, const int64_t *begin, const int64_t *end,
                                            const int64_t *range)
{
    const dml_gather_scatter_nd_params *params = &task->params;
    const dml_gather_scatter_nd_plan *plan = &task->plan;
    int last = params->rank - 1, i = last;
    int64_t offsets[DML_GATHER_SCATTER_ND_BLOCK], at[8];
    char unused[16];
    /* Items that belong to other threads are written to a dummy instead: half of the branches around them would be
       taken. */
    int64_t elsewhere =
        plan->kind == DML_COPY_ITEMS ? (int64_t)((uintptr_t)unused - params->array) : INT64_MIN / 2;
    memcpy(at, begin, sizeof at);
    while (i >= 0) {
        const char *values = (const char *)params->values;
        int64_t left = end[last] - at[last], count = dml_least(left, plan->block), first = 0;
        for (i = 0; i <= last; i++) {
            values += at[i] * params->values_strides[i];
            first += at[i] * params->array_strides[i];
        }
        if (plan->is_single && !range) {
            dml_gather_scatter_nd_one_by_one(task, at, count, (char *)values);
        } else {
            dml_gather_scatter_nd_find(task, at, first, count, offsets);
            if (range)
                for (i = 0; i < count; i++)
                    offsets[i] =
                        (uint64_t)(offsets[i] - range[0]) < (uint64_t)(range[1] - range[0]) ? offsets[i] : elsewhere;
            dml_gather_scatter_nd_write(task, offsets, values, count);
        }
        at[last] += count;
        for (i = last; i >= 0 && at[i] >= end[i]; i--) {
            at[i] = begin[i];
            if (i > 0)
                at[i - 1]++;
        }
    }
    if (plan->kind == DML_COPY_ROWS && plan->bytes >= dml_stream_bytes)
        dml_dispatch->move->stream_end();
}

static void dml_gather_scatter_nd_share_writes(void *context, int64_t begin, int64_t end)
{
    dml_gather_scatter_nd *task = context;
    const dml_gather_scatter_nd_params *params = &task->params;
    int64_t from[8] = {0}, to[8];
    memcpy(to, params->sizes, sizeof to);
    from[params->apart] = begin;
    to[params->apart] = end;
    dml_gather_scatter_nd_write_box(task, from, to, NULL);
}

typedef struct {
    dml_gather_scatter_nd *task;
    int64_t count;
} dml_gather_scatter_nd_ranges;

/* Units are parts of the array, one for each thread, which looks for the offsets in its part, so that the last of
   several writes to the same element wins. */
static void dml_gather_scatter_nd_share_ranges(void *context, int64_t begin, int64_t end)
{
    const dml_gather_scatter_nd_ranges *ranges = context;
    dml_gather_scatter_nd *task = ranges->task;
    const dml_gather_scatter_nd_plan *plan = &task->plan;
    int64_t from[8] = {0}, range[2] = {plan->lowest + dml_portion(plan->extent, begin, ranges->count),
                                       plan->lowest + dml_portion(plan->extent, end, ranges->count)};
    dml_gather_scatter_nd_write_box(task, from, task->params.sizes, end - begin < ranges->count ? range : NULL);
}

/* How many units the reads along the last dimension are: blocks of index tuples. */
static int64_t dml_gather_scatter_nd_pieces(const dml_gather_scatter_nd *task)
{
    return dml_quotient_up(task->params.sizes[task->params.rank - 1], task->plan.block);
}

/* Finds the coordinates of a unit, and where it reads and writes. */
static void dml_gather_scatter_nd_seek(const dml_gather_scatter_nd *task, int64_t unit, int64_t *at,
                                       dml_gather_scatter_nd_reads *reads)
{
    const dml_gather_scatter_nd_params *params = &task->params;
    const int64_t pieces = dml_gather_scatter_nd_pieces(task);
    const int last = params->rank - 1;
    int64_t rest = unit / pieces, left;
    at[last] = unit % pieces * task->plan.block;
    left = params->sizes[last] - at[last];
    reads->count = dml_least(left, task->plan.block);
    reads->values = (char *)params->values + at[last] * params->values_strides[last];
    reads->array = (const char *)params->array;
    for (int i = last - 1; i >= 0; i--) {
        at[i] = rest % params->sizes[i];
        rest /= params->sizes[i];
        reads->values += at[i] * params->values_strides[i];
        reads->array += at[i] * params->array_strides[i];
    }
}

static void dml_gather_scatter_nd_read(const dml_gather_scatter_nd_plan *plan, const dml_gather_scatter_nd_reads *reads,
                                       int stream)
{
    const dml_move *trail = &plan->trail;
    if (plan->kind == DML_COPY_ROWS) {
        dml_dispatch->gather_scatter_nd->read_rows(reads, stream);
    } else if (plan->kind == DML_COPY_ITEMS) {
        dml_dispatch->gather_scatter_nd->read[__builtin_ctzll((unsigned long long)trail->item)](reads);
    } else {
        char *values = reads->values + (intptr_t)trail->output;
        const char *array = reads->array + (intptr_t)trail->input;
        for (int64_t i = 0; i < reads->count; i++)
            dml_move_part(trail, values + i * reads->values_stride, array + reads->offsets[i], 0, trail->units, stream);
    }
}

static void dml_gather_scatter_nd_share_reads(void *context, int64_t begin, int64_t end)
{
    dml_gather_scatter_nd *task = context;
    const dml_gather_scatter_nd_params *params = &task->params;
    const dml_gather_scatter_nd_plan *plan = &task->plan;
    int last = params->rank - 1, stream = plan->bytes >= dml_stream_bytes, is_known = 0;
    int64_t offsets[DML_GATHER_SCATTER_ND_BLOCK], item = plan->trail.item, stride = params->values_strides[last];
    /* Items that are written by streaming stores are collected first. */
    const int collects = stream && stride == item && plan->kind == DML_COPY_ITEMS && !plan->is_lines;
    char together[DML_GATHER_SCATTER_ND_BLOCK * 16] __attribute__((aligned(64)));
    dml_gather_scatter_nd_reads reads = {.offsets = offsets,
                                         .values_stride = stride,
                                         .bytes = plan->trail.bytes,
                                         .is_far = plan->extent > DML_GATHER_SCATTER_ND_NEAR};
    for (; begin < end; begin++) {
        int64_t at[8];
        dml_gather_scatter_nd_seek(task, begin, at, &reads);
        char *values = reads.values;
        if (collects)
            reads.values = together;
        if (plan->is_lines) {
            dml_gather_scatter_nd_reverse(task, at, reads.count, reads.values, stream);
        } else if (plan->is_single) {
            dml_gather_scatter_nd_one_by_one(task, at, reads.count, reads.values);
        } else {
            if (!is_known)
                dml_gather_scatter_nd_find(task, at, at[last] * params->array_strides[last], reads.count, offsets);
            is_known = plan->is_repeated;
            dml_gather_scatter_nd_read(plan, &reads, stream);
        }
        if (collects)
            dml_move_lines(values, 0, together, 0, 1, reads.count * item, stream);
    }
    if (stream)
        dml_dispatch->move->stream_end();
}

/* Makes one copy for each index tuple, whose bytes threads share. */
static void dml_gather_scatter_nd_few(dml_gather_scatter_nd *task, int64_t tuples)
{
    const dml_gather_scatter_nd_params *params = &task->params;
    const int last = params->rank - 1;
    dml_move copies[DML_GATHER_SCATTER_ND_FEW];
    for (int64_t i = 0; i < tuples; i++) {
        dml_gather_scatter_nd_reads read;
        int64_t at[8], offset;
        dml_gather_scatter_nd_seek(task, i, at, &read);
        dml_gather_scatter_nd_find(task, at, at[last] * params->array_strides[last], 1, &offset);
        copies[i] = task->plan.trail;
        copies[i].output += (uintptr_t)read.values;
        copies[i].input += (uintptr_t)(read.array + offset);
    }
    dml_move_run(copies, tuples);
}

void dml_gather_scatter_nd_run(dml_gather_scatter_nd *task)
{
    const dml_gather_scatter_nd_params *params = &task->params;
    const dml_gather_scatter_nd_plan *plan = &task->plan;
    DML_ASSERT(params->rank >= 1 && DML_IS_RANK(params->rank) && DML_IS_RANK(params->count));
    DML_ASSERT(DML_IS_INDEX(params->mode, DML_GATHER_SCATTER_ND_REVERSED + 1));
    DML_ASSERT(params->apart >= -1 && params->apart < params->rank);
    DML_ASSERT_EACH(i, params->rank, params->sizes[i] >= 0);
    DML_ASSERT_EACH(i, params->count, DML_IS_INDEX(params->coordinates[i].type, 4));
    DML_ASSERT_EACH(i, params->count, params->coordinates[i].size >= (plan->bytes > 0));
    DML_ASSERT(DML_IS_INDEX(plan->kind, DML_COPY_NESTED + 1));
    DML_ASSERT(plan->bytes >= 0 && (plan->bytes == 0 || plan->block >= 1));
    int last = params->rank - 1, threads = dml_get_threads();
    dml_gather_scatter_nd_ranges ranges = {task, threads < DML_GATHER_SCATTER_ND_RANGES ? threads
                                                                                        : DML_GATHER_SCATTER_ND_RANGES};
    if (plan->bytes == 0)
        return;
    if (plan->kind == DML_COPY_FEW)
        dml_gather_scatter_nd_few(task, dml_element_count(params->rank, params->sizes));
    else if (!params->is_write)
        dml_parallel(dml_gather_scatter_nd_share_reads, task,
                     dml_element_count(last, params->sizes) * dml_gather_scatter_nd_pieces(task), 1, plan->bytes);
    else if (params->apart >= 0)
        dml_parallel(dml_gather_scatter_nd_share_writes, task, params->sizes[params->apart],
                     params->apart == last ? 64 : 1, plan->bytes);
    else
        dml_parallel(dml_gather_scatter_nd_share_ranges, &ranges, ranges.count, 1, plan->bytes);
}
