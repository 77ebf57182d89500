/* Rows of resampled images: first what the image's rows come to, then sums along that; in FLOAT64, rounded once. Sums begin
   with -0, which changes nothing; those of nothing are 0. */

typedef double LOOP(blend_doubles) __attribute__((vector_size(8 * DML_BLEND_LANES), aligned(8), may_alias));
typedef float LOOP(blend_floats) __attribute__((vector_size(4 * DML_BLEND_LANES), aligned(4), may_alias));

#undef DML_BLEND_WIDEN
#undef DML_BLEND_NARROW
#if defined(DML_AVX512)
#define DML_BLEND_WIDEN(floats) ((LOOP(blend_doubles))_mm512_cvtps_pd((__m256)(floats)))
#define DML_BLEND_NARROW(doubles) ((LOOP(blend_floats))_mm512_cvtpd_ps((__m512d)(doubles)))
#else
#define DML_BLEND_WIDEN(floats) __builtin_convertvector(floats, LOOP(blend_doubles))
#define DML_BLEND_NARROW(doubles) __builtin_convertvector(doubles, LOOP(blend_floats))
#endif

/* `line` and so many rows times their weights; it is overwritten if `is_first`. */
DML_INLINE void LOOP(blend_add)(double *line, const float *const *rows, const double *weights, int64_t height, int64_t count,
                                int is_first)
{
    for (int64_t i = 0; i < count; i += DML_BLEND_LANES) {
        LOOP(blend_doubles) total = {0}, *place = (LOOP(blend_doubles) *)(line + i);
        if (!is_first)
            total = *place;
        else if (height > 0)
            total = -total;
        for (int64_t k = 0; k < height; k++) {
            LOOP(blend_floats) seen = {0};
            if (i + DML_BLEND_LANES <= count)
                seen = *(const LOOP(blend_floats) *)(rows[k] + i);
            else
#if defined(DML_AVX512)
                seen = (LOOP(blend_floats))_mm256_maskz_loadu_ps((__mmask8)((1u << (count - i)) - 1), rows[k] + i);
#else
                for (int64_t j = 0; j < count - i; j++)
                    seen[j] = rows[k][i + j];
#endif
            total += DML_BLEND_WIDEN(seen) * weights[k];
        }
        *place = total;
    }
}

/* Elements `low` to `high` of what the image's rows come to for one row of the output. */
static DML_ONCE void LOOP(blend_rows)(const dml_blend *task, const char *image, int64_t step, int64_t low, int64_t high,
                                      double *line)
{
    enum { MANY = 16 };
    float buffers[2][DML_BLEND_COLUMNS];
    const int64_t *starts = (const int64_t *)task->rows.starts + step, *indices = (const int64_t *)task->rows.indices;
    const double *weights = (const double *)task->rows.weights;
    int64_t tap = starts[0], end = starts[1], most = !task->is_half && task->x_strides[3] == 4 ? MANY : 2;
    int is_first = 1;
    do {
        const float *rows[MANY];
        int64_t height = end - tap < most ? end - tap : most;
        for (int64_t k = 0; k < height; k++)
            rows[k] = LOOP(floats_of_row)(buffers[k & 1], image + indices[tap + k] * task->x_strides[2],
                                          task->x_strides[3], low, high, task->is_half);
        LOOP(blend_add)(line, rows, weights + tap, height, high - low, is_first);
        tap += height;
        is_first = 0;
    } while (tap < end);
}

/* The columns that a region sees, and their taps: as many for every step, one after the other, so that vectors of steps
   are summed. What is missing is read where the line has a 0, behind its end. */
typedef struct {
    int64_t low, high, many;
    int32_t places[DML_BLEND_TAPS];
    double weights[DML_BLEND_TAPS];
    /* Of each vector: where all that it reads begins, or -1 if that is more than two vectors. */
    int32_t begins[DML_BLEND_COLUMNS / DML_BLEND_LANES];
    /* Those of each step, where there are any. */
    double counts[DML_BLEND_COLUMNS], inside[DML_BLEND_COLUMNS];
} LOOP(blend_region);

