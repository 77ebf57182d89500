#include "../common/assert.h"
#include "../common/declarations.h"
#include "../common/dimensions.h"
#include "../context.h"
#include "../gather/dispatch.h"
#include "../gather/gather.h"
#include "../move/dispatch.h"
#include "../move/move.h"
#include "../threads/parallel.h"

/* So many places are found at once, which leaves room for the elements in the L1 cache. */
#define DML_GATHER_SCATTER_ND_BLOCK 1024
/* So much of a line is reversed at once. */
#define DML_GATHER_SCATTER_ND_LINE (1 << 14)
/* Lines that lie side by side are reversed in strips. A strip is so large, which stays in the second cache, and its
   pieces of lines are so long at least, if they are not reversed from where they lie. */
#define DML_GATHER_SCATTER_ND_STRIP (1 << 20)
#define DML_GATHER_SCATTER_ND_NARROWEST 64
/* Threads that look for their own among all places of an array are at most so many: each has to find them all. */
#define DML_GATHER_SCATTER_ND_RANGES 8

static void dml_gather_scatter_nd_reach(dml_gather_scatter_nd *task, int64_t size, int64_t step)
{
    int64_t reach = (size - 1) * step;
    task->lowest += reach < 0 ? reach : 0;
    task->extent += dml_magnitude(reach);
}

/* How many elements of a strip lie side by side; 0 if there are no strips. */
static int64_t dml_gather_scatter_nd_strip(const dml_gather_scatter_nd *task, int64_t item)
{
    int along = task->given[0].along, last = task->rank - 1;
    int64_t bytes;
    if (!task->is_single || task->mode != DML_GATHER_SCATTER_ND_REVERSED || along < 0 || along != last - 1)
        return 0;
    bytes = DML_GATHER_SCATTER_ND_STRIP / task->given[0].size;
    bytes -= bytes % DML_GATHER_SCATTER_ND_NARROWEST;
    return (bytes > 1024 ? 1024 : bytes) / item;
}

int dml_gather_scatter_nd_prepare(dml_gather_scatter_nd *task, int64_t item, int rank, const int64_t *sizes,
                                  const int64_t *array_strides, const int64_t *values_strides)
{
    int64_t moved = item * dml_element_count(rank, sizes), places = dml_element_count(task->rank, task->sizes);
    if (rank < 0 || rank > 8 || (item != 1 && item != 2 && item != 4 && item != 8))
        return 0;
    if (task->is_write)
        dml_move_layout(&task->trail, item, rank, sizes, array_strides, values_strides);
    else
        dml_move_layout(&task->trail, item, rank, sizes, values_strides, array_strides);
    task->bytes = moved * places;
    if (moved == 0)
        return 1;
    dml_gather_trail(&task->trail, moved, DML_GATHER_SCATTER_ND_BLOCK, &task->kind, &task->block);
    task->is_single = task->count == 1 && task->kind == DML_GATHER_ITEMS && task->trail.item <= 8;
    task->is_lines =
        task->is_single && task->mode == DML_GATHER_SCATTER_ND_REVERSED && task->given[0].along == task->rank - 1;
    if (task->is_lines)
        task->block = DML_GATHER_SCATTER_ND_LINE;
    task->strip = dml_gather_scatter_nd_strip(task, item);
    task->extent = 1;
    for (int i = 0; i < task->rank; i++)
        dml_gather_scatter_nd_reach(task, task->sizes[i], task->own[i]);
    for (int k = 0; k < task->count; k++)
        dml_gather_scatter_nd_reach(task, task->given[k].size, task->given[k].step);
    return 1;
}

