#include "../common/assert.h"
#include "../common/declarations.h"
#include "../common/dimensions.h"
#include "../context.h"
#include "../elementwise/elementwise.h"
#include "../softmax_norm/dispatch.h"
#include "../threads/parallel.h"

static void dml_depthwise_pool_follow(dml_depthwise_pool_axis *axis, int64_t window, int64_t stride, int64_t dilation)
{
    axis->phases = axis->reach = 0;
    for (int64_t tap = 0; tap < window; tap++) {
        int64_t first = tap * dilation % stride, offset = tap * dilation / stride, phase = 0;
        while (phase < axis->phases && axis->firsts[phase] != first)
            phase++;
        if (phase == axis->phases) {
            axis->firsts[phase] = first;
            axis->phases++;
        }
        axis->phase_of[tap] = phase;
        axis->offsets[tap] = offset;
        axis->reaches[phase] = axis->reach = offset;
    }
    /* Offsets grow with the taps. */
}

/* Computes the memory of a unit of this many rows and columns. */
static void dml_depthwise_pool_measure(dml_depthwise_pool_plan *plan, int64_t rows, int64_t columns)
{
    const dml_depthwise_pool *task = plan->task;
    int64_t all = task->window[0] * plan->axes[1].phases * plan->axes[2].phases;
    /* The elements that rows span, and those of joined columns. */
    const int64_t reach = (task->window[2] - 1) * task->dilations[2] + 1,
                  span = dml_least((columns - 1) * task->strides[2] + reach, task->sizes[2]);
    plan->rows = rows;
    plan->columns = columns;
    plan->height = rows + plan->axes[1].reach;
    plan->width = columns + plan->axes[2].reach;
    plan->packed =
        (plan->is_joined ? plan->axes[2].phases * rows : all * plan->height) * plan->width + DML_DEPTHWISE_POOL_SLACK;
    plan->values = rows * plan->width + DML_DEPTHWISE_POOL_SLACK;
    plan->memory = plan->packed + plan->values * (task->indices ? 2 : 1);
    plan->memory += ((task->is_half || task->bytes.is_there || task->x_strides[4] != 4) + plan->is_joined) * span;
    plan->memory += DML_DEPTHWISE_POOL_SLACK;
}

/* Whether the kernel of packed planes takes the sum or maximum of each row of taps first. */
static int dml_depthwise_pool_is_by_rows(const dml_depthwise_pool *task)
{
    const dml_depthwise_pool_table *table = dml_dispatch->depthwise_pool;
    dml_depthwise_pool planes = *task;
    dml_depthwise_pool_masks masks;
    planes.x_strides[4] = planes.output_strides[4] = 4;
    planes.x_strides[3] = 4 * task->sizes[2];
    planes.output_strides[3] = 4 * task->output_sizes[2];
    if (task->function == DML_DEPTHWISE_POOL_PRODUCTS)
        return task->output_sizes[2] <= DML_DEPTHWISE_POOL_COLUMNS && table->plan_flat &&
               table->plan_flat(&masks, &planes);
    return table->is_near && table->is_near(&planes);
}

