/* Work for more than one core. */

#include "../common/clock.h"
#include "parallel.h"

#include "../common/compiler.h"
#include "helpers.h"

#ifndef DML_BYTES_PER_THREAD
/* With less memory than this for each thread, another thread costs more than it brings, even if it is awake. */
#define DML_BYTES_PER_THREAD (64 << 10)
/* This much memory is worth waking a thread that sleeps. */
#define DML_BYTES_PER_WAKING (1 << 20)
#endif

static int dml_threads = 1;

void dml_set_threads(int count)
{
    int bounded = count < 1 ? 1 : count > DML_MAX_THREADS ? DML_MAX_THREADS : count;
    __atomic_store_n(&dml_threads, bounded, __ATOMIC_RELAXED);
}

int dml_get_threads(void)
{
    return __atomic_load_n(&dml_threads, __ATOMIC_RELAXED);
}

/* The bytes of work that helpers slept through, in calls that followed each other closely, and the time of the last
   one. */
static struct {
    int64_t bytes, time;
} dml_missed;

/* The number of helpers worth waking: as many as this work would occupy, and what was missed before it. */
static int64_t dml_worth_waking(int64_t bytes)
{
    int64_t now = dml_nanoseconds(), before = __atomic_exchange_n(&dml_missed.time, now, __ATOMIC_RELAXED);
    if (now - before < DML_WATCH_NANOSECONDS)
        bytes += __atomic_load_n(&dml_missed.bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&dml_missed.bytes, bytes < DML_BYTES_PER_WAKING ? bytes : 0, __ATOMIC_RELAXED);
    return bytes / DML_BYTES_PER_WAKING;
}

/* The helpers that are offered membership in a team. */
typedef struct {
    int count;
    dml_helper *helpers[DML_MAX_HELPERS];
} dml_offers;

/* Makes offers until there are `wanted` in all, to the helpers that are awake or to those that are asleep. */
static void dml_offer(dml_offers *offers, int64_t wanted, uintptr_t state, const dml_team *team)
{
    int there = __atomic_load_n(&dml_pool.count, __ATOMIC_ACQUIRE);
    for (int i = 0; i < there && offers->count < wanted; i++)
        if (dml_helper_offer(&dml_pool.helpers[i], state, team))
            offers->helpers[offers->count++] = &dml_pool.helpers[i];
}

void dml_parallel(dml_body body, void *context, int64_t units, int64_t grain, int64_t bytes)
{
    int64_t count = dml_least(bytes / DML_BYTES_PER_THREAD, dml_get_threads()), parts = (units + grain - 1) / grain;
    dml_offers offers;
    offers.count = 0;
    if (count > parts)
        count = parts;
    if (count <= 1) {
        body(context, 0, units);
        return;
    }
    /* A team counts its parts in 32 bits. */
    while (parts > INT32_MAX) {
        grain *= 2;
        parts = (units + grain - 1) / grain;
    }
    dml_team team = {.body = body, .context = context, .units = units, .grain = grain};
    team.left = DML_TEAM_LEFT(0, parts);
    team.threads = count;
    fegetenv(&team.arithmetic);
    dml_offer(&offers, count - 1, DML_HELPER_AWAKE, &team);
    if (offers.count < count - 1) {
        int64_t wanted = offers.count + dml_worth_waking(bytes);
        wanted = dml_least(wanted, count - 1);
        dml_pool_grow((int)wanted);
        dml_offer(&offers, wanted, DML_HELPER_ASLEEP, &team);
    }
    if (offers.count == 0) {
        body(context, 0, units);
        return;
    }
    dml_team_work(&team, 0);
    for (int i = 0; i < offers.count; i++)
        dml_helper_release(offers.helpers[i], &team);
}
