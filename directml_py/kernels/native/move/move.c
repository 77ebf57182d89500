#include "../common/assert.h"
#include "../common/dimensions.h"
#include "../context.h"
#include "../threads/parallel.h"

#include "dispatch.h"
#include "move.h"

/* Longer lines are cut into pieces, which threads share. */
#define DML_PIECE_BYTES (1 << 14)
#define DML_PIECE_ITEMS (1 << 12)
/* The tasks of one run alternate after this many bytes of all of them. */
#define DML_SLICE_BYTES (1 << 18)
/* The side of the blocks of a plane that threads share. */
#define DML_BLOCK 128

/* The dimensions with more than one element, in the order of the output's memory, joined into as few as possible. */
static void dml_move_normalize(dml_move *task, int rank, const int64_t *sizes, const int64_t *output_strides,
                               const int64_t *input_strides)
{
    for (int i = 0; i < rank; i++) {
        dml_dimension one = {sizes[i], output_strides[i], input_strides[i]};
        if (one.output < 0) {
            task->output += (uintptr_t)((one.size - 1) * one.output);
            task->input += (uintptr_t)((one.size - 1) * one.input);
            one.output = -one.output;
            one.input = -one.input;
        }
        task->dimensions[i] = one;
        for (int k = i; k > 0 && task->dimensions[k - 1].output < task->dimensions[k].output; k--)
            dml_swap(&task->dimensions[k - 1], &task->dimensions[k]);
    }
    task->rank = dml_join(task->dimensions, rank);
}

/* The dimension in which the input has the smallest stride. */
static int dml_move_nearest(const dml_move *task)
{
    int nearest = task->rank - 1;
    for (int i = task->rank - 2; i >= 0; i--) {
        int64_t stride = dml_magnitude(task->dimensions[i].input);
        if (stride != 0 && stride < dml_magnitude(task->dimensions[nearest].input))
            nearest = i;
    }
    return nearest;
}

static void dml_move_choose(dml_move *task)
{
    int last = task->rank - 1, nearest;
    dml_dimension *inner = task->dimensions + last;
    if (last < 0) {
        task->kind = DML_MOVE_STRIDED;
        return;
    }
    if (inner->output == task->item && inner->input == task->item) {
        int64_t bytes = inner->size * task->item;
        if (bytes > 16 || (bytes & (bytes - 1)) != 0) {
            *inner = (dml_dimension){bytes, 1, 1};
            task->item = 1;
            task->kind = DML_MOVE_ROWS;
            return;
        }
        /* A line that is as long as a larger item is moved as one. */
        task->item = bytes;
        task->rank = last;
        dml_move_choose(task);
        return;
    }
    nearest = dml_move_nearest(task);
    if (inner->output == task->item && inner->input == 0) {
        task->kind = DML_MOVE_FILL;
    } else if (nearest != last) {
        task->kind = DML_MOVE_TILES;
        for (; nearest < last - 1; nearest++)
            dml_swap(&task->dimensions[nearest], &task->dimensions[nearest + 1]);
        /* A few neighbouring items become lines elsewhere: the addresses of these matter less than to read in order. */
        for (int i = 0; i < last - 1 && task->dimensions[last - 1].size * task->item <= 16; i++)
            for (int k = i;
                 k > 0 && dml_magnitude(task->dimensions[k - 1].input) < dml_magnitude(task->dimensions[k].input); k--)
                dml_swap(&task->dimensions[k - 1], &task->dimensions[k]);
    } else {
        task->kind = DML_MOVE_STRIDED;
    }
}

/* The kernels copy lines of lines, so that two dimensions are needed. */
static void dml_move_pad(dml_move *task)
{
    while (task->rank < 2) {
        for (int i = task->rank++; i > 0; i--)
            dml_swap(&task->dimensions[i], &task->dimensions[i - 1]);
        task->dimensions[0] = (dml_dimension){1, 0, 0};
    }
}

void dml_move_layout(dml_move *task, int64_t item, int rank, const int64_t *sizes, const int64_t *output_strides,
                     const int64_t *input_strides)
{
    int64_t count = dml_element_count(rank, sizes), last;
    memset(task, 0, sizeof *task);
    task->item = item;
    if (count == 0)
        return;
    dml_move_normalize(task, rank, sizes, output_strides, input_strides);
    dml_move_choose(task);
    dml_move_pad(task);
    last = task->rank - 1;
    task->bytes = count * item;
    task->units = 1;
    for (int i = 0; i < last - 1; i++)
        task->units *= task->dimensions[i].size;
    if (task->kind == DML_MOVE_TILES) {
        task->pieces = dml_quotient_up(task->dimensions[last].size, DML_BLOCK);
        task->units *= dml_quotient_up(task->dimensions[last - 1].size, DML_BLOCK);
    } else {
        task->pieces = dml_quotient_up(task->dimensions[last].size,
                                       task->kind == DML_MOVE_ROWS ? DML_PIECE_BYTES : DML_PIECE_ITEMS);
        task->units *= task->dimensions[last - 1].size;
    }
    task->units *= task->pieces;
}

void dml_move_prepare(dml_move *task, int64_t item, int rank, const int64_t *sizes, const int64_t *output_strides,
                      const int64_t *input_strides, uintptr_t output, uintptr_t input)
{
    int same = output == input;
    for (int i = 0; i < rank; i++)
        same = same && (sizes[i] == 1 || output_strides[i] == input_strides[i]);
    dml_move_layout(task, item, rank, sizes, output_strides, input_strides);
    if (same) {
        task->kind = DML_MOVE_NOTHING;
        task->bytes = 0;
    }
    task->output += output;
    task->input += input;
}

