/* Integers of 8 bits. Rows of a panel come in fours, whose bytes lie beside each other in lanes of 32 bits, as those of
   a filter do: unsigned times signed. What is not so is made so by 128, which zero points take back. */

#if defined(DML_AVX512)
enum { LOOP(conv_lanes) = 16 };
#elif defined(DML_AVX2)
enum { LOOP(conv_lanes) = 8 };
#else
enum { LOOP(conv_lanes) = 4 };
#endif

typedef int32_t LOOP(conv_bytes) __attribute__((vector_size(4 * LOOP(conv_lanes))));
typedef int32_t LOOP(conv_near_bytes) __attribute__((vector_size(4 * LOOP(conv_lanes)), aligned(4), may_alias));
typedef uint32_t LOOP(conv_words) __attribute__((vector_size(4 * LOOP(conv_lanes)), may_alias));

/* Sums and four products more in each lane. Pairs of products of a byte by a byte fit into 16 bits only as 16 bits by
   16 bits, so that odd and even ones are added apart where no instruction takes all four. */
DML_INLINE LOOP(conv_bytes) LOOP(conv_dot)(LOOP(conv_bytes) sums, LOOP(conv_bytes) pixels, int32_t filter)
{
#if defined(DML_VNNI)
    return (LOOP(conv_bytes))_mm512_dpbusd_epi32((__m512i)sums, (__m512i)pixels, _mm512_set1_epi32(filter));
#elif defined(DML_AVX512)
    __m512i bytes = (__m512i)pixels, taps = _mm512_set1_epi32(filter), low = _mm512_set1_epi16(255), even, odd;
    even = _mm512_madd_epi16(_mm512_and_si512(bytes, low), _mm512_srai_epi16(_mm512_slli_epi16(taps, 8), 8));
    odd = _mm512_madd_epi16(_mm512_srli_epi16(bytes, 8), _mm512_srai_epi16(taps, 8));
    return (LOOP(conv_bytes))_mm512_add_epi32((__m512i)sums, _mm512_add_epi32(even, odd));
#elif defined(DML_AVX2)
    __m256i bytes = (__m256i)pixels, taps = _mm256_set1_epi32(filter), low = _mm256_set1_epi16(255), even, odd;
    even = _mm256_madd_epi16(_mm256_and_si256(bytes, low), _mm256_srai_epi16(_mm256_slli_epi16(taps, 8), 8));
    odd = _mm256_madd_epi16(_mm256_srli_epi16(bytes, 8), _mm256_srai_epi16(taps, 8));
    return (LOOP(conv_bytes))_mm256_add_epi32((__m256i)sums, _mm256_add_epi32(even, odd));
#elif defined(__SSE2__)
    __m128i bytes = (__m128i)pixels, taps = _mm_set1_epi32(filter), low = _mm_set1_epi16(255), even, odd;
    even = _mm_madd_epi16(_mm_and_si128(bytes, low), _mm_srai_epi16(_mm_slli_epi16(taps, 8), 8));
    odd = _mm_madd_epi16(_mm_srli_epi16(bytes, 8), _mm_srai_epi16(taps, 8));
    return (LOOP(conv_bytes))_mm_add_epi32((__m128i)sums, _mm_add_epi32(even, odd));
#else
    LOOP(conv_words) bytes = (LOOP(conv_words))pixels, total = (LOOP(conv_words))sums;
    for (int i = 0; i < 32; i += 8)
        total += (bytes >> i & 255) * (uint32_t)(int32_t)(int8_t)((uint32_t)filter >> i);
    return (LOOP(conv_bytes))total;
#endif
}

#define DML_CONV_DOT(SUMS, PIXELS, FILTER) SUMS = LOOP(conv_dot)(SUMS, PIXELS, FILTER)
/* Sums of bytes go to the tile. */
DML_INLINE void LOOP(conv_finish_bytes)(const dml_conv_finish *finish, int row, const LOOP(conv_bytes) *sums,
                                        const int vectors)
{
    (void)finish, (void)row, (void)sums, (void)vectors;
}

#if defined(DML_AVX512)
DML_CONV_LONG_TILES(bytes, int32_t, DML_CONV_DOT)
#else
DML_CONV_SHORT_TILES(bytes, int32_t, DML_CONV_DOT)
#endif
#undef DML_CONV_DOT

