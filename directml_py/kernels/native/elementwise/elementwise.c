/* Element-wise programs over blocks of elements, whose values stay in the L1 cache. */

#include "../common/assert.h"
#include "../common/dimensions.h"
#include "../context.h"
#include "../move/dispatch.h"
#include "../threads/parallel.h"

#include "elementwise.h"
#include "direct.h"
#include "worker.h"

static const char *const dml_elementwise_opcode_names[] = {
#define DML_NAME(NAME, ...) #NAME,
#define DML_NAMES(NAME) #NAME "_float32", #NAME "_float64",
    DML_ELEMENTWISE_OPCODES(DML_NAME, DML_NAME, DML_NAME, DML_NAME, DML_NAME, DML_NAMES, DML_NAMES)
#undef DML_NAME
#undef DML_NAMES
        NULL};
/* A bit for each operand of an instruction that is read as one element if it is uniform: for all of them, or none. */
static const uint8_t dml_elementwise_reads_one[] = {
#define DML_NONE(NAME, ...) 0,
#define DML_SECOND(NAME, ...) 2,
#define DML_OTHERS(NAME, ...) 6,
#define DML_NEITHER(NAME) 0, 0,
    DML_ELEMENTWISE_OPCODES(DML_NONE, DML_SECOND, DML_SECOND, DML_OTHERS, DML_OTHERS, DML_NEITHER, DML_NEITHER)
#undef DML_NONE
#undef DML_SECOND
#undef DML_OTHERS
#undef DML_NEITHER
};
static const char *const dml_elementwise_type_names[] = {"float16", "float32", "int8",   "int16",   "int32",
                                                         "uint8",   "uint16",  "uint32", "float64", NULL};

const char *dml_elementwise_opcode_name(int code)
{
    return dml_elementwise_opcode_names[code];
}

const char *dml_elementwise_type_name(int type)
{
    return dml_elementwise_type_names[type];
}

/* Loads a row of lanes from elements that are contiguous, or all the same one. */
static void dml_elementwise_load_row(int type, char *lanes, const char *elements, int64_t stride, int64_t count)
{
    int64_t size = dml_elementwise_sizes[type];
    char together[DML_ELEMENTWISE_BLOCK * 4] __attribute__((aligned(64)));
    void (*load)(void *, const void *, int64_t) = dml_dispatch->elementwise->load[type];
    if (stride == 0) {
        uint32_t lane = 0;
        if (load)
            load(&lane, elements, 1);
        else
            memcpy(&lane, elements, 4);
        for (int64_t i = 0; i < count; i++)
            memcpy(lanes + 4 * i, &lane, 4);
        return;
    }
    if (load && (uintptr_t)elements % (uintptr_t)size != 0)
        elements = memcpy(together, elements, (size_t)(count * size));
    if (load)
        load(lanes, elements, count);
    else
        memcpy(lanes, elements, (size_t)(4 * count));
}

/* Whether the rows of an input follow each other without a gap, or there is one row. */
static int dml_elementwise_is_packed(const dml_elementwise_view *view, int64_t size, int64_t rows, int64_t columns)
{
    return view->stride == size && (rows == 1 || view->line == size * columns);
}

