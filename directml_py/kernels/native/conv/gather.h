/* Rows of panels: what pixels see at one tap, in one channel after the other. Nothing is read but that. */

DML_INLINE float LOOP(conv_element)(const void *input, int64_t place, int type)
{
    if (type == DML_CONV_FLOATS)
        return ((const float *)input)[place];
    return dml_float_of_half(((const uint16_t *)input)[place]);
}

DML_INLINE void LOOP(conv_pack_any)(void *panel, const char *input, const dml_conv_packing *packing, int type,
                                    int64_t step)
{
    int64_t size = type == DML_CONV_FLOATS ? 4 : type == DML_CONV_HALVES ? 2 : 1;
    int64_t width = packing->vectors * LOOP(conv_lanes);
    for (int64_t c = 0; c < packing->channels; c++, input += packing->channel_stride * size) {
        uint8_t *bytes = (uint8_t *)panel + c * packing->row;
        float *floats = (float *)panel + c * packing->row;
        if (size == 1)
            memset(bytes, packing->zero, (size_t)width);
        else
            memset(floats, 0, (size_t)width * 4);
        for (const dml_conv_run_of_pixels *run = packing->run; run < packing->run + packing->runs; run++)
            for (int i = run->first, at = run->vector * LOOP(conv_lanes); i < run->first + run->count; i++)
                if (size == 1)
                    bytes[at + i] = ((const uint8_t *)input)[run->place + i * step];
                else
                    floats[at + i] = LOOP(conv_element)(input, run->place + i * step, type);
    }
}

#if defined(DML_AVX512)
/* The runs of the pixels of each vector, at least one, up to its end; and which of them there are none of. */
typedef struct {
    int64_t places[3 * DML_CONV_WIDEST];
    uint32_t masks[3 * DML_CONV_WIDEST];
    int32_t ends[DML_CONV_VECTORS];
    uint16_t padding[DML_CONV_VECTORS];
} LOOP(conv_plan);

DML_INLINE void LOOP(conv_find_plan)(LOOP(conv_plan) *plan, const dml_conv_packing *packing, int64_t step)
{
    int r = 0, count = 0;
    for (int i = 0; i < packing->vectors; i++) {
        uint32_t all = 0;
        int before = count;
        for (; r < packing->runs && packing->run[r].vector == i; r++) {
            const dml_conv_run_of_pixels *run = packing->run + r;
            uint32_t mask = ((1u << run->count) - 1) << run->first;
            uint64_t twice = (((uint64_t)1 << 2 * run->count) - 1) << 2 * run->first;
            /* Of rows that follow each other in the input as they do here, one vector sees the ends of several. */
            if (count == before || plan->places[count - 1] != run->place) {
                plan->places[count] = run->place;
                plan->masks[count++] = 0;
            }
            plan->masks[count - 1] |= step == 1 ? mask : (uint32_t)twice & 0x55555555u;
            all |= mask;
        }
        if (count == before) {
            plan->places[count] = 0;
            plan->masks[count++] = 0;
        }
        plan->ends[i] = count;
        plan->padding[i] = (uint16_t)~all;
    }
}

/* The pixels of a run, neighbours or every other one; elsewhere 0. */
DML_INLINE __m512 LOOP(conv_read)(const char *input, int64_t place, uint32_t mask, int type, int64_t step)
{
    if (type == DML_CONV_HALVES) {
        const uint16_t *halves = (const uint16_t *)input + place;
        if (step == 1)
            return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16((__mmask16)mask, halves));
        return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(_mm512_maskz_loadu_epi16(mask, halves)));
    }
    const float *floats = (const float *)input + place;
    __m512 low = _mm512_maskz_loadu_ps((__mmask16)mask, floats);
    if (step == 1)
        return low;
    return _mm512_permutex2var_ps(
        low, _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0),
        _mm512_maskz_loadu_ps((__mmask16)(mask >> 16), floats + 16));
}

DML_INLINE __m128i LOOP(conv_read_bytes)(const char *input, int64_t place, uint32_t mask, int64_t step)
{
    if (step == 1)
        return _mm_maskz_loadu_epi8((__mmask16)mask, input + place);
    return _mm256_cvtepi16_epi8(_mm256_maskz_loadu_epi8(mask, input + place));
}

DML_INLINE void LOOP(conv_pack_near)(void *panel, const char *input, const dml_conv_packing *packing, int type,
                                     int64_t step)
{
    LOOP(conv_plan) plan;
    int64_t size = packing->channel_stride * (type == DML_CONV_FLOATS ? 4 : type == DML_CONV_HALVES ? 2 : 1);
    uint8_t *bytes = panel;
    float *floats = panel;
    __m128i zero = _mm_set1_epi8((char)packing->zero);
    LOOP(conv_find_plan)(&plan, packing, step);
    if (type == DML_CONV_UINT8)
        for (int64_t c = 0; c < packing->channels; c++, input += size, bytes += packing->row)
            for (int i = 0, k = 0; i < packing->vectors; i++) {
                __m128i pixels = _mm_maskz_mov_epi8(plan.padding[i], zero);
                for (; k < plan.ends[i]; k++)
                    pixels = _mm_or_si128(pixels, LOOP(conv_read_bytes)(input, plan.places[k], plan.masks[k], step));
                _mm_storeu_si128((__m128i *)(bytes + 16 * i), pixels);
            }
    else if (packing->vectors == 3 && plan.ends[2] == 3)
        for (int64_t c = 0; c < packing->channels; c++, input += size, floats += packing->row)
            _Pragma("GCC unroll 4") for (int i = 0; i < 3; i++)
                _mm512_store_ps(floats + 16 * i, LOOP(conv_read)(input, plan.places[i], plan.masks[i], type, step));
    else
        for (int64_t c = 0; c < packing->channels; c++, input += size, floats += packing->row)
            for (int i = 0, k = 0; i < packing->vectors; i++) {
                __m512 pixels = LOOP(conv_read)(input, plan.places[k], plan.masks[k], type, step);
                for (k++; k < plan.ends[i]; k++)
                    pixels = _mm512_or_ps(pixels, LOOP(conv_read)(input, plan.places[k], plan.masks[k], type, step));
                _mm512_store_ps(floats + 16 * i, pixels);
            }
}
#else
#define conv_pack_near conv_pack_any
#endif

static DML_ONCE void LOOP(conv_pack)(void *panel, const void *input, const dml_conv_packing *packing)
{
    int64_t step = packing->step;
#define DML_CONV_PACK(TYPE)                                                                                            \
    if (step == 1)                                                                                                     \
        LOOP(conv_pack_near)(panel, input, packing, TYPE, 1);                                                          \
    else if (step == 2)                                                                                                \
        LOOP(conv_pack_near)(panel, input, packing, TYPE, 2);                                                          \
    else                                                                                                               \
        LOOP(conv_pack_any)(panel, input, packing, TYPE, step)
    if (packing->type == DML_CONV_FLOATS)
        DML_CONV_PACK(DML_CONV_FLOATS);
    else if (packing->type == DML_CONV_HALVES)
        DML_CONV_PACK(DML_CONV_HALVES);
    else
        DML_CONV_PACK(DML_CONV_UINT8);
#undef DML_CONV_PACK
}
#undef conv_pack_near
