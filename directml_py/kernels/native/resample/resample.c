#ifndef DML_UNIT
#include "../common/editor.h"
#endif

/* The part of an image that is meant to stay in the second cache. */
#define DML_RESAMPLE_NEAR (1 << 18)

static void dml_resample_share(void *context, int64_t begin, int64_t end)
{
    dml_loop->resample->rows(context, begin, end);
}

void dml_resample_run(const dml_resample *task)
{
    int64_t rows = task->regions * task->channels * task->rows.steps;
    dml_resample_plan plan = {task, DML_RESAMPLE_NEAR / (task->plane_bytes + 1) + 1};
    /* What an element of the output is made of is worth some times its memory. */
    int64_t work = rows * task->columns.steps * 16, grain = (64 << 10) * rows / (work + 1) + 1;
    if (work == 0)
        return;
    if (plan.channels > task->channels)
        plan.channels = task->channels;
    dml_parallel(dml_resample_share, &plan, rows, grain, work);
}