/* Where `count` places are that follow each other along the last dimension, from these coordinates on. */
static void dml_gather_scatter_nd_find(dml_gather_scatter_nd *task, const int64_t *at, int64_t count, int64_t *offsets)
{
    int last = task->rank - 1;
    int64_t first = 0;
    for (int i = 0; i <= last; i++)
        first += at[i] * task->own[i];
    for (int64_t i = 0; i < count; i++)
        offsets[i] = first + i * task->own[last];
    for (int k = 0; k < task->count; k++) {
        int along = task->given[k].along;
        const char *indices = (const char *)task->given[k].indices;
        for (int i = 0; i <= last; i++)
            indices += at[i] * task->given[k].strides[i];
        dml_gather_scatter_nd_line line = {indices,
                                           task->given[k].strides[last],
                                           count,
                                           task->given[k].size,
                                           task->given[k].step,
                                           along < 0 ? 0 : at[along],
                                           along == last,
                                           offsets,
                                           &task->outside};
#if defined(__x86_64__)
        /* Indices are read once, with pauses: the next ones are prefetched meanwhile. */
        for (int64_t i = 0; line.stride > 0 && line.stride <= 8 && i < count * line.stride; i += 64)
            __builtin_prefetch(indices + count * line.stride + i);
#endif
        dml_dispatch->gather_scatter_nd->add[task->mode][task->given[k].type](&line);
    }
}

/* What the one coordinate of each of `count` places names, from these coordinates on. */
static void dml_gather_scatter_nd_one_by_one(dml_gather_scatter_nd *task, const int64_t *at, int64_t count,
                                             char *values)
{
    int last = task->rank - 1, along = task->given[0].along, type = task->given[0].type;
    int item = __builtin_ctzll((unsigned long long)task->trail.item);
    int64_t span = task->given[0].size * task->given[0].step, values_step = task->values_strides[last];
    dml_gather_scatter_nd_single single = {.line = {.indices = (const char *)task->given[0].indices,
                                                    .stride = task->given[0].strides[last],
                                                    .count = count,
                                                    .size = task->given[0].size,
                                                    .step = task->given[0].step,
                                                    .own = along < 0 ? 0 : at[along],
                                                    .outside = &task->outside},
                                           .array = (char *)task->array,
                                           .values = values,
                                           .own = task->own[last],
                                           .values_step = values_step};
    for (int i = 0; i <= last; i++) {
        single.array += at[i] * task->own[i];
        single.line.indices += at[i] * task->given[0].strides[i];
    }
#if defined(__x86_64__)
    /* A short line of the array is better prefetched from end to end, before it is needed, than in the order of its
       indices. */
    if (single.own == 0 && last > 0 && span > 0 && span <= DML_GATHER_AHEAD_BYTES)
        for (int64_t i = at[last] * 64; i < (at[last] + count) * 64 && i < span; i += 64)
            __builtin_prefetch(single.array + task->own[last - 1] + i);
#endif
    if (task->mode == DML_GATHER_SCATTER_ND_CLAMPED)
        dml_dispatch->gather_scatter_nd->single_clamped[type][item](&single);
    else if (task->mode == DML_GATHER_SCATTER_ND_EXACT)
        dml_dispatch->gather_scatter_nd->single_exact[type][item](&single);
    else
        dml_dispatch->gather_scatter_nd->single_reversed[type][item](&single);
}

static int64_t dml_gather_scatter_nd_length(int type, const char *place, int64_t size)
{
    uint64_t length = 0;
    int64_t number;
    if (type == DML_INDEX_UINT32 || type == DML_INDEX_INT32) {
        uint32_t word;
        memcpy(&word, place, sizeof word);
        length = word;
        number = type == DML_INDEX_INT32 ? (int32_t)word : (int64_t)word;
    } else {
        memcpy(&length, place, sizeof length);
        number = type == DML_INDEX_INT64 || length <= INT64_MAX ? (int64_t)length : INT64_MAX;
    }
    return number < 0 ? 0 : number < size ? number : size;
}

