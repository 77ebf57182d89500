#pragma once

#include "../common/compiler.h"
#ifndef DML_UNIT
#include "declarations.h"
#endif

typedef struct {
    void (*words)(uint32_t *words, uint64_t low, uint64_t high, uint32_t key_low, uint32_t key_high, int64_t count);
} dml_philox_table;
