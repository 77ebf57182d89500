/* The parallel for. */

#pragma once

#include "team.h"

/* Runs `body` over [0, units) in as many threads as `bytes` of memory are worth, in ranges that begin at a multiple of
   `grain`. */
void dml_parallel(dml_body body, void *context, int64_t units, int64_t grain, int64_t bytes);