static DML_ONCE void LOOP(blend_prepare)(const dml_blend_axis *axis, int64_t first, LOOP(blend_region) *region)
{
    const int64_t *starts = (const int64_t *)axis->starts + first, *indices = (const int64_t *)axis->indices;
    const double *weights = (const double *)axis->weights;
    int64_t low = INT64_MAX, high = 0, many = 0, steps = axis->steps, width;
    for (int64_t i = 0; i < steps; i++)
        many = starts[i + 1] - starts[i] > many ? starts[i + 1] - starts[i] : many;
    for (int64_t tap = starts[0]; tap < starts[steps]; tap++) {
        low = indices[tap] < low ? indices[tap] : low;
        high = indices[tap] >= high ? indices[tap] + 1 : high;
    }
    region->low = low < high ? low : 0;
    region->high = high;
    for (int64_t i = 0; axis->counts && i < steps; i++) {
        region->counts[i] = ((const double *)axis->counts)[first + i];
        region->inside[i] = ((const double *)axis->inside)[first + i];
    }
    width = dml_quotient_up(steps, DML_BLEND_LANES) * DML_BLEND_LANES;
    region->many = many * width <= DML_BLEND_TAPS ? many : 0;
    if (!region->many)
        return;
    for (int64_t i = 0; i < width; i++) {
        int64_t count = i < steps ? starts[i + 1] - starts[i] : 0;
        for (int64_t k = 0; k < many; k++) {
            region->places[k * width + i] = (int32_t)(k < count ? indices[starts[i] + k] - low : high - low);
            region->weights[k * width + i] = k < count ? weights[starts[i] + k] : count ? -0.0 : 0.0;
        }
    }
    for (int64_t i = 0; i < width; i += DML_BLEND_LANES) {
        int32_t begin = INT32_MAX, end = 0;
        for (int64_t j = i; j < i + DML_BLEND_LANES && j < steps; j++) {
            for (int64_t tap = starts[j]; tap < starts[j + 1]; tap++) {
                int32_t place = (int32_t)(indices[tap] - low);
                begin = place < begin ? place : begin;
                end = place >= end ? place + 1 : end;
            }
        }
        region->begins[i / DML_BLEND_LANES] = begin >= end ? 0 : end - begin <= 2 * DML_BLEND_LANES ? begin : -1;
    }
}

/* Steps of one row of the output, a vector at a time. */
static DML_ONCE void LOOP(blend_columns)(const LOOP(blend_region) *region, const double *line, int64_t steps, double *sums)
{
    int64_t width = dml_quotient_up(steps, DML_BLEND_LANES) * DML_BLEND_LANES;
    for (int64_t i = 0; i < width; i += DML_BLEND_LANES) {
#if defined(DML_AVX512)
        int32_t begin = region->begins[i / DML_BLEND_LANES];
        if (begin >= 0) {
            const __m256i first = _mm256_set1_epi32(begin), last = _mm256_set1_epi32((int)(region->high - region->low));
            __m512d low = _mm512_loadu_pd(line + begin), high = _mm512_loadu_pd(line + begin + DML_BLEND_LANES);
            __m512d total = _mm512_set1_pd(-0.0);
            for (int64_t k = i; k < i + region->many * width; k += width) {
                __m256i places = _mm256_loadu_si256((const __m256i *)(region->places + k));
                __mmask8 seen = _mm256_cmpneq_epi32_mask(places, last);
                __m512i chosen = _mm512_cvtepi32_epi64(_mm256_sub_epi32(places, first));
                __m512d values = _mm512_maskz_permutex2var_pd(seen, low, chosen, high);
                total = _mm512_fmadd_pd(values, _mm512_loadu_pd(region->weights + k), total);
            }
            _mm512_storeu_pd(sums + i, total);
            continue;
        }
#endif
        for (int64_t j = i; j < i + DML_BLEND_LANES; j++) {
            double sum = line[region->places[j]] * region->weights[j];
            for (int64_t k = j + width; k < region->many * width; k += width)
                sum += line[region->places[k]] * region->weights[k];
            sums[j] = sum;
        }
    }
}

/* The same of steps that see so many elements that there is no room for vectors of them. */
static DML_ONCE void LOOP(blend_long)(const dml_blend_axis *axis, int64_t first, const double *line, int64_t low,
                                      double *sums)
{
    const int64_t *starts = (const int64_t *)axis->starts + first, *indices = (const int64_t *)axis->indices;
    const double *weights = (const double *)axis->weights;
    for (int64_t i = 0; i < axis->steps; i++) {
        double sum = starts[i] < starts[i + 1] ? -0.0 : 0.0;
        for (int64_t tap = starts[i]; tap < starts[i + 1]; tap++)
            sum += line[indices[tap] - low] * weights[tap];
        sums[i] = sum;
    }
}

