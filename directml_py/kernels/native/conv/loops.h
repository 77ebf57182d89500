/* Panels and tiles. A panel has a row for each tap of the window in each channel: what so many neighbouring steps see
   there. A tile has the sums of some filters at these steps, in registers while a panel goes by. */

#if defined(DML_AVX512)
#define DML_CONV_LANES 16
#elif defined(DML_AVX2)
#define DML_CONV_LANES 8
#else
#define DML_CONV_LANES 4
#endif

typedef float LOOP(conv_vector) __attribute__((vector_size(4 * DML_CONV_LANES)));

/* ROWS filters and VECTORS vectors of pixels: sums of ROWS * VECTORS vectors stay in registers. */
#define DML_CONV_TILE(ROWS, VECTORS)                                                                                   \
    static void LOOP(conv_tile_##ROWS##_##VECTORS)(float *tile, const float *weights, int64_t row, const float *panel, \
                                                   int64_t depth, int adds)                                            \
    {                                                                                                                  \
        LOOP(conv_vector) sums[ROWS][VECTORS], *results = (LOOP(conv_vector) *)tile;                                   \
        const LOOP(conv_vector) *pixels = (const LOOP(conv_vector) *)panel;                                            \
        const float *rows[ROWS];                                                                                       \
        _Pragma("GCC unroll 16") for (int i = 0; i < ROWS; i++)                                                        \
        {                                                                                                              \
            rows[i] = weights + i * row;                                                                               \
            _Pragma("GCC unroll 16") for (int j = 0; j < VECTORS; j++) sums[i][j] =                                    \
                adds ? results[i * VECTORS + j] : (LOOP(conv_vector)){0};                                              \
        }                                                                                                              \
        DML_ROLLED for (int64_t k = 0; k < depth; k++)                                                                 \
        {                                                                                                              \
            LOOP(conv_vector) seen[VECTORS];                                                                           \
            _Pragma("GCC unroll 16") for (int j = 0; j < VECTORS; j++) seen[j] = pixels[k * VECTORS + j];              \
            _Pragma("GCC unroll 16") for (int i = 0; i < ROWS; i++)                                                    \
                _Pragma("GCC unroll 16") for (int j = 0; j < VECTORS; j++) sums[i][j] += seen[j] * rows[i][k];         \
        }                                                                                                              \
        _Pragma("GCC unroll 16") for (int i = 0; i < ROWS; i++)                                                        \
            _Pragma("GCC unroll 16") for (int j = 0; j < VECTORS; j++) results[i * VECTORS + j] = sums[i][j];          \
    }
#define DML_CONV_TILES(VECTORS, MOST)                                                                                  \
    DML_CONV_TILE(MOST, VECTORS) DML_CONV_TILE(4, VECTORS) DML_CONV_TILE(2, VECTORS) DML_CONV_TILE(1, VECTORS)
