/* Units of a window that slides. Packed without padding that would have to be asked about, rows of the input follow
   each other, so that vectors run on over the ends of rows: what they compute between two rows is not stored. */

#undef DML_SLIDE_LANES
#undef DML_SLIDE_LARGER
#if defined(DML_AVX512)
#define DML_SLIDE_LANES 16
#elif defined(DML_AVX2)
#define DML_SLIDE_LANES 8
#else
#define DML_SLIDE_LANES 4
#endif
typedef float LOOP(slide_vector) __attribute__((vector_size(4 * DML_SLIDE_LANES), aligned(4), may_alias));
typedef int32_t LOOP(slide_mask) __attribute__((vector_size(4 * DML_SLIDE_LANES), aligned(4), may_alias));

/* The larger one, `best` where `value` is NaN. */
DML_INLINE LOOP(slide_vector) LOOP(slide_larger)(LOOP(slide_vector) value, LOOP(slide_vector) best)
{
#if defined(DML_AVX512)
    return (LOOP(slide_vector))_mm512_max_ps((__m512)value, (__m512)best);
#elif defined(DML_AVX2)
    return (LOOP(slide_vector))_mm256_max_ps((__m256)value, (__m256)best);
#elif defined(__x86_64__)
    return (LOOP(slide_vector))_mm_max_ps((__m128)value, (__m128)best);
#else
    LOOP(slide_mask) larger = value > best;
    return (LOOP(slide_vector))((larger & (LOOP(slide_mask))value) | (~larger & (LOOP(slide_mask))best));
#endif
}

/* What is computed of `start` and all taps for `count` places that follow each other, and up to a block beyond them. */
#define DML_SLIDE_BLOCK 4
#undef DML_SLIDE_FLAT
#define DML_SLIDE_FLAT(NAME, STEP)                                                                                     \
    static DML_ONCE void LOOP(NAME)(float *out, const float *in, float start, const int32_t *places,                   \
                                    const float *weights, int64_t taps, int64_t count)                                 \
    {                                                                                                                  \
        (void)weights;                                                                                                 \
        for (int64_t i = 0; i < count; i += DML_SLIDE_BLOCK * DML_SLIDE_LANES) {                                       \
            LOOP(slide_vector) totals[DML_SLIDE_BLOCK];                                                                \
            for (int j = 0; j < DML_SLIDE_BLOCK; j++)                                                                  \
                totals[j] = (LOOP(slide_vector)){0} + start;                                                           \
            for (int64_t tap = 0; tap < taps; tap++) {                                                                 \
                const LOOP(slide_vector) *seen = (const LOOP(slide_vector) *)(in + i + places[tap]);                   \
                for (int j = 0; j < DML_SLIDE_BLOCK; j++)                                                              \
                    totals[j] = STEP(totals[j], seen[j]);                                                              \
            }                                                                                                          \
            memcpy(out + i, totals, sizeof totals);                                                                    \
        }                                                                                                              \
    }
#undef DML_SLIDE_ADD
#undef DML_SLIDE_ADD_PRODUCT
#undef DML_SLIDE_TAKE_LARGER
#define DML_SLIDE_ADD(total, value) (total) + (value)
#define DML_SLIDE_ADD_PRODUCT(total, value) (total) + weights[tap] * (value)
#define DML_SLIDE_TAKE_LARGER(best, value) LOOP(slide_larger)(value, best)
DML_SLIDE_FLAT(slide_add, DML_SLIDE_ADD)
DML_SLIDE_FLAT(slide_add_products, DML_SLIDE_ADD_PRODUCT)
DML_SLIDE_FLAT(slide_maximum, DML_SLIDE_TAKE_LARGER)