/* Loads a value, or sets `later`: contiguous elements are loaded a tile at a time. */
static void dml_elementwise_load(dml_elementwise_worker *worker, int index, int64_t row, int64_t column, int64_t rows,
                                 int64_t columns)
{
    const dml_elementwise_tensor *tensor = worker->task->tensors + index;
    dml_elementwise_view *view = worker->views + index;
    const char *elements = view->first + row * view->line + column * view->stride;
    int64_t size = dml_elementwise_sizes[tensor->type], count = rows * columns;
    dml_elementwise_lanes *value = worker->values + tensor->value;
    value->address = worker->memory + worker->task->value_offsets[tensor->value];
    value->moves = 0;
    value->is_one = view->stride == 0 && (view->line == 0 || rows == 1);
    view->later = NULL;
    if (value->is_one) {
        if (view->filled == elements && view->filled_count >= count)
            return;
        view->filled = elements;
        view->filled_count = count;
        dml_elementwise_load_row(tensor->type, value->address, elements, 0, count);
        return;
    }
    view->filled = NULL;
    if (dml_elementwise_is_packed(view, size, rows, columns)) {
        if (dml_dispatch->elementwise->load[tensor->type] || (uintptr_t)elements % (uintptr_t)size != 0)
            view->later = elements;
        else
            *value = (dml_elementwise_lanes){(char *)elements, 4, 0};
        if (worker->stream)
            worker->ahead[worker->following++] = (dml_elementwise_ahead){elements, size};
        return;
    }
    /* A call for each short row would take longer than to copy it. */
    char together[DML_ELEMENTWISE_BLOCK * 4] __attribute__((aligned(64)));
    const int converts = dml_dispatch->elementwise->load[tensor->type] != NULL;
    char *copy = converts ? together : value->address;
    const dml_span span = {copy, elements, rows, columns * size, view->line, columns, size, view->stride};
    value->moves = 4;
    if (view->stride == size)
        dml_move_lines(copy, columns * size, elements, view->line, rows, columns * size, 0);
    else
        dml_dispatch->move->strided[__builtin_ctzll((uint64_t)size)](&span, 0);
    if (converts)
        dml_elementwise_load_row(tensor->type, value->address, together, size, count);
}

/* Stores contiguous results, `done` of which are stored already. What is read soon is prefetched along with the first
   of them. */
static void dml_elementwise_put(dml_elementwise_worker *worker, char *elements, const char *results, int64_t size,
                                int64_t count, int64_t done)
{
    dml_elementwise_ahead ahead[DML_ELEMENTWISE_MAX_TENSORS];
    if (!worker->stream) {
        memcpy(elements, results, (size_t)(count * size));
        return;
    }
    for (int i = 0; i < worker->following; i++) {
        int64_t stride = worker->ahead[i].stride;
        ahead[i] = (dml_elementwise_ahead){worker->ahead[i].from + (done + DML_ELEMENTWISE_FETCHED) * stride,
                                           stride * 64 / size};
    }
    dml_dispatch->elementwise->stream(elements, results, count * size, ahead, worker->fetches ? worker->following : 0);
    worker->fetches = 0;
}

static void dml_elementwise_store_row(dml_elementwise_worker *worker, int type, char *elements, int64_t stride,
                                      const char *lanes, int is_wide, int64_t count, int64_t done)
{
    int64_t size = dml_elementwise_sizes[type];
    char together[DML_ELEMENTWISE_BLOCK * 4] __attribute__((aligned(64)));
    void (*store)(void *, const void *, int64_t) =
        is_wide ? dml_dispatch->elementwise->store_wide[type] : dml_dispatch->elementwise->store[type];
    int direct = stride == size && !worker->stream && (uintptr_t)elements % (uintptr_t)size == 0;
    if (store) {
        store(direct ? elements : together, lanes, count);
        if (direct)
            return;
        lanes = together;
    }
    const dml_span span = {elements, lanes, 1, 0, 0, count, stride, size};
    if (stride == size)
        dml_elementwise_put(worker, elements, lanes, size, count, done);
    else
        dml_dispatch->move->strided[__builtin_ctzll((uint64_t)size)](&span, 0);
}

/* Stores a tile of an output whose rows follow each other, or the whole block. */
static void dml_elementwise_store(dml_elementwise_worker *worker, int index, char *elements, int64_t rows,
                                  int64_t columns, int64_t done)
{
    const dml_elementwise *task = worker->task;
    const dml_elementwise_tensor *tensor = task->tensors + index;
    const dml_elementwise_view *view = worker->views + index;
    int is_wide = task->wide[tensor->value];
    const dml_elementwise_lanes *value = worker->values + tensor->value;
    const char *lanes = value->address + done * value->moves;
    int64_t lane = is_wide ? 8 : 4, size = dml_elementwise_sizes[tensor->type];
    elements += done * view->stride;
    if (elements == lanes)
        return;
    if (view->stride == size && rows > 1 && !worker->stream) {
        char together[DML_ELEMENTWISE_BLOCK * 4] __attribute__((aligned(64)));
        dml_elementwise_store_row(worker, tensor->type, together, size, lanes, is_wide, rows * columns, done);
        dml_move_lines(elements, view->line, together, columns * size, rows, columns * size, 0);
        return;
    }
    for (int64_t i = 0; i < rows; i++)
        dml_elementwise_store_row(worker, tensor->type, elements + i * view->line, view->stride,
                                  lanes + i * columns * lane, is_wide, columns, done);
}