/* The position of a unit: its coordinates in the outer dimensions, and their offsets. */
typedef struct {
    int64_t counts[8], output, input;
} dml_move_position;

static void dml_move_seek(const dml_move *task, int64_t index, dml_move_position *position)
{
    position->output = position->input = 0;
    for (int i = task->rank - 3; i >= 0; i--) {
        int64_t count = index % task->dimensions[i].size;
        index /= task->dimensions[i].size;
        position->counts[i] = count;
        position->output += count * task->dimensions[i].output;
        position->input += count * task->dimensions[i].input;
    }
}

static void dml_move_next(const dml_move *task, dml_move_position *position)
{
    for (int i = task->rank - 3; i >= 0; i--) {
        const dml_dimension *one = &task->dimensions[i];
        position->output += one->output;
        position->input += one->input;
        if (++position->counts[i] < one->size)
            return;
        position->counts[i] = 0;
        position->output -= one->size * one->output;
        position->input -= one->size * one->input;
    }
}

static void dml_move_span(const dml_move *task, const dml_span *span, int stream)
{
    const dml_move_table *table = dml_dispatch->move;
    void (*const *by_item)(const dml_span *span, int stream) = task->kind == DML_MOVE_FILL      ? table->fill
                                                               : task->kind == DML_MOVE_STRIDED ? table->strided
                                                                                                : table->tiles;
    if (task->kind == DML_MOVE_ROWS)
        table->rows(span, stream);
    else
        by_item[__builtin_ctzll((unsigned long long)task->item)](span, stream);
}

void dml_move_part(const dml_move *task, char *output, const char *input, int64_t begin, int64_t end, int stream)
{
    int last = task->rank - 1, tiles = task->kind == DML_MOVE_TILES;
    int64_t lines = task->dimensions[last - 1].size, length = task->dimensions[last].size, pieces = task->pieces;
    int64_t thickness = tiles ? DML_BLOCK : 1;
    int64_t piece = tiles ? DML_BLOCK : task->kind == DML_MOVE_ROWS ? DML_PIECE_BYTES : DML_PIECE_ITEMS;
    int64_t layers = tiles ? dml_quotient_up(lines, DML_BLOCK) : lines;
    int64_t from = 0, layer = 0;
    dml_move_position position = {.counts = {0}};
    dml_span span = {.output_line = task->dimensions[last - 1].output,
                     .input_line = task->dimensions[last - 1].input,
                     .output_stride = task->dimensions[last].output,
                     .input_stride = task->dimensions[last].input};
    if (begin >= end)
        return;
    if (begin > 0) {
        from = begin % pieces;
        layer = begin / pieces % layers;
        dml_move_seek(task, begin / pieces / layers, &position);
    }
    while (begin < end) {
        /* As much as possible is copied at once: several whole layers, or several pieces of one layer. */
        int64_t left = end - begin, whole = from == 0 ? dml_least(left / pieces, layers - layer) : 0, to = pieces;
        if (whole == 0) {
            whole = 1;
            to = dml_least(from + left, pieces);
        }
        int64_t line = layer * thickness, line_end = (layer + whole) * thickness, item = from * piece;
        span.lines = dml_least(line_end, lines) - line;
        span.length = dml_least(to * piece, length) - item;
        span.output = output + position.output + line * span.output_line + item * span.output_stride;
        span.input = input + position.input + line * span.input_line + item * span.input_stride;
        dml_move_span(task, &span, stream);
        begin += whole * pieces - from - (pieces - to);
        from = to == pieces ? 0 : to;
        layer += from == 0 ? whole : 0;
        if (layer == layers) {
            layer = 0;
            dml_move_next(task, &position);
        }
    }
}

typedef struct {
    const dml_move *tasks;
    int64_t count, bytes;
} dml_move_set;

static void dml_move_share(void *context, int64_t begin, int64_t end)
{
    const dml_move_set *set = context;
    int stream = set->bytes >= dml_stream_bytes;
    /* A slice of each task in turn: what the parts of a JOIN or SPLIT have in common is then still in the cache. */
    int64_t slice = set->count > 1 ? DML_SLICE_BYTES : end - begin;
    for (; begin < end; begin += slice) {
        int64_t until = dml_least(begin + slice, end);
        for (int64_t i = 0; i < set->count; i++) {
            const dml_move *task = &set->tasks[i];
            if (task->kind != DML_MOVE_NOTHING)
                dml_move_part(task, (char *)task->output, (const char *)task->input,
                              dml_portion(task->units, begin, set->bytes), dml_portion(task->units, until, set->bytes),
                              stream);
        }
    }
    if (stream)
        dml_dispatch->move->stream_end();
}

void dml_move_run(const dml_move *tasks, int64_t count)
{
    DML_ASSERT(count >= 0);
    DML_ASSERT_EACH(i, count, DML_IS_RANK(tasks[i].rank) && (tasks[i].rank >= 2 || tasks[i].kind == DML_MOVE_NOTHING));
    DML_ASSERT_EACH(i, count, DML_IS_ITEM(tasks[i].item) || tasks[i].item == 16);
    DML_ASSERT_EACH(i, count, DML_IS_INDEX(tasks[i].kind, DML_MOVE_TILES + 1));
    DML_ASSERT_EACH(i, count, tasks[i].units >= 0 && tasks[i].bytes >= 0);
    dml_move_set set = {tasks, count, 0};
    for (int64_t i = 0; i < count; i++)
        set.bytes += tasks[i].bytes;
    dml_parallel(dml_move_share, &set, set.bytes, 4096, set.bytes);
}
