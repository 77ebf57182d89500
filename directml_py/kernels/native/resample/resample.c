#include "../common/assert.h"
#include "../context.h"
#include "../threads/parallel.h"

/* A part of an image of this size stays in the second cache. */
#define DML_RESAMPLE_NEAR (1 << 18)

/* Whether the taps of each output begin where those of the one before it end. */
__attribute__((unused)) static int dml_resample_is_csr(const dml_resample_axis *axis, int64_t regions)
{
    const int64_t *starts = (const int64_t *)axis->starts;
    int64_t output_size = axis->output_size * (axis->is_per_region ? regions : 1);
    for (int64_t i = 0; i < output_size; i++)
        if (starts[i] < 0 || starts[i] > starts[i + 1])
            return 0;
    return 1;
}

void dml_resample_run(const dml_resample *task)
{
    DML_ASSERT(DML_IS_INDEX(task->function, DML_RESAMPLE_MAXIMUM + 1));
    DML_ASSERT(task->function != DML_RESAMPLE_NORM || (task->order >= 1 && task->order <= DML_RESAMPLE_ORDER));
    DML_ASSERT(task->regions >= 0 && task->channels >= 0 && task->plane_bytes >= 0);
    DML_ASSERT(task->rows.output_size >= 0 && DML_IS_INDEX(task->columns.output_size, DML_RESAMPLE_COLUMNS + 1));
    DML_ASSERT(DML_IS_ALIGNED(task->x, task->is_half ? 2 : 4) && DML_IS_ALIGNED(task->output, task->is_half ? 2 : 4));
    DML_ASSERT(dml_resample_is_csr(&task->rows, task->regions) && dml_resample_is_csr(&task->columns, task->regions));
    int64_t rows = task->regions * task->channels * task->rows.output_size;
    dml_resample_plan plan = {task, DML_RESAMPLE_NEAR / (task->plane_bytes + 1) + 1};
    /* An output takes some times as long as its memory. */
    int64_t work = rows * task->columns.output_size * 16, grain = (64 << 10) * rows / (work + 1) + 1;
    if (work == 0)
        return;
    plan.channels = dml_least(plan.channels, task->channels);
    dml_parallel(dml_dispatch->resample->rows, &plan, rows, grain, work);
}