/* Where the last instruction may leave its results: in the output itself, if it has lanes and is contiguous; else NULL.
 */
static char *dml_elementwise_target(const dml_elementwise_worker *worker, char *elements)
{
    const dml_elementwise *task = worker->task;
    const dml_elementwise_tensor *tensor = task->tensors + task->inputs;
    if (task->outputs > 1 || task->instructions == 0 ||
        task->first_instruction[task->instructions - 1].result != tensor->value || task->wide[tensor->value] ||
        dml_dispatch->elementwise->store[tensor->type] || worker->stream || (uintptr_t)elements % 4 != 0)
        return NULL;
    return elements;
}

/* Runs the instructions for some elements of a block, from `done` on; the results of the last one go to `target` if it
   is not NULL. */
static void dml_elementwise_run_instructions(const dml_elementwise_worker *worker, int64_t done, int64_t count,
                                             char *target)
{
    const dml_elementwise *task = worker->task;
    const void *operands[4];
    for (int i = 0; i < task->instructions; i++) {
        const dml_elementwise_instruction *instruction = task->first_instruction + i;
        const dml_elementwise_lanes *result = worker->values + instruction->result;
        uintptr_t ones = 0;
        for (int k = 0; k < 3; k++) {
            const dml_elementwise_lanes *operand = worker->values + instruction->operands[k];
            operands[k] = operand->address + done * operand->moves;
            ones |= (uintptr_t)operand->is_one << k;
        }
        operands[3] = (const void *)(ones & dml_elementwise_reads_one[instruction->code]);
        char *results = target && i == task->instructions - 1 ? target : result->address;
        dml_dispatch->elementwise->instructions[instruction->code](results, operands, count);
    }
}

/* Computes a block: several rows, or a part of a long one. Streaming stores write one tile after the other, so that
   memory is busy while the next tile is computed. */
static void dml_elementwise_block(dml_elementwise_worker *worker, int64_t row, int64_t column, int64_t rows,
                                  int64_t columns)
{
    const dml_elementwise *task = worker->task;
    int64_t count = rows * columns, tile = worker->stream ? DML_ELEMENTWISE_TILE : count, n;
    char *elements[DML_ELEMENTWISE_MAX_TENSORS], *target = NULL;
    worker->following = 0;
    for (int i = 0; i < task->inputs; i++)
        dml_elementwise_load(worker, i, row, column, rows, columns);
    for (int i = task->inputs; i < task->inputs + task->outputs; i++) {
        const dml_elementwise_view *view = worker->views + i;
        elements[i] = view->first + row * view->line + column * view->stride;
        if (!dml_elementwise_is_packed(view, dml_elementwise_sizes[task->tensors[i].type], rows, columns))
            tile = count;
        else
            target = dml_elementwise_target(worker, elements[i]);
    }
    for (int64_t done = 0; done < count; done += n) {
        n = dml_least(count - done, tile);
        /* All tiles but the first begin with a cache line. */
        if (done == 0 && n < count)
            n -= (int64_t)((uintptr_t)elements[task->inputs] & 63) /
                 dml_elementwise_sizes[task->tensors[task->inputs].type];
        for (int i = 0; i < task->inputs; i++)
            if (worker->views[i].later) {
                const dml_elementwise_tensor *tensor = task->tensors + i;
                int64_t size = dml_elementwise_sizes[tensor->type];
                dml_elementwise_load_row(tensor->type, worker->values[tensor->value].address,
                                         worker->views[i].later + done * size, size, n);
            }
        dml_elementwise_run_instructions(worker, done, n, target);
        worker->fetches = 1;
        for (int i = task->inputs; i < task->inputs + task->outputs && !target; i++) {
            int together = dml_elementwise_is_packed(worker->views + i, dml_elementwise_sizes[task->tensors[i].type],
                                                     rows, columns);
            dml_elementwise_store(worker, i, elements[i], together ? 1 : rows, together ? n : columns, done);
        }
    }
}

