/* Tiles of products, as many rows at a time as leave their sums in registers. Each sum is added up in the order of the
   steps, whatever tile it is in. */

#undef DML_TILE_LANES
#undef DML_TILE_ROWS
#if defined(DML_AVX512)
#define DML_TILE_LANES 16
#define DML_TILE_ROWS 8
#elif defined(DML_AVX2)
#define DML_TILE_LANES 8
#define DML_TILE_ROWS 6
#else
#define DML_TILE_LANES 4
#define DML_TILE_ROWS 4
#endif
typedef float LOOP(product_floats) __attribute__((vector_size(4 * DML_TILE_LANES), aligned(4), may_alias));
#undef DML_TILE_FLOATS
#define DML_TILE_FLOATS LOOP(product_floats)

#define DML_TILE(ROWS) \
    static DML_ONCE void LOOP(product_tile_##ROWS)(int64_t depth, const float *a, int64_t a_row, int64_t a_step, \
                                                   const float *b, int64_t b_step, float *c, int64_t c_row, int adds) \
    { \
        DML_TILE_FLOATS left[ROWS], right[ROWS]; \
        DML_UNROLLED for (int i = 0; i < ROWS; i++) left[i] = right[i] = (DML_TILE_FLOATS){0}; \
        for (int64_t k = 0; k < depth; k++, a += a_step, b += b_step) { \
            const DML_TILE_FLOATS first = *(const DML_TILE_FLOATS *)b, second = *(const DML_TILE_FLOATS *)(b + DML_TILE_LANES); \
            DML_UNROLLED for (int i = 0; i < ROWS; i++) \
            { \
                left[i] += a[i * a_row] * first; \
                right[i] += a[i * a_row] * second; \
            } \
        } \
        DML_UNROLLED for (int i = 0; i < ROWS; i++) \
        { \
            DML_TILE_FLOATS *row = (DML_TILE_FLOATS *)(c + i * c_row); \
            if (adds) { \
                left[i] = row[0] + left[i]; \
                right[i] = row[1] + right[i]; \
            } \
            row[0] = left[i]; \
            row[1] = right[i]; \
        } \
    }
DML_TILE(1)
DML_TILE(2)
DML_TILE(4)
#if DML_TILE_ROWS == 6
DML_TILE(6)
#elif DML_TILE_ROWS == 8
DML_TILE(8)
#endif
#undef DML_TILE

static void LOOP(product_tiles)(int64_t rows, int64_t depth, const float *a, int64_t a_row, int64_t a_step,
                                const float *b, int64_t b_step, float *c, int64_t c_row, int adds)
{
    while (rows > 0) {
        int64_t count = rows >= 4 ? 4 : rows >= 2 ? 2 : 1;
#if DML_TILE_ROWS == 6
        if (rows >= 6) {
            count = 6;
            LOOP(product_tile_6)(depth, a, a_row, a_step, b, b_step, c, c_row, adds);
        } else
#elif DML_TILE_ROWS == 8
        if (rows >= 8) {
            count = 8;
            LOOP(product_tile_8)(depth, a, a_row, a_step, b, b_step, c, c_row, adds);
        } else
#endif
        if (count == 4)
            LOOP(product_tile_4)(depth, a, a_row, a_step, b, b_step, c, c_row, adds);
        else if (count == 2)
            LOOP(product_tile_2)(depth, a, a_row, a_step, b, b_step, c, c_row, adds);
        else
            LOOP(product_tile_1)(depth, a, a_row, a_step, b, b_step, c, c_row, adds);
        rows -= count;
        a += count * a_row;
        c += count * c_row;
    }
}

/* Elements that lie `along` apart, as FLOAT32 next to each other: in `room` unless they are that already. */
static const float *LOOP(product_together)(float *room, const char *from, int64_t along, int64_t count, int is_half)
{
    if (is_half) {
        if (along == 2)
            LOOP(floats_of_halves)(room, (const uint16_t *)from, count);
        else
            for (int64_t i = 0; i < count; i++)
                room[i] = dml_float_of_half(*(const uint16_t *)(from + i * along));
        return room;
    }
    if (along == 4)
        return (const float *)from;
    for (int64_t i = 0; i < count; i++)
        room[i] = *(const float *)(from + i * along);
    return room;
}

