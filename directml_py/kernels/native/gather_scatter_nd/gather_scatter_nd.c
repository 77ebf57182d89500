#include "../common/assert.h"
#include "../common/declarations.h"
#include "../common/dimensions.h"
#include "../context.h"
#include "../gather/dispatch.h"
#include "../gather/gather.h"
#include "../move/dispatch.h"
#include "../move/move.h"
#include "../threads/parallel.h"

/* This many offsets are computed at once, which leaves room for the elements in the L1 cache. */
#define DML_GATHER_SCATTER_ND_BLOCK 1024
/* This much of a line is reversed at once. */
#define DML_GATHER_SCATTER_ND_LINE (1 << 14)
/* Lines that lie side by side are reversed in strips. A strip has at most this many bytes, which stay in the second
   cache, and at least this many bytes of each line, unless it is reversed in place. */
#define DML_GATHER_SCATTER_ND_STRIP (1 << 20)
#define DML_GATHER_SCATTER_ND_NARROWEST 64
/* The most threads that write ranges of an array: each of them has to compute all offsets to find its own. */
#define DML_GATHER_SCATTER_ND_RANGES 8

static void dml_gather_scatter_nd_reach(dml_gather_scatter_nd *task, int64_t size, int64_t stride)
{
    int64_t reach = (size - 1) * stride;
    task->lowest += reach < 0 ? reach : 0;
    task->extent += dml_magnitude(reach);
}

/* The elements of a strip that lie side by side; 0 if there are no strips. */
static int64_t dml_gather_scatter_nd_strip(const dml_gather_scatter_nd *task, int64_t item)
{
    int along = task->coordinates[0].along, last = task->rank - 1;
    int64_t bytes;
    if (!task->is_single || task->mode != DML_GATHER_SCATTER_ND_REVERSED || along < 0 || along != last - 1)
        return 0;
    bytes = DML_GATHER_SCATTER_ND_STRIP / task->coordinates[0].size;
    bytes -= bytes % DML_GATHER_SCATTER_ND_NARROWEST;
    return (bytes > 1024 ? 1024 : bytes) / item;
}

int dml_gather_scatter_nd_prepare(dml_gather_scatter_nd *task, int64_t item, int rank, const int64_t *sizes,
                                  const int64_t *array_strides, const int64_t *values_strides)
{
    int64_t moved = item * dml_element_count(rank, sizes), tuples = dml_element_count(task->rank, task->sizes);
    if (rank < 0 || rank > 8 || (item != 1 && item != 2 && item != 4 && item != 8))
        return 0;
    if (task->is_write)
        dml_move_layout(&task->trail, item, rank, sizes, array_strides, values_strides);
    else
        dml_move_layout(&task->trail, item, rank, sizes, values_strides, array_strides);
    task->bytes = moved * tuples;
    if (moved == 0)
        return 1;
    dml_gather_choose_copy(&task->trail, moved, DML_GATHER_SCATTER_ND_BLOCK, &task->kind, &task->block);
    task->is_single = task->count == 1 && task->kind == DML_GATHER_ITEMS && task->trail.item <= 8;
    task->is_lines =
        task->is_single && task->mode == DML_GATHER_SCATTER_ND_REVERSED && task->coordinates[0].along == task->rank - 1;
    if (task->is_lines)
        task->block = DML_GATHER_SCATTER_ND_LINE;
    task->strip = dml_gather_scatter_nd_strip(task, item);
    task->extent = 1;
    for (int i = 0; i < task->rank; i++)
        dml_gather_scatter_nd_reach(task, task->sizes[i], task->array_strides[i]);
    for (int k = 0; k < task->count; k++)
        dml_gather_scatter_nd_reach(task, task->coordinates[k].size, task->coordinates[k].array_stride);
    return 1;
}

/* Computes the offsets of `count` index tuples that follow each other along the last dimension, from these coordinates
   on. */
static void dml_gather_scatter_nd_find(dml_gather_scatter_nd *task, const int64_t *at, int64_t count, int64_t *offsets)
{
    int last = task->rank - 1;
    int64_t first = 0;
    for (int i = 0; i <= last; i++)
        first += at[i] * task->array_strides[i];
    for (int64_t i = 0; i < count; i++)
        offsets[i] = first + i * task->array_strides[last];
    for (int k = 0; k < task->count; k++) {
        int along = task->coordinates[k].along;
        const char *indices = (const char *)task->coordinates[k].indices;
        for (int i = 0; i <= last; i++)
            indices += at[i] * task->coordinates[k].strides[i];
        dml_gather_scatter_nd_line line = {indices,
                                           task->coordinates[k].strides[last],
                                           count,
                                           task->coordinates[k].size,
                                           task->coordinates[k].array_stride,
                                           along < 0 ? 0 : at[along],
                                           along == last,
                                           offsets,
                                           &task->outside};
#if defined(__x86_64__)
        /* Indices are read once, with pauses: the next ones are prefetched meanwhile. */
        for (int64_t i = 0; line.stride > 0 && line.stride <= 8 && i < count * line.stride; i += 64)
            __builtin_prefetch(indices + count * line.stride + i);
#endif
        dml_dispatch->gather_scatter_nd->add[task->mode][task->coordinates[k].type](&line);
    }
}

