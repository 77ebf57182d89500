#include "../common/assert.h"
#include "../common/dimensions.h"
#include "../context.h"
#include "../gather/gather.h"
#include "../move/move.h"
#include "../threads/parallel.h"

/* This many offsets are computed at once, which leaves room for the elements in the L1 cache. */
#define DML_GATHER_SCATTER_ND_BLOCK 1024
/* This much of a line is reversed at once. */
#define DML_GATHER_SCATTER_ND_LINE (1 << 14)
/* Lines of the array of up to this size are prefetched before they are needed. */
#define DML_GATHER_SCATTER_ND_AHEAD (1 << 16)
/* The most threads that write ranges of an array: each of them has to compute all offsets to find its own. */
#define DML_GATHER_SCATTER_ND_RANGES 8

static void dml_gather_scatter_nd_reach(dml_gather_scatter_nd *task, int64_t size, int64_t stride)
{
    dml_gather_scatter_nd_plan *plan = &task->plan;
    int64_t reach = (size - 1) * stride;
    plan->lowest += dml_least(reach, 0);
    plan->extent += dml_magnitude(reach);
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
        dml_move_layout(&plan->copy.trail, item, rank, sizes, array_strides, values_strides);
    else
        dml_move_layout(&plan->copy.trail, item, rank, sizes, values_strides, array_strides);
    plan->bytes = moved * tuples;
    if (moved == 0)
        return 1;
    dml_gather_choose_copy(&plan->copy, moved, DML_GATHER_SCATTER_ND_BLOCK);
    plan->is_single = params->count == 1 && plan->copy.kind == DML_GATHER_ITEMS && plan->copy.trail.item <= 8;
    plan->is_lines = plan->is_single && params->mode == DML_GATHER_SCATTER_ND_REVERSED &&
                     params->coordinates[0].along == params->rank - 1;
    if (plan->is_lines)
        plan->copy.block = DML_GATHER_SCATTER_ND_LINE;
    plan->extent = 1;
    for (int i = 0; i < params->rank; i++)
        dml_gather_scatter_nd_reach(task, params->sizes[i], params->array_strides[i]);
    for (int k = 0; k < params->count; k++)
        dml_gather_scatter_nd_reach(task, params->coordinates[k].size, params->coordinates[k].array_stride);
    return 1;
}

/* Computes the offsets of `count` index tuples that follow each other along the last dimension, from these coordinates
   on. */