static DML_ONCE void LOOP(product_panel)(float *to, int64_t width, const char *from, int64_t across, int64_t along,
                                         int64_t count, int64_t depth, int is_half)
{
    enum { STEPS = 64 };
    float room[4][STEPS];
    const float *lines[4];
    int64_t item = is_half ? 2 : 4;
    if (across == item) {
        for (int64_t k = 0; k < depth; k++, to += width, from += along) {
            if (is_half)
                LOOP(floats_of_halves)(to, (const uint16_t *)from, count);
            else
                memcpy(to, from, (size_t)count * sizeof(float));
            for (int64_t j = count; j < width; j++)
                to[j] = 0.0f;
        }
        return;
    }
    for (int64_t begin = 0; begin < depth; begin += STEPS) {
        int64_t steps = depth - begin < STEPS ? depth - begin : STEPS, j = 0;
        float *block = to + begin * width;
        for (; j < count; j += 4) {
            int64_t lanes = count - j < 4 ? count - j : 4;
            for (int64_t i = 0; i < lanes; i++)
                lines[i] = LOOP(product_together)(room[i], from + (j + i) * across + begin * along, along, steps,
                                                  is_half);
            if (lanes < 4) {
                for (int64_t i = 0; i < lanes; i++)
                    for (int64_t k = 0; k < steps; k++)
                        block[k * width + j + i] = lines[i][k];
                continue;
            }
            const float *first = lines[0], *second = lines[1], *third = lines[2], *fourth = lines[3];
            for (int64_t k = 0; k < steps; k++) {
                float *four = block + k * width + j;
                four[0] = first[k];
                four[1] = second[k];
                four[2] = third[k];
                four[3] = fourth[k];
            }
        }
        for (int64_t k = 0; k < steps; k++)
            for (j = count; j < width; j++)
                block[k * width + j] = 0.0f;
    }
}

DML_INLINE DML_TILE_FLOATS LOOP(product_load)(const char *from, int is_half)
{
    if (!is_half)
        return *(const DML_TILE_FLOATS *)from;
#if defined(DML_AVX512)
    return (DML_TILE_FLOATS)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)from));
#elif defined(DML_AVX2)
    return (DML_TILE_FLOATS)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)from));
#else
    DML_TILE_FLOATS values;
    for (int i = 0; i < DML_TILE_LANES; i++)
        values[i] = dml_float_of_half(((const uint16_t *)from)[i]);
    return values;
#endif
}

DML_INLINE float LOOP(product_load_one)(const char *from, int is_half)
{
    return is_half ? dml_float_of_half(*(const uint16_t *)from) : *(const float *)from;
}

/* Several rows at a time, so that sums are loaded and stored less often. */
DML_INLINE void LOOP(product_add_some)(float *to, const float *a, const char *b, int64_t b_step, int64_t count,
                                       const int rows, const int is_half)
{
    const int64_t item = is_half ? 2 : 4;
    int64_t i = 0;
    for (; i + DML_TILE_LANES <= count; i += DML_TILE_LANES) {
        DML_TILE_FLOATS sum = *(DML_TILE_FLOATS *)(to + i);
        DML_UNROLLED for (int k = 0; k < rows; k++) sum += a[k] * LOOP(product_load)(b + k * b_step + i * item, is_half);
        *(DML_TILE_FLOATS *)(to + i) = sum;
    }
    for (; i < count; i++)
        for (int k = 0; k < rows; k++)
            to[i] += a[k] * LOOP(product_load_one)(b + k * b_step + i * item, is_half);
}

