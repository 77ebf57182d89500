/* Gathers as parts of other kernels. */

#pragma once

#include "dispatch.h"

enum { DML_GATHER_FEW, DML_GATHER_ROWS, DML_GATHER_ITEMS, DML_GATHER_NESTED };
enum { DML_INDEX_UINT32, DML_INDEX_INT32, DML_INDEX_UINT64, DML_INDEX_INT64 };

/* A gather prefetches this much of x before it is needed. */
#define DML_GATHER_AHEAD_BYTES (1 << 16)

/* Chooses how the bytes of one index are copied, and how many indices are converted at once, which are at most `most`.
 */
void dml_gather_choose_copy(const dml_move *trail, int64_t moved, int64_t most, int *kind, int64_t *block);
/* Copies what some indices name. */
void dml_gather_copy(const dml_gather *task, const dml_gather_items *copies, int stream);
