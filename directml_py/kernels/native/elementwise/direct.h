/* Programs whose instructions read and write narrow elements in memory. */
#pragma once

#include "../context.h"
#include "worker.h"

/* Copies `rows` of `bytes` each, which begin `output_line` and `input_line` bytes apart. */
static void dml_elementwise_copy_rows(char *output, int64_t output_line, const char *input, int64_t input_line,
                                      int64_t rows, int64_t bytes)
{
    const dml_span span = {output, input, rows, output_line, input_line, bytes, 1, 1};
    dml_dispatch->move->rows(&span, 0);
}

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

/* Whether the tensors, which must have one type, are laid out as direct instructions read and write them. */
static int dml_elementwise_lies_direct(const dml_elementwise *task)
{
    for (int i = 0; i <= task->inputs; i++) {
        int64_t size = dml_elementwise_sizes[task->tensors[i].type];
        uintptr_t addresses = task->tensors[i].memory;
        for (int axis = 0; axis < task->rank; axis++)
            addresses |= (uintptr_t)task->tensors[i].strides[axis];
        const int is_across = task->across && i < task->inputs;
        if (addresses % (uintptr_t)size != 0 || (task->tensors[i].strides[task->rank - 1] != size && !is_across) ||
            (i < task->inputs && task->tensors[i].type != task->tensors[0].type))
            return 0;
    }
    return task->inputs >= 1 && task->outputs == 1;
}

/* The direct instruction for elements of the value `result`, and for constants or, where `is_first`, for another input.
   Constants are lanes of FLOAT32. FLOAT16 is rounded after each instruction, which makes no difference only before
   those that select one of their operands. */
static dml_elementwise_direct_instruction dml_elementwise_direct_of(const dml_elementwise_worker *worker,
                                                                    const dml_elementwise_instruction *instruction,
                                                                    int result, int is_first)
{
    const dml_elementwise *task = worker->task;
    int type = task->tensors[0].type, is_constant = instruction->uniform != 0 && type == DML_ELEMENTWISE_F16;
    int chooses = instruction->code == DML_OPCODE_fmin_float32 || instruction->code == DML_OPCODE_fmax_float32;
    int swapped = is_constant && instruction->uniform == 1 && chooses;
    int constants = instruction->code == DML_OPCODE_multiply_add_odd ? 6 : swapped ? 1 : 2;
    dml_elementwise_direct_instruction direct = {.call = dml_dispatch->elementwise->direct[instruction->code][type]};
    for (int k = 0; is_constant && k < 2; k++)
        if (constants >> (k + !swapped) & 1)
            memcpy(direct.lanes + k, worker->values[instruction->operands[k + !swapped]].address,
                   sizeof direct.lanes[k]);
    if (swapped)
        direct.call = dml_dispatch->elementwise->direct_swapped[instruction->code == DML_OPCODE_fmax_float32];
    if (instruction->operands[swapped] != result ||
        !(is_constant ? instruction->uniform == constants
                      : is_first && dml_elementwise_input_of(task, instruction->operands[1]) < task->inputs) ||
        (!is_first && type == DML_ELEMENTWISE_F16 && !chooses) || (swapped && isnan(direct.lanes[0])))
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
    int count = task->instructions, result = task->tensors[0].value;
    if (count < 1 || !dml_elementwise_lies_direct(task) || instructions[count - 1].result != output->value)
        return;
    if (count > 1 && instructions[count - 1].operands[0] == instructions[count - 2].result &&
        dml_elementwise_wraps(task, instructions + count - 1, output->type))
        count--;
    if (count > DML_ELEMENTWISE_DIRECT)
        return;
    for (int i = 0; i < count; i++) {
        int is_cast =
            instructions[i].code == DML_OPCODE_float32_int32 || instructions[i].code == DML_OPCODE_float32_uint32;
        worker->instructions[i] = dml_elementwise_direct_of(worker, instructions + i, result, i == 0);
        if (!worker->instructions[i].call || (is_cast && count > 1) ||
            output->type != (is_cast ? DML_ELEMENTWISE_F32 : task->tensors[0].type))
            return;
        result = instructions[i].result;
    }
    worker->direct = count;
    worker->block = DML_ELEMENTWISE_PART;
}

/* Computes a block, or a longer part, without lanes: row by row where the tensors' rows do not all follow each other.
 */
static void dml_elementwise_block_direct(dml_elementwise_worker *worker, int64_t row, int64_t column, int64_t rows,
                                         int64_t columns)
{
    enum { TILE = 2048, SHORT = 128 };
    const dml_elementwise *task = worker->task;
    const dml_elementwise_view *views = worker->views, *to = views + task->inputs;
    int64_t size = to->stride, item_stride = views->stride, n, packed = 1;
    int second = dml_elementwise_input_of(task, task->first_instruction->operands[1]);
    char made[TILE * 4] __attribute__((aligned(64)));
    for (int i = 0; i <= task->inputs; i++)
        packed &= rows == 1 || views[i].line == views[i].stride * columns;
    if (packed) {
        columns *= rows;
        rows = 1;
    }
    if (rows > 1 && columns <= SHORT && !worker->stream) {
        /* Rows this short are copied together first: a call for each would take longer. */
        char left[TILE * 4] __attribute__((aligned(64))), right[TILE * 4] __attribute__((aligned(64)));
        const int has_other = second < task->inputs && !task->first_instruction->uniform;
        for (int64_t i = row; i < row + rows; i += n) {
            n = row + rows - i < TILE / columns ? row + rows - i : TILE / columns;
            dml_elementwise_copy_rows(left, columns * item_stride,
                                      views->first + i * views->line + column * item_stride, views->line, n,
                                      columns * item_stride);
            if (has_other)
                dml_elementwise_copy_rows(right, columns * item_stride,
                                          views[second].first + i * views[second].line + column * item_stride,
                                          views[second].line, n, columns * item_stride);
            for (int k = 0; k < worker->direct; k++)
                worker->instructions[k].call(made, k ? made : left, k || !has_other ? NULL : right,
                                             worker->instructions[k].lanes, n * columns);
            dml_elementwise_copy_rows(to->first + i * to->line + column * size, to->line, made, columns * size, n,
                                      columns * size);
        }
        return;
    }
    for (int64_t i = row; i < row + rows; i++) {
        const char *from = views->first + i * views->line + column * item_stride;
        const char *other = second == task->inputs || task->first_instruction->uniform
                                ? NULL
                                : views[second].first + i * views[second].line + column * item_stride;
        char *output = to->first + i * to->line + column * size;
        for (int64_t done = 0; done < columns; done += n) {
            char *target = worker->stream ? made : output + done * size;
            n = columns - done < TILE ? columns - done : TILE;
            if (done == 0 && n < columns)
                n -= (int64_t)((uintptr_t)output & 63) / size;
            for (int k = 0; k < worker->direct; k++)
                worker->instructions[k].call(target, k ? target : from + done * item_stride,
                                             k || !other ? NULL : other + done * item_stride,
                                             worker->instructions[k].lanes, n);
            /* Two inputs of bytes are read faster than the hardware prefetches them. */
            const int fetched = item_stride == 1 && task->inputs > 1 ? 2 : 0;
            const dml_elementwise_ahead ahead[] = {{from + done + n, 64}, {fetched ? other + done + n : NULL, 64}};
            if (worker->stream)
                dml_dispatch->elementwise->stream(output + done * size, made, n * size, ahead, fetched);
        }
    }
}