static DML_ONCE void LOOP(product_add_rows)(float *to, const float *a, const char *b, int64_t b_step, int64_t count,
                                            int64_t depth, int is_half)
{
    int64_t k = 0;
    for (; k + 8 <= depth; k += 8)
        if (is_half)
            LOOP(product_add_some)(to, a + k, b + k * b_step, b_step, count, 8, 1);
        else
            LOOP(product_add_some)(to, a + k, b + k * b_step, b_step, count, 8, 0);
    for (; k < depth; k++)
        if (is_half)
            LOOP(product_add_some)(to, a + k, b + k * b_step, b_step, count, 1, 1);
        else
            LOOP(product_add_some)(to, a + k, b + k * b_step, b_step, count, 1, 0);
}

DML_INLINE float LOOP(product_dot_of)(const float *a, const char *b, int64_t depth, const int is_half)
{
    const int64_t item = is_half ? 2 : 4;
    DML_TILE_FLOATS sums[4] = {{0}, {0}, {0}, {0}};
    float sum = 0.0f;
    int64_t k = 0;
    for (; k + 4 * DML_TILE_LANES <= depth; k += 4 * DML_TILE_LANES)
        DML_UNROLLED for (int i = 0; i < 4; i++) sums[i] +=
            *(const DML_TILE_FLOATS *)(a + k + i * DML_TILE_LANES) *
            LOOP(product_load)(b + (k + i * DML_TILE_LANES) * item, is_half);
    sums[0] = sums[0] + sums[1] + (sums[2] + sums[3]);
    for (; k < depth; k++)
        sum += a[k] * LOOP(product_load_one)(b + k * item, is_half);
    for (int i = 0; i < DML_TILE_LANES; i++)
        sum += sums[0][i];
    return sum;
}

static DML_ONCE float LOOP(product_dot)(const float *a, const char *b, int64_t depth, int is_half)
{
    return is_half ? LOOP(product_dot_of)(a, b, depth, 1) : LOOP(product_dot_of)(a, b, depth, 0);
}

DML_INLINE void LOOP(product_add_some_bytes)(uint32_t *restrict to, const int32_t *a, const uint8_t *restrict b,
                                             int64_t b_step, int64_t count, const int rows, const int is_signed)
{
    for (int64_t i = 0; i < count; i++) {
        uint32_t sum = to[i];
        DML_UNROLLED for (int k = 0; k < rows; k++)
        {
            const uint8_t byte = b[k * b_step + i];
            sum += (uint32_t)(a[k] * (is_signed ? (int8_t)byte : byte));
        }
        to[i] = sum;
    }
}

static DML_ONCE void LOOP(product_add_bytes)(int32_t *to, const int32_t *a, const uint8_t *b, int64_t b_step,
                                             int64_t count, int64_t depth, int is_signed)
{
    int64_t k = 0;
    for (; k + 8 <= depth; k += 8)
        if (is_signed)
            LOOP(product_add_some_bytes)((uint32_t *)to, a + k, b + k * b_step, b_step, count, 8, 1);
        else
            LOOP(product_add_some_bytes)((uint32_t *)to, a + k, b + k * b_step, b_step, count, 8, 0);
    for (; k < depth; k++)
        LOOP(product_add_some_bytes)((uint32_t *)to, a + k, b + k * b_step, b_step, count, 1, is_signed);
}

typedef int32_t LOOP(product_ints) __attribute__((vector_size(4 * DML_TILE_LANES), may_alias));
typedef int32_t LOOP(product_near_ints) __attribute__((vector_size(4 * DML_TILE_LANES), aligned(4), may_alias));

/* The second one where the first is NaN. */
DML_INLINE DML_TILE_FLOATS LOOP(product_larger)(DML_TILE_FLOATS one, DML_TILE_FLOATS other)
{
#if defined(DML_AVX512)
    return (DML_TILE_FLOATS)_mm512_max_ps((__m512)one, (__m512)other);
#elif defined(DML_AVX2)
    return (DML_TILE_FLOATS)_mm256_max_ps((__m256)one, (__m256)other);
#else
    const LOOP(product_ints) above = (LOOP(product_ints))(one > other);
    return (DML_TILE_FLOATS)((above & (LOOP(product_ints))one) | (~above & (LOOP(product_ints))other));
#endif
}