/* The largest ones too, and the first tap of each; -1 where no tap is larger than -infinity. */
static DML_ONCE void LOOP(slide_first)(float *out, int32_t *which, const float *in, const int32_t *places, int64_t taps,
                                       int64_t count)
{
    for (int64_t i = 0; i < count; i += DML_SLIDE_BLOCK * DML_SLIDE_LANES) {
        LOOP(slide_vector) best[DML_SLIDE_BLOCK];
        LOOP(slide_mask) firsts[DML_SLIDE_BLOCK];
        for (int j = 0; j < DML_SLIDE_BLOCK; j++) {
            best[j] = (LOOP(slide_vector)){0} - INFINITY;
            firsts[j] = (LOOP(slide_mask)){0} - 1;
        }
        for (int64_t tap = 0; tap < taps; tap++) {
            const LOOP(slide_vector) *seen = (const LOOP(slide_vector) *)(in + i + places[tap]);
            for (int j = 0; j < DML_SLIDE_BLOCK; j++) {
#if defined(DML_AVX512)
                __mmask16 larger = _mm512_cmp_ps_mask((__m512)seen[j], (__m512)best[j], _CMP_GT_OQ);
                firsts[j] = (LOOP(slide_mask))_mm512_mask_set1_epi32((__m512i)firsts[j], larger, (int)tap);
#else
                LOOP(slide_mask) larger = seen[j] > best[j];
                firsts[j] = (larger & (int32_t)tap) | (~larger & firsts[j]);
#endif
                best[j] = LOOP(slide_larger)(seen[j], best[j]);
            }
        }
        memcpy(out + i, best, sizeof best);
        memcpy(which + i, firsts, sizeof firsts);
    }
}

/* `line` becomes what is computed of `start` and all rows; up to a vector behind its end is overwritten. */
#undef DML_SLIDE_JOIN
#define DML_SLIDE_JOIN(NAME, STEP)                                                                                     \
    static DML_ONCE void LOOP(NAME)(float *line, float start, const float *const *rows, int64_t height, int64_t count) \
    {                                                                                                                  \
        int64_t i = 0;                                                                                                 \
        for (; i + DML_SLIDE_LANES <= count; i += DML_SLIDE_LANES) {                                                   \
            LOOP(slide_vector) total = (LOOP(slide_vector)){0} + start;                                                \
            for (int64_t row = 0; row < height; row++)                                                                 \
                total = STEP(total, *(const LOOP(slide_vector) *)(rows[row] + i));                                     \
            *(LOOP(slide_vector) *)(line + i) = total;                                                                 \
        }                                                                                                              \
        if (i == count)                                                                                                \
            return;                                                                                                    \
        LOOP(slide_vector) total = (LOOP(slide_vector)){0} + start;                                                    \
        for (int64_t row = 0; row < height; row++)                                                                     \
            total = STEP(total, LOOP(slide_begin)(rows[row] + i, count - i));                                          \
        *(LOOP(slide_vector) *)(line + i) = total;                                                                     \
    }

/* The first elements of a vector; nothing behind them is read. */
DML_INLINE LOOP(slide_vector) LOOP(slide_begin)(const float *from, int64_t count)
{
#if defined(DML_AVX512)
    return (LOOP(slide_vector))_mm512_maskz_loadu_ps((__mmask16)((1u << count) - 1), from);
#else
    LOOP(slide_vector) values = {0};
    for (int64_t i = 0; i < count; i++)
        values[i] = from[i];
    return values;
#endif
}

DML_SLIDE_JOIN(slide_add_rows, DML_SLIDE_ADD)
DML_SLIDE_JOIN(slide_maximum_rows, DML_SLIDE_TAKE_LARGER)

/* Two parts of a copy that overlap where there is less to copy than both hold. */
DML_INLINE void LOOP(slide_copy_ends)(float *out, const float *from, int64_t count, const int64_t part)
{
    memcpy(out, from, (size_t)part * 4);
    memcpy(out + count - part, from + count - part, (size_t)part * 4);
}

/* Vectors that are stored in part are slow on some processors. */
DML_INLINE void LOOP(slide_copy)(float *out, const float *from, int64_t count)
{
    if (count >= DML_SLIDE_LANES) {
        for (int64_t i = 0; i < count - DML_SLIDE_LANES; i += DML_SLIDE_LANES)
            *(LOOP(slide_vector) *)(out + i) = *(const LOOP(slide_vector) *)(from + i);
        memcpy(out + count - DML_SLIDE_LANES, from + count - DML_SLIDE_LANES, 4 * DML_SLIDE_LANES);
    } else if (count >= 8) {
        LOOP(slide_copy_ends)(out, from, count, 8);
    } else if (count >= 4) {
        LOOP(slide_copy_ends)(out, from, count, 4);
    } else {
        for (int64_t i = 0; i < count; i++)
            out[i] = from[i];
    }
}

/* Every second element of two vectors. */
DML_INLINE LOOP(slide_vector) LOOP(slide_evens)(LOOP(slide_vector) low, LOOP(slide_vector) high)
{
#if defined(DML_AVX512)
    return __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
#elif defined(DML_AVX2)
    return __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14);