/* Part of a line: as far as its length reaches it is read backwards. */
static void dml_gather_scatter_nd_reverse(const dml_gather_scatter_nd *task, const int64_t *at, int64_t count,
                                          char *values, int stream)
{
    int last = task->rank - 1, item = __builtin_ctzll((unsigned long long)task->trail.item);
    int64_t begin = at[last], end = begin + count, step = task->given[0].step, values_step = task->values_strides[last];
    const char *array = (const char *)task->array, *length = (const char *)task->given[0].indices;
    for (int i = 0; i < last; i++) {
        array += at[i] * task->own[i];
        length += at[i] * task->given[0].strides[i];
    }
    int64_t turned = dml_gather_scatter_nd_length(task->given[0].type, length, task->given[0].size);
    int64_t turn = turned < begin ? begin : turned < end ? turned : end;
    dml_span span = {.output = values,
                     .input = array + (turned - 1 - begin) * step,
                     .lines = 1,
                     .length = turn - begin,
                     .output_step = values_step,
                     .input_step = -step};
    if (turn > begin)
        dml_dispatch->move->strided[item](&span, stream);
    span.output += span.length * values_step;
    span.input = array + turn * step;
    span.length = end - turn;
    span.input_step = step;
    if (step == task->trail.item && values_step == step) {
        span.length *= step;
        dml_dispatch->move->rows(&span, stream);
    } else if (turn < end) {
        dml_dispatch->move->strided[item](&span, stream);
    }
}

/* Units are strips. Their lines may lie so far apart that caches have no room for them together: they are packed first,
   if there is memory. */