/* Exponentials of what is not above 0, 1e-7 off at most: below -87 they are 0. */
DML_INLINE DML_TILE_FLOATS LOOP(product_exp)(DML_TILE_FLOATS x)
{
    typedef LOOP(product_ints) ints;
    const ints little = (ints)(x < -87.0f);
    DML_TILE_FLOATS inside = (DML_TILE_FLOATS)(~little & (ints)x);
    DML_TILE_FLOATS shifted = inside * 0x1.715476p0f + 0x1.8p23f, whole = shifted - 0x1.8p23f;
    DML_TILE_FLOATS r = inside - whole * 0x1.62e4p-1f, sum;
    r = r - whole * 0x1.7f7d1cp-20f;
    sum = r * (1.0f / 720) + 1.0f / 120;
    sum = sum * r + 1.0f / 24;
    sum = sum * r + 1.0f / 6;
    sum = sum * r + 0.5f;
    sum = sum * r + 1.0f;
    sum = sum * r + 1.0f;
    sum *= (DML_TILE_FLOATS)((((ints)shifted - (ints)((DML_TILE_FLOATS){0} + 0x1.8p23f)) + 127) << 23);
    return (DML_TILE_FLOATS)(~little & (ints)sum);
}

static DML_ONCE void LOOP(product_weigh)(float *x, const dml_weights *weights, int64_t count)
{
    DML_TILE_FLOATS most = (DML_TILE_FLOATS){0} - INFINITY, sums = {0}, rest;
    const float *bias = weights->bias, *added = weights->added, scale = weights->scale;
    const int32_t *marks = weights->marks;
    float largest = -INFINITY, sum = 0.0f, hidden = 0.0f;
    int32_t seen = 0;
    int64_t i = 0, whole = count / DML_TILE_LANES * DML_TILE_LANES;
    for (i = 0; marks && i < count; i++)
        seen |= marks[i];
    hidden = seen ? weights->mask_value : 0.0f;
    for (i = 0; i < whole; i += DML_TILE_LANES) {
        DML_TILE_FLOATS values = *(const DML_TILE_FLOATS *)(x + i) * scale;
        if (bias)
            values += *(const DML_TILE_FLOATS *)(bias + i);
        if (added)
            values += *(const DML_TILE_FLOATS *)(added + i);
        if (marks) {
            const LOOP(product_ints) masked = *(const LOOP(product_near_ints) *)(marks + i) == 0;
            values += (DML_TILE_FLOATS)(masked & (LOOP(product_ints))((DML_TILE_FLOATS){0} + hidden));
        }
        *(DML_TILE_FLOATS *)(x + i) = values;
        most = LOOP(product_larger)(values, most);
    }
    for (; i < count; i++) {
        float score = x[i] * scale;
        score = bias ? score + bias[i] : score;
        score = added ? score + added[i] : score;
        x[i] = marks && marks[i] == 0 ? score + hidden : score;
    }
    for (int j = 0; j < DML_TILE_LANES; j++)
        largest = most[j] > largest ? most[j] : largest;
    for (i = whole; i < count; i++)
        largest = x[i] > largest ? x[i] : largest;
    for (i = 0; i < whole; i += DML_TILE_LANES) {
        const DML_TILE_FLOATS values = LOOP(product_exp)(*(const DML_TILE_FLOATS *)(x + i) - largest);
        sums += values;
        *(DML_TILE_FLOATS *)(x + i) = values;
    }
    if (whole < count) {
        for (int j = 0; j < DML_TILE_LANES; j++)
            rest[j] = whole + j < count ? x[whole + j] - largest : -INFINITY;
        rest = LOOP(product_exp)(rest);
        sums += rest;
        for (int j = 0; whole + j < count; j++)
            x[whole + j] = rest[j];
    }
    for (int j = 0; j < DML_TILE_LANES; j++)
        sum += sums[j];
    sum = 1.0f / sum;
    for (i = 0; i < count; i++)
        x[i] *= sum;
}

static const dml_product_table LOOP(product_table) = {
    2 * DML_TILE_LANES,      LOOP(product_tiles),     LOOP(product_panel), LOOP(product_add_rows), LOOP(product_dot),
    LOOP(product_add_bytes), LOOP(product_weigh),
};
