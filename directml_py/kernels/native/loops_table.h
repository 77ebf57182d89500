/* The functions of loops.h that the rest calls, through the table of the chosen processor. */

#include "copy_table.h"
#include "gather_table.h"
#include "reduce_table.h"

typedef struct {
    DML_COPY_TABLE
    DML_GATHER_TABLE
    DML_REDUCE_TABLE
} dml_loops;