/* Runs the only instruction of a program over rows of FLOAT32 in memory. */
static void dml_elementwise_rows_in_place(dml_elementwise_worker *worker, int64_t rows, int64_t columns)
{
    const dml_elementwise *task = worker->task;
    const dml_elementwise_instruction *instruction = task->first_instruction;
    const dml_elementwise_view *to = worker->views + task->inputs;
    const char *operands[3];
    int64_t lines[3];
    uintptr_t ones = 0;
    for (int k = 0; k < 3; k++) {
        const int input = dml_elementwise_input_of(task, instruction->operands[k]);
        const int is_input = input < task->inputs;
        operands[k] = is_input ? worker->views[input].first : worker->values[instruction->operands[k]].address;
        lines[k] = is_input ? worker->views[input].line : 0;
        ones |= (uintptr_t)!is_input << k;
    }
    ones &= dml_elementwise_reads_one[instruction->code];
    for (int64_t i = 0; i < rows; i++) {
        const void *const addresses[] = {operands[0] + i * lines[0], operands[1] + i * lines[1],
                                         operands[2] + i * lines[2], (const void *)ones};
        char *row = to->first + i * to->line;
        /* The hardware does not foresee where short rows are written. */
        for (int64_t k = 0; k < columns && columns <= DML_ELEMENTWISE_TILE; k += 16)
            __builtin_prefetch(row + 8 * to->line + 4 * k, 1);
        dml_dispatch->elementwise->instructions[instruction->code](row, addresses, columns);
    }
}

/* The memory of one transposed input, and its bytes from row to row: an odd number of cache lines, since rows whose
   distance is a power of 2 would share places in the cache. */
static int64_t dml_elementwise_room(const dml_elementwise *task)
{
    return DML_ELEMENTWISE_TRANSPOSED / (task->inputs > 2 ? task->inputs : 2) / 1024 * 1024;
}

static int64_t dml_elementwise_line(int64_t columns, int64_t size)
{
    return dml_round_up(columns * size, 64) | 64;
}

/* Transposes an input that is read across into the order of the outputs. */
static void dml_elementwise_transpose(dml_elementwise_worker *worker, int index, int64_t rows, int64_t columns)
{
    const dml_elementwise *task = worker->task;
    dml_elementwise_view *view = worker->views + index;
    int64_t size = dml_elementwise_sizes[task->tensors[index].type];
    char *transposed = worker->transposed + (int64_t)index * dml_elementwise_room(task);
    const int64_t line = dml_elementwise_line(columns, size);
    const dml_span span = {transposed, view->first, rows, line, view->line, columns, size, view->stride};
    if (view->line == 0 || dml_magnitude(view->stride) <= dml_magnitude(view->line) || rows * columns == 1)
        return;
    dml_dispatch->move->tiles[__builtin_ctzll((uint64_t)size)](&span, 0);
    view->first = transposed;
    view->line = line;
    view->stride = size;
}

