/* So many places are found at once, which leaves room for the elements in the nearest cache. */
#define DML_PLACES_BLOCK 1024

int dml_places_prepare(dml_places *task, int64_t item, int rank, const int64_t *sizes, const int64_t *array_strides,
                       const int64_t *values_strides)
{
    int64_t moved = item * dml_product(rank, sizes), places = dml_product(task->rank, task->sizes);
    if (rank < 0 || rank > 8 || (item != 1 && item != 2 && item != 4 && item != 8))
        return 0;
    if (task->is_write)
        dml_move_layout(&task->trail, item, rank, sizes, array_strides, values_strides);
    else
        dml_move_layout(&task->trail, item, rank, sizes, values_strides, array_strides);
    task->bytes = moved * places;
    if (moved == 0)
        return 1;
    dml_pick_trail(&task->trail, moved, DML_PLACES_BLOCK, &task->kind, &task->block);
    return 1;
}

/* Where `count` places are that follow each other along the last dimension, from these coordinates on. */
static void dml_places_find(const dml_places *task, const int64_t *at, int64_t count, int64_t *offsets)
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
        dml_places_line line = {indices,
                                task->given[k].strides[last],
                                count,
                                task->given[k].size,
                                task->given[k].step,
                                along < 0 ? 0 : at[along],
                                along == last,
                                offsets};
#if defined(__x86_64__)
        /* Indices are read once, with pauses: the next ones are fetched meanwhile. */
        for (int64_t i = 0; line.stride > 0 && line.stride <= 8 && i < count * line.stride; i += 64)
            __builtin_prefetch(indices + count * line.stride + i);
#endif
        dml_loop->places->add[task->mode][task->given[k].type](&line);
    }
}

static void dml_places_write(const dml_places *task, const int64_t *offsets, const char *values, int64_t count)
{
    int64_t step = task->values_strides[task->rank - 1];
    char *array = (char *)task->array;
    if (task->kind == DML_PICK_ITEMS) {
        dml_loop->places->write[__builtin_ctzll((unsigned long long)task->trail.item)](array, offsets, values, step, count);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        if (offsets[i] != INT64_MIN / 2)
            dml_move_part(&task->trail, array + offsets[i] + (intptr_t)task->trail.output,
                          values + i * step + (intptr_t)task->trail.input, 0, task->trail.units, 0);
}

/* All places from `at` up to `end`, in the order of their coordinates. */
static void dml_places_write_box(const dml_places *task, const int64_t *begin, const int64_t *end)
{
    int last = task->rank - 1, i = last;
    int64_t offsets[DML_PLACES_BLOCK], at[8];
    memcpy(at, begin, sizeof at);
    while (i >= 0) {
        const char *values = (const char *)task->values;
        int64_t left = end[last] - at[last], count = left < task->block ? left : task->block;
        for (i = 0; i <= last; i++)
            values += at[i] * task->values_strides[i];
        dml_places_find(task, at, count, offsets);
        dml_places_write(task, offsets, values, count);
        at[last] += count;
        for (i = last; i >= 0 && at[i] >= end[i]; i--) {
            at[i] = begin[i];
            if (i > 0)
                at[i - 1]++;
        }
    }
}

static void dml_places_share_writes(void *context, int64_t begin, int64_t end)
{
    const dml_places *task = context;
    int64_t from[8] = {0}, to[8];
    memcpy(to, task->sizes, sizeof to);
    if (task->apart >= 0) {
        from[task->apart] = begin;
        to[task->apart] = end;
    }
    dml_places_write_box(task, from, to);
}

/* Units are blocks of places along the last dimension. */
static void dml_places_share_reads(void *context, int64_t begin, int64_t end)
{
    const dml_places *task = context;
    int last = task->rank - 1, stream = task->bytes >= DML_STREAM_BYTES;
    int64_t offsets[DML_PLACES_BLOCK], pieces = dml_quotient_up(task->sizes[last], task->block);
    dml_pick pick = {.trail = task->trail, .kind = task->kind};
    dml_picks picks = {.x = (const char *)task->array,
                       .offsets = offsets,
                       .step = task->values_strides[last],
                       .bytes = task->trail.bytes};
    for (; begin < end; begin++) {
        int64_t at[8], rest = begin / pieces, left;
        at[last] = begin % pieces * task->block;
        left = task->sizes[last] - at[last];
        picks.output = (char *)task->values + at[last] * task->values_strides[last];
        for (int i = last - 1; i >= 0; i--) {
            at[i] = rest % task->sizes[i];
            rest /= task->sizes[i];
            picks.output += at[i] * task->values_strides[i];
        }
        picks.count = left < task->block ? left : task->block;
        dml_places_find(task, at, picks.count, offsets);
        dml_pick_some(&pick, &picks, stream);
    }
    if (stream)
        dml_loop->move->stream_end();
}

void dml_places_run(const dml_places *task)
{
    int last = task->rank - 1;
    int64_t units = task->apart < 0 ? 1 : task->sizes[task->apart];
    if (task->bytes == 0)
        return;
    if (task->is_write)
        dml_parallel(dml_places_share_writes, (void *)task, units, task->apart == last ? 64 : 1, task->bytes);
    else
        dml_parallel(dml_places_share_reads, (void *)task,
                     dml_product(last, task->sizes) * dml_quotient_up(task->sizes[last], task->block), 1, task->bytes);
}
