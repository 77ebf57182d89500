/* Calls of dml_parallel: what is computed, by how many threads, from many threads at once, and after forks. */

#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define DML_BYTES_PER_THREAD 64
#define DML_BYTES_PER_WAKING 256

#include "threads/parallel.c"

#define MAX_UNITS 3000
#define CALLERS 5

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            _exit(1); \
        } \
    } while (0)

typedef struct {
    uint8_t done[MAX_UNITS];
    int64_t units, grain;
    unsigned microseconds;
    int rounding, inner;
    pthread_mutex_t lock;
    int threads;
    pthread_t seen[8];
} job;

static void note_thread(job *work)
{
    int known = 0;
    pthread_mutex_lock(&work->lock);
    for (int i = 0; i < work->threads; i++)
        known |= pthread_equal(work->seen[i], pthread_self()) != 0;
    if (!known && work->threads < 8)
        work->seen[work->threads++] = pthread_self();
    pthread_mutex_unlock(&work->lock);
}

static void run(job *work, int64_t bytes);

/* Each unit is written by one thread alone, without a lock: two that were given the same one are a race. */
static void body(void *context, int64_t begin, int64_t end)
{
    job *work = context;
    CHECK(0 <= begin && begin < end && end <= work->units);
    CHECK(begin % work->grain == 0 && (end % work->grain == 0 || end == work->units));
    CHECK(fegetround() == work->rounding);
    note_thread(work);
    for (int64_t i = begin; i < end; i++)
        work->done[i]++;
    if (work->microseconds)
        usleep(work->microseconds);
    if (work->inner) {
        job inner = {.units = 40, .grain = 1};
        run(&inner, 1 << 20);
    }
}

static void run(job *work, int64_t bytes)
{
    work->rounding = fegetround();
    pthread_mutex_init(&work->lock, NULL);
    dml_parallel(body, work, work->units, work->grain, bytes);
    for (int64_t i = 0; i < work->units; i++)
        CHECK(work->done[i] == 1);
    CHECK(work->threads <= dml_get_threads());
    pthread_mutex_destroy(&work->lock);
}

static void many(unsigned seed, int count)
{
    for (int i = 0; i < count; i++) {
        job work = {.units = 1 + rand_r(&seed) % MAX_UNITS, .grain = 1 + rand_r(&seed) % 100};
        work.microseconds = rand_r(&seed) % 50 == 0 ? 100 : 0;
        work.inner = rand_r(&seed) % 50 == 0;
        run(&work, (int64_t)1 << rand_r(&seed) % 21);
        if (rand_r(&seed) % 20 == 0)
            usleep(200);
    }
}

static int threads_of(int64_t bytes)
{
    job work = {.units = 300, .grain = 1, .microseconds = 1000};
    run(&work, bytes);
    return work.threads;
}

/* Whether so many threads come to work: on a machine with other work to do, a helper may begin too late once or twice. */
static int come(int threads)
{
    int found = threads_of(1 << 20);
    for (int i = 0; i < 50 && found < threads; i++)
        found = threads_of(1 << 20);
    return found == threads;
}

static void test_threads(void)
{
    dml_set_threads(1);
    CHECK(threads_of(1 << 20) == 1);
    CHECK(dml_pool.count == 0);
    dml_set_threads(3);
    CHECK(threads_of(2 * DML_BYTES_PER_THREAD - 1) == 1);
    CHECK(dml_pool.count == 0);
    CHECK(come(3));
    dml_set_threads(2);
    CHECK(come(2));
    /* Asleep, and each of the calls too small to wake anybody. */
    usleep(100000);
    CHECK(threads_of(2 * DML_BYTES_PER_THREAD) == 1);
    dml_set_threads(1000);
    CHECK(dml_get_threads() == DML_MAX_THREADS);
}

static void test_closely(void)
{
    /* Small work that is often asked for wakes a helper, and then finds it awake. */
    int most = 1;
    dml_set_threads(2);
    for (int i = 0; i < 100000 && most == 1; i++) {
        job work = {.units = 64, .grain = 1};
        run(&work, 2 * DML_BYTES_PER_THREAD);
        most = work.threads > most ? work.threads : most;
    }
    CHECK(most == 2);
}

typedef struct {
    pthread_t caller;
    int8_t is_callers[300];
} share_job;

static void note_owner(void *context, int64_t begin, int64_t end)
{
    share_job *work = context;
    for (int64_t i = begin; i < end; i++)
        work->is_callers[i] = pthread_equal(work->caller, pthread_self()) != 0;
    usleep(1000);
}

/* The caller has the first units, and its helper all behind them. */
static void test_ends(void)
{
    int helped = 0;
    dml_set_threads(2);
    for (int call = 0; call < 10; call++) {
        share_job work = {.caller = pthread_self()};
        int first = 0;
        dml_parallel(note_owner, &work, 300, 1, 1 << 20);
        while (first < 300 && work.is_callers[first])
            first++;
        for (int i = first; i < 300; i++)
            CHECK(!work.is_callers[i]);
        CHECK(first > 0);
        helped += first < 300;
    }
    CHECK(helped > 0);
}