/* Computes a part of the tensors, by its number. */
static void dml_elementwise_part(dml_elementwise_worker *worker, int64_t unit)
{
    const dml_elementwise *task = worker->task;
    int last = task->rank - 1;
    int64_t columns = task->sizes[last], rows = task->sizes[last - 1];
    int64_t across = dml_quotient_up(columns, task->plan.columns), down = dml_quotient_up(rows, task->plan.rows);
    /* Where inputs are read across, each thread reads whole lines of theirs. */
    int64_t column = (task->across ? unit / down % across : unit % across) * task->plan.columns,
            row = (task->across ? unit % down : unit / across % down) * task->plan.rows, left = unit / across / down;
    int64_t together;
    columns = dml_least(columns - column, task->plan.columns);
    rows = dml_least(rows - row, task->plan.rows);
    for (int i = 0; i < task->inputs + task->outputs; i++) {
        const dml_elementwise_tensor *tensor = task->tensors + i;
        dml_elementwise_view *view = worker->views + i;
        view->line = tensor->strides[last - 1];
        view->stride = tensor->strides[last];
        view->first = (char *)tensor->memory + row * view->line + column * view->stride;
        for (int64_t axis = last - 2, rest = left; axis >= 0; axis--) {
            view->first += rest % task->sizes[axis] * tensor->strides[axis];
            rest /= task->sizes[axis];
        }
        if (task->across && i < task->inputs)
            dml_elementwise_transpose(worker, i, rows, columns);
    }
    /* An input that was read across has the order of the outputs by now, unless it is the same along a row. */
    int lies_in_rows = 1, is_direct = worker->direct > 0;
    for (int i = 0; i <= task->inputs; i++) {
        const int is_in_row = worker->views[i].stride == dml_elementwise_sizes[task->tensors[i].type];
        const int is_one = task->tensors[i].strides[last] == 0 && worker->views[i].stride == 0 && i > 0;
        lies_in_rows &= is_in_row;
        is_direct = is_direct && (is_in_row || (is_one && task->tensors[i].type == DML_ELEMENTWISE_F16));
    }
    const int64_t block = lies_in_rows || is_direct ? worker->block : DML_ELEMENTWISE_BLOCK;
    if (worker->is_in_place && lies_in_rows && columns <= block && !worker->stream && rows > 1) {
        dml_elementwise_rows_in_place(worker, rows, columns);
        return;
    }
    together = columns < DML_ELEMENTWISE_BLOCK ? DML_ELEMENTWISE_BLOCK / columns : 1;
    /* Long rows that do not follow each other are stored directly; short ones are computed together, and then copied.
     */
    const dml_elementwise_view *first = worker->views + task->inputs;
    if (columns >= DML_ELEMENTWISE_TILE && first->line != first->stride * columns)
        together = 1;
    for (int64_t i = 0; i < rows; i += together)
        for (int64_t j = 0; j < columns; j += block) {
            int64_t m = dml_least(rows - i, together);
            int64_t n = dml_least(columns - j, block);
            (is_direct ? dml_elementwise_block_direct : dml_elementwise_block)(worker, i, j, m, n);
        }
}

/* Whether a program is one instruction between tensors of FLOAT32, in memory. */
static int dml_elementwise_is_in_place(const dml_elementwise *task)
{
    const dml_elementwise_instruction *instruction = task->first_instruction;
    int last = task->rank - 1;
    if (task->instructions != 1 || task->outputs != 1 || task->wide[instruction->result] ||
        task->tensors[task->inputs].value != instruction->result)
        return 0;
    for (int i = 0; i <= task->inputs; i++) {
        const dml_elementwise_tensor *tensor = task->tensors + i;
        uintptr_t addresses = tensor->memory;
        for (int axis = 0; axis < last; axis++)
            addresses |= (uintptr_t)tensor->strides[axis];
        const int is_across = task->across && i < task->inputs;
        if (dml_dispatch->elementwise->load[tensor->type] || dml_dispatch->elementwise->store[tensor->type] ||
            (tensor->strides[last] != 4 && !is_across) || addresses % 4 != 0)
            return 0;
    }
    return 1;
}

/* The values that are kept between instructions, and those of constants that an instruction does not read as one
   element, must fit into a block. */
static int64_t dml_elementwise_longest(const dml_elementwise *task, int is_in_place)
{
    const dml_elementwise_instruction *instruction = task->first_instruction;
    const int is_read =
        instruction->uniform == 0 || instruction->uniform == dml_elementwise_reads_one[instruction->code];
    return is_in_place && is_read ? DML_ELEMENTWISE_PART : DML_ELEMENTWISE_BLOCK;
}