/* Sixteen pixels of four rows, side by side. */
#if defined(__SSE2__)
DML_INLINE void LOOP(conv_join_sixteen)(uint32_t *panel, const uint8_t *rows, int64_t width, __m128i flip)
{
    __m128i one[4], two[4], *results = (__m128i *)panel;
    for (int j = 0; j < 4; j++)
        one[j] = _mm_xor_si128(_mm_loadu_si128((const __m128i *)(rows + j * width)), flip);
    for (int j = 0; j < 4; j += 2) {
        two[j] = _mm_unpacklo_epi8(one[j], one[j + 1]);
        two[j + 1] = _mm_unpackhi_epi8(one[j], one[j + 1]);
    }
    for (int j = 0; j < 2; j++) {
        _mm_storeu_si128(results + 2 * j, _mm_unpacklo_epi16(two[j], two[j + 2]));
        _mm_storeu_si128(results + 2 * j + 1, _mm_unpackhi_epi16(two[j], two[j + 2]));
    }
}
#endif

/* `count` fours of rows of `width` bytes. */
static DML_ONCE void LOOP(conv_join)(uint32_t *panel, const uint8_t *rows, int64_t width, int64_t count, int is_signed)
{
    uint8_t flip = is_signed ? 128 : 0;
    for (int64_t k = 0; k < count; k++, rows += 4 * width, panel += width) {
        int64_t i = 0;
#if defined(__SSE2__)
        for (; i + 16 <= width; i += 16)
            LOOP(conv_join_sixteen)(panel + i, rows + i, width, _mm_set1_epi8((char)flip));
#endif
        for (; i < width; i++) {
            uint32_t four = 0;
            for (int j = 0; j < 4; j++)
                four |= (uint32_t)(rows[j * width + i] ^ flip) << 8 * j;
            panel[i] = four;
        }
    }
}

/* A filter as signed bytes, followed by 0 up to a multiple of four; and their sum. */
static DML_ONCE int32_t LOOP(conv_sign)(int8_t *filter, const uint8_t *bytes, int64_t depth, int is_signed)
{
    uint8_t flip = is_signed ? 0 : 128;
    int32_t sum = 0;
    for (int64_t k = 0; k < depth; k++) {
        filter[k] = (int8_t)(bytes[k] ^ flip);
        sum += filter[k];
    }
    for (int64_t k = depth; k % 4 != 0; k++)
        filter[k] = 0;
    return sum;
}

/* What of the products of a row of the tile are those of differences from zero points: less `filter_zero` times the
   sums of what pixels see, and less `rest`. */
static DML_ONCE void LOOP(conv_store_bytes)(int32_t *output, const int32_t *tile, const int32_t *seen, int64_t count,
                                            int32_t filter_zero, uint32_t rest)
{
    int64_t i = 0;
#if defined(DML_AVX512)
    __m512i less = _mm512_set1_epi32((int32_t)rest), zero = _mm512_set1_epi32(filter_zero);
    for (; i < count; i += 16) {
        __mmask16 mask = (__mmask16)(count - i < 16 ? (1 << (count - i)) - 1 : 0xffff);
        __m512i sums = _mm512_sub_epi32(_mm512_loadu_si512(tile + i), less);
        if (filter_zero != 0)
            sums = _mm512_sub_epi32(sums, _mm512_mullo_epi32(zero, _mm512_loadu_si512(seen + i)));
        _mm512_mask_storeu_epi32(output + i, mask, sums);
    }
#endif
    for (; i < count; i++) {
        uint32_t sum = (uint32_t)tile[i] - rest;
        if (filter_zero != 0)
            sum -= (uint32_t)filter_zero * (uint32_t)seen[i];
        output[i] = (int32_t)sum;
    }
}

/* Rounded to FLOAT32 once before the quotient is; NaN is the least byte. */
static DML_ONCE void LOOP(conv_quantize)(uint8_t *output, const int32_t *sums, int64_t count,
                                         const dml_conv_quantum *quantum)
{
    double bias = quantum->bias, unit = quantum->unit;
    float scale = quantum->scale, zero = quantum->zero, low = quantum->low, high = quantum->high;
    for (int64_t i = 0; i < count; i++) {
        float value = rintf((float)((sums[i] + bias) * unit) / scale) + zero;
        value = value > low ? value : low;
        value = value < high ? value : high;
        output[i] = (uint8_t)(int32_t)value;
    }
}

static const dml_conv_bytes_table LOOP(conv_bytes_table) = {
#if defined(DML_AVX512)
    DML_CONV_LONG_NAMES(bytes),
#else
    DML_CONV_SHORT_NAMES(bytes),
#endif
    LOOP(conv_join), LOOP(conv_sign), LOOP(conv_store_bytes), LOOP(conv_quantize), NULL,
};