typedef struct {
    int64_t units;
    /* Modulo 2^64, the sum of the units' numbers. */
    uint64_t numbers;
} long_job;

static void add_units(void *context, int64_t begin, int64_t end)
{
    long_job *work = context;
    uint64_t count = (uint64_t)(end - begin), ends = (uint64_t)(begin + end - 1);
    CHECK(begin % 3 == 0);
    __atomic_fetch_add(&work->units, end - begin, __ATOMIC_RELAXED);
    __atomic_fetch_add(&work->numbers, count % 2 ? count * (ends / 2) : count / 2 * ends, __ATOMIC_RELAXED);
}

/* More parts than 32 bits count. */
static void test_long(void)
{
    const int64_t units = (int64_t)7 << 32;
    dml_set_threads(2);
    for (int call = 0; call < 10; call++) {
        long_job work = {0};
        dml_parallel(add_units, &work, units, 3, 1 << 20);
        CHECK(work.units == units);
        CHECK(work.numbers == (uint64_t)(units / 2) * (uint64_t)(units - 1));
    }
}

static void test_arithmetic(void)
{
    dml_set_threads(3);
    fesetround(FE_UPWARD);
    for (int i = 0; i < 20; i++)
        CHECK(come(3));
    fesetround(FE_TONEAREST);
    CHECK(come(3));
}

static int handled;

static void handle(int signal)
{
    (void)signal;
    __atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
}

static void test_signals(void)
{
    struct sigaction action = {.sa_handler = handle};
    sigset_t blocked;
    dml_set_threads(2);
    CHECK(come(2));
    sigaction(SIGUSR1, &action, NULL);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    kill(getpid(), SIGUSR1);
    usleep(20000);
    CHECK(__atomic_load_n(&handled, __ATOMIC_RELAXED) == 0);
    pthread_sigmask(SIG_UNBLOCK, &blocked, NULL);
    CHECK(__atomic_load_n(&handled, __ATOMIC_RELAXED) == 1);
}

static void *call(void *pointer)
{
    many((unsigned)(uintptr_t)pointer, 400);
    return NULL;
}

/* How many threads of call_on have made their first calls. */
static int calling;

static void *call_on(void *stop)
{
    unsigned seed = 1;
    many(seed++, 10);
    __atomic_fetch_add(&calling, 1, __ATOMIC_RELAXED);
    while (!__atomic_load_n((int *)stop, __ATOMIC_RELAXED))
        many(seed++, 10);
    return NULL;
}

static void test_callers(void)
{
    pthread_t callers[CALLERS];
    dml_set_threads(4);
    for (int i = 0; i < CALLERS; i++)
        CHECK(pthread_create(&callers[i], NULL, call, (void *)(uintptr_t)(i + 1)) == 0);
    for (int i = 0; i < CALLERS; i++)
        pthread_join(callers[i], NULL);
}

/* While others work: a child that finds a lock taken, or waits for helpers that it does not have, ends by the alarm. */
static void test_forks(void)
{
    pthread_t callers[2];
    int stop = 0;
    dml_set_threads(3);
    CHECK(come(3));
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&callers[i], NULL, call_on, &stop) == 0);
    /* A thread that begins allocates, and AddressSanitizer takes its allocator's locks for a fork only from LLVM 17 and
       GCC 14 on: the threads of a child that is forked meanwhile wait forever. */
    while (__atomic_load_n(&calling, __ATOMIC_RELAXED) < 2)
        usleep(1000);
    for (int i = 0; i < 60; i++) {
        int status;
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            alarm(60);
            CHECK(dml_pool.count == 0);
            CHECK(come(3));
            many((unsigned)i, 5);
            if (i % 4 == 0) {
                child = fork();
                if (child == 0) {
                    alarm(60);
                    CHECK(come(3));
                    _exit(0);
                }
                CHECK(waitpid(child, &status, 0) == child && status == 0);
            }
            _exit(0);
        }
        many((unsigned)i, 5);
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; i++)
        pthread_join(callers[i], NULL);
}

/* The process ends while helpers work for somebody. */
static void test_exit(void)
{
    static int never;
    pthread_t caller;
    dml_set_threads(3);
    CHECK(pthread_create(&caller, NULL, call_on, &never) == 0);
    pthread_detach(caller);
    usleep(20000);
}

int main(int count, char **arguments)
{
    static const struct {
        const char *name;
        void (*test)(void);
    } tests[] = {{"threads", test_threads}, {"closely", test_closely}, {"ends", test_ends},
                 {"long", test_long}, {"arithmetic", test_arithmetic}, {"signals", test_signals},
                 {"callers", test_callers}, {"forks", test_forks}, {"exit", test_exit}};
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)
        if (count == 2 && strcmp(arguments[1], tests[i].name) == 0) {
            tests[i].test();
            return 0;
        }
    return 2;
}
