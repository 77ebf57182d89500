/* The time steps of recurrent networks. Each thread has some units of the hidden state for all time steps: its part of
   the matrices stays in its caches, and threads meet only where they need each other's units. */

#include "../common/assert.h"
#include "../common/dimensions.h"
#include "../context.h"
#include "../elementwise/elementwise.h"
#include "../threads/barrier.h"
#include "blocking.h"

/* The rows of the input, of all sequences of some time steps, that are multiplied at a time. */
#define DML_RECURRENT_MC 64
/* A thread pays if a time step has this many products for it, since it waits at a barrier more than once a time step.
 */
#define DML_RECURRENT_THREAD_PRODUCTS (1 << 16)
/* After this many products, which take some milliseconds, threads gather again, so that one which was late, or was kept
   away, is missed no longer. Reading a weight takes as long as PRODUCTS_PER_WEIGHT products. */
#define DML_RECURRENT_SPAN_PRODUCTS (1 << 27)
#define DML_RECURRENT_PRODUCTS_PER_WEIGHT 8

typedef struct {
    const dml_recurrent *task;
    dml_barrier_team *team;
    /* The units of this thread, and the number of all units, padded to whole tiles. */
    int64_t first, units, padded_hidden;
    const float *weights, *recurrence;
    float *slots;
    dml_elementwise program;
    dml_elementwise_tensor tensors[DML_ELEMENTWISE_MAX_TENSORS];
} dml_recurrent_worker;

/* The time steps from `begin` to `end`, which threads compute side by side. */
typedef struct {
    const dml_recurrent *task;
    int64_t begin, end;
} dml_recurrent_span;

static int64_t dml_recurrent_mc(int64_t batch)
{
    return batch < DML_RECURRENT_MC ? DML_RECURRENT_MC / batch * batch : batch;
}

int64_t dml_recurrent_scratch(int64_t batch, int64_t hidden, int64_t slots)
{
    return dml_recurrent_mc(batch) * slots * dml_round_up(hidden, DML_MATMUL_MAX_NR) * (int64_t)sizeof(float);
}

/* Fills the slots of `count` time steps: the bias, and products of the inputs. */
static void dml_recurrent_inputs(const dml_recurrent_worker *worker, int64_t time_step, int64_t count)
{
    const dml_matmul_table *kernels = dml_dispatch->matmul;
    const dml_recurrent *task = worker->task;
    const int64_t row_stride = task->slots * worker->padded_hidden, m = count * task->batch;
    const char *x =
        (const char *)task->x + (task->backward ? task->time_steps - time_step - count : time_step) * task->x_stride;
    for (int64_t slot = 0; slot < task->slots; slot++) {
        const float *bias = (const float *)task->bias + slot * task->hidden + worker->first;
        for (int64_t row = 0; row < m; row++) {
            float *target = worker->slots + row * row_stride + slot * worker->padded_hidden;
            memcpy(target, bias, (size_t)worker->units * sizeof(float));
            for (int64_t unit = worker->units; unit % kernels->nr != 0; unit++)
                target[unit] = 0.0f;
        }
    }
    const float *panel = worker->weights;
    for (int64_t unit = 0; unit < worker->units; unit += kernels->nr)
        for (int64_t gate = 0; gate < task->gates; gate++, panel += task->input * kernels->nr)
            kernels->tiles(m, task->input, (const float *)x, task->x_row / 4, 1, panel, kernels->nr,
                           worker->slots + gate * worker->padded_hidden + unit, row_stride, 1);
}

/* Blocks of units are traversed to and fro: the last ones of a time step are still in a cache when the next one begins.
 */
static void dml_recurrent_products(const dml_recurrent_worker *worker, const dml_recurrent_phase *phase,
                                   const char *operand, int64_t operand_row, float *slots, int forward)
{
    const dml_matmul_table *kernels = dml_dispatch->matmul;
    const dml_recurrent *task = worker->task;
    const int64_t row_stride = task->slots * worker->padded_hidden,
                  blocks = dml_quotient_up(worker->units, kernels->nr);
    for (int64_t i = 0; i < blocks * phase->gates; i++) {
        int64_t number = forward ? i : blocks * phase->gates - 1 - i;
        int64_t block = number / phase->gates, gate = number % phase->gates;
        const float *panel =
            worker->recurrence + (block * task->gates + phase->first_gate + gate) * task->hidden * kernels->nr;
        kernels->tiles(task->batch, task->hidden, (const float *)operand, operand_row / 4, 1, panel, kernels->nr,
                       slots + phase->slots[gate] * worker->padded_hidden + block * kernels->nr, row_stride, 1);
    }
}

static void dml_recurrent_program(dml_recurrent_worker *worker, const dml_recurrent_phase *phase, const char *before,
                                  int64_t before_row, const char *after, const float *slots)
{
    const dml_recurrent *task = worker->task;
    worker->program = *phase->program;
    for (int i = 0; i < worker->program.inputs + worker->program.outputs; i++) {
        const dml_recurrent_tensor *from = phase->tensors + i;
        dml_elementwise_tensor *tensor = worker->tensors + i;
        *tensor = worker->program.tensors[i];
        tensor->strides[1] = 4;
        if (from->kind == DML_RECURRENT_SLOT) {
            tensor->memory = (uintptr_t)(slots + from->slot * worker->padded_hidden);
            tensor->strides[0] = task->slots * worker->padded_hidden * 4;
            continue;
        }
        tensor->memory = from->kind == DML_RECURRENT_BEFORE  ? (uintptr_t)before
                         : from->kind == DML_RECURRENT_AFTER ? (uintptr_t)after
                                                             : from->memory;
        tensor->memory += (uintptr_t)(worker->first * 4);
        tensor->strides[0] = from->kind == DML_RECURRENT_BEFORE  ? before_row
                             : from->kind == DML_RECURRENT_AFTER ? task->state_row
                                                                 : from->row;
    }
    worker->program.tensors = worker->tensors;
    worker->program.sizes[0] = task->batch;
    worker->program.sizes[1] = worker->units;
    dml_elementwise_prepare(&worker->program);
    dml_elementwise_parts(&worker->program, 0, worker->program.plan.units);
}