static void dml_gather_scatter_nd_share_strips(void *context, int64_t begin, int64_t end)
{
    const dml_gather_scatter_nd *task = context;
    int last = task->rank - 1, along = last - 1, stream = task->bytes >= dml_stream_bytes;
    int type = task->given[0].type, size = __builtin_ctzll((unsigned long long)task->trail.item);
    int64_t item = task->trail.item, lines = task->sizes[along],
            pieces = dml_quotient_up(task->sizes[last], task->strip);
    char *strip = malloc((size_t)(lines * task->strip * item));
    char together[1024] __attribute__((aligned(64)));
    for (; begin < end; begin++) {
        int64_t at[8] = {0}, rest = begin / pieces, first = begin % pieces * task->strip,
                left = task->sizes[last] - first;
        int64_t count = left < task->strip ? left : task->strip, values_step = task->values_strides[last];
        const char *array = (const char *)task->array, *lengths = (const char *)task->given[0].indices;
        char *values = (char *)task->values;
        at[last] = first;
        for (int i = along - 1; i >= 0; i--) {
            at[i] = rest % task->sizes[i];
            rest /= task->sizes[i];
        }
        for (int i = 0; i <= last; i++) {
            array += at[i] * task->own[i];
            lengths += at[i] * task->given[0].strides[i];
            values += at[i] * task->values_strides[i];
        }
        dml_gather_scatter_nd_single single = {.line = {.indices = lengths,
                                                        .stride = task->given[0].strides[last],
                                                        .count = count,
                                                        .size = task->given[0].size,
                                                        .step = task->given[0].step},
                                               .array = (char *)array,
                                               .own = task->own[last],
                                               .values_step = values_step};
        if (strip) {
            int is_row = task->own[last] == item;
            dml_span span = {strip, array, lines, count * item, task->given[0].step, count, item, task->own[last]};
            if (is_row)
                span.length *= item;
            (is_row ? dml_dispatch->move->rows : dml_dispatch->move->strided[size])(&span, 0);
            single.array = strip;
            single.own = item;
            single.line.step = count * item;
        }
        for (int64_t line = 0; line < lines; line++, values += task->values_strides[along]) {
            dml_span span = {.output = values, .input = together, .lines = 1, .length = count * item};
            single.line.own = line;
            single.values = stream && values_step == item ? together : values;
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
    int64_t step = task->values_strides[task->rank - 1];
    char *array = (char *)task->array + (task->kind == DML_GATHER_ITEMS ? 0 : (intptr_t)task->trail.output);
    int stream = task->bytes >= dml_stream_bytes;
    if (task->kind == DML_GATHER_ITEMS) {
        dml_dispatch->gather_scatter_nd->write[__builtin_ctzll((unsigned long long)task->trail.item)](
            array, offsets, values, step, count);
        return;
    }
    values += (intptr_t)task->trail.input;
    if (task->kind == DML_GATHER_ROWS) {
        dml_dispatch->gather_scatter_nd->write_rows(array, offsets, values, step, count, task->trail.bytes, stream);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        if (offsets[i] != INT64_MIN / 2)
            dml_move_part(&task->trail, array + offsets[i], values + i * step, 0, task->trail.units, 0);
}

/* All places from `at` up to `end`, in the order of their coordinates, whose offsets are in `range`, if there is
   one. */
static void dml_gather_scatter_nd_write_box(dml_gather_scatter_nd *task, const int64_t *begin, const int64_t *end,
                                            const int64_t *range)
{
    int last = task->rank - 1, i = last;
    int64_t offsets[DML_GATHER_SCATTER_ND_BLOCK], at[8];
    char unused[16];
    /* Items of others go nowhere else than here: half of the branches around them would be taken. */
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

/* Units are parts of the array, one for each thread: who has one looks for the places in it, so that the last of
   those that are the same wins. */
static void dml_gather_scatter_nd_share_ranges(void *context, int64_t begin, int64_t end)
{
    const dml_gather_scatter_nd_ranges *ranges = context;
    dml_gather_scatter_nd *task = ranges->task;
    int64_t from[8] = {0}, range[2] = {task->lowest + dml_portion(task->extent, begin, ranges->count),
                                       task->lowest + dml_portion(task->extent, end, ranges->count)};
    dml_gather_scatter_nd_write_box(task, from, task->sizes, end - begin < ranges->count ? range : NULL);
}

/* Units are blocks of places along the last dimension. */
static void dml_gather_scatter_nd_share_reads(void *context, int64_t begin, int64_t end)
{
    dml_gather_scatter_nd *task = context;
    int last = task->rank - 1, stream = task->bytes >= dml_stream_bytes;
    int64_t offsets[DML_GATHER_SCATTER_ND_BLOCK], pieces = dml_quotient_up(task->sizes[last], task->block);
    int64_t item = task->trail.item, step = task->values_strides[last];
    char together[DML_GATHER_SCATTER_ND_BLOCK * 8] __attribute__((aligned(64)));
    dml_gather pick = {.trail = task->trail, .kind = task->kind};
    dml_gather_items picks = {
        .x = (const char *)task->array, .offsets = offsets, .step = step, .bytes = task->trail.bytes};
    for (; begin < end; begin++) {
        int64_t at[8], rest = begin / pieces, left;
        at[last] = begin % pieces * task->block;
        left = task->sizes[last] - at[last];
        picks.output = (char *)task->values + at[last] * step;
        for (int i = last - 1; i >= 0; i--) {
            at[i] = rest % task->sizes[i];
            rest /= task->sizes[i];
            picks.output += at[i] * task->values_strides[i];
        }
        picks.count = left < task->block ? left : task->block;
        if (task->is_lines) {
            dml_gather_scatter_nd_reverse(task, at, picks.count, picks.output, stream);
        } else if (task->is_single && stream && step == item) {
            dml_gather_scatter_nd_one_by_one(task, at, picks.count, together);
            dml_span span = {.output = picks.output, .input = together, .lines = 1, .length = picks.count * item};
            dml_dispatch->move->rows(&span, stream);
        } else if (task->is_single) {
            dml_gather_scatter_nd_one_by_one(task, at, picks.count, picks.output);
        } else {
            dml_gather_scatter_nd_find(task, at, picks.count, offsets);
            dml_gather_some(&pick, &picks, stream);
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
    DML_ASSERT_EACH(i, task->count, DML_IS_INDEX(task->given[i].type, 4));
    DML_ASSERT_EACH(i, task->count, task->given[i].size >= (task->bytes > 0));
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
