/* Work that threads take shares of, each when it is done with the one before: a thread that starts late, or shares its
   processor with somebody, does less of it. */

typedef void (*dml_body)(void *context, int64_t begin, int64_t end);

typedef struct {
    dml_body body;
    void *context;
    int64_t units, grain, parts, next;
    int64_t threads;
    /* How the calling thread rounds, and whether it knows denormal numbers. */
    fenv_t arithmetic;
} dml_team;

static void dml_team_work(dml_team *team)
{
    int64_t begin = __atomic_load_n(&team->next, __ATOMIC_RELAXED);
    while (begin < team->parts) {
        int64_t share = (team->parts - begin) / (2 * team->threads), end = begin + (share < 1 ? 1 : share);
        if (!__atomic_compare_exchange_n(&team->next, &begin, end, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            continue;
        int64_t last = end * team->grain;
        team->body(team->context, begin * team->grain, last < team->units ? last : team->units);
        begin = __atomic_load_n(&team->next, __ATOMIC_RELAXED);
    }
}