static void dml_gather_scatter_nd_find(dml_gather_scatter_nd *task, const int64_t *at, int64_t count, int64_t *offsets)
{
    const dml_gather_scatter_nd_params *params = &task->params;
    int last = params->rank - 1;
    int64_t first = 0;
    for (int i = 0; i <= last; i++)
        first += at[i] * params->array_strides[i];
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
        item = __builtin_ctzll((unsigned long long)task->plan.copy.trail.item);
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
    int last = params->rank - 1, item = __builtin_ctzll((unsigned long long)plan->copy.trail.item);
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
    if (stride == plan->copy.trail.item && values_stride == stride) {
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
    char *array = (char *)params->array + (plan->copy.kind == DML_GATHER_ITEMS ? 0 : (intptr_t)plan->copy.trail.output);
    int stream = plan->bytes >= dml_stream_bytes;
    if (plan->copy.kind == DML_GATHER_ITEMS) {
        dml_dispatch->gather_scatter_nd->write[__builtin_ctzll((unsigned long long)plan->copy.trail.item)](
            array, offsets, values, stride, count);
        return;
    }
    values += (intptr_t)plan->copy.trail.input;
    if (plan->copy.kind == DML_GATHER_ROWS) {
        dml_dispatch->gather_scatter_nd->write_rows(array, offsets, values, stride, count, plan->copy.trail.bytes,
                                                    stream);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        if (offsets[i] != INT64_MIN / 2)
            dml_move_part(&plan->copy.trail, array + offsets[i], values + i * stride, 0, plan->copy.trail.units, 0);
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
        plan->copy.kind == DML_GATHER_ITEMS ? (int64_t)((uintptr_t)unused - params->array) : INT64_MIN / 2;
    memcpy(at, begin, sizeof at);
    while (i >= 0) {
        const char *values = (const char *)params->values;
        int64_t left = end[last] - at[last], count = dml_least(left, plan->copy.block);
        for (i = 0; i <= last; i++)
            values += at[i] * params->values_strides[i];
        if (plan->is_single && !range) {
            dml_gather_scatter_nd_one_by_one(task, at, count, (char *)values);
        } else {
            dml_gather_scatter_nd_find(task, at, count, offsets);
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
    if (plan->copy.kind == DML_GATHER_ROWS && plan->bytes >= dml_stream_bytes)
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

/* Units are blocks of index tuples along the last dimension. */
static void dml_gather_scatter_nd_share_reads(void *context, int64_t begin, int64_t end)
{
    dml_gather_scatter_nd *task = context;
    const dml_gather_scatter_nd_params *params = &task->params;
    const dml_gather_scatter_nd_plan *plan = &task->plan;
    int last = params->rank - 1, stream = plan->bytes >= dml_stream_bytes;
    int64_t offsets[DML_GATHER_SCATTER_ND_BLOCK], pieces = dml_quotient_up(params->sizes[last], plan->copy.block);
    int64_t item = plan->copy.trail.item, stride = params->values_strides[last];
    char together[DML_GATHER_SCATTER_ND_BLOCK * 8] __attribute__((aligned(64)));
    dml_gather_items copies = {
        .x = (const char *)params->array, .offsets = offsets, .output_stride = stride, .bytes = plan->copy.trail.bytes};
    for (; begin < end; begin++) {
        int64_t at[8], rest = begin / pieces, left;
        at[last] = begin % pieces * plan->copy.block;
        left = params->sizes[last] - at[last];
        copies.output = (char *)params->values + at[last] * stride;
        for (int i = last - 1; i >= 0; i--) {
            at[i] = rest % params->sizes[i];
            rest /= params->sizes[i];
            copies.output += at[i] * params->values_strides[i];
        }
        copies.count = dml_least(left, plan->copy.block);
        if (plan->is_lines) {
            dml_gather_scatter_nd_reverse(task, at, copies.count, copies.output, stream);
        } else if (plan->is_single && stream && stride == item) {
            dml_gather_scatter_nd_one_by_one(task, at, copies.count, together);
            dml_move_lines(copies.output, 0, together, 0, 1, copies.count * item, stream);
        } else if (plan->is_single) {
            dml_gather_scatter_nd_one_by_one(task, at, copies.count, copies.output);
        } else {
            dml_gather_scatter_nd_find(task, at, copies.count, offsets);
            dml_gather_copy(&plan->copy, &copies, stream);
        }
    }
    if (stream)
        dml_dispatch->move->stream_end();
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
    DML_ASSERT(plan->bytes >= 0 && (plan->bytes == 0 || plan->copy.block >= 1));
    int last = params->rank - 1, threads = dml_get_threads();
    dml_gather_scatter_nd_ranges ranges = {task, threads < DML_GATHER_SCATTER_ND_RANGES ? threads
                                                                                        : DML_GATHER_SCATTER_ND_RANGES};
    if (plan->bytes == 0)
        return;
    if (!params->is_write)
        dml_parallel(dml_gather_scatter_nd_share_reads, task,
                     dml_element_count(last, params->sizes) * dml_quotient_up(params->sizes[last], plan->copy.block), 1,
                     plan->bytes);
    else if (params->apart >= 0)
        dml_parallel(dml_gather_scatter_nd_share_writes, task, params->sizes[params->apart],
                     params->apart == last ? 64 : 1, plan->bytes);
    else
        dml_parallel(dml_gather_scatter_nd_share_ranges, &ranges, ranges.count, 1, plan->bytes);
}
