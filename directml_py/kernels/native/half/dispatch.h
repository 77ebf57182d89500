#pragma once

#include "../common/compiler.h"
#include "declarations.h"
#include "scalar.h"

typedef struct {
    void (*widen)(float *floats, const uint16_t *halves, int64_t count);
    void (*narrow)(uint16_t *halves, const float *floats, int64_t count);
} dml_half_table;

extern DML_HIDDEN const dml_half_table dml_half_table_baseline, dml_half_table_avx2, dml_half_table_avx512;
