/* Products with small filters over planes of as many columns as there are in the output, whose rows lie together:
   vectors run on over the ends of rows. Of each row of taps a vector is read once, and what lies beside it is shifted
   in from its neighbours: vectors that begin anywhere cost twice as much as others. What belongs to another row is
   masked. */

/* Vectors whose masks are kept, and planes that are enough for threads to share. */
enum { DML_SLIDE_PERIOD = 64, DML_SLIDE_PLANES = 16 };

/* Which lanes see a column of taps inside, for as many vectors as it takes until all begins again. What vectors from
   `first` on and before `behind` read is all on the plane. */
typedef struct {
    int64_t period, vectors, first, behind, elements, above[5];
    __mmask16 last, columns[DML_SLIDE_PERIOD][5];
} LOOP(slide_masks);

static int64_t LOOP(slide_period)(int64_t size)
{
    int64_t period = size;
    for (int i = 0; i < 4 && period % 2 == 0; i++)
        period /= 2;
    return period;
}

static int LOOP(slide_is_endless)(const dml_slide *task)
{
    int64_t row = task->sizes[2] * 4;
    return LOOP(slide_is_near)(task) && task->function == DML_SLIDE_PRODUCTS && task->strides[2] == 1 &&
           task->steps[2] == task->sizes[2] && task->padding[2] == task->window[2] / 2 && task->x_strides[3] == row &&
           task->output_strides[3] == row && LOOP(slide_period)(task->sizes[2]) <= DML_SLIDE_PERIOD &&
           task->sizes[1] * task->sizes[2] < INT32_MAX / 2 && task->steps[1] * task->steps[2] < INT32_MAX / 2 &&
           task->batches * task->channels >= DML_SLIDE_PLANES;
}

/* The lanes of a vector from `place` on that are on a plane. */
DML_INLINE __mmask16 LOOP(slide_on_plane)(int64_t place, int64_t elements)
{
    const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    return _mm512_cmplt_epu32_mask(_mm512_add_epi32(lanes, _mm512_set1_epi32((int)place)),
                                   _mm512_set1_epi32((int)elements));
}

static DML_ONCE void LOOP(slide_find_masks)(LOOP(slide_masks) *found, const dml_slide *task)
{
    int64_t width = task->window[2], size = task->sizes[2], count = task->steps[1] * size;
    found->elements = task->sizes[1] * size;
    found->vectors = dml_quotient_up(count, 16);
    found->last = (__mmask16)(0xffff >> (16 * found->vectors - count));
    found->period = LOOP(slide_period)(size);
    for (int64_t y = 0; y < width; y++)
        found->above[y] = (task->padding[1] - y) * size;
    for (int64_t v = 0; v < found->period; v++)
        for (int64_t x = 0; x < width; x++) {
            int64_t left = task->padding[2] - x, first = left > 0 ? left : 0, behind = left < 0 ? size + left : size;
            found->columns[v][x] = 0;
            for (int64_t y = 16 * v / size; y * size < 16 * v + 16 && first < behind; y++)
                found->columns[v][x] |= (__mmask16)LOOP(slide_inside)(16 * v - y * size - first, behind - first);
        }
    /* A vector reads what is behind it, too. */
    found->first = found->above[0] > 0 ? dml_quotient_up(found->above[0], 16) : 0;
    found->behind = (found->elements + found->above[width - 1]) / 16 - 1;
}

/* What lies `by` elements beside a vector, which has others before and behind it. */
DML_INLINE LOOP(slide_vector) LOOP(slide_beside)(__mmask16 mask, const LOOP(slide_vector) *three, const int by)
{
    __m512i before = (__m512i)three[0], here = (__m512i)three[1], behind = (__m512i)three[2];
    switch (by) {
    case -2:
        return (LOOP(slide_vector))_mm512_maskz_alignr_epi32(mask, here, before, 14);
    case -1:
        return (LOOP(slide_vector))_mm512_maskz_alignr_epi32(mask, here, before, 15);
    case 1:
        return (LOOP(slide_vector))_mm512_maskz_alignr_epi32(mask, behind, here, 1);
    case 2:
        return (LOOP(slide_vector))_mm512_maskz_alignr_epi32(mask, behind, here, 2);
    default:
        return three[1];
    }
}