#define DML_CONV_NAMES(VECTORS, MOST)                                                                                  \
    {LOOP(conv_tile_##MOST##_##VECTORS), LOOP(conv_tile_4_##VECTORS), LOOP(conv_tile_2_##VECTORS),                     \
     LOOP(conv_tile_1_##VECTORS)}

DML_CONV_TILES(1, 8)
DML_CONV_TILES(2, 6)
#if defined(DML_AVX512)
DML_CONV_TILES(3, 8)
DML_CONV_TILES(4, 6)
#endif

DML_INLINE float LOOP(conv_element)(const void *input, int64_t place, int type)
{
    if (type == DML_CONV_FLOATS)
        return ((const float *)input)[place];
    return dml_float_of_half(((const uint16_t *)input)[place]);
}

DML_INLINE void LOOP(conv_pack_any)(float *panel, const char *input, const dml_conv_packing *packing, int type,
                                    int64_t step)
{
    for (int64_t c = 0; c < packing->channels; c++) {
        memset(panel, 0, (size_t)packing->vectors * DML_CONV_LANES * 4);
        for (const dml_conv_run_of_pixels *run = packing->run; run < packing->run + packing->runs; run++)
            for (int i = run->first; i < run->first + run->count; i++)
                panel[run->vector * DML_CONV_LANES + i] = LOOP(conv_element)(input, run->place + i * step, type);
        input += packing->channel_stride * (type == DML_CONV_FLOATS ? 4 : 2);
        panel += packing->row;
    }
}

#if defined(DML_AVX512)
/* The pixels of a run, neighbours or every other one; elsewhere 0. Nothing is read but these. */
DML_INLINE __m512 LOOP(conv_pixels)(const char *input, int64_t place, uint32_t mask, int type, int64_t step)
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

DML_INLINE void LOOP(conv_pack_near)(float *panel, const char *input, const dml_conv_packing *packing, int type,
                                     int64_t step)
{
    uint32_t masks[2 * 16 * DML_CONV_VECTORS];
    for (int r = 0; r < packing->runs; r++) {
        const dml_conv_run_of_pixels *run = packing->run + r;
        masks[r] = step == 1 ? ((1u << run->count) - 1) << run->first
                             : (uint32_t)((((uint64_t)1 << 2 * run->count) - 1) << 2 * run->first) & 0x55555555u;
    }
    for (int64_t c = 0; c < packing->channels; c++) {
        int r = 0;
        for (int i = 0; i < packing->vectors; i++) {
            __m512 pixels = _mm512_setzero_ps();
            for (; r < packing->runs && packing->run[r].vector == i; r++)
                pixels = _mm512_or_ps(
                    pixels, LOOP(conv_pixels)(input, packing->run[r].place, masks[r], type, step));
            _mm512_store_ps(panel + 16 * i, pixels);
        }
        input += packing->channel_stride * (type == DML_CONV_FLOATS ? 4 : 2);
        panel += packing->row;
    }
}
#else
#define conv_pack_near conv_pack_any
#endif

static DML_ONCE void LOOP(conv_pack)(float *panel, const void *input, const dml_conv_packing *packing)
{
    int64_t step = packing->step;
    if (packing->type == DML_CONV_FLOATS) {
        if (step == 1)
            LOOP(conv_pack_near)(panel, input, packing, DML_CONV_FLOATS, 1);
        else if (step == 2)
            LOOP(conv_pack_near)(panel, input, packing, DML_CONV_FLOATS, 2);
        else
            LOOP(conv_pack_any)(panel, input, packing, DML_CONV_FLOATS, step);
    } else {
        if (step == 1)
            LOOP(conv_pack_near)(panel, input, packing, DML_CONV_HALVES, 1);
        else if (step == 2)
            LOOP(conv_pack_near)(panel, input, packing, DML_CONV_HALVES, 2);
        else
            LOOP(conv_pack_any)(panel, input, packing, DML_CONV_HALVES, step);
    }
}
#undef conv_pack_near

/* `count` sums of one filter, into the output. */
static DML_ONCE void LOOP(conv_store)(const dml_conv *task, int64_t place, const float *tile, int64_t count,
                                      int64_t output)
{
    float values[DML_CONV_LANES * DML_CONV_VECTORS], slope = task->slope;
    float *target = task->output_type == DML_CONV_FLOATS ? (float *)task->output + place : values;
    float bias = 0.0f;
    if (task->bias)
        bias = LOOP(conv_element)((const void *)task->bias, output * task->bias_stride, task->type);
    for (int64_t i = 0; i < count; i++) {
        float sum = tile[i] + bias;
        if (task->activation == DML_CONV_RELU)
            target[i] = sum > 0.0f ? sum : 0.0f;
        else if (task->activation == DML_CONV_LEAKY_RELU)
            target[i] = sum < 0.0f ? sum * slope : sum;
        else
            target[i] = sum;
    }
    if (task->output_type == DML_CONV_HALVES)
        LOOP(halves_of_floats)((uint16_t *)task->output + place, values, count);
}

static const dml_conv_table LOOP(conv_table) = {
    DML_CONV_LANES,
#if defined(DML_AVX512)
    4,
    {{8, 4, 2, 1}, {6, 4, 2, 1}, {8, 4, 2, 1}, {6, 4, 2, 1}},
    {DML_CONV_NAMES(1, 8), DML_CONV_NAMES(2, 6), DML_CONV_NAMES(3, 8), DML_CONV_NAMES(4, 6)},
#else
    2,
    {{8, 4, 2, 1}, {6, 4, 2, 1}},
    {DML_CONV_NAMES(1, 8), DML_CONV_NAMES(2, 6)},
#endif
    LOOP(conv_pack),
    LOOP(conv_store),
};
#undef DML_CONV_LANES
#undef DML_CONV_TILE
#undef DML_CONV_TILES
#undef DML_CONV_NAMES