static int dml_depthwise_pool_plan_units(dml_depthwise_pool_plan *plan, const dml_depthwise_pool *task)
{
    const int64_t *window = task->window, *output_size = task->output_sizes;
    int64_t rows = 1, columns = dml_least(output_size[2], DML_DEPTHWISE_POOL_COLUMNS), first, more;
    plan->task = task;
    plan->taps = 1;
    for (int i = 0; i < 3; i++) {
        if (window[i] > DML_DEPTHWISE_POOL_TAPS || (plan->taps *= window[i]) > DML_DEPTHWISE_POOL_TAPS)
            return 0;
        dml_depthwise_pool_follow(&plan->axes[i], window[i], task->strides[i], task->dilations[i]);
    }
    plan->is_joined = task->function != DML_DEPTHWISE_POOL_PRODUCTS && !task->indices;
    plan->is_whole = task->bytes.is_there && task->function == DML_DEPTHWISE_POOL_MEAN &&
                     task->sizes[0] * task->sizes[1] * task->sizes[2] <= INT32_MAX / UINT8_MAX;
    for (int64_t i = 2, together = 1; i >= 0; together *= task->sizes[i--])
        plan->is_whole = plan->is_whole && task->output_sizes[i] == 1 && task->padding[i] == 0 &&
                         task->dilations[i] == 1 && task->window[i] == task->sizes[i] &&
                         (task->sizes[i] == 1 || task->x_strides[i + 2] == together);
    plan->is_near = dml_dispatch->depthwise_pool->is_near && dml_dispatch->depthwise_pool->is_near(task);
    plan->is_masked = plan->is_near && !task->bytes.is_there;
    dml_depthwise_pool_measure(plan, 1, columns);
    while (plan->memory > DML_DEPTHWISE_POOL_MEMORY && columns > 1) {
        columns = columns > 64 ? columns / 2 : 1;
        dml_depthwise_pool_measure(plan, 1, columns);
    }
    if (plan->memory > DML_DEPTHWISE_POOL_MEMORY)
        return 0;
    plan->is_flat = columns == output_size[2] && dml_dispatch->depthwise_pool->plan_flat &&
                    dml_dispatch->depthwise_pool->plan_flat(&plan->masks, task);
    plan->is_by_rows = plan->is_masked && !plan->is_flat && task->function == DML_DEPTHWISE_POOL_PRODUCTS &&
                       dml_depthwise_pool_is_by_rows(task);
    first = plan->memory;
    dml_depthwise_pool_measure(plan, 2, columns);
    more = plan->memory - first;
    if (first < DML_DEPTHWISE_POOL_L1_FLOATS)
        rows = (DML_DEPTHWISE_POOL_L1_FLOATS - first) / more + 1;
    rows = rows < output_size[1] && !plan->is_flat ? rows : output_size[1];
    /* All units are of equal size. */
    plan->row_blocks = dml_quotient_up(output_size[1], rows);
    rows = dml_quotient_up(output_size[1], plan->row_blocks);
    dml_depthwise_pool_measure(plan, rows, columns);
    plan->column_blocks = dml_quotient_up(output_size[2], columns);
    plan->units = task->batches * task->channels * output_size[0] * plan->row_blocks * plan->column_blocks;
    return 1;
}

/* Cuts products into strips of rows of blocks of channels, whose pixels are in rows of the plan's width; returns 0 if
   there is no kernel for them. `is_short`: whether FLOAT32 is enough for their normalization. */
static int dml_depthwise_pool_plan_blocks(dml_depthwise_pool_plan *plan, int is_short)
{
    const dml_depthwise_pool *task = plan->task;
    const int64_t columns = task->output_sizes[2], stride = task->strides[2], most = DML_DEPTHWISE_POOL_STRIP_FLOATS;
    const int64_t reach = (columns - 1) * stride + task->window[2], inside = task->padding[2] + task->sizes[2];
    const int64_t width = reach < inside ? inside : reach;
    const int64_t first = DML_DEPTHWISE_POOL_CHANNELS * (task->window[1] * width + columns);
    const int64_t more = DML_DEPTHWISE_POOL_CHANNELS * (stride * width + columns);
    if (!dml_dispatch->depthwise_pool->run_blocks || task->function != DML_DEPTHWISE_POOL_PRODUCTS ||
        !plan->is_near || !is_short || task->multiplier != 1 || task->channels % DML_DEPTHWISE_POOL_CHANNELS != 0 ||
        first > most || task->padding[1] < 0 || task->padding[2] < 0)
        return 0;
    plan->width = width;
    plan->row_blocks = dml_quotient_up(task->output_sizes[1], (most - first) / more + 1);
    plan->rows = dml_quotient_up(task->output_sizes[1], plan->row_blocks);
    plan->units = task->batches * task->channels / DML_DEPTHWISE_POOL_CHANNELS * plan->row_blocks;
    return 1;
}

