/* Products of matrices. `b` comes in panels as wide as a tile, a block of which stays in the second cache; it is read
   where it lies if that is small, or there are few rows to multiply it by. */

#ifndef DML_UNIT
#include "../common/editor.h"
#include "../move/move.c"
#include "../elementwise/elementwise.c"
#endif

#include "blocking.h"

/* The place of a matrix among those of a batch. */
static char *dml_matmul_place(const dml_matmul_products *task, const dml_matrix *matrix, int64_t number)
{
    char *place = (char *)matrix->memory;
    for (int axis = task->rank - 1; axis >= 0; axis--) {
        place += number % task->sizes[axis] * matrix->batch[axis];
        number /= task->sizes[axis];
    }
    return place;
}

/* One row: nothing is used twice, so that `b` is read where it lies if that is in order. */
static int dml_matmul_is_row(const dml_matmul_products *task)
{
    int64_t item = task->b.is_half ? 2 : 4;
    return !task->is_packed && task->rows == 1 && (task->b.column == item || task->b.row == item);
}

static void dml_matmul_row(const dml_matmul_products *task, const char *a, const char *b, float *out, int64_t columns)
{
    float room[DML_MATMUL_ROW_STEPS];
    const dml_matmul_table *loops = dml_loop->matmul;
    const dml_matrix *left = &task->a, *right = &task->b;
    int64_t item = right->is_half ? 2 : 4;
    for (int64_t j = 0; j < columns; j++)
        out[j] = 0.0f;
    for (int64_t k = 0; k < task->depth; k += DML_MATMUL_ROW_STEPS) {
        int64_t depth = task->depth - k < DML_MATMUL_ROW_STEPS ? task->depth - k : DML_MATMUL_ROW_STEPS;
        loops->panel(room, 1, a + k * left->column, 0, left->column, 1, depth, left->is_half);
        if (right->column == item)
            loops->add_rows(out, room, b + k * right->row, right->row, columns, depth, right->is_half);
        else
            for (int64_t j = 0; j < columns; j++)
                out[j] += loops->dot(room, b + k * right->row + j * right->column, depth, right->is_half);
    }
}

/* A block of the result: rows and columns of it, all steps. */
static void dml_matmul_block(const dml_matmul_products *task, const char *a, const char *b, char *out, int64_t rows,
                              int64_t columns)
{
    const dml_matmul_table *loops = dml_loop->matmul;
    const dml_matrix *left = &task->a, *right = &task->b;
    const int64_t width = loops->width;
    float panels[DML_MATMUL_STEPS * DML_MATMUL_COLUMNS] __attribute__((aligned(64)));
    float lines[DML_MATMUL_TILE_ROWS * DML_MATMUL_STEPS] __attribute__((aligned(64)));
    float part[DML_MATMUL_TILE_ROWS * 32] __attribute__((aligned(64)));
    int packs_a = left->is_half || left->column != 4;
    int is_near = task->rows <= DML_MATMUL_FEW_ROWS || task->depth * task->columns * 4 <= DML_MATMUL_NEAR_BYTES;
    int packs_b = !task->is_packed && (right->is_half || right->column != 4 || !is_near);
    for (int64_t k = 0; k < task->depth; k += DML_MATMUL_STEPS) {
        int64_t depth = task->depth - k < DML_MATMUL_STEPS ? task->depth - k : DML_MATMUL_STEPS;
        const char *b_block = task->is_packed ? b : b + k * right->row;
        /* Of what is read where it lies, the last columns that do not fill a tile. */
        int64_t first = packs_b ? 0 : task->is_packed ? columns : columns / width * width;
        for (int64_t j = first; j < columns; j += width)
            loops->panel(panels + j * DML_MATMUL_STEPS, width, b_block + j * right->column, right->column, right->row,
                         columns - j < width ? columns - j : width, depth, right->is_half);
        for (int64_t i = 0; i < rows; i += DML_MATMUL_TILE_ROWS) {
            int64_t count = rows - i < DML_MATMUL_TILE_ROWS ? rows - i : DML_MATMUL_TILE_ROWS, a_row, a_step;
            const char *a_block = a + i * left->row + k * left->column;
            const float *line = (const float *)a_block;
            if (packs_a) {
                loops->panel(lines, DML_MATMUL_TILE_ROWS, a_block, left->row, left->column, count, depth,
                             left->is_half);
                line = lines;
                a_row = 1;
                a_step = DML_MATMUL_TILE_ROWS;
            } else {
                a_row = left->row / 4;
                a_step = 1;
            }
            for (int64_t j = 0; j < columns; j += width) {
                int is_whole = columns - j >= width, in_place = !packs_b && is_whole;
                float *target = (float *)(out + i * task->out.row) + j;
                const float *panel = in_place ? (const float *)(b_block + j * 4) : panels + j * DML_MATMUL_STEPS;
                int64_t b_step = in_place && !task->is_packed ? right->row / 4 : width;
                if (task->is_packed)
                    panel = (const float *)b + j * task->depth + k * width;
                if (is_whole) {
                    loops->tiles(count, depth, line, a_row, a_step, panel, b_step, target, task->out.row / 4, k > 0);
                    continue;
                }
                loops->tiles(count, depth, line, a_row, a_step, panel, b_step, part, width, 0);
                for (int64_t row = 0; row < count; row++, target = (float *)((char *)target + task->out.row))
                    for (int64_t column = 0; column < columns - j; column++) {
                        float sum = part[row * width + column];
                        target[column] = k > 0 ? target[column] + sum : sum;
                    }
            }
        }
    }
}

