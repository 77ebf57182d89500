/* The kernels of depthwise convolutions and pooling, and their table. */

#include "../common/compiler.h"
#include "../elementwise/round_to_odd.h"
#include "../half/scalar.h"

#include "channels_last.h"
#include "dispatch.h"
#include "vectors.h"
#include "packed.h"
#if defined(__AVX2__)
#include "masked.h"
#endif
#if defined(__AVX512F__)
#include "flat_rows.h"
#elif defined(__AVX2__)
#include "channel_blocks.h"
#endif

static void depthwise_pool_run(void *context, int64_t begin, int64_t end)
{
    const dml_depthwise_pool_plan *plan = context;
    const dml_depthwise_pool *task = plan->task;
    char memory[4 * DML_DEPTHWISE_POOL_MEMORY] __attribute__((aligned(64)));
    int64_t units = task->output_sizes[0] * plan->row_blocks * plan->column_blocks;
    if (plan->is_whole) {
        depthwise_pool_whole(task, begin, end);
        return;
    }
#if defined(__AVX512F__)
    if (plan->is_flat) {
        depthwise_pool_flat(plan, begin, end);
        return;
    }
#endif
    /* Numbers between rows and behind them are computed too, and must not be NaN, which is slow. */
    if (!plan->is_masked)
        memset(memory, 0, (size_t)plan->memory * 4);
    for (int64_t i = begin; i < end; i++) {
        depthwise_pool_unit unit;
        /* Divisions take as long as a small plane. */
        int64_t plane = units > 1 ? i / units : i, rest = units > 1 ? i % units : 0;
        memset(unit.coordinates, 0, sizeof unit.coordinates);
        if (units > 1) {
            unit.coordinates[2] = rest % plan->column_blocks * plan->columns;
            rest /= plan->column_blocks;
            unit.coordinates[1] = rest % plan->row_blocks * plan->rows;
            unit.coordinates[0] = rest / plan->row_blocks;
        }
        unit.columns = dml_least(task->output_sizes[2] - unit.coordinates[2], plan->columns);
        unit.rows = dml_least(task->output_sizes[1] - unit.coordinates[1], plan->rows);
        unit.x = dml_depthwise_pool_channel(task, plane);
        unit.zero = dml_depthwise_pool_byte(task->bytes.zero, plane % task->channels * task->bytes.zero_stride,
                                            task->bytes.is_signed);
#if defined(__AVX2__)
        if (plan->is_masked) {
            depthwise_pool_masked(plan, &unit, plane);
            continue;
        }
#endif
        depthwise_pool_compute(plan, &unit, plane, memory, i > begin && units == 1);
    }
}

static void depthwise_pool_add_gradients(void *context, int64_t begin, int64_t end)
{
    const dml_depthwise_pool_gradients *task = context;
    enum { PART = 256 };
    const int64_t *output_size = task->output_sizes, *sizes = task->sizes;
    const uint64_t size = (uint64_t)(sizes[0] * sizes[1] * sizes[2]);
    for (int64_t plane = begin; plane < end; plane++) {
        int64_t batch = plane / task->channels, channel = plane % task->channels;
        const int64_t *params = task->gradient_strides, *made = task->output_strides;
        const uint64_t *index =
            (const uint64_t *)task->indices + plane * output_size[0] * output_size[1] * output_size[2];
        const char *gradients = (const char *)task->gradients + batch * params[0] + channel * params[1];
        char *output = (char *)task->output + batch * made[0] + channel * made[1];
        double *sums = (double *)task->sums + plane * (int64_t)size;
        memset(sums, 0, size * sizeof *sums);
        for (int64_t row = 0; row < output_size[0] * output_size[1]; row++) {
            const char *from = gradients + row / output_size[1] * params[2] + row % output_size[1] * params[3];
            for (int64_t i = 0; i < output_size[2]; i++, index++)
                if (*index - (uint64_t)plane * size < size)
                    sums[*index - (uint64_t)plane * size] += dml_load_float(from + i * params[4], task->is_half);
        }
        for (int64_t row = 0; row < sizes[0] * sizes[1]; row++, sums += sizes[2]) {
            char *to = output + row / sizes[1] * made[2] + row % sizes[1] * made[3];
            for (int64_t i = 0; i < sizes[2]; i += PART) {
                int64_t count = dml_least(sizes[2] - i, PART), item = task->is_half ? 2 : 4;
                float floats[PART];
                uint16_t halves[PART];
                if (task->is_half)
                    elementwise_store_wide_f16(halves, sums + i, count);
                else
                    for (int64_t j = 0; j < count; j++)
                        floats[j] = (float)sums[i + j];
                const char *results = task->is_half ? (const char *)halves : (const char *)floats;
                for (int64_t j = 0; made[4] != item && j < count; j++)
                    memcpy(to + (i + j) * made[4], results + j * item, (size_t)item);
                if (made[4] == item)
                    memcpy(to + i * item, results, (size_t)(count * item));
            }
        }
    }
}

const dml_depthwise_pool_table DML_TABLE(depthwise_pool) = {
#if defined(__AVX512F__)
    depthwise_pool_is_near, depthwise_pool_plan_flat, NULL,
#elif defined(__AVX2__)
    depthwise_pool_is_near, NULL, depthwise_pool_run_blocks,
#else
    NULL,
    NULL,
    NULL,
#endif
    depthwise_pool_run,       depthwise_pool_channels_last, depthwise_pool_add_gradients,
};
