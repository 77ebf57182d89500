/* Convolutions of 8-bit integers. Rows of a panel are interleaved in groups that share a lane of 32 bits, as the taps
   of a filter do: four bytes where an instruction multiplies these, else two that are widened to 16 bits, since sums of
   two products of bytes do not fit into fewer than 32. Pixels are unsigned, and filters signed. A tensor of the other
   kind is shifted by 128, which its zero point takes back. */

#include "../common/lanes.h"

#include "dispatch.h"
#include "microkernel.h"

typedef int32_t conv_bytes __attribute__((vector_size(4 * DML_FLOAT_LANES)));
typedef int32_t conv_unaligned_bytes __attribute__((vector_size(4 * DML_FLOAT_LANES), aligned(4), may_alias));
typedef uint32_t conv_words __attribute__((vector_size(4 * DML_FLOAT_LANES), may_alias));

#if defined(__AVX512VNNI__)
enum { conv_group = 4 };
typedef int8_t conv_tap;
#else
enum { conv_group = 2 };
typedef int16_t conv_tap;
#endif

/* Adds the products of a group to each lane. */
DML_INLINE conv_bytes conv_dot(conv_bytes sums, conv_bytes pixels, int32_t filter)
{
#if defined(__AVX512VNNI__)
    return (conv_bytes)_mm512_dpbusd_epi32((__m512i)sums, (__m512i)pixels, _mm512_set1_epi32(filter));
#elif defined(__AVX512F__)
    return sums + (conv_bytes)_mm512_madd_epi16((__m512i)pixels, _mm512_set1_epi32(filter));
#elif defined(__AVX2__)
    return sums + (conv_bytes)_mm256_madd_epi16((__m256i)pixels, _mm256_set1_epi32(filter));
#elif defined(__SSE2__)
    return sums + (conv_bytes)_mm_madd_epi16((__m128i)pixels, _mm_set1_epi32(filter));
#else
    conv_words words = (conv_words)pixels, low = (uint32_t)(int32_t)(int16_t)filter + (conv_words){0};
    return (conv_bytes)((conv_words)sums + (words & 0xffff) * low + (words >> 16) * (uint32_t)(filter >> 16));
#endif
}

#define DML_CONV_DOT(SUMS, PIXELS, FILTER) SUMS = conv_dot(SUMS, PIXELS, FILTER)
/* Sums of bytes are stored in the tile. */
DML_INLINE void conv_epilogue_bytes(const dml_conv_epilogue *epilogue, int64_t n, const conv_bytes *sums,
                                    const int rows, const int vectors)
{
    (void)epilogue, (void)n, (void)sums, (void)rows, (void)vectors;
}

DML_CONV_ALL_TILES(bytes, int32_t, DML_CONV_DOT)
#undef DML_CONV_DOT

/* Interleaves sixteen pixels of a group of rows. */
#if defined(__SSE2__)
DML_INLINE void conv_interleave_sixteen(uint32_t *panel, const uint8_t *rows, int64_t row, __m128i flip)
{
    __m128i rows_in[4], pairs[4], *results = (__m128i *)panel;
    for (int j = 0; j < conv_group; j++)
        rows_in[j] = _mm_xor_si128(_mm_loadu_si128((const __m128i *)(rows + j * row)), flip);
    for (int j = 0; j < conv_group; j += 2) {
        pairs[j] = _mm_unpacklo_epi8(rows_in[j], rows_in[j + 1]);
        pairs[j + 1] = _mm_unpackhi_epi8(rows_in[j], rows_in[j + 1]);
    }
    for (int j = 0; j < 2; j++) {
#if defined(__AVX512VNNI__)
        _mm_storeu_si128(results + 2 * j, _mm_unpacklo_epi16(pairs[j], pairs[j + 2]));
        _mm_storeu_si128(results + 2 * j + 1, _mm_unpackhi_epi16(pairs[j], pairs[j + 2]));
#else
        _mm_storeu_si128(results + 2 * j, _mm_unpacklo_epi8(pairs[j], _mm_setzero_si128()));
        _mm_storeu_si128(results + 2 * j + 1, _mm_unpackhi_epi8(pairs[j], _mm_setzero_si128()));
#endif
    }
}
#endif

/* Interleaves `count` groups of rows of `width` bytes; rows begin `row` bytes apart. */
static DML_ONCE void conv_interleave(uint32_t *panel, const uint8_t *rows, int64_t row, int64_t width, int64_t count,
                                     int is_signed)
{
    uint8_t flip = is_signed ? 128 : 0;
    for (int64_t k = 0; k < count; k++, rows += conv_group * row, panel += width) {
        int64_t i = 0;
#if defined(__SSE2__)
        for (; i + 16 <= width; i += 16)
            conv_interleave_sixteen(panel + i, rows + i, row, _mm_set1_epi8((char)flip));
        if (i > 0 && i < width) {
            conv_interleave_sixteen(panel + width - 16, rows + width - 16, row, _mm_set1_epi8((char)flip));
            i = width;
        }
#endif
        for (; i < width; i++) {
            uint32_t group = 0;
            for (int j = 0; j < conv_group; j++)
                group |= (uint32_t)(rows[j * row + i] ^ flip) << 32 / conv_group * j;
            panel[i] = group;
        }
    }
}

/* Makes a filter signed, padded with 0 to whole groups, and returns the sum of its taps. */
static DML_ONCE int32_t conv_sign(void *filter, const uint8_t *bytes, int64_t kc, int is_signed)
{
    conv_tap *taps = filter;
    uint8_t flip = is_signed ? 0 : 128;
    int32_t sum = 0;
    for (int64_t k = 0; k < kc; k++) {
        taps[k] = (int8_t)(bytes[k] ^ flip);
        sum += taps[k];
    }
    for (int64_t k = kc; k % conv_group != 0; k++)
        taps[k] = 0;
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
    conv_group,
    DML_CONV_ALL_NAMES(bytes),
    conv_interleave,
    conv_sign,
    conv_store_bytes,
};
