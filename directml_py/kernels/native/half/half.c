#include "../context.h"

void dml_half_widen(uintptr_t floats, uintptr_t halves, int64_t count)
{
    dml_dispatch->half->widen((float *)floats, (const uint16_t *)halves, count);
}

void dml_half_narrow(uintptr_t halves, uintptr_t floats, int64_t count)
{
    dml_dispatch->half->narrow((uint16_t *)halves, (const float *)floats, count);
}
