#pragma once
#include "../elementwise/declarations.h"

/* `count` elements that advance by `delta` from `start`; the first of them has the number `first`. They are integers of
   `item` bytes, which wrap, or floats, whose products and sums are rounded to their type, or to FLOAT32 if that is
   FLOAT16. Start and delta are integers of 64 bits or FLOAT64. */
void dml_arange(uintptr_t elements, int item, int is_float, int64_t first, int64_t count, uint64_t start,
                uint64_t delta);
