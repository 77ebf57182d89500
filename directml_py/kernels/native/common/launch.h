/* Kernels one after the other. Between two calls from Python, what an interpreter needs is loaded from memory again:
   by the time that a network's next step begins, the last one has filled the caches. */

#ifndef DML_UNIT
#include "editor.h"
#endif

/* So long Python's handlers of signals may wait. */
#define DML_LAUNCH_NANOSECONDS 20000000

static void dml_run_launch(const dml_launch *launch)
{
    void *task = (void *)launch->task;
    switch (launch->kernel) {
#define DML_LAUNCH_CASE(number, run)                                                                                   \
    case number:                                                                                                       \
        run(task);                                                                                                     \
        break;
        DML_FOR_LAUNCHES(DML_LAUNCH_CASE)
#undef DML_LAUNCH_CASE
#define DML_ARRAY_LAUNCH_CASE(number, run)                                                                             \
    case number:                                                                                                       \
        run(task, launch->count);                                                                                      \
        break;
        DML_FOR_ARRAY_LAUNCHES(DML_ARRAY_LAUNCH_CASE)
#undef DML_ARRAY_LAUNCH_CASE
    }
}

int64_t dml_run_launches(const dml_launch *launches, int64_t count)
{
    int64_t until = dml_nanoseconds() + DML_LAUNCH_NANOSECONDS, i = 0;
    do
        dml_run_launch(launches + i++);
    while (i < count && dml_nanoseconds() < until);
    return i;
}
