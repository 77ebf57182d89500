#pragma once
#include "../move/declarations.h"

/* `count` words: four of each value of a counter, from `high` and `low` on, under a key. */
void dml_philox(uintptr_t words, uint64_t low, uint64_t high, uint32_t key_low, uint32_t key_high, int64_t count);
