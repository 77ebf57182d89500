/* Convolutions of 8-bit integers. Rows of a panel are interleaved in groups of four, whose bytes share a lane of 32
   bits, as those of a filter do; pixels are unsigned, and filters signed. A tensor of the other kind is shifted by 128,
   which its zero point takes back. */

#include "../common/vectors.h"

#include "dispatch.h"
#include "lanes.h"
#include "microkernel.h"

typedef int32_t conv_bytes __attribute__((vector_size(4 * conv_lanes)));
typedef int32_t conv_unaligned_bytes __attribute__((vector_size(4 * conv_lanes), aligned(4), may_alias));
typedef uint32_t conv_words __attribute__((vector_size(4 * conv_lanes), may_alias));

/* Adds four products to each lane. A product of two bytes and a sum of two such products fit into 32 bits only, so that
   odd and even products are added separately where no instruction takes all four. */
DML_INLINE conv_bytes conv_dot(conv_bytes sums, conv_bytes pixels, int32_t filter)
{
#if defined(__AVX512VNNI__)
    return (conv_bytes)_mm512_dpbusd_epi32((__m512i)sums, (__m512i)pixels, _mm512_set1_epi32(filter));
#elif defined(__AVX512F__)
    __m512i bytes = (__m512i)pixels, taps = _mm512_set1_epi32(filter), low = _mm512_set1_epi16(255), even, odd;
    even = _mm512_madd_epi16(_mm512_and_si512(bytes, low), _mm512_srai_epi16(_mm512_slli_epi16(taps, 8), 8));
    odd = _mm512_madd_epi16(_mm512_srli_epi16(bytes, 8), _mm512_srai_epi16(taps, 8));
    return (conv_bytes)_mm512_add_epi32((__m512i)sums, _mm512_add_epi32(even, odd));
#elif defined(__AVX2__)
    __m256i bytes = (__m256i)pixels, taps = _mm256_set1_epi32(filter), low = _mm256_set1_epi16(255), even, odd;
    even = _mm256_madd_epi16(_mm256_and_si256(bytes, low), _mm256_srai_epi16(_mm256_slli_epi16(taps, 8), 8));
    odd = _mm256_madd_epi16(_mm256_srli_epi16(bytes, 8), _mm256_srai_epi16(taps, 8));
    return (conv_bytes)_mm256_add_epi32((__m256i)sums, _mm256_add_epi32(even, odd));
#elif defined(__SSE2__)
    __m128i bytes = (__m128i)pixels, taps = _mm_set1_epi32(filter), low = _mm_set1_epi16(255), even, odd;
    even = _mm_madd_epi16(_mm_and_si128(bytes, low), _mm_srai_epi16(_mm_slli_epi16(taps, 8), 8));
    odd = _mm_madd_epi16(_mm_srli_epi16(bytes, 8), _mm_srai_epi16(taps, 8));
    return (conv_bytes)_mm_add_epi32((__m128i)sums, _mm_add_epi32(even, odd));
#else
    conv_words bytes = (conv_words)pixels, total = (conv_words)sums;
    for (int i = 0; i < 32; i += 8)
        total += (bytes >> i & 255) * (uint32_t)(int32_t)(int8_t)((uint32_t)filter >> i);
    return (conv_bytes)total;
#endif
}

#define DML_CONV_DOT(SUMS, PIXELS, FILTER) SUMS = conv_dot(SUMS, PIXELS, FILTER)
/* Sums of bytes are stored in the tile. */
DML_INLINE void conv_epilogue_bytes(const dml_conv_epilogue *epilogue, int row, int64_t n, const conv_bytes *sums,
                                    const int vectors)
{
    (void)epilogue, (void)row, (void)n, (void)sums, (void)vectors;
}

#if defined(__AVX512F__)
DML_CONV_WIDE_TILES(bytes, int32_t, DML_CONV_DOT)
#else
DML_CONV_NARROW_TILES(bytes, int32_t, DML_CONV_DOT)
#endif
#undef DML_CONV_DOT

