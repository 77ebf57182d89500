/* Products with small filters, and maxima, over planes of FLOAT32 that are read where they lie: what is outside is
   masked. */

static int LOOP(slide_is_near)(const dml_slide *task)
{
    int is_flat = task->sizes[0] == 1 && task->steps[0] == 1 && task->window[0] == 1 && task->padding[0] == 0;
    int is_maximum = task->function == DML_SLIDE_MAXIMUM && !task->indices;
    int is_square = task->window[1] == task->window[2] &&
                    (task->window[2] == 3 || task->window[2] == (is_maximum ? 2 : 5));
    int lies_near = task->x_strides[4] == 4 && task->output_strides[4] == 4 && !task->is_half && !task->stores_half;
    return (task->function == DML_SLIDE_PRODUCTS || is_maximum) && is_flat && is_square && lies_near && task->strides[2] <= 2 &&
           task->dilations[2] == 1;
}

/* Sixteen elements from `place` on, `step` apart; `inside` has a bit for each element from there that is in the row. */
DML_INLINE __m512 LOOP(slide_see)(const float *place, uint64_t inside, const int step, __m512 outside)
{
    __m512 low = _mm512_mask_loadu_ps(outside, (__mmask16)inside, place);
    if (step == 1)
        return low;
    return _mm512_permutex2var_ps(low, _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0),
                                  _mm512_mask_loadu_ps(outside, (__mmask16)(inside >> 16), place + 16));
}

/* Bits for the places from `first` on that are in a row of `size`. */
DML_INLINE uint64_t LOOP(slide_inside)(int64_t first, int64_t size)
{
    uint64_t bits = first >= size || first <= -64 ? 0 : ~(uint64_t)0;
    if (bits && first < 0)
        bits <<= -first;
    if (bits && size - first < 64)
        bits &= ((uint64_t)1 << (size - first)) - 1;
    return bits;
}

/* Up to 16 columns of all rows of a unit. */
DML_INLINE void LOOP(slide_near_columns)(const dml_slide *task, const LOOP(slide_unit) *unit, int64_t column, float *out,
                                         const float *weights, float start, const int width, const int step)
{
    int64_t left = (unit->at[2] + column) * step - task->padding[2], rest = unit->columns - column;
    __mmask16 stored = (__mmask16)(rest < 16 ? (1 << rest) - 1 : 0xffff);
    LOOP(slide_vector) filter[25];
    uint64_t inside[5];
    for (int x = 0; x < width; x++)
        inside[x] = LOOP(slide_inside)(left + x, task->sizes[2]);
    DML_UNROLLED for (int tap = 0; tap < width * width; tap++)
        filter[tap] = (LOOP(slide_vector)){0} + weights[tap];
    for (int64_t row = 0; row < unit->rows; row++) {
        LOOP(slide_vector) total = (LOOP(slide_vector)){0} + start;
        DML_UNROLLED for (int tap = 0; tap < width; tap++) {
            int64_t y = (unit->at[1] + row) * task->strides[1] - task->padding[1] + tap * task->dilations[1];
            uint64_t is_inside = y >= 0 && y < task->sizes[1] ? ~(uint64_t)0 : 0;
            const float *seen = (const float *)(unit->x + (is_inside ? y * task->x_strides[3] : 0)) + left;
            DML_UNROLLED for (int x = 0; x < width; x++) {
                LOOP(slide_vector) value =
                    (LOOP(slide_vector))LOOP(slide_see)(seen + x, inside[x] & is_inside, step, _mm512_setzero_ps());
                total = total + filter[tap * width + x] * value;
            }
        }
        if (task->activation == DML_SLIDE_RELU) {
            LOOP(slide_mask) bits = (LOOP(slide_mask))total & (total > 0.0f);
            memcpy(&total, &bits, sizeof total);
        } else if (task->activation == DML_SLIDE_LEAKY_RELU) {
            LOOP(slide_vector) scaled = total * task->slope;
            total = (LOOP(slide_vector))_mm512_mask_blend_ps(
                _mm512_cmp_ps_mask((__m512)total, _mm512_setzero_ps(), _CMP_LT_OQ), (__m512)total, (__m512)scaled);
        }
        _mm512_mask_storeu_ps((char *)out + row * task->output_strides[3], stored, (__m512)total);
    }
}

#define DML_SLIDE_NEAR_COLUMNS(WIDTH, STEP)                                                                            \
    static DML_ONCE void LOOP(slide_near_##WIDTH##_##STEP)(const dml_slide *task, const LOOP(slide_unit) *unit,         \
                                                           float *out, const float *weights, float start)              \
    {                                                                                                                  \
        for (int64_t i = 0; i < unit->columns; i += 16)                                                                \
            LOOP(slide_near_columns)(task, unit, i, out + i, weights, start, WIDTH, STEP);                             \
    }
