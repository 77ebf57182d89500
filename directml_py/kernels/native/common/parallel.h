/* Work for more than one core. Threads live as long as one call: starting one costs some 20 us, against which nothing
   is left over that a fork could break. */

#define DML_MAX_THREADS 64

typedef void (*dml_body)(void *context, int64_t begin, int64_t end);

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

/* Work that threads take shares of, each when it is done with the one before: a thread that starts late, or shares its
   processor with somebody, does less of it. */
typedef struct {
    dml_body body;
    void *context;
    int64_t units, grain, parts, next;
    int64_t threads;
} dml_team;

static void *dml_work(void *pointer)
{
    dml_team *team = pointer;
    int64_t begin = __atomic_load_n(&team->next, __ATOMIC_RELAXED);
    while (begin < team->parts) {
        int64_t share = (team->parts - begin) / (2 * team->threads), end = begin + (share < 1 ? 1 : share);
        if (!__atomic_compare_exchange_n(&team->next, &begin, end, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            continue;
        int64_t last = end * team->grain;
        team->body(team->context, begin * team->grain, last < team->units ? last : team->units);
        begin = __atomic_load_n(&team->next, __ATOMIC_RELAXED);
    }
    return NULL;
}

#if defined(__linux__)
/* Where new threads may run: anywhere that this one may, but not where it is. Left to itself, the scheduler often puts
   a thread beside its maker when the other processors sleep, and moves it only after milliseconds. */
static void dml_elsewhere(pthread_attr_t *attributes)
{
    cpu_set_t allowed;
    int here = sched_getcpu();
    if (here < 0 || sched_getaffinity(0, sizeof allowed, &allowed) != 0 || !CPU_ISSET(here, &allowed))
        return;
    CPU_CLR(here, &allowed);
    if (CPU_COUNT(&allowed) > 0)
        pthread_attr_setaffinity_np(attributes, sizeof allowed, &allowed);
}
#else
static void dml_elsewhere(pthread_attr_t *attributes)
{
    (void)attributes;
}
#endif

/* Loops keep up to 512 KiB on their stack, which is all, or more, that threads get on macOS and with musl. */
#define DML_STACK_BYTES (2 << 20)

/* Run `body` over [0, units) in as many threads as `bytes` of memory are worth, in ranges that begin at a multiple of
   `grain`. A thread that cannot be started is done without. */
static void dml_parallel(dml_body body, void *context, int64_t units, int64_t grain, int64_t bytes)
{
    int64_t count = bytes / DML_BYTES_PER_THREAD, limit = dml_get_threads(), parts = (units + grain - 1) / grain;
    pthread_t threads[DML_MAX_THREADS];
    pthread_attr_t attributes;
    if (count > limit)
        count = limit;
    if (count > parts)
        count = parts;
    if (count <= 1) {
        body(context, 0, units);
        return;
    }
    dml_team team = {body, context, units, grain, parts, 0, count};
    int64_t started = 0;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, DML_STACK_BYTES);
    dml_elsewhere(&attributes);
    while (started < count - 1 && pthread_create(&threads[started], &attributes, dml_work, &team) == 0)
        started++;
    pthread_attr_destroy(&attributes);
    dml_work(&team);
    for (int64_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}