static void dml_elementwise_fill(char *address, const dml_elementwise_constant *constant)
{
    memcpy(address, &constant->bits, (size_t)constant->bytes);
    for (int64_t count = 1; count < DML_ELEMENTWISE_BLOCK; count *= 2)
        memcpy(address + count * constant->bytes, address, (size_t)(count * constant->bytes));
}

/* Whether results are written by streaming stores. These cost more than they save where most of the time is that of
   reading, as for FLOAT32 that become bytes, or of functions from exp on, whose own stores wait for them. */
static int dml_elementwise_streams(const dml_elementwise *task)
{
    const int64_t size = dml_elementwise_sizes[task->tensors[task->inputs].type];
    for (int i = 0; i < task->inputs; i++)
        if (task->tensors[i].strides[task->rank - 1] != 0 && dml_elementwise_sizes[task->tensors[i].type] > 2 * size)
            return 0;
    for (int i = 0; i < task->instructions; i++)
        if (task->first_instruction[i].code >= DML_OPCODE_exp_float32)
            return 0;
    return task->output_bytes >= dml_stream_bytes;
}

void dml_elementwise_parts(void *context, int64_t begin, int64_t end)
{
    const dml_elementwise *task = context;
    dml_elementwise_worker worker = {
        .task = task, .stream = dml_elementwise_streams(task), .is_in_place = dml_elementwise_is_in_place(task)};
    worker.block = dml_elementwise_longest(task, worker.is_in_place);
    const int64_t transposed = task->across ? DML_ELEMENTWISE_TRANSPOSED : 0;
    char memory[transposed + task->memory + 64];
    worker.transposed = memory + (-(uintptr_t)memory & 63);
    worker.memory = worker.transposed + transposed;
    for (int i = 0; i < task->values; i++)
        worker.values[i].address = worker.memory + task->value_offsets[i];
    for (int i = 0; i < task->constants; i++) {
        worker.values[task->first_constant[i].value].is_one = 1;
        dml_elementwise_fill(worker.values[task->first_constant[i].value].address, task->first_constant + i);
    }
    dml_elementwise_choose_direct(&worker);
    for (; begin < end; begin++)
        dml_elementwise_part(&worker, begin);
    if (worker.stream)
        dml_dispatch->move->stream_end();
}

/* A part of which inputs are read across has long rows, which the hardware foresees, as far as at least a cache line of
   the inputs in each column leaves room for them; several cache lines in short rows. */
static void dml_elementwise_cut_across(dml_elementwise *task)
{
    const int64_t columns = task->sizes[task->rank - 1], room = dml_elementwise_room(task);
    int64_t size = 1;
    for (int i = 0; i < task->inputs; i++)
        size |= dml_elementwise_sizes[task->tensors[i].type];
    const int64_t least = size & 4 ? 16 : size & 2 ? 32 : 64, parts = dml_quotient_up(columns, room / 64 - 2 * least);
    task->plan.columns = dml_least(columns, dml_round_up(dml_quotient_up(columns, parts), 16));
    const int64_t most = room / dml_elementwise_line(task->plan.columns, 64 / least) / least * least;
    const int64_t rows = DML_ELEMENTWISE_PART / task->plan.columns / least * least;
    task->plan.rows = dml_least(task->sizes[task->rank - 2], dml_least(most, rows < 2 * least ? 2 * least : rows));
}

void dml_elementwise_prepare(dml_elementwise *task)
{
    int64_t rows = task->sizes[task->rank - 2], columns = task->sizes[task->rank - 1];
    if (task->across) {
        dml_elementwise_cut_across(task);
    } else {
        int64_t part = dml_element_count(task->rank, task->sizes) / DML_ELEMENTWISE_PARTS / DML_ELEMENTWISE_BLOCK *
                       DML_ELEMENTWISE_BLOCK;
        part = part < DML_ELEMENTWISE_BLOCK  ? DML_ELEMENTWISE_BLOCK
               : dml_least(part, DML_ELEMENTWISE_PART);
        task->plan.columns = dml_least(columns, part);
        task->plan.rows = dml_least(part / task->plan.columns, rows);
    }
    task->plan.units = dml_quotient_up(columns, task->plan.columns) * dml_quotient_up(rows, task->plan.rows);
    for (int i = 0; i < task->rank - 2; i++)
        task->plan.units *= task->sizes[i];
}