static void dml_depthwise_pool_find_offsets(dml_depthwise_pool_plan *plan)
{
    const int64_t *window = plan->task->window, *dilations = plan->task->dilations, *sizes = plan->task->sizes;
    const dml_depthwise_pool_axis *rows = &plan->axes[1], *columns = &plan->axes[2];
    int32_t *offsets = plan->offsets;
    int64_t slab = plan->rows * plan->width;
    for (int64_t x = 0; plan->is_joined && x < window[2]; x++)
        *offsets++ = (int32_t)(columns->phase_of[x] * slab + columns->offsets[x]);
    for (int64_t z = 0; z < (plan->is_joined ? 0 : window[0]); z++) {
        for (int64_t y = 0; y < window[1]; y++) {
            int64_t phase = (z * rows->phases + rows->phase_of[y]) * columns->phases;
            for (int64_t x = 0; x < window[2]; x++) {
                plan->behind[offsets - plan->offsets] =
                    ((z * dilations[0] * sizes[1]) + y * dilations[1]) * sizes[2] + x * dilations[2];
                *offsets++ =
                    (int32_t)(((phase + columns->phase_of[x]) * plan->height + rows->offsets[y]) * plan->width +
                              columns->offsets[x]);
            }
        }
    }
    plan->taps = offsets - plan->offsets;
}

int dml_depthwise_pool_check(const dml_depthwise_pool *task)
{
    dml_depthwise_pool_plan plan;
    return dml_depthwise_pool_plan_units(&plan, task);
}

/* Computes channels, as many at a time as stay in a cache for the epilogue. */
static void dml_depthwise_pool_share_finished(void *context, int64_t begin, int64_t end)
{
    dml_depthwise_pool_plan *plan = context;
    const dml_depthwise_pool *task = plan->task;
    int64_t size = task->output_sizes[0] * task->output_sizes[1] * task->output_sizes[2],
            together = DML_DEPTHWISE_POOL_TOGETHER / size + 1;
    int64_t units = plan->units / (task->batches * task->channels), count;
    for (; begin < end; begin += count) {
        int64_t channel = begin % task->channels;
        count = dml_least(dml_least(task->channels - channel, together), end - begin);
        dml_dispatch->depthwise_pool->run(plan, begin * units, (begin + count) * units);
        dml_elementwise_finish_block(&task->post_ops.epilogue, begin / task->channels, channel, count, 0, size);
    }
}

/* Whether channels that are neighbours in memory are read and written in place. */
static int dml_depthwise_pool_is_channels_last(const dml_depthwise_pool *task)
{
    const int is_plain = !task->is_half && !task->stores_half && !task->bytes.is_there && !task->indices;
    const int is_product = task->function == DML_DEPTHWISE_POOL_PRODUCTS;
    const int are_few = task->window[1] * task->window[2] <= DML_DEPTHWISE_POOL_LAST_TAPS && task->multiplier == 1;
    return is_plain && (!is_product || (are_few && !task->post_ops.normalization.prepared)) && task->channels >= 16 &&
           task->x_strides[1] == 4 && task->output_strides[1] == 4 &&
           (task->x_strides[4] != 4 || task->output_strides[4] != 4) && task->window[0] == 1 &&
           task->output_sizes[0] == 1 && task->sizes[0] == 1 && task->padding[0] == 0;
}

static void dml_depthwise_pool_run_channels_last(const dml_depthwise_pool *task)
{
    dml_depthwise_pool_plan plan;
    plan.task = task;
    plan.is_by_rows = dml_depthwise_pool_is_by_rows(task);
    int64_t output_size = task->batches * task->channels * task->output_sizes[1] * task->output_sizes[2];
    dml_parallel(dml_dispatch->depthwise_pool->channels_last, &plan,
                 task->batches * dml_quotient_up(task->output_sizes[1], DML_DEPTHWISE_POOL_LAST_ROWS), 1,
                 2 * output_size * (4 + task->window[1] * task->window[2]));
    dml_elementwise_finish(&task->post_ops.epilogue);
}

