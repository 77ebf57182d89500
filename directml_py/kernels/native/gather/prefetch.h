#pragma once

#include "../common/vectors.h"

DML_INLINE void prefetch_row(const char *row, int64_t bytes)
{
#if defined(__x86_64__)
    /* Of longer rows the hardware prefetcher loads the rest. */
    for (int64_t i = 0; i < bytes && i < 512; i += 64)
        _mm_prefetch(row + i, _MM_HINT_T0);
#endif
}