/* Asserts that opcodes, values and tensors are within bounds. */
static void dml_elementwise_check(const dml_elementwise *task)
{
    DML_ASSERT(task->rank >= 2 && DML_IS_RANK(task->rank));
    DML_ASSERT_EACH(i, task->rank, task->sizes[i] >= 1);
    DML_ASSERT(task->inputs >= 0 && task->outputs >= 0 && task->constants >= 0 && task->instructions >= 0);
    DML_ASSERT(task->values <= DML_ELEMENTWISE_MAX_VALUES);
    DML_ASSERT(task->inputs + task->outputs <= DML_ELEMENTWISE_MAX_TENSORS);
    DML_ASSERT(task->plan.rows >= 1 && task->plan.columns >= 1 && task->plan.units >= 1);
    DML_ASSERT_EACH(i, task->inputs + task->outputs, DML_IS_INDEX(task->tensors[i].type, DML_ELEMENTWISE_TYPES));
    DML_ASSERT_EACH(i, task->inputs + task->outputs, DML_IS_INDEX(task->tensors[i].value, task->values));
    DML_ASSERT_EACH(i, task->constants, DML_IS_INDEX(task->first_constant[i].value, task->values));
    DML_ASSERT_EACH(i, task->instructions, DML_IS_INDEX(task->first_instruction[i].code, DML_ELEMENTWISE_CODES));
    DML_ASSERT_EACH(i, task->instructions, DML_IS_INDEX(task->first_instruction[i].result, task->values));
    DML_ASSERT_EACH(i, 3 * task->instructions, task->first_instruction[i / 3].operands[i % 3] < task->values);
    DML_ASSERT_EACH(i, task->values, DML_IS_INDEX(task->value_offsets[i], task->memory));
    (void)task;
}

void dml_elementwise_run(const dml_elementwise *task)
{
    dml_elementwise_check(task);
    dml_parallel(dml_elementwise_parts, (void *)task, task->plan.units, 1, task->work);
}

void dml_elementwise_finish(const dml_elementwise_epilogue *epilogue)
{
    for (int i = 0; i < DML_ELEMENTWISE_EPILOGUES && epilogue->programs[i]; i++)
        dml_elementwise_run(epilogue->programs[i]);
}

void dml_elementwise_finish_block(const dml_elementwise_epilogue *epilogue, int64_t matrix, int64_t row, int64_t rows,
                                  int64_t column, int64_t columns)
{
    for (int i = 0; i < DML_ELEMENTWISE_EPILOGUES && epilogue->programs[i]; i++) {
        dml_elementwise_tensor tensors[DML_ELEMENTWISE_MAX_TENSORS];
        dml_elementwise block = *epilogue->programs[i];
        DML_ASSERT(block.rank == 3 && matrix < block.sizes[0]);
        DML_ASSERT(row + rows <= block.sizes[1] && column + columns <= block.sizes[2]);
        for (int k = 0; k < block.inputs + block.outputs; k++) {
            const int64_t *strides = block.tensors[k].strides;
            tensors[k] = block.tensors[k];
            tensors[k].memory += (uintptr_t)(matrix * strides[0] + row * strides[1] + column * strides[2]);
            tensors[k].strides[0] = strides[1];
            tensors[k].strides[1] = strides[2];
        }
        block.tensors = tensors;
        block.rank = 2;
        block.sizes[0] = rows;
        block.sizes[1] = columns;
        block.output_bytes = 0;
        dml_elementwise_prepare(&block);
        dml_elementwise_parts(&block, 0, block.plan.units);
    }
}