/* Means of samples, some of which may be outside the image. */
static DML_ONCE void LOOP(blend_divide)(const dml_blend *task, const LOOP(blend_region) *region, int64_t row, double *sums)
{
    double count = ((const double *)task->rows.counts)[row], inside = ((const double *)task->rows.inside)[row];
    double outside = task->outside;
    for (int64_t i = 0; i < task->columns.steps; i += DML_BLEND_LANES) {
        for (int64_t j = i; j < i + DML_BLEND_LANES; j++) {
            double all = count * region->counts[j], missing = all - inside * region->inside[j];
            double sum = sums[j] + missing * outside;
            sums[j] = (missing > 0 ? sum : sums[j]) / all;
        }
    }
}

static DML_ONCE void LOOP(blend_store)(const dml_blend *task, char *output, const double *sums)
{
    int64_t step = task->output_strides[3], count = task->columns.steps, item = task->is_half ? 2 : 4, i = 0;
    char results[4 * DML_BLEND_COLUMNS], *target = step == item ? output : results;
    if (task->is_half) {
        LOOP(map_store_wide_f16)(target, sums, count);
    } else {
        LOOP(blend_floats) rest;
        for (; i + DML_BLEND_LANES <= count; i += DML_BLEND_LANES)
            *(LOOP(blend_floats) *)(target + 4 * i) = DML_BLEND_NARROW(*(const LOOP(blend_doubles) *)(sums + i));
        rest = DML_BLEND_NARROW(*(const LOOP(blend_doubles) *)(sums + i));
        memcpy(target + 4 * i, &rest, (size_t)(count - i) * 4);
    }
    for (i = 0; target != output && i < count; i++)
        memcpy(output + i * step, results + i * item, (size_t)item);
}

static void LOOP(blend_share)(const dml_blend_plan *plan, int64_t begin, int64_t end)
{
    const dml_blend *task = plan->task;
    LOOP(blend_region) seen;
    double line[DML_BLEND_COLUMNS + 2 * DML_BLEND_LANES], sums[DML_BLEND_COLUMNS + DML_BLEND_LANES];
    int64_t height = task->rows.steps, last = -1, whole = task->regions * plan->channels * height;
    int64_t block = begin / whole * plan->channels, rest = begin % whole, size = task->channels - block;
    size = size < plan->channels ? size : plan->channels;
    int64_t row = rest % height, channel = rest / height % size, region = rest / height / size;
    /* What is computed behind the last step is of numbers. */
    memset(sums, 0, sizeof sums);
    memset(seen.counts, 0, sizeof seen.counts);
    memset(seen.inside, 0, sizeof seen.inside);
    for (; begin < end; begin++) {
        int64_t batch = task->batches ? ((const int64_t *)task->batches)[region] : region;
        int64_t first_row = task->rows.is_own ? region * height : 0;
        int64_t first = task->columns.is_own ? region * task->columns.steps : 0;
        const char *image = (const char *)task->x + batch * task->x_strides[0] + (block + channel) * task->x_strides[1];
        char *output = (char *)task->output + region * task->output_strides[0] + (block + channel) * task->output_strides[1];
        if (last < 0 || (region != last && task->columns.is_own))
            LOOP(blend_prepare)(&task->columns, first, &seen);
        last = region;
        LOOP(blend_rows)(task, image, first_row + row, seen.low, seen.high, line);
        memset(line + (seen.high - seen.low), 0, 2 * DML_BLEND_LANES * sizeof(double));
        if (seen.many)
            LOOP(blend_columns)(&seen, line, task->columns.steps, sums);
        else
            LOOP(blend_long)(&task->columns, first, line, seen.low, sums);
        if (task->rows.counts)
            LOOP(blend_divide)(task, &seen, first_row + row, sums);
        LOOP(blend_store)(task, output + row * task->output_strides[2], sums);
        if (++row < height)
            continue;
        row = 0;
        if (++channel < size)
            continue;
        channel = 0;
        if (++region < task->regions)
            continue;
        region = 0;
        block += size;
        size = task->channels - block < size ? task->channels - block : size;
    }
}

static const dml_blend_table LOOP(blend_table) = {LOOP(blend_share)};
