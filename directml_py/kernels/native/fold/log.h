DML_DEFINE_LOG(LOOP(log_four), LOOP(exp_vector), LOOP(exp_bits))

static void LOOP(fold_logs)(double *values, int64_t count)
{
    for (int64_t i = 0; i < count; i += 4) {
        LOOP(exp_vector) four;
        double given[4] = {1.0, 1.0, 1.0, 1.0}, found[4];
        int64_t n = count - i < 4 ? count - i : 4;
        memcpy(given, values + i, n == 4 ? sizeof given : (size_t)n * sizeof(double));
        memcpy(&four, given, sizeof four);
        LOOP(log_four)(&four);
        memcpy(found, &four, sizeof found);
        for (int64_t j = 0; j < n; j++)
            /* Zero, infinity, NaN, what is negative or subnormal. */
            values[i + j] = given[j] >= 0x1p-1022 && given[j] < INFINITY ? found[j] : log(given[j]);
    }
}