/* Stores the last states of sequences that end with the time step; after its end, the state of a sequence is 0. */
static void dml_recurrent_end_sequences(const dml_recurrent_worker *worker, char *after, int64_t time_step)
{
    const dml_recurrent *task = worker->task;
    const int64_t *lengths = (const int64_t *)task->lengths;
    const size_t bytes = (size_t)worker->units * 4;
    for (int64_t row = 0; row < task->batch; row++) {
        char *state = after + row * task->state_row + worker->first * 4;
        int64_t offset = (row * task->hidden + worker->first) * 4;
        if (time_step == lengths[row] - 1) {
            memcpy((char *)task->last[0] + offset, state, bytes);
            if (task->cell)
                memcpy((char *)task->last[1] + offset, (const char *)task->cell + offset, bytes);
        } else if (time_step >= lengths[row]) {
            memset(state, 0, bytes);
        }
    }
}

static void dml_recurrent_work(dml_recurrent_worker *worker, int64_t begin, int64_t end)
{
    const dml_recurrent *task = worker->task;
    const int64_t block_time_steps = dml_recurrent_mc(task->batch) / task->batch;
    const int64_t row_stride = task->slots * worker->padded_hidden;
    for (int64_t time_step = begin; time_step < end; time_step++) {
        int64_t block_time_step = time_step % block_time_steps,
                count = task->time_steps - (time_step - block_time_step), before_row = task->state_row;
        char *after = (char *)task->states + time_step % task->period * task->state_stride;
        const char *before =
            (const char *)task->states + (time_step + task->period - 1) % task->period * task->state_stride;
        count = dml_least(count, block_time_steps);
        if (block_time_step == 0)
            dml_recurrent_inputs(worker, time_step, count);
        if (time_step == 0) {
            before = (const char *)task->before;
            before_row = task->before_row;
        }
        float *slots =
            worker->slots + (task->backward ? count - 1 - block_time_step : block_time_step) * task->batch * row_stride;
        for (int i = 0; i < task->phases; i++) {
            const dml_recurrent_phase *phase = task->phase + i;
            int is_state = phase->operand == 0;
            dml_recurrent_products(worker, phase, is_state ? before : (const char *)phase->operand,
                                   is_state ? before_row : task->hidden * 4, slots, time_step % 2 == 0);
            dml_recurrent_program(worker, phase, before, before_row, after, slots);
            if (i == task->phases - 1)
                dml_recurrent_end_sequences(worker, after, time_step);
            dml_barrier_wait(worker->team);
        }
    }
}

static void dml_recurrent_member(void *context, dml_barrier_team *team, int index)
{
    const dml_recurrent_span *span = context;
    const dml_recurrent *task = span->task;
    const int64_t nr = dml_dispatch->matmul->nr, padded_hidden = dml_round_up(task->hidden, nr),
                  blocks = padded_hidden / nr;
    const int64_t first = blocks * index / dml_barrier_team_size(team) * nr;
    const int64_t last = blocks * (index + 1) / dml_barrier_team_size(team) * nr;
    dml_recurrent_worker worker = {.task = task, .team = team, .first = first, .padded_hidden = padded_hidden};
    worker.units = dml_least(last, task->hidden) - first;
    worker.weights = (const float *)task->weights + task->gates * first * task->input;
    worker.recurrence = (const float *)task->recurrence + task->gates * first * task->hidden;
    worker.slots = (float *)task->scratch + first;
    dml_recurrent_work(&worker, span->begin, span->end);
}

void dml_recurrent_run(const dml_recurrent *task)
{
    DML_ASSERT(task->time_steps >= 0 && task->batch >= 1 && task->input >= 1 && task->hidden >= 1 && task->period >= 1);
    DML_ASSERT(DML_IS_INDEX(task->gates - 1, DML_RECURRENT_GATES) && task->slots >= task->gates);
    DML_ASSERT(DML_IS_INDEX(task->phases - 1, DML_RECURRENT_PHASES));
    DML_ASSERT_EACH(i, task->phases, task->phase[i].first_gate + task->phase[i].gates <= task->gates);
    DML_ASSERT_EACH(i, task->batch, DML_IS_INDEX(((const int64_t *)task->lengths)[i], task->time_steps + 1));
    DML_ASSERT(DML_IS_ALIGNED(task->x, 4) && DML_IS_ALIGNED(task->states, 4) && DML_IS_ALIGNED(task->scratch, 4));
    DML_ASSERT(DML_IS_ALIGNED(task->weights, 4) && DML_IS_ALIGNED(task->recurrence, 4));
    const int64_t blocks = dml_quotient_up(task->hidden, dml_dispatch->matmul->nr);
    const int64_t weights = task->gates * task->hidden * task->hidden;
    const int64_t wanted = dml_least(task->batch * weights / DML_RECURRENT_THREAD_PRODUCTS, blocks);
    const int64_t max_time_steps =
        1 + DML_RECURRENT_SPAN_PRODUCTS / (weights * (task->batch + DML_RECURRENT_PRODUCTS_PER_WEIGHT));
    for (int64_t begin = 0; begin < task->time_steps; begin += max_time_steps) {
        int64_t end = begin + max_time_steps;
        dml_recurrent_span span = {task, begin, end < task->time_steps ? end : task->time_steps};
        dml_run_barrier_team(dml_recurrent_member, &span, wanted);
    }
}
