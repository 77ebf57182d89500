/* Rows of numbers. */

static void LOOP(floats_of_halves)(float *restrict floats, const uint16_t *restrict halves, int64_t count)
{
    int64_t i = 0;
#if defined(DML_AVX2)
    for (; i + 8 <= count; i += 8)
        _mm256_storeu_ps(floats + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(halves + i))));
#endif
    for (; i < count; i++)
        floats[i] = dml_float_of_half(halves[i]);
}

static void LOOP(halves_of_floats)(uint16_t *restrict halves, const float *restrict floats, int64_t count)
{
    int64_t i = 0;
#if defined(DML_AVX2)
    for (; i + 8 <= count; i += 8)
        _mm_storeu_si128((__m128i *)(halves + i), _mm256_cvtps_ph(_mm256_loadu_ps(floats + i), _MM_FROUND_TO_NEAREST_INT));
#endif
    for (; i < count; i++)
        halves[i] = dml_half_of_float(floats[i]);
}

static const dml_half_table LOOP(half_table) = {LOOP(floats_of_halves), LOOP(halves_of_floats)};
