enum { DML_COPY_NOTHING, DML_COPY_ROWS, DML_COPY_FILL, DML_COPY_STRIDED, DML_COPY_TILES };

/* Longer lines are cut for threads to share. */
#define DML_PIECE_BYTES (1 << 18)
#define DML_PIECE_ITEMS (1 << 15)
/* Tasks of one run take turns after so much memory of all of them. */
#define DML_SLICE_BYTES (1 << 18)
/* The sides of the blocks that threads share a plane in. */
#define DML_BLOCK 128

static int64_t dml_magnitude(int64_t value)
{
    return value < 0 ? -value : value;
}

/* `count` by `part` of `whole`, rounded down. */
static int64_t dml_portion(int64_t count, int64_t part, int64_t whole)
{
    return part >= whole ? count : part <= 0 ? 0 : (int64_t)((__int128)count * part / whole);
}

static int64_t dml_quotient_up(int64_t value, int64_t by)
{
    return (value + by - 1) / by;
}

static void dml_copy_swap(dml_copy *task, int a, int b)
{
    int64_t size = task->sizes[a], output = task->output_strides[a], input = task->input_strides[a];
    task->sizes[a] = task->sizes[b];
    task->output_strides[a] = task->output_strides[b];
    task->input_strides[a] = task->input_strides[b];
    task->sizes[b] = size;
    task->output_strides[b] = output;
    task->input_strides[b] = input;
}

/* The dimensions that there really are, in the order of the output's memory, as few as possible. */
static void dml_copy_normalize(dml_copy *task, int rank, const int64_t *sizes, const int64_t *output_strides,
                               const int64_t *input_strides)
{
    int count = 0;
    for (int i = 0; i < rank; i++) {
        int64_t sign = output_strides[i] < 0 ? -1 : 1;
        if (sizes[i] == 1)
            continue;
        if (sign < 0) {
            task->output += (uintptr_t)((sizes[i] - 1) * output_strides[i]);
            task->input += (uintptr_t)((sizes[i] - 1) * input_strides[i]);
        }
        task->sizes[count] = sizes[i];
        task->output_strides[count] = sign * output_strides[i];
        task->input_strides[count] = sign * input_strides[i];
        for (int k = count++; k > 0 && task->output_strides[k - 1] < task->output_strides[k]; k--)
            dml_copy_swap(task, k - 1, k);
    }
    task->rank = 0;
    for (int i = 0; i < count; i++) {
        int last = task->rank - 1;
        if (last >= 0 && task->output_strides[last] == task->output_strides[i] * task->sizes[i] &&
            task->input_strides[last] == task->input_strides[i] * task->sizes[i]) {
            task->sizes[last] *= task->sizes[i];
        } else {
            last = task->rank++;
            task->sizes[last] = task->sizes[i];
        }
        task->output_strides[last] = task->output_strides[i];
        task->input_strides[last] = task->input_strides[i];
    }
}

/* The dimension along which the input is read in the shortest steps. */
static int dml_copy_nearest(const dml_copy *task)
{
    int nearest = task->rank - 1;
    for (int i = task->rank - 2; i >= 0; i--) {
        int64_t step = dml_magnitude(task->input_strides[i]);
        if (step != 0 && step < dml_magnitude(task->input_strides[nearest]))
            nearest = i;
    }
    return nearest;
}

static void dml_copy_choose(dml_copy *task)
{
    int last = task->rank - 1, nearest;
    if (last < 0) {
        task->kind = DML_COPY_STRIDED;
        return;
    }
    if (task->output_strides[last] == task->item && task->input_strides[last] == task->item) {
        int64_t bytes = task->sizes[last] * task->item;
        if (bytes > 16 || (bytes & (bytes - 1)) != 0) {
            task->sizes[last] = bytes;
            task->output_strides[last] = task->input_strides[last] = 1;
            task->item = 1;
            task->kind = DML_COPY_ROWS;
            return;
        }
        /* What is as long as a larger item is moved as one. */
        task->item = bytes;
        task->rank = last;
        dml_copy_choose(task);
        return;
    }
    nearest = dml_copy_nearest(task);
    if (task->output_strides[last] == task->item && task->input_strides[last] == 0) {
        task->kind = DML_COPY_FILL;
    } else if (nearest != last) {
        task->kind = DML_COPY_TILES;
        for (; nearest < last - 1; nearest++)
            dml_copy_swap(task, nearest, nearest + 1);
    } else {
        task->kind = DML_COPY_STRIDED;
    }
}

