/* Programs whose instructions read and write narrow elements in memory. */
#pragma once

#include "../context.h"
#include "../half/scalar.h"
#include "../move/move.h"
#include "worker.h"

/* The number of the input that is loaded to a value; `inputs` if there is none. */
static int dml_elementwise_input_of(const dml_elementwise *task, int value)
{
    int i = 0;
    while (i < task->inputs && task->tensors[i].value != value)
        i++;
    return i;
}

/* Whether an instruction wraps integers that wrap anyway where they are stored as `type`. */
static int dml_elementwise_wraps(const dml_elementwise *task, const dml_elementwise_instruction *instruction, int type)
{
    uint64_t mask = type == DML_ELEMENTWISE_U8 ? UINT8_MAX : UINT16_MAX;
    if (instruction->code != DML_OPCODE_and_bits || (type != DML_ELEMENTWISE_U8 && type != DML_ELEMENTWISE_U16))
        return (instruction->code == DML_OPCODE_int8_bits && type == DML_ELEMENTWISE_I8) ||
               (instruction->code == DML_OPCODE_int16_bits && type == DML_ELEMENTWISE_I16);
    for (int i = 0; i < task->constants; i++)
        if (task->first_constant[i].value == instruction->operands[1])
            return task->first_constant[i].bits == mask;
    return 0;
}

/* Whether the tensors, which must have one type, are laid out as direct instructions read and write them. An operand of
   FLOAT16 may be one element for a whole row. */
static int dml_elementwise_lies_direct(const dml_elementwise *task)
{
    for (int i = 0; i <= task->inputs; i++) {
        int64_t size = dml_elementwise_sizes[task->tensors[i].type],
                stride = task->tensors[i].strides[task->rank - 1];
        uintptr_t addresses = task->tensors[i].memory;
        for (int axis = 0; axis < task->rank; axis++)
            addresses |= (uintptr_t)task->tensors[i].strides[axis];
        const int is_across = task->across && i < task->inputs;
        const int is_one = stride == 0 && i > 0 && i < task->inputs && task->tensors[i].type == DML_ELEMENTWISE_F16;
        if (addresses % (uintptr_t)size != 0 || (stride != size && !is_across && !is_one) ||
            (i < task->inputs && task->tensors[i].type != task->tensors[0].type))
            return 0;
    }
    return task->inputs >= 1 && task->outputs == 1;
}

static int dml_elementwise_selects(const dml_elementwise_instruction *instruction)
{
    return instruction->code == DML_OPCODE_fmin_float32 || instruction->code == DML_OPCODE_fmax_float32;
}

/* The direct instruction for elements of the value `result`, and for constants or for another input, which of integers
   only the first instruction has. Constants are lanes of FLOAT32. FLOAT16 is rounded after each instruction, which makes
   no difference if the operand `is_rounded` by the program too, or the instruction selects one of its operands. */
static dml_elementwise_direct_instruction dml_elementwise_direct_of(const dml_elementwise_worker *worker,
                                                                    const dml_elementwise_instruction *instruction,
                                                                    int result, int is_first, int is_rounded)
{
    const dml_elementwise *task = worker->task;
    int type = task->tensors[0].type, is_half = type == DML_ELEMENTWISE_F16;
    int is_constant = instruction->uniform != 0 && is_half, selects = dml_elementwise_selects(instruction);
    int swapped = is_constant && instruction->uniform == 1 && selects;
    int constants = instruction->code == DML_OPCODE_multiply_add_odd ? 6 : swapped ? 1 : 2;
    dml_elementwise_direct_instruction direct = {.call = dml_dispatch->elementwise->direct[instruction->code][type],
                                                 .other = task->inputs};
    for (int k = 0; is_constant && k < 2; k++)
        if (constants >> (k + !swapped) & 1)
            memcpy(direct.lanes + k, worker->values[instruction->operands[k + !swapped]].address,
                   sizeof direct.lanes[k]);
    /* Beside a number other than 0, equal operands have equal bits, whichever is first. */
    if (swapped || (is_constant && selects && (direct.lanes[0] < 0 || direct.lanes[0] > 0)))
        direct.call = dml_dispatch->elementwise->direct_swapped[instruction->code == DML_OPCODE_fmax_float32];
    if (!is_constant && (is_first || is_half))
        direct.other = dml_elementwise_input_of(task, instruction->operands[1]);
    if (instruction->operands[swapped] != result ||
        !(is_constant ? instruction->uniform == constants : direct.other < task->inputs) ||
        (is_half && !is_rounded && !selects) || (swapped && isnan(direct.lanes[0])))
        direct.call = NULL;
    return direct;
}

/* Fills in the direct instructions if the whole program consists of such, each of which takes the result of the one
   before. */
