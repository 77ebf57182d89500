#pragma once

#include "../common/compiler.h"
#ifndef DML_UNIT
#include "declarations.h"
#endif

#include "scalar.h"

typedef struct {
    void (*widen)(float *floats, const uint16_t *halves, int64_t count);
    void (*narrow)(uint16_t *halves, const float *floats, int64_t count);
} dml_half_table;