DML_SLIDE_NEAR_COLUMNS(3, 1)
DML_SLIDE_NEAR_COLUMNS(3, 2)
DML_SLIDE_NEAR_COLUMNS(5, 1)
DML_SLIDE_NEAR_COLUMNS(5, 2)
#undef DML_SLIDE_NEAR_COLUMNS

/* The same of maxima; what may be NaN is found out one by one. */
DML_INLINE void LOOP(slide_near_maxima)(const dml_slide *task, const LOOP(slide_unit) *unit, int64_t plane, float *out,
                                        const int width, const int step)
{
    const __m512 outside = _mm512_set1_ps(-INFINITY);
    for (int64_t column = 0; column < unit->columns; column += 16) {
        int64_t left = (unit->at[2] + column) * step - task->padding[2], rest = unit->columns - column;
        __mmask16 stored = (__mmask16)(rest < 16 ? (1 << rest) - 1 : 0xffff);
        uint64_t inside[3];
        for (int x = 0; x < width; x++)
            inside[x] = LOOP(slide_inside)(left + x, task->sizes[2]);
        for (int64_t row = 0; row < unit->rows; row++) {
            LOOP(slide_vector) best = (LOOP(slide_vector))outside;
            float *target = (float *)((char *)(out + column) + row * task->output_strides[3]);
            for (int tap = 0; tap < width; tap++) {
                int64_t y = (unit->at[1] + row) * task->strides[1] - task->padding[1] + tap * task->dilations[1];
                const float *seen = (const float *)(unit->x + y * task->x_strides[3]) + left;
                if (y < 0 || y >= task->sizes[1])
                    continue;
                DML_UNROLLED for (int x = 0; x < width; x++)
                    best = LOOP(slide_larger)((LOOP(slide_vector))LOOP(slide_see)(seen + x, inside[x], step, outside),
                                              best);
            }
            _mm512_mask_storeu_ps(target, stored, (__m512)best);
            if (_mm512_mask_cmp_ps_mask(stored, (__m512)best, outside, _CMP_EQ_OQ)) {
                dml_slide_place place = {unit->x, plane, {0, unit->at[1] + row, unit->at[2] + column}};
                LOOP(slide_mend)(task, &place, target, rest < 16 ? rest : 16);
            }
        }
    }
}

#define DML_SLIDE_NEAR_MAXIMA(WIDTH, STEP)                                                                             \
    static DML_ONCE void LOOP(slide_maxima_##WIDTH##_##STEP)(const dml_slide *task, const LOOP(slide_unit) *unit,       \
                                                             int64_t plane, float *out)                                \
    {                                                                                                                  \
        LOOP(slide_near_maxima)(task, unit, plane, out, WIDTH, STEP);                                                  \
    }
DML_SLIDE_NEAR_MAXIMA(2, 1)
DML_SLIDE_NEAR_MAXIMA(2, 2)
DML_SLIDE_NEAR_MAXIMA(3, 1)
DML_SLIDE_NEAR_MAXIMA(3, 2)
#undef DML_SLIDE_NEAR_MAXIMA

static void LOOP(slide_near)(const dml_slide_plan *plan, const LOOP(slide_unit) *unit, int64_t plane)
{
    const dml_slide *task = plan->task;
    int64_t batch = plane / task->channels, channel = plane % task->channels, count = unit->rows * unit->columns;
    char *output = (char *)task->output + batch * task->output_strides[0] + channel * task->output_strides[1] +
                   unit->at[1] * task->output_strides[3] + unit->at[2] * 4;
    float weights[25], start = 0.0f;
    if (task->function == DML_SLIDE_MAXIMUM) {
        if (task->window[2] == 2)
            (task->strides[2] == 1 ? LOOP(slide_maxima_2_1) : LOOP(slide_maxima_2_2))(task, unit, plane, (float *)output);
        else
            (task->strides[2] == 1 ? LOOP(slide_maxima_3_1) : LOOP(slide_maxima_3_2))(task, unit, plane, (float *)output);
        return;
    }
    dml_slide_weights(task, channel, weights);
    if (task->bias)
        start = dml_load_float((const char *)task->bias + channel * task->bias_stride, 0);
    if (task->window[2] == 3)
        (task->strides[2] == 1 ? LOOP(slide_near_3_1) : LOOP(slide_near_3_2))(task, unit, (float *)output, weights, start);
    else
        (task->strides[2] == 1 ? LOOP(slide_near_5_1) : LOOP(slide_near_5_2))(task, unit, (float *)output, weights, start);
    if (!task->normalization.factors)
        return;
    if (task->output_strides[3] == unit->columns * 4)
        LOOP(rows_give)(&task->normalization, channel, (float *)output, count);
    else
        for (int64_t row = 0; row < unit->rows; row++)
            LOOP(rows_give)(&task->normalization, channel, (float *)(output + row * task->output_strides[3]),
                            unit->columns);
}