/* The loops take lines of lines. */
static void dml_copy_pad(dml_copy *task)
{
    while (task->rank < 2) {
        for (int i = task->rank++; i > 0; i--)
            dml_copy_swap(task, i, i - 1);
        task->sizes[0] = 1;
        task->output_strides[0] = task->input_strides[0] = 0;
    }
}

/* All of a task but the addresses; the fields for them take what is to be added. */
static void dml_copy_layout(dml_copy *task, int64_t item, int rank, const int64_t *sizes,
                            const int64_t *output_strides, const int64_t *input_strides)
{
    int64_t count = 1, last;
    memset(task, 0, sizeof *task);
    task->item = item;
    for (int i = 0; i < rank; i++)
        count *= sizes[i];
    if (count == 0)
        return;
    dml_copy_normalize(task, rank, sizes, output_strides, input_strides);
    dml_copy_choose(task);
    dml_copy_pad(task);
    last = task->rank - 1;
    task->bytes = count * item;
    task->units = 1;
    for (int i = 0; i < last - 1; i++)
        task->units *= task->sizes[i];
    if (task->kind == DML_COPY_TILES) {
        task->pieces = dml_quotient_up(task->sizes[last], DML_BLOCK);
        task->units *= dml_quotient_up(task->sizes[last - 1], DML_BLOCK);
    } else {
        task->pieces =
            dml_quotient_up(task->sizes[last], task->kind == DML_COPY_ROWS ? DML_PIECE_BYTES : DML_PIECE_ITEMS);
        task->units *= task->sizes[last - 1];
    }
    task->units *= task->pieces;
}

void dml_copy_prepare(dml_copy *task, int64_t item, int rank, const int64_t *sizes, const int64_t *output_strides,
                      const int64_t *input_strides, uintptr_t output, uintptr_t input)
{
    int same = output == input;
    for (int i = 0; i < rank; i++)
        same = same && (sizes[i] == 1 || output_strides[i] == input_strides[i]);
    dml_copy_layout(task, item, rank, sizes, output_strides, input_strides);
    if (same) {
        task->kind = DML_COPY_NOTHING;
        task->bytes = 0;
    }
    task->output += output;
    task->input += input;
}

/* Where a portion of the work is: its outer dimensions, counted. */
typedef struct {
    int64_t counts[8], output, input;
} dml_copy_place;

static void dml_copy_seek(const dml_copy *task, int64_t index, dml_copy_place *place)
{
    place->output = place->input = 0;
    for (int i = task->rank - 3; i >= 0; i--) {
        int64_t count = index % task->sizes[i];
        index /= task->sizes[i];
        place->counts[i] = count;
        place->output += count * task->output_strides[i];
        place->input += count * task->input_strides[i];
    }
}

static void dml_copy_next(const dml_copy *task, dml_copy_place *place)
{
    for (int i = task->rank - 3; i >= 0; i--) {
        place->output += task->output_strides[i];
        place->input += task->input_strides[i];
        if (++place->counts[i] < task->sizes[i])
            return;
        place->counts[i] = 0;
        place->output -= task->sizes[i] * task->output_strides[i];
        place->input -= task->sizes[i] * task->input_strides[i];
    }
}

