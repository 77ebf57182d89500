/* Packs rows of panels: for each tap and channel, what the input has there for neighbouring pixels. Padding is not
   read. */

#pragma once

#include "../common/lanes.h"
#include "../elementwise/float32_functions.h"
#include "../half/scalar.h"
#include "dispatch.h"

DML_INLINE float conv_element(const void *input, int64_t offset, int type)
{
    if (type == DML_CONV_FLOATS)
        return ((const float *)input)[offset];
    return dml_float_of_half(((const uint16_t *)input)[offset]);
}

#define DML_CONV_EACH_ROW                                                                                              \
    for (int64_t c = 0; c < packing->channels; c++)                                                                    \
        for (int64_t t = 0; t < packing->taps; t++)

DML_INLINE void conv_pack_any(void *panel, const char *input, const dml_conv_packing *packing, int type,
                              int64_t pixel_stride)
{
    int64_t size = type == DML_CONV_FLOATS ? 4 : type == DML_CONV_HALVES ? 2 : 1;
    int64_t width = packing->vectors * DML_FLOAT_LANES;
    DML_CONV_EACH_ROW
    {
        const char *source = input + (c * packing->channel_stride + t * packing->tap_stride) * size;
        uint8_t *bytes = (uint8_t *)panel + c * packing->row + t * packing->tap_row;
        float *floats = (float *)panel + c * packing->row + t * packing->tap_row;
        if (size == 1)
            memset(bytes, packing->zero, (size_t)width);
        else
            memset(floats, 0, (size_t)width * 4);
        for (const dml_conv_run_of_pixels *run = packing->run; run < packing->run + packing->runs; run++)
            for (int i = run->first, at = run->vector * DML_FLOAT_LANES; i < run->first + run->count; i++)
                if (size == 1)
                    bytes[at + i] = ((const uint8_t *)source)[run->offset + i * pixel_stride];
                else
                    floats[at + i] = conv_element(source, run->offset + i * pixel_stride, type);
    }
}

#if defined(__AVX2__)
/* The runs of each vector's pixels, of which there is at least one, and the end of them; and which pixels have no run.
 */
typedef struct {
    int64_t row_offsets[3 * DML_CONV_MAX_NR];
    uint32_t masks[3 * DML_CONV_MAX_NR];
    int32_t ends[DML_CONV_MAX_VECTORS];
    uint16_t padding[DML_CONV_MAX_VECTORS];
} conv_plan;

DML_INLINE void conv_find_plan(conv_plan *plan, const dml_conv_packing *packing, int64_t pixel_stride)
{
    int r = 0, count = 0;
    for (int i = 0; i < packing->vectors; i++) {
        uint32_t all = 0;
        int before = count;
        for (; r < packing->runs && packing->run[r].vector == i; r++) {
            const dml_conv_run_of_pixels *run = packing->run + r;
            uint32_t mask = ((1u << run->count) - 1) << run->first;
            uint64_t twice = (((uint64_t)1 << 2 * run->count) - 1) << 2 * run->first;
            /* Where rows follow each other in the input as they do in the panel, one vector takes the ends of several
               runs. */
            if (count == before || plan->row_offsets[count - 1] != run->offset) {
                plan->row_offsets[count] = run->offset;
                plan->masks[count++] = 0;
            }
            plan->masks[count - 1] |= pixel_stride == 1 ? mask : (uint32_t)twice & 0x55555555u;
            all |= mask;
        }
        if (count == before) {
            plan->row_offsets[count] = 0;
            plan->masks[count++] = 0;
        }
        plan->ends[i] = count;
        plan->padding[i] = (uint16_t)(~all & ((1u << DML_FLOAT_LANES) - 1));
    }
}

#if defined(__AVX512F__)
#define DML_CONV_STORE_BYTES _mm_storeu_si128
/* Loads the pixels of a run, which are neighbours or every other one; lanes outside it are 0. */
DML_INLINE __m512 conv_read(const char *input, int64_t offset, uint32_t mask, int type, int64_t pixel_stride)
{
    if (type == DML_CONV_HALVES) {
        const uint16_t *halves = (const uint16_t *)input + offset;
        if (pixel_stride == 1)
            return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16((__mmask16)mask, halves));
        return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(_mm512_maskz_loadu_epi16(mask, halves)));
    }
    const float *floats = (const float *)input + offset;
    __m512 low = _mm512_maskz_loadu_ps((__mmask16)mask, floats);
    if (pixel_stride == 1)
        return low;
    return _mm512_permutex2var_ps(low, _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0),
                                  _mm512_maskz_loadu_ps((__mmask16)(mask >> 16), floats + 16));
}

DML_INLINE __m128i conv_read_bytes(const char *input, int64_t offset, uint32_t mask, int64_t pixel_stride)
{
    if (pixel_stride == 1)
        return _mm_maskz_loadu_epi8((__mmask16)mask, input + offset);
    return _mm256_cvtepi16_epi8(_mm256_maskz_loadu_epi8(mask, input + offset));
}
#else
#define DML_CONV_STORE_BYTES _mm_storel_epi64
/* Elements that have no masked loads are loaded eight at a time, and else one by one. */
#define DML_CONV_READ(T, from)                                                                                         \
    T elements[16] = {0};                                                                                              \
    if (pixel_stride == 1 && mask == 0xff)                                                                             \
        memcpy(elements, from, 8 * sizeof(T));                                                                         \
    else                                                                                                               \
        for (int64_t i = 0; i < 8; i++)                                                                                \
            if (mask >> i * pixel_stride & 1)                                                                          \
                elements[i] = (from)[i * pixel_stride];
