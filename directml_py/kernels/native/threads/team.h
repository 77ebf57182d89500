/* A team's threads take ranges of its work, each thread when it is done with its last one: a thread that starts late,
   or shares its processor, does less of it. The caller takes from the front and helpers from the end: of work that
   comes again, each finds most of its part in its own cache. */

#pragma once

#include "../common/system.h"

typedef void (*dml_body)(void *context, int64_t begin, int64_t end);

typedef struct {
    dml_body body;
    void *context;
    int64_t units, grain;
    /* The parts that no thread has taken yet: the first of them, and in the upper half their number. */
    uint64_t left;
    int64_t threads;
    /* The rounding of the calling thread, and whether it flushes subnormal numbers. */
    fenv_t arithmetic;
} dml_team;

#define DML_TEAM_LEFT(begin, count) ((uint64_t)(begin) | (uint64_t)(count) << 32)

static inline void dml_team_work(dml_team *team, int from_end)
{
    uint64_t left = __atomic_load_n(&team->left, __ATOMIC_RELAXED);
    while (left >> 32) {
        int64_t begin = (int64_t)(left & UINT32_MAX), count = (int64_t)(left >> 32);
        int64_t share = count / (2 * team->threads);
        share = share < 1 ? 1 : share;
        uint64_t after = DML_TEAM_LEFT(from_end ? begin : begin + share, count - share);
        if (!__atomic_compare_exchange_n(&team->left, &left, after, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            continue;
        int64_t first = from_end ? begin + count - share : begin, last = (first + share) * team->grain;
        team->body(team->context, first * team->grain, last < team->units ? last : team->units);
        left = __atomic_load_n(&team->left, __ATOMIC_RELAXED);
    }
}