#else
    return __builtin_shufflevector(low, high, 0, 2, 4, 6);
#endif
}

/* Every second element; nothing behind the last one is read. */
DML_INLINE void LOOP(slide_halve)(float *out, const float *from, int64_t count)
{
    int64_t i = 0;
    for (; i + DML_SLIDE_LANES < count; i += DML_SLIDE_LANES)
        *(LOOP(slide_vector) *)(out + i) =
            LOOP(slide_evens)(*(const LOOP(slide_vector) *)(from + 2 * i),
                              *(const LOOP(slide_vector) *)(from + 2 * i + DML_SLIDE_LANES));
#if defined(DML_AVX512)
    uint32_t seen = (uint32_t)((1ull << (2 * (count - i) - 1)) - 1);
    __m512 low = _mm512_maskz_loadu_ps((__mmask16)seen, from + 2 * i);
    __m512 high = _mm512_maskz_loadu_ps((__mmask16)(seen >> 16), from + 2 * i + DML_SLIDE_LANES);
    LOOP(slide_vector) rest = LOOP(slide_evens)((LOOP(slide_vector))low, (LOOP(slide_vector))high);
    LOOP(slide_copy)(out + i, (const float *)&rest, count - i);
#else
    for (; i < count; i++)
        out[i] = from[2 * i];
#endif
}

/* Elements from `first` on, a stride apart, of a line of `size`; `outside` for those that are not in it, unless they
   are known to be there. */
DML_INLINE void LOOP(slide_pack)(float *out, const float *line, int64_t size, int64_t first, int64_t stride,
                                 int64_t count, float outside, int has_outside)
{
    int64_t begin = first >= 0 ? 0 : stride == 1 ? -first : (-first + stride - 1) / stride;
    int64_t end = first >= size ? 0 : stride == 1 ? size - first : (size - first + stride - 1) / stride;
    begin = begin < count ? begin : count;
    end = end < begin ? begin : end < count ? end : count;
    if (begin < end) {
        line += first + begin * stride;
        if (stride == 1)
            LOOP(slide_copy)(out + begin, line, end - begin);
        else if (stride == 2)
            LOOP(slide_halve)(out + begin, line, end - begin);
        else
            for (int64_t i = 0; i < end - begin; i++)
                out[begin + i] = line[i * stride];
    }
    if (has_outside)
        return;
    for (int64_t i = 0; i < begin; i++)
        out[i] = outside;
    for (int64_t i = end; i < count; i++)
        out[i] = outside;
}

typedef struct {
    const char *x;
    int64_t at[3];
    int64_t rows, columns;
    /* What a byte is that stands for 0. */
    float zero;
} LOOP(slide_unit);

/* Elements of a row as floats, as in `floats_of_row`; bytes less their zero point. */
DML_INLINE const float *LOOP(slide_row)(const dml_slide *task, const LOOP(slide_unit) *unit, float *line, const char *row,
                                        int64_t begin, int64_t end)
{
    int64_t step = task->x_strides[4];
    const char *from = row + begin * step;
    if (!task->bytes.is_there)
        return LOOP(floats_of_row)(line, row, step, begin, end, task->is_half);
    if (task->bytes.is_signed)
        for (int64_t i = 0; i < end - begin; i++)
            line[i] = (float)*(const int8_t *)(from + i * step) - unit->zero;
    else if (step == 1)
        for (int64_t i = 0; i < end - begin; i++)
            line[i] = (float)(uint8_t)from[i] - unit->zero;
    else
        for (int64_t i = 0; i < end - begin; i++)
            line[i] = (float)(uint8_t)from[i * step] - unit->zero;
    return line;
}

/* The input of a unit, as the plan says. What is outside need not be written where the unit before, of another channel,
   had it at the same places. */