void dml_depthwise_pool_run(const dml_depthwise_pool *task)
{
    DML_ASSERT(DML_IS_INDEX(task->function, DML_DEPTHWISE_POOL_MAXIMUM + 1));
    DML_ASSERT(DML_IS_INDEX(task->post_ops.activation, DML_ACTIVATION_CLIP + 1));
    DML_ASSERT(task->batches >= 0 && task->multiplier >= 1 && task->channels % task->multiplier == 0);
    DML_ASSERT_EACH(i, 3, task->sizes[i] >= 0 && task->output_sizes[i] >= 0 && task->window[i] >= 1);
    DML_ASSERT_EACH(i, 3, task->strides[i] >= 1 && task->dilations[i] >= 1);
    DML_ASSERT(task->window[0] * task->window[1] * task->window[2] <= DML_DEPTHWISE_POOL_TAPS);
    DML_ASSERT(!task->indices || task->index_item == 4 || task->index_item == 8);
    DML_ASSERT(task->function != DML_DEPTHWISE_POOL_PRODUCTS || task->weights);
    DML_ASSERT(task->function != DML_DEPTHWISE_POOL_PRODUCTS || !task->bytes.is_there ||
               (task->window[0] * task->window[1] * task->window[2] <= DML_DEPTHWISE_POOL_BYTE_TAPS &&
                task->post_ops.activation == DML_ACTIVATION_IDENTITY && !task->post_ops.normalization.prepared));
    DML_ASSERT(DML_IS_ALIGNED(task->x, task->bytes.is_there ? 1 : task->is_half ? 2 : 4));
    DML_ASSERT(DML_IS_ALIGNED(task->output, task->bytes.is_there ? 1 : task->stores_half ? 2 : 4));
    if (dml_depthwise_pool_is_channels_last(task)) {
        dml_depthwise_pool_run_channels_last(task);
        return;
    }
    dml_depthwise_pool_plan plan;
    int64_t source, made, item = task->bytes.is_there ? 1 : task->is_half ? 2 : 4;
    DML_ASSERT(task->sizes[2] == 1 || task->x_strides[4] == item);
    DML_ASSERT(task->output_sizes[2] == 1 || task->output_strides[4] == (task->stores_half ? 2 : item));
    if (task->batches * task->channels * task->output_sizes[0] * task->output_sizes[1] * task->output_sizes[2] == 0 ||
        !dml_depthwise_pool_plan_units(&plan, task))
        return;
    made = plan.units * plan.rows * plan.columns;
    source = plan.units * plan.packed;
    /* Computing takes as long as moving some bytes. */
    int64_t work = 2 * (source * item + made * (item + plan.taps)), grain = (32 << 10) * plan.units / (work + 1) + 1;
    int64_t planes = task->batches * task->channels, units = plan.units / planes;
    const int is_short = dml_softmax_norm_prepare(&task->post_ops.normalization);
    if (dml_depthwise_pool_plan_blocks(&plan, is_short)) {
        dml_parallel(dml_dispatch->depthwise_pool->run_blocks, &plan, plan.units, 1, work);
        return;
    }
    dml_depthwise_pool_find_offsets(&plan);
    if (task->post_ops.epilogue.programs[0] && (units == 1 || planes >= 4 * dml_get_threads())) {
        dml_parallel(dml_depthwise_pool_share_finished, &plan, planes, grain / units + 1, work);
        return;
    }
    dml_parallel(dml_dispatch->depthwise_pool->run, &plan, plan.units, grain, work);
    dml_elementwise_finish(&task->post_ops.epilogue);
}

void dml_depthwise_pool_add(const dml_depthwise_pool_gradients *task)
{
    int64_t source = task->output_sizes[0] * task->output_sizes[1] * task->output_sizes[2],
            planes = task->batches * task->channels;
    int64_t made = task->sizes[0] * task->sizes[1] * task->sizes[2];
    dml_parallel(dml_dispatch->depthwise_pool->add, (void *)(uintptr_t)task, planes, 1,
                 planes * (source * 12 + made * 20));
}