/* Reads or writes what the single coordinate of each of `count` index tuples names, from these coordinates on. */
static void dml_gather_scatter_nd_one_by_one(dml_gather_scatter_nd *task, const int64_t *at, int64_t count,
                                             char *values)
{
    int last = task->rank - 1, along = task->coordinates[0].along, type = task->coordinates[0].type;
    int item = __builtin_ctzll((unsigned long long)task->trail.item);
    int64_t span = task->coordinates[0].size * task->coordinates[0].array_stride,
            values_stride = task->values_strides[last];
    dml_gather_scatter_nd_single single = {.line = {.indices = (const char *)task->coordinates[0].indices,
                                                    .stride = task->coordinates[0].strides[last],
                                                    .count = count,
                                                    .size = task->coordinates[0].size,
                                                    .coordinate_stride = task->coordinates[0].array_stride,
                                                    .position = along < 0 ? 0 : at[along],
                                                    .outside = &task->outside},
                                           .array = (char *)task->array,
                                           .values = values,
                                           .array_stride = task->array_strides[last],
                                           .values_stride = values_stride};
    for (int i = 0; i <= last; i++) {
        single.array += at[i] * task->array_strides[i];
        single.line.indices += at[i] * task->coordinates[0].strides[i];
    }
#if defined(__x86_64__)
    /* A short line of the array is better prefetched from end to end, before it is needed, than in the order of its
       indices. */
    if (single.array_stride == 0 && last > 0 && span > 0 && span <= DML_GATHER_AHEAD_BYTES)
        for (int64_t i = at[last] * 64; i < (at[last] + count) * 64 && i < span; i += 64)
            __builtin_prefetch(single.array + task->array_strides[last - 1] + i);
#endif
    if (task->mode == DML_GATHER_SCATTER_ND_CLAMPED)
        dml_dispatch->gather_scatter_nd->single_clamped[type][item](&single);
    else if (task->mode == DML_GATHER_SCATTER_ND_EXACT)
        dml_dispatch->gather_scatter_nd->single_exact[type][item](&single);
    else
        dml_dispatch->gather_scatter_nd->single_reversed[type][item](&single);
}

static int64_t dml_gather_scatter_nd_length(int type, const char *address, int64_t size)
{
    uint64_t length = 0;
    int64_t number;
    if (type == DML_INDEX_UINT32 || type == DML_INDEX_INT32) {
        uint32_t word;
        memcpy(&word, address, sizeof word);
        length = word;
        number = type == DML_INDEX_INT32 ? (int32_t)word : (int64_t)word;
    } else {
        memcpy(&length, address, sizeof length);
        number = type == DML_INDEX_INT64 || length <= INT64_MAX ? (int64_t)length : INT64_MAX;
    }
    return number < 0 ? 0 : number < size ? number : size;
}

/* Copies part of a line, backwards as far as its length reaches. */
static void dml_gather_scatter_nd_reverse(const dml_gather_scatter_nd *task, const int64_t *at, int64_t count,
                                          char *values, int stream)
{
    int last = task->rank - 1, item = __builtin_ctzll((unsigned long long)task->trail.item);
    int64_t begin = at[last], end = begin + count, stride = task->coordinates[0].array_stride,
            values_stride = task->values_strides[last];
    const char *array = (const char *)task->array, *lengths = (const char *)task->coordinates[0].indices;
    for (int i = 0; i < last; i++) {
        array += at[i] * task->array_strides[i];
        lengths += at[i] * task->coordinates[0].strides[i];
    }
    int64_t length = dml_gather_scatter_nd_length(task->coordinates[0].type, lengths, task->coordinates[0].size);
    int64_t reversed_end = length < begin ? begin : length < end ? length : end;
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
    if (stride == task->trail.item && values_stride == stride) {
        span.length *= stride;
        dml_dispatch->move->rows(&span, stream);
    } else if (reversed_end < end) {
        dml_dispatch->move->strided[item](&span, stream);
    }
}

/* Units are strips. Their lines may lie so far apart that caches have no room for all of them: they are packed first,
   if there is memory. */
