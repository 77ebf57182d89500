/* Everything that is compiled once per kind of processor (DML_SUFFIX; DML_AVX2 where there are AVX2, FMA and F16C). */

#include "copy_loops.h"
#include "gather_loops.h"
#include "reduce_loops.h"

static const dml_loops LOOP(dml_loops) = {
    DML_COPY_LOOPS
    DML_GATHER_LOOPS
    DML_REDUCE_LOOPS
};