/* Interleaves sixteen pixels of four rows. */
#if defined(__SSE2__)
DML_INLINE void conv_interleave_sixteen(uint32_t *panel, const uint8_t *rows, int64_t row, __m128i flip)
{
    __m128i rows_in[4], pairs[4], *results = (__m128i *)panel;
    for (int j = 0; j < 4; j++)
        rows_in[j] = _mm_xor_si128(_mm_loadu_si128((const __m128i *)(rows + j * row)), flip);
    for (int j = 0; j < 4; j += 2) {
        pairs[j] = _mm_unpacklo_epi8(rows_in[j], rows_in[j + 1]);
        pairs[j + 1] = _mm_unpackhi_epi8(rows_in[j], rows_in[j + 1]);
    }
    for (int j = 0; j < 2; j++) {
        _mm_storeu_si128(results + 2 * j, _mm_unpacklo_epi16(pairs[j], pairs[j + 2]));
        _mm_storeu_si128(results + 2 * j + 1, _mm_unpackhi_epi16(pairs[j], pairs[j + 2]));
    }
}
#endif

/* Interleaves `count` groups of four rows of `width` bytes; rows begin `row` bytes apart. */
static DML_ONCE void conv_interleave(uint32_t *panel, const uint8_t *rows, int64_t row, int64_t width, int64_t count,
                                     int is_signed)
{
    uint8_t flip = is_signed ? 128 : 0;
    for (int64_t k = 0; k < count; k++, rows += 4 * row, panel += width) {
        int64_t i = 0;
#if defined(__SSE2__)
        for (; i + 16 <= width; i += 16)
            conv_interleave_sixteen(panel + i, rows + i, row, _mm_set1_epi8((char)flip));
#endif
        for (; i < width; i++) {
            uint32_t four = 0;
            for (int j = 0; j < 4; j++)
                four |= (uint32_t)(rows[j * row + i] ^ flip) << 8 * j;
            panel[i] = four;
        }
    }
}

/* Makes a filter signed bytes, padded with 0 to a multiple of four, and returns their sum. */
static DML_ONCE int32_t conv_sign(int8_t *filter, const uint8_t *bytes, int64_t kc, int is_signed)
{
    uint8_t flip = is_signed ? 0 : 128;
    int32_t sum = 0;
    for (int64_t k = 0; k < kc; k++) {
        filter[k] = (int8_t)(bytes[k] ^ flip);
        sum += filter[k];
    }
    for (int64_t k = kc; k % 4 != 0; k++)
        filter[k] = 0;
    return sum;
}

/* Applies the zero points to a row of the tile: `filter_zero` times the column sums of the panel, and the `correction`
   of the filter, are subtracted. */
static DML_ONCE void conv_store_bytes(int32_t *output, const int32_t *tile, const int32_t *pixel_sums, int64_t count,
                                      int32_t filter_zero, uint32_t correction)
{
    int64_t i = 0;
#if defined(__AVX512F__)
    __m512i less = _mm512_set1_epi32((int32_t)correction), zero = _mm512_set1_epi32(filter_zero);
    for (; i < count; i += 16) {
        __mmask16 mask = (__mmask16)(count - i < 16 ? (1 << (count - i)) - 1 : 0xffff);
        __m512i sums = _mm512_sub_epi32(_mm512_loadu_si512(tile + i), less);
        if (filter_zero != 0)
            sums = _mm512_sub_epi32(sums, _mm512_mullo_epi32(zero, _mm512_loadu_si512(pixel_sums + i)));
        _mm512_mask_storeu_epi32(output + i, mask, sums);
    }
#endif
    for (; i < count; i++) {
        uint32_t sum = (uint32_t)tile[i] - correction;
        if (filter_zero != 0)
            sum -= (uint32_t)filter_zero * (uint32_t)pixel_sums[i];
        output[i] = (int32_t)sum;
    }
}

const dml_conv_bytes_table DML_TABLE(conv_bytes) = {
#if defined(__AVX512F__)
    DML_CONV_WIDE_NAMES(bytes),
#else
    DML_CONV_NARROW_NAMES(bytes),
#endif
    conv_interleave,
    conv_sign,
    conv_store_bytes,
};
