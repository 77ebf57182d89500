/* Threads that work side by side on the parts of one task, and wait for each other in between. Who takes part is
   settled before the work begins: a helper that comes later is done without. */

#pragma once

#include "team.h"

typedef struct dml_barrier_team dml_barrier_team;
typedef void (*dml_member)(void *context, dml_barrier_team *team, int index);

struct dml_barrier_team {
    dml_member member;
    void *context;
    /* How many are here, with a mark when nobody else is let in. */
    int32_t members;
    int32_t wanted, met, round, sleepers;
    pthread_mutex_t lock;
    pthread_cond_t turned;
};

/* How many threads take part. */
int dml_barrier_team_size(const dml_barrier_team *team);
/* Returns when all have come here. */
void dml_barrier_wait(dml_barrier_team *team);
/* Run `member` in up to `count` threads at once, with indices from 0; `dml_barrier_team_size` says how many they
   are. */
void dml_run_barrier_team(dml_member member, void *context, int64_t count);
