/* Gathers as parts of other kernels. */

#pragma once

#include "dispatch.h"

enum { DML_GATHER_FEW, DML_GATHER_ROWS, DML_GATHER_ITEMS, DML_GATHER_NESTED };
enum { DML_INDEX_UINT32, DML_INDEX_INT32, DML_INDEX_UINT64, DML_INDEX_INT64 };

/* So much of x is prefetched before it is needed. */
#define DML_GATHER_AHEAD_BYTES (1 << 16)

/* How the bytes are copied that one index moves, and how many indices are taken at once, which are at most `most`. */
void dml_gather_trail(const dml_move *trail, int64_t moved, int64_t most, int *kind, int64_t *block);
/* What some indices move. */
void dml_gather_some(const dml_gather *task, const dml_gather_items *picks, int stream);