static void dml_gather_scatter_nd_share_strips(void *context, int64_t begin, int64_t end)
{
    const dml_gather_scatter_nd *task = context;
    int last = task->rank - 1, along = last - 1, stream = task->bytes >= dml_stream_bytes;
    int type = task->coordinates[0].type, size = __builtin_ctzll((unsigned long long)task->trail.item);
    int64_t item = task->trail.item, lines = task->sizes[along],
            pieces = dml_quotient_up(task->sizes[last], task->strip);
    char *strip = malloc((size_t)(lines * task->strip * item));
    char together[1024] __attribute__((aligned(64)));
    for (; begin < end; begin++) {
        int64_t at[8] = {0}, rest = begin / pieces, first = begin % pieces * task->strip,
                left = task->sizes[last] - first;
        int64_t count = left < task->strip ? left : task->strip, values_stride = task->values_strides[last];
        const char *array = (const char *)task->array, *lengths = (const char *)task->coordinates[0].indices;
        char *values = (char *)task->values;
        at[last] = first;
        for (int i = along - 1; i >= 0; i--) {
            at[i] = rest % task->sizes[i];
            rest /= task->sizes[i];
        }
        for (int i = 0; i <= last; i++) {
            array += at[i] * task->array_strides[i];
            lengths += at[i] * task->coordinates[0].strides[i];
            values += at[i] * task->values_strides[i];
        }
        dml_gather_scatter_nd_single single = {.line = {.indices = lengths,
                                                        .stride = task->coordinates[0].strides[last],
                                                        .count = count,
                                                        .size = task->coordinates[0].size,
                                                        .coordinate_stride = task->coordinates[0].array_stride},
                                               .array = (char *)array,
                                               .array_stride = task->array_strides[last],
                                               .values_stride = values_stride};
        if (strip) {
            int is_row = task->array_strides[last] == item;
            dml_span span = {strip,
                             array,
                             lines,
                             count * item,
                             task->coordinates[0].array_stride,
                             count,
                             item,
                             task->array_strides[last]};
            if (is_row)
                span.length *= item;
            (is_row ? dml_dispatch->move->rows : dml_dispatch->move->strided[size])(&span, 0);
            single.array = strip;
            single.array_stride = item;
            single.line.coordinate_stride = count * item;
        }
        for (int64_t line = 0; line < lines; line++, values += task->values_strides[along]) {
            dml_span span = {.output = values, .input = together, .lines = 1, .length = count * item};
            single.line.position = line;
            single.values = stream && values_stride == item ? together : values;
            dml_dispatch->gather_scatter_nd->single_reversed[type][size](&single);
            if (single.values == together)
                dml_dispatch->move->rows(&span, stream);
        }
    }
    if (stream)
        dml_dispatch->move->stream_end();
    free(strip);
}

