/* Products with small filters, means and maxima, over planes of FLOAT32 that are read where they lie: what is outside
   is masked. */

static int LOOP(slide_is_near)(const dml_slide *task)
{
    int is_flat = task->sizes[0] == 1 && task->steps[0] == 1 && task->window[0] == 1 && task->padding[0] == 0;
    int is_pool = task->function != DML_SLIDE_PRODUCTS && !task->indices;
    int is_square = task->window[1] == task->window[2] &&
                    (task->window[2] == 3 || task->window[2] == (is_pool ? 2 : 5));
    int lies_near = task->x_strides[4] == 4 && task->output_strides[4] == 4 && !task->is_half && !task->stores_half;
    int is_even = task->strides[1] == task->strides[2] && task->dilations[1] == 1 && task->dilations[2] == 1;
    return (task->function == DML_SLIDE_PRODUCTS || is_pool) && is_flat && is_square && lies_near && is_even &&
           task->strides[2] <= 2;
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

/* What the taps of a row see, sixteen elements each; `inside` has a bit for each element from there that is in the row.
   Of every other element, two taps find theirs in the same vectors. */
DML_INLINE void LOOP(slide_see_taps)(LOOP(slide_vector) *seen, const float *row, const uint64_t *inside,
                                     LOOP(slide_vector) outside, const int width, const int step)
{
    const __m512i even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i odd = _mm512_set_epi32(31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
    DML_UNROLLED for (int x = 0; x < width; x += step) {
        __m512 low = _mm512_mask_loadu_ps((__m512)outside, (__mmask16)inside[x], row + x), high;
        seen[x] = (LOOP(slide_vector))low;
        if (step == 1)
            continue;
        high = _mm512_mask_loadu_ps((__m512)outside, (__mmask16)(inside[x] >> 16), row + x + 16);
        seen[x] = (LOOP(slide_vector))_mm512_permutex2var_ps(low, even, high);
        if (x + 1 < width)
            seen[x + 1] = (LOOP(slide_vector))_mm512_permutex2var_ps(low, odd, high);
    }
}

/* What is stored of sums. */
DML_INLINE LOOP(slide_vector) LOOP(slide_finished)(const dml_slide *task, LOOP(slide_vector) total,
                                                   const dml_rows_channel *normal)
{
    if (task->activation == DML_SLIDE_RELU) {
        LOOP(slide_mask) bits = (LOOP(slide_mask))total & (total > 0.0f);
        memcpy(&total, &bits, sizeof total);
    } else if (task->activation == DML_SLIDE_LEAKY_RELU) {
        LOOP(slide_vector) scaled = total * task->slope;
        total = (LOOP(slide_vector))_mm512_mask_blend_ps(
            _mm512_cmp_ps_mask((__m512)total, _mm512_setzero_ps(), _CMP_LT_OQ), (__m512)total, (__m512)scaled);
    }
    if (normal)
        total = (LOOP(slide_vector))LOOP(rows_give_lanes)((LOOP(rows_lanes))total, normal);
    return total;
}

/* Up to 16 columns of all rows of a unit, `height` rows at a time: what they see of a row is read once. */
DML_INLINE void LOOP(slide_near_columns)(const dml_slide *task, const LOOP(slide_unit) *unit, int64_t column, float *out,
                                         const float *weights, float start, const dml_rows_channel *normal,
                                         const int width, const int step, const int height)
{
    int64_t left = (unit->at[2] + column) * step - task->padding[2], rest = unit->columns - column;
    __mmask16 stored = (__mmask16)(rest < 16 ? (1 << rest) - 1 : 0xffff);
    LOOP(slide_vector) filter[25];
    uint64_t inside[5], nothing[5] = {0};
    for (int x = 0; x < width; x++)
        inside[x] = LOOP(slide_inside)(left + x, task->sizes[2]);
    DML_UNROLLED for (int tap = 0; tap < width * width; tap++)
        filter[tap] = (LOOP(slide_vector)){0} + weights[tap];
    for (int64_t row = 0; row < unit->rows; row += height) {
        LOOP(slide_vector) totals[4];
        int64_t top = (unit->at[1] + row) * step - task->padding[1];
        DML_UNROLLED for (int r = 0; r < height; r++)
            totals[r] = (LOOP(slide_vector)){0} + start;
        DML_UNROLLED for (int i = 0; i < (height - 1) * step + width; i++) {
            LOOP(slide_vector) seen[5];
            int is_inside = top + i >= 0 && top + i < task->sizes[1];
            const char *line = unit->x + (is_inside ? (top + i) * task->x_strides[3] : 0);
            LOOP(slide_see_taps)(seen, (const float *)line + left, is_inside ? inside : nothing,
                                 (LOOP(slide_vector)){0}, width, step);
            DML_UNROLLED for (int r = 0; r < height; r++) {
                const int tap = i - r * step;
                if (tap >= 0 && tap < width)
                    DML_UNROLLED for (int x = 0; x < width; x++)
                        totals[r] = totals[r] + filter[tap * width + x] * seen[x];
            }
        }
        DML_UNROLLED for (int r = 0; r < height; r++) {
            if (row + r >= unit->rows)
                break;
            LOOP(slide_vector) total = LOOP(slide_finished)(task, totals[r], normal);
            _mm512_mask_storeu_ps((char *)out + (row + r) * task->output_strides[3], stored, (__m512)total);
        }
    }
}

#define DML_SLIDE_NEAR_COLUMNS(WIDTH, STEP, HEIGHT)                                                                    \
    static DML_ONCE void LOOP(slide_near_##WIDTH##_##STEP)(const dml_slide *task, const LOOP(slide_unit) *unit,         \
                                                           float *out, const float *weights, float start,              \
                                                           const dml_rows_channel *normal)                             \
    {                                                                                                                  \
        for (int64_t i = 0; i < unit->columns; i += 16)                                                                \
            LOOP(slide_near_columns)(task, unit, i, out + i, weights, start, normal, WIDTH, STEP, HEIGHT);             \
    }
DML_SLIDE_NEAR_COLUMNS(3, 1, 4)
DML_SLIDE_NEAR_COLUMNS(3, 2, 4)
DML_SLIDE_NEAR_COLUMNS(5, 1, 2)
DML_SLIDE_NEAR_COLUMNS(5, 2, 2)
#undef DML_SLIDE_NEAR_COLUMNS

/* The same of maxima; what may be NaN is found out one by one. */
DML_INLINE void LOOP(slide_near_maxima)(const dml_slide *task, const LOOP(slide_unit) *unit, int64_t plane, float *out,
                                        const int width, const int step)
{
    enum { HEIGHT = 4 };
    const LOOP(slide_vector) outside = (LOOP(slide_vector)){0} - INFINITY;
    for (int64_t column = 0; column < unit->columns; column += 16) {
        int64_t left = (unit->at[2] + column) * step - task->padding[2], rest = unit->columns - column;
        __mmask16 stored = (__mmask16)(rest < 16 ? (1 << rest) - 1 : 0xffff);
        uint64_t inside[3];
        for (int x = 0; x < width; x++)
            inside[x] = LOOP(slide_inside)(left + x, task->sizes[2]);
        for (int64_t row = 0; row < unit->rows; row += HEIGHT) {
            LOOP(slide_vector) best[HEIGHT];
            int64_t top = (unit->at[1] + row) * step - task->padding[1];
            DML_UNROLLED for (int r = 0; r < HEIGHT; r++)
                best[r] = outside;
            DML_UNROLLED for (int i = 0; i < (HEIGHT - 1) * step + width; i++) {
                LOOP(slide_vector) seen[3], most = outside;
                if (top + i < 0 || top + i >= task->sizes[1])
                    continue;
                LOOP(slide_see_taps)(seen, (const float *)(unit->x + (top + i) * task->x_strides[3]) + left, inside,
                                     outside, width, step);
                DML_UNROLLED for (int x = 0; x < width; x++)
                    most = LOOP(slide_larger)(seen[x], most);
                DML_UNROLLED for (int r = 0; r < HEIGHT; r++)
                    if (i - r * step >= 0 && i - r * step < width)
                        best[r] = LOOP(slide_larger)(most, best[r]);
            }
            DML_UNROLLED for (int r = 0; r < HEIGHT; r++) {
                float *target = (float *)((char *)(out + column) + (row + r) * task->output_strides[3]);
                if (row + r >= unit->rows)
                    break;
                _mm512_mask_storeu_ps(target, stored, (__m512)best[r]);
                if (_mm512_mask_cmp_ps_mask(stored, (__m512)best[r], (__m512)outside, _CMP_EQ_OQ)) {
                    dml_slide_place place = {unit->x, plane, {0, unit->at[1] + row + r, unit->at[2] + column}};
                    LOOP(slide_mend)(task, &place, target, rest < 16 ? rest : 16);
                }
            }
        }
    }
}

/* The same of means: first sums of columns, then of these, as the loops for all windows add them up. */
DML_INLINE void LOOP(slide_near_means)(const dml_slide *task, const LOOP(slide_unit) *unit, float *out, const int width,
                                       const int step)
{
    enum { HEIGHT = 4 };
    const LOOP(slide_vector) nothing = {0};
    const float *counts[] = {(const float *)task->counts[0], (const float *)task->counts[1],
                             (const float *)task->counts[2]};
    for (int64_t column = 0; column < unit->columns; column += 16) {
        int64_t left = (unit->at[2] + column) * step - task->padding[2], rest = unit->columns - column;
        __mmask16 stored = (__mmask16)(rest < 16 ? (1 << rest) - 1 : 0xffff);
        LOOP(slide_vector) divisors = (LOOP(slide_vector))_mm512_maskz_loadu_ps(stored, counts[2] + unit->at[2] + column);
        uint64_t inside[3];
        for (int x = 0; x < width; x++)
            inside[x] = LOOP(slide_inside)(left + x, task->sizes[2]);
        for (int64_t row = 0; row < unit->rows; row += HEIGHT) {
            LOOP(slide_vector) sums[HEIGHT][3];
            int64_t top = (unit->at[1] + row) * step - task->padding[1];
            DML_UNROLLED for (int r = 0; r < HEIGHT; r++)
                DML_UNROLLED for (int x = 0; x < width; x++)
                    sums[r][x] = nothing;
            DML_UNROLLED for (int i = 0; i < (HEIGHT - 1) * step + width; i++) {
                LOOP(slide_vector) seen[3];
                if (top + i < 0 || top + i >= task->sizes[1])
                    continue;
                LOOP(slide_see_taps)(seen, (const float *)(unit->x + (top + i) * task->x_strides[3]) + left, inside,
                                     nothing, width, step);
                DML_UNROLLED for (int r = 0; r < HEIGHT; r++)
                    if (i - r * step >= 0 && i - r * step < width)
                        DML_UNROLLED for (int x = 0; x < width; x++)
                            sums[r][x] += seen[x];
            }
            DML_UNROLLED for (int r = 0; r < HEIGHT; r++) {
                LOOP(slide_vector) total = sums[r][0];
                if (row + r >= unit->rows)
                    break;
                DML_UNROLLED for (int x = 1; x < width; x++)
                    total += sums[r][x];
                total /= counts[0][0] * counts[1][unit->at[1] + row + r] * divisors;
                _mm512_mask_storeu_ps((char *)(out + column) + (row + r) * task->output_strides[3], stored,
                                      (__m512)total);
            }
        }
    }
}

#define DML_SLIDE_NEAR_POOLS(WIDTH, STEP)                                                                              \
    static DML_ONCE void LOOP(slide_pools_##WIDTH##_##STEP)(const dml_slide *task, const LOOP(slide_unit) *unit,        \
                                                            int64_t plane, float *out)                                 \
    {                                                                                                                  \
        if (task->function == DML_SLIDE_MEAN)                                                                          \
            LOOP(slide_near_means)(task, unit, out, WIDTH, STEP);                                                      \
        else                                                                                                           \
            LOOP(slide_near_maxima)(task, unit, plane, out, WIDTH, STEP);                                              \
    }
DML_SLIDE_NEAR_POOLS(2, 1)
DML_SLIDE_NEAR_POOLS(2, 2)
DML_SLIDE_NEAR_POOLS(3, 1)
DML_SLIDE_NEAR_POOLS(3, 2)
#undef DML_SLIDE_NEAR_POOLS

static void LOOP(slide_near)(const dml_slide_plan *plan, const LOOP(slide_unit) *unit, int64_t plane)
{
    const dml_slide *task = plan->task;
    int64_t batch = plane / task->channels, channel = plane % task->channels;
    char *output = (char *)task->output + batch * task->output_strides[0] + channel * task->output_strides[1] +
                   unit->at[1] * task->output_strides[3] + unit->at[2] * 4;
    float weights[25], start = 0.0f;
    if (task->function != DML_SLIDE_PRODUCTS) {
        if (task->window[2] == 2)
            (task->strides[2] == 1 ? LOOP(slide_pools_2_1) : LOOP(slide_pools_2_2))(task, unit, plane, (float *)output);
        else
            (task->strides[2] == 1 ? LOOP(slide_pools_3_1) : LOOP(slide_pools_3_2))(task, unit, plane, (float *)output);
        return;
    }
    dml_slide_weights(task, channel, weights);
    if (task->bias)
        start = dml_load_float((const char *)task->bias + channel * task->bias_stride, 0);
    const dml_rows_channel *normal = dml_rows_channel_of(&task->normalization, channel);
    const int is_plain = task->strides[2] == 1;
    (task->window[2] == 3 ? is_plain ? LOOP(slide_near_3_1) : LOOP(slide_near_3_2)
     : is_plain           ? LOOP(slide_near_5_1)
                          : LOOP(slide_near_5_2))(task, unit, (float *)output, weights, start, normal);
}