static DML_ONCE void LOOP(slide_fill)(const dml_slide_plan *plan, const LOOP(slide_unit) *unit, float *packed,
                                      float *line, float outside, int has_outside)
{
    const dml_slide *task = plan->task;
    const dml_slide_axis *rows = &plan->axes[1], *columns = &plan->axes[2];
    int64_t size = task->sizes[2], left = unit->at[2] * task->strides[2] - task->padding[2];
    int64_t right = left + (unit->columns - 1) * task->strides[2] + (task->window[2] - 1) * task->dilations[2] + 1;
    int64_t begin = left < 0 ? 0 : left, end = right < size ? right : size;
    for (int64_t tap = 0; tap < task->window[0]; tap++) {
        int64_t z = unit->at[0] * task->strides[0] - task->padding[0] + tap * task->dilations[0];
        for (int64_t i = 0; i < rows->phases; i++) {
            for (int64_t row = 0; row < unit->rows + rows->reaches[i]; row++) {
                int64_t y = (unit->at[1] + row) * task->strides[1] + rows->firsts[i] - task->padding[1];
                float *out = packed + ((tap * rows->phases + i) * columns->phases * plan->height + row) * plan->width;
                const float *seen = NULL;
                if (z >= 0 && z < task->sizes[0] && y >= 0 && y < task->sizes[1] && begin < end)
                    seen = LOOP(floats_of_row)(line, unit->x + z * task->x_strides[2] + y * task->x_strides[3],
                                            task->x_strides[4], begin, end, task->is_half);
                if (!seen && has_outside)
                    continue;
                for (int64_t j = 0; j < columns->phases; j++, out += plan->height * plan->width)
                    LOOP(slide_pack)(out, seen, seen ? end - begin : 0, left + columns->firsts[j] - begin,
                                     task->strides[2], unit->columns + columns->reaches[j], outside, has_outside);
            }
        }
    }
}

/* The input of a unit of a pool: what its columns come to, packed as {phase of columns, rows, width}. */
static DML_ONCE void LOOP(slide_fill_joined)(const dml_slide_plan *plan, const LOOP(slide_unit) *unit, float *packed,
                                             float *line, float outside, int has_outside)
{
    const dml_slide *task = plan->task;
    const dml_slide_axis *columns = &plan->axes[2];
    int64_t size = task->sizes[2], left = unit->at[2] * task->strides[2] - task->padding[2];
    int64_t right = left + (unit->columns - 1) * task->strides[2] + (task->window[2] - 1) * task->dilations[2] + 1;
    int64_t begin = left < 0 ? 0 : left, end = right < size ? right : size, span = end - begin;
    int is_plain = !task->is_half && !task->bytes.is_there && task->x_strides[4] == 4;
    void (*join)(float *, float, const float *const *, int64_t, int64_t) =
        task->function == DML_SLIDE_MEAN ? LOOP(slide_add_rows) : LOOP(slide_maximum_rows);
    for (int64_t row = 0; row < unit->rows; row++) {
        const float *rows[DML_SLIDE_TAPS];
        int64_t height = 0;
        for (int64_t tap = 0; tap < task->window[0] * task->window[1] && begin < end; tap++) {
            int64_t z = unit->at[0] * task->strides[0] - task->padding[0] + tap / task->window[1] * task->dilations[0];
            int64_t y = (unit->at[1] + row) * task->strides[1] - task->padding[1] +
                        tap % task->window[1] * task->dilations[1];
            if (z < 0 || z >= task->sizes[0] || y < 0 || y >= task->sizes[1])
                continue;
            rows[height++] = LOOP(slide_row)(task, unit, line + span,
                                             unit->x + z * task->x_strides[2] + y * task->x_strides[3], begin, end);
            /* A row that is in the way of the next one is joined at once. */
            if (!is_plain) {
                const float *both[] = {line, line + span};
                join(line, outside, height == 1 ? both + 1 : both, height == 1 ? 1 : 2, span);
            }
        }
        if (is_plain && task->strides[2] == 1 && height > 0) {
            /* What a vector leaves behind the end is overwritten, by what is outside or by the next row. */
            float *out = packed + row * plan->width;
            int64_t before = begin - left, width = unit->columns + columns->reach;
            join(out + before, outside, rows, height, span);
            for (int64_t i = 0; i < before; i++)
                out[i] = outside;
            for (int64_t i = before + span; i < width; i++)
                out[i] = outside;
            continue;
        }
        if (is_plain && height > 0)
            join(line, outside, rows, height, span);
        for (int64_t i = 0; i < columns->phases; i++)
            LOOP(slide_pack)(packed + (i * plan->rows + row) * plan->width, line, height > 0 ? span : 0,
                             left + columns->firsts[i] - begin, task->strides[2], unit->columns + columns->reaches[i],
                             outside, has_outside && height > 0);
    }
}

