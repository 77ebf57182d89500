/* Threads that work side by side on the parts of one task, and wait for each other in between. The members are settled
   before the work begins: a helper that comes later does not take part. */

#pragma once

#include "team.h"

typedef struct dml_barrier_team dml_barrier_team;
typedef void (*dml_member)(void *context, dml_barrier_team *team, int index);

struct dml_barrier_team {
    dml_member member;
    void *context;
    /* The number of members, with DML_CLOSED when no more may enter. */
    int32_t members;
    int32_t wanted, met, round, sleepers;
    pthread_mutex_t lock;
    pthread_cond_t advanced;
};

/* The number of threads that take part. */
int dml_barrier_team_size(const dml_barrier_team *team);
/* Returns when all members have called it. */
void dml_barrier_wait(dml_barrier_team *team);
/* Runs `member` in up to `count` threads at once, with indices from 0; `dml_barrier_team_size` returns how many there
   are. */
void dml_run_barrier_team(dml_member member, void *context, int64_t count);