DML_INLINE __m256 conv_read(const char *input, int64_t offset, uint32_t mask, int type, int64_t pixel_stride)
{
    const float *floats = (const float *)input + offset;
    if (type == DML_CONV_HALVES) {
        const uint16_t *halves = (const uint16_t *)input + offset;
        DML_CONV_READ(uint16_t, halves)
        return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)elements));
    }
    if (pixel_stride == 1 && mask == 0xff)
        return _mm256_loadu_ps(floats);
    if (pixel_stride == 2 && mask == 0x5555)
        return _mm256_castpd_ps(_mm256_permute4x64_pd(
            _mm256_castps_pd(_mm256_shuffle_ps(_mm256_loadu_ps(floats), _mm256_loadu_ps(floats + 7), 0xd8)), 0xd8));
    __m256 low = (__m256)dml_load_lanes((dml_floats){0}, dml_mask_of(mask), floats);
    if (pixel_stride == 1)
        return low;
    low = _mm256_shuffle_ps(low, (__m256)dml_load_lanes((dml_floats){0}, dml_mask_of(mask >> 8), floats + 8), 0x88);
    return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(low), 0xd8));
}

DML_INLINE __m128i conv_read_bytes(const char *input, int64_t offset, uint32_t mask, int64_t pixel_stride)
{
    DML_CONV_READ(uint8_t, (const uint8_t *)input + offset)
    return _mm_loadu_si128((const __m128i *)elements);
}
#undef DML_CONV_READ
#endif

DML_INLINE void conv_pack_masked(void *panel, const char *input, const dml_conv_packing *packing, int type,
                                 int64_t pixel_stride)
{
    conv_plan plan;
    int64_t size = type == DML_CONV_FLOATS ? 4 : type == DML_CONV_HALVES ? 2 : 1;
    uint8_t zeros[DML_CONV_MAX_VECTORS][16];
    int padding = 0;
    conv_find_plan(&plan, packing, pixel_stride);
    for (int i = 0; i < packing->vectors; i++) {
        padding |= plan.padding[i];
        for (int j = 0; j < DML_FLOAT_LANES; j++)
            zeros[i][j] = plan.padding[i] >> j & 1 ? packing->zero : 0;
    }
    enum { USUAL = 3 };
    int is_simple = packing->vectors == USUAL && plan.ends[USUAL - 1] == USUAL;
    /* Copies stay in registers: stores may alias the plan. */
    int64_t offsets[USUAL];
    uint32_t masks[USUAL];
    memcpy(offsets, plan.row_offsets, sizeof offsets);
    memcpy(masks, plan.masks, sizeof masks);
    int is_whole = !padding && plan.ends[packing->vectors - 1] == packing->vectors;
    DML_CONV_EACH_ROW
    {
        const char *source = input + (c * packing->channel_stride + t * packing->tap_stride) * size;
        uint8_t *bytes = (uint8_t *)panel + c * packing->row + t * packing->tap_row;
        float *floats = (float *)panel + c * packing->row + t * packing->tap_row;
        if (type == DML_CONV_UINT8 && is_whole)
            for (int i = 0; i < packing->vectors; i++)
                DML_CONV_STORE_BYTES((__m128i *)(bytes + i * DML_FLOAT_LANES),
                                     conv_read_bytes(source, plan.row_offsets[i], plan.masks[i], pixel_stride));
        else if (type == DML_CONV_UINT8)
            for (int i = 0, k = 0; i < packing->vectors; i++) {
                __m128i pixels = _mm_loadu_si128((const __m128i *)zeros[i]);
                for (; k < plan.ends[i]; k++)
                    pixels =
                        _mm_or_si128(pixels, conv_read_bytes(source, plan.row_offsets[k], plan.masks[k], pixel_stride));
                DML_CONV_STORE_BYTES((__m128i *)(bytes + i * DML_FLOAT_LANES), pixels);
            }
        else if (is_simple)
            _Pragma("GCC unroll 4") for (int i = 0; i < USUAL; i++)
                DML_F(store)(floats + i * DML_FLOAT_LANES, conv_read(source, offsets[i], masks[i], type, pixel_stride));
        else
            for (int i = 0, k = 0; i < packing->vectors; i++) {
                float_vector pixels = conv_read(source, plan.row_offsets[k], plan.masks[k], type, pixel_stride);
                for (k++; k < plan.ends[i]; k++)
                    pixels =
                        DML_F(or)(pixels, conv_read(source, plan.row_offsets[k], plan.masks[k], type, pixel_stride));
                DML_F(store)(floats + i * DML_FLOAT_LANES, pixels);
            }
    }
}
#else
#define conv_pack_masked conv_pack_any
#endif

static DML_ONCE void conv_pack(void *panel, const void *input, const dml_conv_packing *packing)
{
    int64_t pixel_stride = packing->pixel_stride;
#define DML_CONV_PACK(TYPE)                                                                                            \
    if (pixel_stride == 1)                                                                                             \
        conv_pack_masked(panel, input, packing, TYPE, 1);                                                              \
    else if (pixel_stride == 2)                                                                                        \
        conv_pack_masked(panel, input, packing, TYPE, 2);                                                              \
    else                                                                                                               \
        conv_pack_any(panel, input, packing, TYPE, pixel_stride)
    if (packing->type == DML_CONV_FLOATS)
        DML_CONV_PACK(DML_CONV_FLOATS);
    else if (packing->type == DML_CONV_HALVES)
        DML_CONV_PACK(DML_CONV_HALVES);
    else
        DML_CONV_PACK(DML_CONV_UINT8);
#undef DML_CONV_PACK
}
#undef conv_pack_masked
