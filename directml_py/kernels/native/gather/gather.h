/* Gathers as parts of other kernels. */

#pragma once

#include "dispatch.h"

enum { DML_GATHER_FEW, DML_GATHER_ROWS, DML_GATHER_ITEMS, DML_GATHER_NESTED };

/* Chooses how the bytes of one index are copied, and how many indices are converted at once, which are at most `most`.
 */
void dml_gather_choose_copy(dml_indexed_copy *copy, int64_t moved, int64_t most);
/* Copies what some indices name. */
void dml_gather_copy(const dml_indexed_copy *copy, const dml_gather_items *copies, int stream);