static void dml_matmul_units(void *context, int64_t begin, int64_t end)
{
    const dml_matmul_products *task = context;
    int64_t across = dml_quotient_up(task->columns, task->column_block);
    int64_t down = dml_quotient_up(task->rows, task->row_block);
    for (; begin < end; begin++) {
        int64_t column = begin % across * task->column_block, row = begin / across % down * task->row_block;
        int64_t number = begin / across / down;
        int64_t rows = task->rows - row < task->row_block ? task->rows - row : task->row_block;
        int64_t columns = task->columns - column < task->column_block ? task->columns - column : task->column_block;
        const char *a = dml_matmul_place(task, &task->a, number) + row * task->a.row;
        const char *b = dml_matmul_place(task, &task->b, number);
        b += column * (task->is_packed ? task->depth * (int64_t)sizeof(float) : task->b.column);
        char *out = dml_matmul_place(task, &task->out, number) + row * task->out.row + column * 4;
        if (dml_matmul_is_row(task))
            dml_matmul_row(task, a, b, (float *)out, columns);
        else
            dml_matmul_block(task, a, b, out, rows, columns);
    }
}

int64_t dml_prepack_size(int64_t gates, int64_t hidden, int64_t depth)
{
    return gates * depth * dml_quotient_up(hidden, DML_MATMUL_WIDEST) * DML_MATMUL_WIDEST * (int64_t)sizeof(float);
}

static void dml_prepack_blocks(void *context, int64_t begin, int64_t end)
{
    const dml_prepack *task = context;
    const dml_matmul_table *loops = dml_loop->matmul;
    const dml_matrix *from = &task->matrix;
    const int64_t blocks = dml_quotient_up(task->hidden, loops->width), size = task->depth * loops->width;
    for (; begin < end; begin++) {
        int64_t number = begin / blocks, unit = begin % blocks * loops->width, left = task->hidden - unit;
        float *panels = (float *)task->panels + unit * task->gates * task->depth +
                        number * dml_prepack_size(task->gates, task->hidden, task->depth) / (int64_t)sizeof(float);
        for (int64_t gate = 0; gate < task->gates; gate++)
            loops->panel(panels + gate * size, loops->width,
                         (const char *)from->memory + number * from->batch[0] + (gate * task->hidden + unit) * from->row,
                         from->row, from->column, left < loops->width ? left : loops->width, task->depth,
                         from->is_half);
    }
}

void dml_prepack_pack(const dml_prepack *task)
{
    const int64_t blocks = dml_quotient_up(task->hidden, dml_loop->matmul->width);
    dml_parallel(dml_prepack_blocks, (void *)task, task->count * blocks, 1,
                 task->count * dml_prepack_size(task->gates, task->hidden, task->depth));
}

