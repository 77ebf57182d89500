#include <math.h>
#include <string.h>

#include "../context.h"

void dml_adam_correction_run(const dml_adam_correction *task)
{
    float *parts = (float *)task->parts;
    uint32_t count;
    memcpy(&count, (const void *)task->training_step, sizeof count);
    double rest = 1.0;
    if (count > 0)
        rest = sqrt(1.0 - pow(task->beta2, count)) / (1.0 - pow(task->beta1, count));
    for (int i = 0; i < 3; i++) {
        parts[i] = (float)rest;
        rest = isfinite(rest) ? rest - (double)parts[i] : 0.0;
    }
}