static void dml_copy_span(const dml_copy *task, const dml_span *span, int stream)
{
    int index = __builtin_ctzll((unsigned long long)task->item);
    switch (task->kind) {
    case DML_COPY_ROWS:
        dml_loop->copy_rows(span, stream);
        break;
    case DML_COPY_FILL:
        dml_loop->copy_fill[index](span, stream);
        break;
    case DML_COPY_STRIDED:
        dml_loop->copy_strided[index](span, stream);
        break;
    default:
        dml_loop->copy_tiles[index](span, stream);
        break;
    }
}

/* Units [begin, end) of a task whose memory begins at `output` and `input`. */
static void dml_copy_part(const dml_copy *task, char *output, const char *input, int64_t begin, int64_t end, int stream)
{
    int last = task->rank - 1, tiles = task->kind == DML_COPY_TILES;
    int64_t lines = task->sizes[last - 1], length = task->sizes[last], pieces = task->pieces;
    int64_t thickness = tiles ? DML_BLOCK : 1;
    int64_t piece = tiles ? DML_BLOCK : task->kind == DML_COPY_ROWS ? DML_PIECE_BYTES : DML_PIECE_ITEMS;
    int64_t layers = tiles ? dml_quotient_up(lines, DML_BLOCK) : lines;
    int64_t from = 0, layer = 0;
    dml_copy_place place = {.counts = {0}};
    dml_span span = {.output_line = task->output_strides[last - 1],
                     .input_line = task->input_strides[last - 1],
                     .output_step = task->output_strides[last],
                     .input_step = task->input_strides[last]};
    if (begin >= end)
        return;
    if (begin > 0) {
        from = begin % pieces;
        layer = begin / pieces % layers;
        dml_copy_seek(task, begin / pieces / layers, &place);
    }
    while (begin < end) {
        /* As much as possible at once: several whole layers, or several pieces of one. */
        int64_t left = end - begin, whole = from == 0 ? left / pieces : 0, to = pieces;
        if (whole > layers - layer)
            whole = layers - layer;
        if (whole == 0) {
            whole = 1;
            to = from + left < pieces ? from + left : pieces;
        }
        int64_t line = layer * thickness, line_end = (layer + whole) * thickness, item = from * piece;
        span.lines = (line_end < lines ? line_end : lines) - line;
        span.length = (to * piece < length ? to * piece : length) - item;
        span.output = output + place.output + line * span.output_line + item * span.output_step;
        span.input = input + place.input + line * span.input_line + item * span.input_step;
        dml_copy_span(task, &span, stream);
        begin += whole * pieces - from - (pieces - to);
        from = to == pieces ? 0 : to;
        layer += from == 0 ? whole : 0;
        if (layer == layers) {
            layer = 0;
            dml_copy_next(task, &place);
        }
    }
}

typedef struct {
    const dml_copy *tasks;
    int64_t count, bytes;
} dml_copy_set;

static void dml_copy_share(void *context, int64_t begin, int64_t end)
{
    const dml_copy_set *set = context;
    int stream = set->bytes >= DML_STREAM_BYTES;
    /* Some of each task in turn: what the parts of a JOIN or SPLIT have in common is then still in the cache. */
    int64_t slice = set->count > 1 ? DML_SLICE_BYTES : end - begin;
    for (; begin < end; begin += slice) {
        int64_t until = begin + slice < end ? begin + slice : end;
        for (int64_t i = 0; i < set->count; i++) {
            const dml_copy *task = &set->tasks[i];
            if (task->kind != DML_COPY_NOTHING)
                dml_copy_part(task, (char *)task->output, (const char *)task->input,
                              dml_portion(task->units, begin, set->bytes), dml_portion(task->units, until, set->bytes),
                              stream);
        }
    }
    if (stream)
        dml_loop->stream_end();
}

void dml_copy_run(const dml_copy *tasks, int64_t count)
{
    dml_copy_set set = {tasks, count, 0};
    for (int64_t i = 0; i < count; i++)
        set.bytes += tasks[i].bytes;
    dml_parallel(dml_copy_share, &set, set.bytes, 4096, set.bytes);
}