DML_INLINE void LOOP(slide_store)(char *output, int64_t step, float *values, int64_t count, int is_half)
{
    uint16_t halves[DML_SLIDE_COLUMNS];
    if (!is_half && step == 4) {
        LOOP(slide_copy)((float *)output, values, count);
        return;
    }
    if (!is_half) {
        for (int64_t i = 0; i < count; i++)
            memcpy(output + i * step, values + i, 4);
        return;
    }
    LOOP(halves_of_floats)(halves, values, count);
    if (step == 2) {
        memcpy(output, halves, (size_t)count * 2);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        memcpy(output + i * step, halves + i, 2);
}

/* Division is slow; where a row has one divisor, a power of two, a product is the same. */
static DML_ONCE void LOOP(slide_divide)(float *values, const float *counts, float others, int64_t count)
{
    float first = others * counts[0], inverse = 1 / first;
    uint32_t differs = 0, bits;
    for (int64_t i = 0; i < count; i++)
        differs |= counts[i] != counts[0];
    memcpy(&bits, &first, 4);
    if (!differs && first >= 1 && (bits & 0x7fffffu) == 0) {
        for (int64_t i = 0; i < count; i++)
            values[i] *= inverse;
    } else {
        for (int64_t i = 0; i < count; i++)
            values[i] /= others * counts[i];
    }
}

/* Means of bytes, quantized; NaN becomes the lowest. */
static DML_ONCE void LOOP(slide_quantize)(const dml_slide_bytes *bytes, int64_t channel, char *output, int64_t step,
                                          const float *sums, const float *counts, float others, int64_t count)
{
    const char *own = (const char *)bytes->scale + channel * bytes->scale_stride;
    const char *stored = (const char *)bytes->stored_scale + channel * bytes->stored_scale_stride;
    const double scale = dml_load_float(own, 0);
    const float divisor = dml_load_float(stored, 0);
    const float zero = dml_slide_byte(bytes->stored_zero, channel * bytes->stored_zero_stride, bytes->stores_signed);
    const float lowest = bytes->stores_signed ? -128.0f : 0.0f, highest = lowest + 255.0f;
    uint8_t results[DML_SLIDE_COLUMNS];
    for (int64_t i = 0; i < count; i++) {
        float mean = (float)(sums[i] * scale / ((double)others * counts[i]));
        float value = rintf(mean / divisor) + zero;
        value = value > lowest ? value : lowest;
        value = value < highest ? value : highest;
        results[i] = (uint8_t)(int32_t)value;
    }
    if (step == 1)
        memcpy(output, results, (size_t)count);
    else
        for (int64_t i = 0; i < count; i++)
            output[i * step] = (char)results[i];
}

/* The sum of so many bytes, each less `zero`. */
DML_INLINE float LOOP(slide_sum_bytes)(const uint8_t *bytes, int64_t count, float zero, int is_signed)
{
    const uint8_t flip = is_signed ? 0x80 : 0;
    int64_t total = 0, i = 0;
#if defined(DML_AVX512)
    __m512i totals = _mm512_setzero_si512(), flips = _mm512_set1_epi8((char)flip);
    for (; i < count; i += 64) {
        __mmask64 seen = count - i < 64 ? ((__mmask64)1 << (count - i)) - 1 : ~(__mmask64)0;
        __m512i values = _mm512_maskz_loadu_epi8(seen, bytes + i);
        values = _mm512_xor_si512(values, _mm512_maskz_mov_epi8(seen, flips));
        totals = _mm512_add_epi64(totals, _mm512_sad_epu8(values, _mm512_setzero_si512()));
    }
    total = _mm512_reduce_add_epi64(totals);
#endif
    for (; i < count; i++)
        total += bytes[i] ^ flip;
    return (float)(total - count * (flip + (int64_t)zero));
}

static DML_ONCE void LOOP(slide_activate)(float *values, int64_t count, float slope, int activation)
{
    if (activation == DML_SLIDE_RELU)
        for (int64_t i = 0; i < count; i++)
            values[i] = values[i] > 0.0f ? values[i] : 0.0f;
    else
        for (int64_t i = 0; i < count; i++)
            values[i] = values[i] < 0.0f ? values[i] * slope : values[i];
}

/* What is -infinity may be one, NaN, or nothing at all. */
static DML_ONCE void LOOP(slide_mend)(const dml_slide *task, const dml_slide_place *first, float *values, int64_t count)
{
    uint32_t any = 0;
    for (int64_t i = 0; i < count; i++)
        any |= values[i] == -INFINITY;
    if (!any)
        return;
    dml_slide_place place = *first;
    for (int64_t i = 0; i < count; i++, place.at[2]++)
        if (values[i] == -INFINITY)
            values[i] = dml_slide_exact(task, &place, NULL);
}

/* A row of results, from what is computed to the output. */
DML_INLINE void LOOP(slide_finish)(const dml_slide_plan *plan, const LOOP(slide_unit) *unit, int64_t row, int64_t plane,
                                   char *output, float *values, const int32_t *which)
{
    const dml_slide *task = plan->task;
    dml_slide_place place = {unit->x, plane, {unit->at[0], unit->at[1] + row, unit->at[2]}};
    int64_t count = unit->columns;
    if (task->function == DML_SLIDE_MEAN) {
        const float *counts[] = {(const float *)task->counts[0], (const float *)task->counts[1],
                                 (const float *)task->counts[2]};
        const float others = counts[0][place.at[0]] * counts[1][place.at[1]];
        if (task->bytes.is_there) {
            LOOP(slide_quantize)(&task->bytes, plane % task->channels, output, task->output_strides[4], values,
                                 counts[2] + place.at[2], others, count);
            return;
        }
        LOOP(slide_divide)(values, counts[2] + place.at[2], others, count);
    } else if (task->function == DML_SLIDE_MAXIMUM) {
        LOOP(slide_mend)(task, &place, values, count);
        if (task->indices)
            dml_slide_indices(plan, &place, which, count);
    } else if (task->activation != DML_SLIDE_IDENTITY) {
        LOOP(slide_activate)(values, count, task->slope, task->activation);
    }
    LOOP(slide_store)(output, task->output_strides[4], values, count, task->stores_half);
    const dml_rows_channel *normal = dml_rows_channel_of(&task->normalization, plane % task->channels);
    if (normal)
        LOOP(rows_give)((float *)output, (const float *)output, count, normal);
}

static void LOOP(slide_compute)(const dml_slide_plan *plan, const LOOP(slide_unit) *unit, int64_t plane, char *memory,
                                int has_outside)
{
    const dml_slide *task = plan->task;
    float *packed = (float *)memory, *values = packed + plan->packed;
    int32_t *which = (int32_t *)(values + plan->values);
    float *line = (float *)which + (task->indices ? plan->values : 0), weights[DML_SLIDE_TAPS];
    float start = task->function == DML_SLIDE_MAXIMUM ? -INFINITY : 0.0f;
    int64_t count = (unit->rows - 1) * plan->width + unit->columns;
    int64_t batch = plane / task->channels, channel = plane % task->channels;
    char *output = (char *)task->output + batch * task->output_strides[0] + channel * task->output_strides[1];
    for (int i = 0; i < 3; i++)
        output += unit->at[i] * task->output_strides[i + 2];
    if (plan->is_whole) {
        *values = LOOP(slide_sum_bytes)((const uint8_t *)unit->x, task->sizes[0] * task->sizes[1] * task->sizes[2], unit->zero, task->bytes.is_signed);
    } else if (plan->is_joined) {
        LOOP(slide_fill_joined)(plan, unit, packed, line, start, has_outside);
        if (task->function == DML_SLIDE_MEAN)
            LOOP(slide_add)(values, packed, start, plan->places, NULL, plan->taps, count);
        else
            LOOP(slide_maximum)(values, packed, start, plan->places, NULL, plan->taps, count);
    } else {
        LOOP(slide_fill)(plan, unit, packed, line, start, has_outside);
        if (task->indices) {
            LOOP(slide_first)(values, which, packed, plan->places, plan->taps, count);
        } else {
            dml_slide_weights(task, channel, weights);
            if (task->bias)
                start = dml_load_float((const char *)task->bias + channel * task->bias_stride, task->is_half);
            LOOP(slide_add_products)(values, packed, start, plan->places, weights, plan->taps, count);
        }
    }
    for (int64_t row = 0; row < unit->rows; row++)
        LOOP(slide_finish)(plan, unit, row, plane, output + row * task->output_strides[3], values + row * plan->width,
                           which + row * plan->width);
}

#if defined(DML_AVX512)
#include "near.h"
#include "endless.h"
#endif

static void LOOP(slide_run)(const dml_slide_plan *plan, int64_t begin, int64_t end)
{
    const dml_slide *task = plan->task;
    char memory[4 * DML_SLIDE_MEMORY] __attribute__((aligned(64)));
    int64_t units = task->steps[0] * plan->row_blocks * plan->column_blocks;
#if defined(DML_AVX512)
    if (plan->is_endless) {
        LOOP(slide_endless)(task, begin, end);
        return;
    }
#endif
    /* What is computed between rows and behind them is of whatever lies there, which is to be numbers. */
    if (!plan->is_near)
        memset(memory, 0, (size_t)plan->memory * 4);
    for (int64_t i = begin; i < end; i++) {
        LOOP(slide_unit) unit;
        /* Divisions take as long as a small plane. */
        int64_t plane = units > 1 ? i / units : i, rest = units > 1 ? i % units : 0;
        memset(unit.at, 0, sizeof unit.at);
        if (units > 1) {
            unit.at[2] = rest % plan->column_blocks * plan->columns;
            rest /= plan->column_blocks;
            unit.at[1] = rest % plan->row_blocks * plan->rows;
            unit.at[0] = rest / plan->row_blocks;
        }
        unit.columns = task->steps[2] - unit.at[2];
        unit.columns = unit.columns < plan->columns ? unit.columns : plan->columns;
        unit.rows = task->steps[1] - unit.at[1];
        unit.rows = unit.rows < plan->rows ? unit.rows : plan->rows;
        unit.x = dml_slide_channel(task, plane);
        unit.zero = dml_slide_byte(task->bytes.zero, plane % task->channels * task->bytes.zero_stride, task->bytes.is_signed);
#if defined(DML_AVX512)
        if (plan->is_near) {
            LOOP(slide_near)(plan, &unit, plane);
            continue;
        }
#endif
        LOOP(slide_compute)(plan, &unit, plane, memory, i > begin && units == 1);
    }
}

static void LOOP(slide_add_gradients)(const dml_slide_gradients *task, int64_t begin, int64_t end)
{
    enum { PART = 256 };
    const int64_t *steps = task->steps, *sizes = task->sizes;
    const uint64_t size = (uint64_t)(sizes[0] * sizes[1] * sizes[2]);
    for (int64_t plane = begin; plane < end; plane++) {
        int64_t batch = plane / task->channels, channel = plane % task->channels;
        const int64_t *given = task->gradient_strides, *made = task->output_strides;
        const uint64_t *index = (const uint64_t *)task->indices + plane * steps[0] * steps[1] * steps[2];
        const char *gradients = (const char *)task->gradients + batch * given[0] + channel * given[1];
        char *output = (char *)task->output + batch * made[0] + channel * made[1];
        double *sums = (double *)task->sums + plane * (int64_t)size;
        memset(sums, 0, size * sizeof *sums);
        for (int64_t row = 0; row < steps[0] * steps[1]; row++) {
            const char *from = gradients + row / steps[1] * given[2] + row % steps[1] * given[3];
            for (int64_t i = 0; i < steps[2]; i++, index++)
                if (*index - (uint64_t)plane * size < size)
                    sums[*index - (uint64_t)plane * size] += dml_load_float(from + i * given[4], task->is_half);
        }
        for (int64_t row = 0; row < sizes[0] * sizes[1]; row++, sums += sizes[2]) {
            char *to = output + row / sizes[1] * made[2] + row % sizes[1] * made[3];
            for (int64_t i = 0; i < sizes[2]; i += PART) {
                int64_t count = sizes[2] - i < PART ? sizes[2] - i : PART, item = task->is_half ? 2 : 4;
                float floats[PART];
                uint16_t halves[PART];
                if (task->is_half)
                    LOOP(map_store_wide_f16)(halves, sums + i, count);
                else
                    for (int64_t j = 0; j < count; j++)
                        floats[j] = (float)sums[i + j];
                const char *results = task->is_half ? (const char *)halves : (const char *)floats;
                for (int64_t j = 0; made[4] != item && j < count; j++)
                    memcpy(to + (i + j) * made[4], results + j * item, (size_t)item);
                if (made[4] == item)
                    memcpy(to + i * item, results, (size_t)(count * item));
            }
        }
    }
}

static const dml_slide_table LOOP(slide_table) = {
#if defined(DML_AVX512)
    LOOP(slide_is_near), LOOP(slide_is_endless),
#else
    NULL, NULL,
#endif
    LOOP(slide_run),
    LOOP(slide_add_gradients),
};