DML_INLINE void LOOP(slide_endless_plane)(const dml_slide *task, const LOOP(slide_masks) *masks, const float *x,
                                        float *out, const float *weights, float start, const dml_rows_channel *normal,
                                        const int width)
{
    LOOP(slide_vector) filter[25], seen[5][3];
    DML_UNROLLED for (int tap = 0; tap < width * width; tap++)
        filter[tap] = (LOOP(slide_vector)){0} + weights[tap];
    DML_UNROLLED for (int y = 0; y < width; y++) {
        int64_t place = -masks->above[y];
        seen[y][1] = (LOOP(slide_vector))_mm512_maskz_loadu_ps(LOOP(slide_on_plane)(place - 16, masks->elements),
                                                               x + place - 16);
        seen[y][2] = (LOOP(slide_vector))_mm512_maskz_loadu_ps(LOOP(slide_on_plane)(place, masks->elements),
                                                               x + place);
    }
    for (int64_t v = 0, k = 0; v < masks->vectors; v++) {
        const __mmask16 *columns = masks->columns[k];
        LOOP(slide_vector) total = (LOOP(slide_vector)){0} + start;
        k = k + 1 < masks->period ? k + 1 : 0;
        DML_UNROLLED for (int y = 0; y < width; y++) {
            int64_t place = 16 * (v + 1) - masks->above[y];
            seen[y][0] = seen[y][1];
            seen[y][1] = seen[y][2];
            seen[y][2] = (LOOP(slide_vector))(
                v >= masks->first && v < masks->behind
                    ? _mm512_loadu_ps(x + place)
                    : _mm512_maskz_loadu_ps(LOOP(slide_on_plane)(place, masks->elements), x + place));
        }
        DML_UNROLLED for (int y = 0; y < width; y++) {
            LOOP(slide_vector) sum = {0};
            DML_UNROLLED for (int i = 0; i < width; i++)
                sum += filter[y * width + i] * LOOP(slide_beside)(columns[i], seen[y], i - width / 2);
            total += sum;
        }
        total = LOOP(slide_finished)(task, total, normal);
        if (v < masks->vectors - 1)
            _mm512_storeu_ps(out + 16 * v, (__m512)total);
        else
            _mm512_mask_storeu_ps(out + 16 * v, masks->last, (__m512)total);
    }
}

static DML_ONCE void LOOP(slide_endless_3)(const dml_slide *task, const LOOP(slide_masks) *masks, const float *x,
                                         float *out, const float *weights, float start, const dml_rows_channel *normal)
{
    LOOP(slide_endless_plane)(task, masks, x, out, weights, start, normal, 3);
}

static DML_ONCE void LOOP(slide_endless_5)(const dml_slide *task, const LOOP(slide_masks) *masks, const float *x,
                                         float *out, const float *weights, float start, const dml_rows_channel *normal)
{
    LOOP(slide_endless_plane)(task, masks, x, out, weights, start, normal, 5);
}

/* Planes from `begin` to `end`. */
static void LOOP(slide_endless)(const dml_slide *task, int64_t begin, int64_t end)
{
    LOOP(slide_masks) masks;
    /* Divisions take as long as a small plane. */
    int64_t batch = begin / task->channels, channel = begin % task->channels;
    LOOP(slide_find_masks)(&masks, task);
    for (; begin < end; begin++) {
        int64_t seen = task->multiplier == 1 ? channel : channel / task->multiplier;
        const char *x = (const char *)task->x + batch * task->x_strides[0] + seen * task->x_strides[1];
        char *output = (char *)task->output + batch * task->output_strides[0] + channel * task->output_strides[1];
        const dml_rows_channel *normal = dml_rows_channel_of(&task->normalization, channel);
        float weights[25], start = 0.0f;
        if (task->bias)
            start = dml_load_float((const char *)task->bias + channel * task->bias_stride, 0);
        dml_slide_weights(task, channel, weights);
        (task->window[2] == 3 ? LOOP(slide_endless_3) : LOOP(slide_endless_5))(
            task, &masks, (const float *)x, (float *)output, weights, start, normal);
        if (++channel == task->channels) {
            channel = 0;
            batch++;
        }
    }
}