static void dml_gather_scatter_nd_write(const dml_gather_scatter_nd *task, const int64_t *offsets, const char *values,
                                        int64_t count)
{
    int64_t stride = task->values_strides[task->rank - 1];
    char *array = (char *)task->array + (task->kind == DML_GATHER_ITEMS ? 0 : (intptr_t)task->trail.output);
    int stream = task->bytes >= dml_stream_bytes;
    if (task->kind == DML_GATHER_ITEMS) {
        dml_dispatch->gather_scatter_nd->write[__builtin_ctzll((unsigned long long)task->trail.item)](
            array, offsets, values, stride, count);
        return;
    }
    values += (intptr_t)task->trail.input;
    if (task->kind == DML_GATHER_ROWS) {
        dml_dispatch->gather_scatter_nd->write_rows(array, offsets, values, stride, count, task->trail.bytes, stream);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        if (offsets[i] != INT64_MIN / 2)
            dml_move_part(&task->trail, array + offsets[i], values + i * stride, 0, task->trail.units, 0);
}

/* Writes at all index tuples from `at` up to `end`, in the order of their coordinates, whose offsets are in `range`, if
   there is one. */
static void dml_gather_scatter_nd_write_box(dml_gather_scatter_nd *task, const int64_t *begin, const int64_t *end,
                                            const int64_t *range)
{
    int last = task->rank - 1, i = last;
    int64_t offsets[DML_GATHER_SCATTER_ND_BLOCK], at[8];
    char unused[16];
    /* Items that belong to other threads are written to a dummy instead: half of the branches around them would be
       taken. */
    int64_t elsewhere = task->kind == DML_GATHER_ITEMS ? (int64_t)((uintptr_t)unused - task->array) : INT64_MIN / 2;
    memcpy(at, begin, sizeof at);
    while (i >= 0) {
        const char *values = (const char *)task->values;
        int64_t left = end[last] - at[last], count = left < task->block ? left : task->block;
        for (i = 0; i <= last; i++)
            values += at[i] * task->values_strides[i];
        if (task->is_single && !range) {
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
    if (task->kind == DML_GATHER_ROWS && task->bytes >= dml_stream_bytes)
        dml_dispatch->move->stream_end();
}

static void dml_gather_scatter_nd_share_writes(void *context, int64_t begin, int64_t end)
{
    dml_gather_scatter_nd *task = context;
    int64_t from[8] = {0}, to[8];
    memcpy(to, task->sizes, sizeof to);
    from[task->apart] = begin;
    to[task->apart] = end;
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
    int64_t from[8] = {0}, range[2] = {task->lowest + dml_portion(task->extent, begin, ranges->count),
                                       task->lowest + dml_portion(task->extent, end, ranges->count)};
    dml_gather_scatter_nd_write_box(task, from, task->sizes, end - begin < ranges->count ? range : NULL);
}

/* Units are blocks of index tuples along the last dimension. */
static void dml_gather_scatter_nd_share_reads(void *context, int64_t begin, int64_t end)
{
    dml_gather_scatter_nd *task = context;
    int last = task->rank - 1, stream = task->bytes >= dml_stream_bytes;
    int64_t offsets[DML_GATHER_SCATTER_ND_BLOCK], pieces = dml_quotient_up(task->sizes[last], task->block);
    int64_t item = task->trail.item, stride = task->values_strides[last];
    char together[DML_GATHER_SCATTER_ND_BLOCK * 8] __attribute__((aligned(64)));
    dml_gather gather_each = {.trail = task->trail, .kind = task->kind};
    dml_gather_items copies = {
        .x = (const char *)task->array, .offsets = offsets, .output_stride = stride, .bytes = task->trail.bytes};
    for (; begin < end; begin++) {
        int64_t at[8], rest = begin / pieces, left;
        at[last] = begin % pieces * task->block;
        left = task->sizes[last] - at[last];
        copies.output = (char *)task->values + at[last] * stride;
        for (int i = last - 1; i >= 0; i--) {
            at[i] = rest % task->sizes[i];
            rest /= task->sizes[i];
            copies.output += at[i] * task->values_strides[i];
        }
        copies.count = left < task->block ? left : task->block;
        if (task->is_lines) {
            dml_gather_scatter_nd_reverse(task, at, copies.count, copies.output, stream);
        } else if (task->is_single && stream && stride == item) {
            dml_gather_scatter_nd_one_by_one(task, at, copies.count, together);
            dml_span span = {.output = copies.output, .input = together, .lines = 1, .length = copies.count * item};
            dml_dispatch->move->rows(&span, stream);
        } else if (task->is_single) {
            dml_gather_scatter_nd_one_by_one(task, at, copies.count, copies.output);
        } else {
            dml_gather_scatter_nd_find(task, at, copies.count, offsets);
            dml_gather_copy(&gather_each, &copies, stream);
        }
    }
    if (stream)
        dml_dispatch->move->stream_end();
}

void dml_gather_scatter_nd_run(dml_gather_scatter_nd *task)
{
    DML_ASSERT(task->rank >= 1 && DML_IS_RANK(task->rank) && DML_IS_RANK(task->count));
    DML_ASSERT(DML_IS_INDEX(task->mode, DML_GATHER_SCATTER_ND_REVERSED + 1));
    DML_ASSERT(task->apart >= -1 && task->apart < task->rank);
    DML_ASSERT_EACH(i, task->rank, task->sizes[i] >= 0);
    DML_ASSERT_EACH(i, task->count, DML_IS_INDEX(task->coordinates[i].type, 4));
    DML_ASSERT_EACH(i, task->count, task->coordinates[i].size >= (task->bytes > 0));
    DML_ASSERT(task->bytes >= 0 && task->strip >= 0 && (task->strip > 0 || task->bytes == 0 || task->block >= 1));
    int last = task->rank - 1, threads = dml_get_threads();
    dml_gather_scatter_nd_ranges ranges = {task, threads < DML_GATHER_SCATTER_ND_RANGES ? threads
                                                                                        : DML_GATHER_SCATTER_ND_RANGES};
    if (task->bytes == 0)
        return;
    if (task->strip > 0)
        dml_parallel(dml_gather_scatter_nd_share_strips, task,
                     dml_element_count(last - 1, task->sizes) * dml_quotient_up(task->sizes[last], task->strip), 1,
                     task->bytes);
    else if (!task->is_write)
        dml_parallel(dml_gather_scatter_nd_share_reads, task,
                     dml_element_count(last, task->sizes) * dml_quotient_up(task->sizes[last], task->block), 1,
                     task->bytes);
    else if (task->apart >= 0)
        dml_parallel(dml_gather_scatter_nd_share_writes, task, task->sizes[task->apart], task->apart == last ? 64 : 1,
                     task->bytes);
    else
        dml_parallel(dml_gather_scatter_nd_share_ranges, &ranges, ranges.count, 1, task->bytes);
}
