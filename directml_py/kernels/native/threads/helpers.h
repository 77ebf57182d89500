/* Helpers are threads that live on between calls and join the teams of callers. They are started when they are first
   needed, watch for the next offer for a moment after each, and then sleep. Nobody waits for a helper that has not
   begun, and a caller whose helpers are all in other teams works alone. A forked process starts helpers of its own. */

#pragma once

#include "../common/clock.h"
#include "limits.h"
#include "team.h"

/* The state of a helper: one of these, or the address of a team that it is offered. */
#define DML_HELPER_AWAKE ((uintptr_t)0)
#define DML_HELPER_ASLEEP ((uintptr_t)1)
/* Flags in that address: the helper works for the team, and the team's caller sleeps until it is done. */
#define DML_HELPER_JOINED ((uintptr_t)1)
#define DML_HELPER_AWAITED ((uintptr_t)2)
#define DML_HELPER_TEAM(state) ((state) & ~(DML_HELPER_JOINED | DML_HELPER_AWAITED))

/* Waking a thread takes 10 to 30 us, and more on virtual processors: for that long it is better to watch, and for twice
   the last rest if that was short. */
#define DML_WATCH_NANOSECONDS 50000
#define DML_LONGEST_WATCH_NANOSECONDS 500000
/* A thread that did not run for this long shares its processor with others, and had better leave it to them. */
#define DML_GAP_NANOSECONDS 10000

typedef struct {
    uintptr_t state;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    /* The processor that the helper was last kept away from. */
    int avoided;
} __attribute__((aligned(128))) dml_helper;

static struct {
    dml_helper helpers[DML_MAX_HELPERS];
    int count;
    int survives_forks;
    pthread_mutex_t growing;
} dml_pool = {.growing = PTHREAD_MUTEX_INITIALIZER};

/* Returns the state when it is no longer `state`, or `state` if that takes too long. */
static uintptr_t dml_helper_watch(const dml_helper *helper, uintptr_t known, int64_t most)
{
    int64_t began = dml_nanoseconds(), before = began;
    for (;;) {
        for (int i = 0; i < DML_PAUSES; i++) {
            uintptr_t state = __atomic_load_n(&helper->state, __ATOMIC_ACQUIRE);
            if (state != known)
                return state;
            dml_relax();
        }
        sched_yield();
        int64_t now = dml_nanoseconds();
        if (now - began > most || now - before > DML_GAP_NANOSECONDS)
            return known;
        before = now;
    }
}

/* A sleeper has looked at the state with the lock held before. */
static void dml_helper_rouse(dml_helper *helper)
{
    pthread_mutex_lock(&helper->lock);
    pthread_mutex_unlock(&helper->lock);
    pthread_cond_broadcast(&helper->changed);
}

