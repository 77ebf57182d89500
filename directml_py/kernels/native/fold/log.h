/* Natural logarithms of FLOAT64. With x = m 2^e, m between sqrt(1/2) and sqrt(2), and s = (m - 1) / (m + 1), log(m) is
   2 (s + s^3/3 + s^5/5 ...): what is left out after s^15 is less than 4e-14 of it, near 1 too. */

DML_INLINE void LOOP(log_four)(LOOP(exp_vector) *values)
{
    typedef LOOP(exp_vector) vector;
    typedef LOOP(exp_bits) bits;
    const uint64_t one = 0x3ff0000000000000u, digits = 0x000fffffffffffffu;
    bits x = (bits)*values, above;
    vector m = (vector)((x & digits) | one), e, s, z, sum;
    /* An integer below the fraction of 2^52 is that number when 2^52 is taken away. */
    e = (vector)((x >> 52) | 0x4330000000000000u) - (0x1p52 + 1023.0);
    above = (bits)(m > 0x1.6a09e667f3bcdp0);
    m = (vector)((bits)m - (above & 0x0010000000000000u));
    e = e + (vector)(above & one);
    s = (m - 1.0) / (m + 1.0);
    z = s * s;
    sum = z * (2.0 / 15) + 2.0 / 13;
    sum = sum * z + 2.0 / 11;
    sum = sum * z + 2.0 / 9;
    sum = sum * z + 2.0 / 7;
    sum = sum * z + 2.0 / 5;
    sum = sum * z + 2.0 / 3;
    sum = sum * z + 2.0;
    *values = e * 0x1.62e42fefa39efp-1 + sum * s;
}

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
