#pragma once

#include "../common/compiler.h"
#include "declarations.h"

typedef struct {
    void (*words)(uint32_t *words, uint64_t low, uint64_t high, uint32_t key_low, uint32_t key_high, int64_t count);
} dml_philox_table;

extern DML_HIDDEN const dml_philox_table dml_philox_table_baseline, dml_philox_table_avx2;