static void dml_elementwise_choose_direct(dml_elementwise_worker *worker)
{
    const dml_elementwise *task = worker->task;
    const dml_elementwise_instruction *instructions = task->first_instruction;
    const dml_elementwise_tensor *output = task->tensors + task->inputs;
    int count = task->instructions, result = task->tensors[0].value, direct = 0, is_rounded = 1;
    if (count < 1 || !dml_elementwise_lies_direct(task) || instructions[count - 1].result != output->value)
        return;
    if (count > 1 && instructions[count - 1].operands[0] == instructions[count - 2].result &&
        dml_elementwise_wraps(task, instructions + count - 1, output->type))
        count--;
    for (int i = 0; i < count; i++) {
        const int is_cast =
            instructions[i].code == DML_OPCODE_float32_int32 || instructions[i].code == DML_OPCODE_float32_uint32;
        if (direct > 0 && instructions[i].code == DML_OPCODE_half_float32 && instructions[i].operands[0] == result &&
            output->type == DML_ELEMENTWISE_F16) {
            is_rounded = 1;
            result = instructions[i].result;
            continue;
        }
        if (direct == DML_ELEMENTWISE_DIRECT)
            return;
        const dml_elementwise_direct_instruction next =
            dml_elementwise_direct_of(worker, instructions + i, result, direct == 0, is_rounded);
        if (!next.call || (is_cast && count > 1) ||
            output->type != (is_cast ? DML_ELEMENTWISE_F32 : task->tensors[0].type))
            return;
        const int is_half =
            next.other < task->inputs || dml_float_of_half(dml_half_of_float(next.lanes[0])) == next.lanes[0];
        is_rounded &= is_half && dml_elementwise_selects(instructions + i);
        worker->instructions[direct++] = next;
        result = instructions[i].result;
    }
    worker->direct = direct;
    worker->block = DML_ELEMENTWISE_PART;
}

/* Runs the direct instructions over rows, whose operands begin with `row` and `column` of the views. All results but
   the last go to `made`: the output may lie where an input does that a later instruction reads. Returns the second
   operand of the first instruction; NULL if there is none. */
static const char *dml_elementwise_run_direct(const dml_elementwise_worker *worker, int64_t row, int64_t column,
                                              char *made, dml_elementwise_rows rows)
{
    const dml_elementwise_view *views = worker->views, *to = views + worker->task->inputs;
    const char *second = NULL;
    char *result = rows.result;
    const int64_t result_line = rows.result_line;
    rows.first = views->first + row * views->line + column * views->stride;
    rows.first_line = views->line;
    for (int k = 0; k < worker->direct; k++) {
        const dml_elementwise_view *view = views + worker->instructions[k].other;
        const int is_last = k == worker->direct - 1;
        rows.result = is_last ? result : made;
        rows.result_line = is_last ? result_line : rows.count * to->stride;
        rows.second = view < to ? view->first + row * view->line + column * view->stride : NULL;
        rows.second_line = view->line;
        rows.is_one = view->stride == 0;
        memcpy(rows.lanes, worker->instructions[k].lanes, sizeof rows.lanes);
        worker->instructions[k].call(&rows);
        rows.first = rows.result;
        rows.first_line = rows.result_line;
        second = k ? second : rows.second;
    }
    return second;
}

/* Computes a block, or a longer part, without lanes: as many rows at a time as stay in the L1 cache between one
   instruction and the next. */
static void dml_elementwise_block_direct(dml_elementwise_worker *worker, int64_t row, int64_t column, int64_t rows,
                                         int64_t columns)
{
    enum { TILE = DML_ELEMENTWISE_DIRECT_TILE, SHORT = 128 };
    const dml_elementwise *task = worker->task;
    const dml_elementwise_view *views = worker->views, *to = views + task->inputs;
    int64_t size = to->stride, item = views->stride, n, packed = 1;
    char made[TILE * 4] __attribute__((aligned(64)));
    for (int i = 0; i <= task->inputs; i++)
        packed &= rows == 1 || views[i].line == views[i].stride * columns;
    if (packed) {
        columns *= rows;
        rows = 1;
    }
    const int64_t together = columns > (worker->stream ? SHORT : TILE) ? 1 : TILE / columns;
    dml_elementwise_rows part = {.rows = 0};
    for (int64_t i = row; i < row + rows; i += part.rows) {
        char *output = to->first + i * to->line + column * size;
        part.rows = dml_least(row + rows - i, together);
        for (int64_t done = 0; done < columns; done += n) {
            n = dml_least(columns - done, TILE);
            if (done == 0 && n < columns)
                n -= (int64_t)((uintptr_t)output & 63) / size;
            part.count = n;
            part.result = worker->stream ? made : output + done * size;
            part.result_line = worker->stream ? n * size : to->line;
            const char *from = views->first + i * views->line + (column + done) * item;
            const char *second = dml_elementwise_run_direct(worker, i, column + done, made, part);
            /* Two inputs of bytes are read faster than the hardware prefetches them. */
            const int fetched = item == 1 && task->inputs > 1 ? 2 : 0;
            const dml_elementwise_ahead ahead[] = {{from + n, 64}, {fetched ? second + n : NULL, 64}};
            if (worker->stream && (part.rows == 1 || to->line == n * size))
                dml_dispatch->elementwise->stream(output + done * size, made, part.rows * n * size, ahead, fetched);
            else if (worker->stream)
                dml_move_lines(output, to->line, made, n * size, part.rows, n * size, 0);
        }
    }
}
