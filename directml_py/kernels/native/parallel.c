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

typedef struct {
    dml_body body;
    void *context;
    int64_t begin, end;
} dml_share;

static void *dml_run_share(void *pointer)
{
    dml_share *share = pointer;
    share->body(share->context, share->begin, share->end);
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

/* Run `body` over [0, units) in as many threads as `bytes` of memory are worth, each with a range that begins at a
   multiple of `grain`. A thread that cannot be started is done without. */
static void dml_parallel(dml_body body, void *context, int64_t units, int64_t grain, int64_t bytes)
{
    int64_t count = bytes / DML_BYTES_PER_THREAD, limit = dml_get_threads(), parts = (units + grain - 1) / grain;
    dml_share shares[DML_MAX_THREADS];
    pthread_t threads[DML_MAX_THREADS];
    int started[DML_MAX_THREADS];
    if (count > limit)
        count = limit;
    if (count > parts)
        count = parts;
    if (count <= 1) {
        body(context, 0, units);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t begin = parts * i / count * grain, end = parts * (i + 1) / count * grain;
        shares[i] = (dml_share){body, context, begin, end < units ? end : units};
    }
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    dml_elsewhere(&attributes);
    for (int64_t i = 1; i < count; i++)
        started[i] = pthread_create(&threads[i], &attributes, dml_run_share, &shares[i]) == 0;
    pthread_attr_destroy(&attributes);
    dml_run_share(&shares[0]);
    for (int64_t i = 1; i < count; i++) {
        if (started[i])
            pthread_join(threads[i], NULL);
        else
            dml_run_share(&shares[i]);
    }
}