static uintptr_t dml_helper_sleep(dml_helper *helper)
{
    uintptr_t state = DML_HELPER_AWAKE;
    pthread_mutex_lock(&helper->lock);
    __atomic_compare_exchange_n(&helper->state, &state, DML_HELPER_ASLEEP, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    while ((state = __atomic_load_n(&helper->state, __ATOMIC_ACQUIRE)) == DML_HELPER_ASLEEP)
        pthread_cond_wait(&helper->changed, &helper->lock);
    pthread_mutex_unlock(&helper->lock);
    return state;
}

static int64_t dml_helper_patience(int64_t rest)
{
    if (rest > DML_LONGEST_WATCH_NANOSECONDS || 2 * rest < DML_WATCH_NANOSECONDS)
        return DML_WATCH_NANOSECONDS;
    return 2 * rest < DML_LONGEST_WATCH_NANOSECONDS ? 2 * rest : DML_LONGEST_WATCH_NANOSECONDS;
}

static void *dml_helper_live(void *pointer)
{
    dml_helper *helper = pointer;
    int64_t patience = DML_WATCH_NANOSECONDS;
    for (;;) {
        int64_t began = dml_nanoseconds();
        uintptr_t offer = dml_helper_watch(helper, DML_HELPER_AWAKE, patience);
        if (offer <= DML_HELPER_ASLEEP)
            offer = dml_helper_sleep(helper);
        patience = dml_helper_patience(dml_nanoseconds() - began);
        /* An offer may have been taken back. */
        uintptr_t joined = offer | DML_HELPER_JOINED;
        if (offer == DML_HELPER_AWAKE ||
            !__atomic_compare_exchange_n(&helper->state, &offer, joined, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            continue;
        fesetenv(&((dml_team *)offer)->arithmetic);
        dml_team_work((dml_team *)offer, 1);
        if (__atomic_exchange_n(&helper->state, DML_HELPER_AWAKE, __ATOMIC_ACQ_REL) & DML_HELPER_AWAITED)
            dml_helper_rouse(helper);
    }
    return NULL;
}

/* Lets a sleeping helper run on any processor that its caller may use but the caller's. Left to itself, the scheduler
   wakes a thread beside the one that wakes it, even if the other processors sleep. */
static void dml_helper_avoid_caller(dml_helper *helper)
{
#if defined(__linux__)
    cpu_set_t allowed;
    int here = sched_getcpu(), avoided = __atomic_load_n(&helper->avoided, __ATOMIC_RELAXED);
    if (here < 0 || here == avoided || sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    CPU_CLR(here, &allowed);
    if (CPU_COUNT(&allowed) > 0 && pthread_setaffinity_np(helper->thread, sizeof allowed, &allowed) == 0)
        __atomic_store_n(&helper->avoided, here, __ATOMIC_RELAXED);
#else
    (void)helper;
#endif
}

/* Offers membership in the team to a helper that is awake or asleep, as `state` says; returns whether the offer stands.
 */
static int dml_helper_offer(dml_helper *helper, uintptr_t state, const dml_team *team)
{
    uintptr_t known = state;
    if (__atomic_load_n(&helper->state, __ATOMIC_RELAXED) != state ||
        !__atomic_compare_exchange_n(&helper->state, &known, (uintptr_t)team, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return 0;
    if (state == DML_HELPER_ASLEEP) {
        dml_helper_avoid_caller(helper);
        dml_helper_rouse(helper);
    }
    return 1;
}

/* Takes the offer back, or waits until the helper is done. */
static void dml_helper_release(dml_helper *helper, const dml_team *team)
{
    uintptr_t offer = (uintptr_t)team, joined = offer | DML_HELPER_JOINED, awaited = joined | DML_HELPER_AWAITED;
    if (__atomic_compare_exchange_n(&helper->state, &offer, DML_HELPER_AWAKE, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
        dml_helper_watch(helper, joined, DML_WATCH_NANOSECONDS) != joined)
        return;
    pthread_mutex_lock(&helper->lock);
    __atomic_compare_exchange_n(&helper->state, &joined, awaited, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    while (DML_HELPER_TEAM(__atomic_load_n(&helper->state, __ATOMIC_ACQUIRE)) == (uintptr_t)team)
        pthread_cond_wait(&helper->changed, &helper->lock);
    pthread_mutex_unlock(&helper->lock);
}

static int dml_helper_start(dml_helper *helper)
{
    pthread_attr_t attributes;
    sigset_t before, blocked;
    *helper = (dml_helper){.state = DML_HELPER_ASLEEP, .avoided = -1};
    int started = pthread_mutex_init(&helper->lock, NULL) == 0 && pthread_cond_init(&helper->changed, NULL) == 0 &&
                  pthread_attr_init(&attributes) == 0;
    if (!started)
        return 0;
    pthread_attr_setstacksize(&attributes, DML_STACK_BYTES);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    /* The program's signal handlers run in the program's threads. Faults of a helper itself are reported in it. */
    sigfillset(&blocked);
    sigdelset(&blocked, SIGSEGV);
    sigdelset(&blocked, SIGBUS);
    sigdelset(&blocked, SIGILL);
    sigdelset(&blocked, SIGFPE);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    started = pthread_create(&helper->thread, &attributes, dml_helper_live, helper) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}

/* Forgets the helpers in the child of a fork, where only the thread that forked is left. */
static void dml_pool_forget(void)
{
    dml_pool.count = 0;
    pthread_mutex_init(&dml_pool.growing, NULL);
}

/* Starts helpers until there are as many as wanted, unless another thread is doing so. */
static void dml_pool_grow(int wanted)
{
    if (__atomic_load_n(&dml_pool.count, __ATOMIC_RELAXED) >= wanted || pthread_mutex_trylock(&dml_pool.growing) != 0)
        return;
    if (!dml_pool.survives_forks)
        dml_pool.survives_forks = pthread_atfork(NULL, NULL, dml_pool_forget) == 0;
    int count = dml_pool.survives_forks ? dml_pool.count : wanted;
    while (count < wanted && dml_helper_start(&dml_pool.helpers[count]))
        __atomic_store_n(&dml_pool.count, ++count, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&dml_pool.growing);
}
