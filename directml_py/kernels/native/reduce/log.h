#pragma once

#include "../common/exp.h"
#include "../common/log.h"

DML_DEFINE_LOG(log_lanes, exp_vector, exp_bits)

static void reduce_logs(double *values, int64_t count)
{
    for (int64_t i = 0; i < count; i += DML_EXP_LANES) {
        exp_vector lanes;
        double given[DML_EXP_LANES], found[DML_EXP_LANES];
        int64_t n = count - i < DML_EXP_LANES ? count - i : DML_EXP_LANES;
        int ordinary = 1;
        for (int j = 0; j < DML_EXP_LANES; j++)
            given[j] = j < n ? values[i + j] : 1.0;
        memcpy(&lanes, given, sizeof lanes);
        log_lanes(&lanes);
        memcpy(found, &lanes, sizeof found);
        /* Not zero, infinity, NaN, what is negative or subnormal. */
        for (int j = 0; j < DML_EXP_LANES; j++)
            ordinary &= (given[j] >= 0x1p-1022) & (given[j] < INFINITY);
        for (int64_t j = 0; j < n && !ordinary; j++)
            found[j] = given[j] >= 0x1p-1022 && given[j] < INFINITY ? found[j] : log(given[j]);
        memcpy(values + i, found, (size_t)n * sizeof(double));
    }
}
