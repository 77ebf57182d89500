#pragma once

#include "../common/exp.h"
#include "../common/log.h"

static void reduce_logs(double *values, int64_t count)
{
    for (int64_t i = 0; i < count; i += DML_LANES) {
        dml_doubles lanes;
        double x[DML_LANES], found[DML_LANES];
        int64_t n = dml_least(count - i, DML_LANES);
        int ordinary = 1;
        for (int j = 0; j < DML_LANES; j++)
            x[j] = j < n ? values[i + j] : 1.0;
        memcpy(&lanes, x, sizeof lanes);
        dml_log_positive(&lanes);
        memcpy(found, &lanes, sizeof found);
        /* Zero, infinity, NaN, negative and subnormal numbers are left to the C library. */
        for (int j = 0; j < DML_LANES; j++)
            ordinary &= (x[j] >= 0x1p-1022) & (x[j] < INFINITY);
        for (int64_t j = 0; j < n && !ordinary; j++)
            found[j] = x[j] >= 0x1p-1022 && x[j] < INFINITY ? found[j] : log(x[j]);
        memcpy(values + i, found, (size_t)n * sizeof(double));
    }
}