/* Blocks of equal sizes, enough of them for all threads. */
void dml_matmul_prepare(dml_matmul_products *task)
{
    int64_t batch = 1, across = DML_MATMUL_COLUMNS * (dml_matmul_is_row(task) ? 4 : 1);
    for (int i = 0; i < task->rank; i++)
        batch *= task->sizes[i];
    across = dml_quotient_up(task->columns, across);
    task->column_block = dml_quotient_up(dml_quotient_up(task->columns, across), 32) * 32;
    across = dml_quotient_up(task->columns, task->column_block);
    task->row_block = task->rows;
    while (batch * across * dml_quotient_up(task->rows, task->row_block) < 4 && task->row_block > DML_MATMUL_ROWS)
        task->row_block = dml_quotient_up(task->row_block, 2 * DML_MATMUL_TILE_ROWS) * DML_MATMUL_TILE_ROWS;
    task->units = batch * across * dml_quotient_up(task->rows, task->row_block);
}

/* What the tiles rely on: vectors are loaded at multiples of an element. */
static void dml_matmul_check(const dml_matmul_products *task)
{
    DML_ASSERT(task->rows >= 1 && task->columns >= 1 && task->depth >= 1);
    DML_ASSERT(DML_IS_INDEX(task->rank, DML_MATMUL_RANK + 1));
    DML_ASSERT_EACH(i, task->rank, task->sizes[i] >= 1);
    DML_ASSERT(DML_IS_ALIGNED(task->a.memory, task->a.is_half ? 2 : 4));
    DML_ASSERT(DML_IS_ALIGNED(task->b.memory, task->b.is_half ? 2 : 4));
    DML_ASSERT(DML_IS_ALIGNED(task->a.row | task->a.column, task->a.is_half ? 2 : 4));
    DML_ASSERT(DML_IS_ALIGNED(task->b.row | task->b.column, task->b.is_half ? 2 : 4));
    DML_ASSERT(!task->out.is_half && DML_IS_ALIGNED(task->out.memory, 4) && DML_IS_ALIGNED(task->out.row, 4));
    DML_ASSERT(task->columns == 1 || task->out.column == 4);
    DML_ASSERT(task->units >= 1 && task->row_block >= 1 && task->column_block >= 1);
    DML_ASSERT(dml_matmul_is_row(task) || task->column_block <= DML_MATMUL_COLUMNS);
    (void)task;
}

void dml_matmul_run(const dml_matmul_products *task)
{
    dml_matmul_check(task);
    double products = (double)task->rows * (double)task->columns * (double)task->depth;
    for (int i = 0; i < task->rank; i++)
        products *= (double)task->sizes[i];
    dml_parallel(dml_matmul_units, (void *)task, task->units, 1, (int64_t)(products / DML_MATMUL_PER_BYTE));
}

static int32_t dml_byte(const uint8_t *place, int is_signed)
{
    return is_signed ? (int8_t)*place : *place;
}

static void dml_byte_columns(void *context, int64_t begin, int64_t end)
{
    const dml_byte_row *task = context;
    const uint8_t *a = (const uint8_t *)task->a;
    const int32_t a_zero = task->a_zero ? dml_byte((const uint8_t *)task->a_zero, task->a_is_signed) : 0;
    int32_t room[DML_MATMUL_ROW_STEPS], *out = (int32_t *)task->out;
    uint32_t total = 0;
    memset(out + begin, 0, (size_t)(end - begin) * sizeof *out);
    for (int64_t k = 0; k < task->depth; k += DML_MATMUL_ROW_STEPS) {
        int64_t depth = task->depth - k < DML_MATMUL_ROW_STEPS ? task->depth - k : DML_MATMUL_ROW_STEPS;
        for (int64_t i = 0; i < depth; i++) {
            room[i] = dml_byte(a + (k + i) * task->a_step, task->a_is_signed) - a_zero;
            total += (uint32_t)room[i];
        }
        dml_loop->matmul->add_bytes(out + begin, room, (const uint8_t *)task->b + k * task->b_step + begin,
                                     task->b_step, end - begin, depth, task->b_is_signed);
    }
    if (task->b_zero)
        for (int64_t i = begin; i < end; i++) {
            const uint8_t *zero = (const uint8_t *)task->b_zero + i * task->b_zero_step;
            out[i] = (int32_t)((uint32_t)out[i] - (uint32_t)dml_byte(zero, task->b_is_signed) * total);
        }
}

void dml_byte_row_run(const dml_byte_row *task)
{
    DML_ASSERT(task->columns >= 0 && task->depth >= 0);
    DML_ASSERT(DML_IS_ALIGNED(task->out, 4));
    dml_parallel(dml_byte_columns, (void *)task, task->columns, 512, task->columns * task->depth);
}

#include "attention.h"
#include "recurrent.h"
