#include "barrier.h"

#include "../common/clock.h"
#include "../common/compiler.h"
#include "limits.h"
#include "parallel.h"

#define DML_CLOSED (1 << 30)
/* The first member waits this long for helpers: ten times what it takes to wake one. */
#define DML_GATHERING_NANOSECONDS 300000
/* Members that take longer than this do not run, and may need the processor. */
#define DML_MEETING_NANOSECONDS 100000

int dml_barrier_team_size(const dml_barrier_team *team)
{
    return __atomic_load_n(&team->members, __ATOMIC_ACQUIRE) & ~DML_CLOSED;
}

static void dml_pause(int32_t *count)
{
    if (++*count % 4096 == 0)
        sched_yield();
    else
        dml_relax();
}

/* Returns 1 when the round is over, and 0 if it takes too long. */
static int dml_spin_on_round(const dml_barrier_team *team, int32_t round)
{
    int64_t began = dml_nanoseconds();
    int32_t pauses = 0;
    do {
        for (int i = 0; i < DML_PAUSES; i++, dml_pause(&pauses))
            if (__atomic_load_n(&team->round, __ATOMIC_ACQUIRE) != round)
                return 1;
    } while (dml_nanoseconds() - began < DML_MEETING_NANOSECONDS);
    return 0;
}

void dml_barrier_wait(dml_barrier_team *team)
{
    int32_t round = __atomic_load_n(&team->round, __ATOMIC_RELAXED);
    if (__atomic_add_fetch(&team->met, 1, __ATOMIC_ACQ_REL) == dml_barrier_team_size(team)) {
        __atomic_store_n(&team->met, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&team->round, round + 1, __ATOMIC_SEQ_CST);
        /* A sleeper has looked at the round with the lock held before. */
        if (__atomic_load_n(&team->sleepers, __ATOMIC_SEQ_CST) > 0) {
            pthread_mutex_lock(&team->lock);
            pthread_mutex_unlock(&team->lock);
            pthread_cond_broadcast(&team->advanced);
        }
        return;
    }
    if (dml_spin_on_round(team, round))
        return;
    pthread_mutex_lock(&team->lock);
    __atomic_add_fetch(&team->sleepers, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&team->round, __ATOMIC_SEQ_CST) == round)
        pthread_cond_wait(&team->advanced, &team->lock);
    __atomic_sub_fetch(&team->sleepers, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&team->lock);
}

static void dml_enter(void *context, int64_t begin, int64_t end)
{
    dml_barrier_team *team = context;
    int32_t index = __atomic_load_n(&team->members, __ATOMIC_ACQUIRE), pauses = 0;
    (void)begin, (void)end;
    do {
        if (index & DML_CLOSED)
            return;
    } while (!__atomic_compare_exchange_n(&team->members, &index, index + 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    if (index == 0) {
        int64_t began = dml_nanoseconds();
        while (dml_barrier_team_size(team) < team->wanted && dml_nanoseconds() - began < DML_GATHERING_NANOSECONDS)
            dml_pause(&pauses);
        __atomic_or_fetch(&team->members, DML_CLOSED, __ATOMIC_ACQ_REL);
    }
    while (!(__atomic_load_n(&team->members, __ATOMIC_ACQUIRE) & DML_CLOSED))
        dml_pause(&pauses);
    team->member(team->context, team, index);
}

void dml_run_barrier_team(dml_member member, void *context, int64_t count)
{
    int64_t limit = dml_get_threads();
    count = count < 1 ? 1 : dml_least(count, limit);
    dml_barrier_team team = {.member = member,
                             .context = context,
                             .wanted = (int32_t)count,
                             .lock = PTHREAD_MUTEX_INITIALIZER,
                             .advanced = PTHREAD_COND_INITIALIZER};
    if (count == 1)
        dml_enter(&team, 0, 1);
    else
        dml_parallel(dml_enter, &team, count, 1, INT64_MAX / 4);
}
