/* The loops of a copy over two dimensions. Nothing here assumes that an item lies at a multiple of its size. */

/* Named anew for each kind of processor. */
#undef DML_VECTOR
#undef DML_LOAD
#undef DML_STORE
#undef DML_STREAM
#if defined(DML_AVX2)
typedef __m256i LOOP(vector);
#define DML_VECTOR(operation) _mm256_##operation
#define DML_LOAD(from) _mm256_loadu_si256((const __m256i *)(from))
#define DML_STORE(to, value) _mm256_storeu_si256((__m256i *)(to), value)
#define DML_STREAM(to, value) _mm256_stream_si256((__m256i *)(to), value)
#elif defined(__x86_64__)
typedef __m128i LOOP(vector);
#define DML_VECTOR(operation) _mm_##operation
#define DML_LOAD(from) _mm_loadu_si128((const __m128i *)(from))
#define DML_STORE(to, value) _mm_storeu_si128((__m128i *)(to), value)
#define DML_STREAM(to, value) _mm_stream_si128((__m128i *)(to), value)
#endif

/* A copy that is too short to be worth a call. The last step goes back over what is copied already. */
DML_INLINE void LOOP(copy_short)(char *output, const char *input, int64_t bytes)
{
    if (bytes >= 32) {
        for (int64_t i = 0; i + 32 < bytes; i += 32)
            memcpy(output + i, input + i, 32);
        memcpy(output + bytes - 32, input + bytes - 32, 32);
    } else if (bytes >= 16) {
        memcpy(output, input, 16);
        memcpy(output + bytes - 16, input + bytes - 16, 16);
    } else if (bytes >= 8) {
        memcpy(output, input, 8);
        memcpy(output + bytes - 8, input + bytes - 8, 8);
    } else if (bytes >= 4) {
        memcpy(output, input, 4);
        memcpy(output + bytes - 4, input + bytes - 4, 4);
    } else if (bytes > 0) {
        output[0] = input[0];
        output[bytes / 2] = input[bytes / 2];
        output[bytes - 1] = input[bytes - 1];
    }
}

DML_INLINE void LOOP(copy_bytes)(char *output, const char *input, int64_t bytes)
{
    if (bytes < 1024)
        LOOP(copy_short)(output, input, bytes);
    else
        memcpy(output, input, (size_t)bytes);
}

static void LOOP(stream_end)(void)
{
#if defined(__x86_64__)
    _mm_sfence();
#endif
}

/* Whether stores past the caches suit such a line: a cache line that is written in parts goes to memory twice. */
DML_INLINE int LOOP(streams)(const char *output, int64_t bytes)
{
    return bytes >= 512 || (bytes >= 64 && bytes % 64 == 0 && (uintptr_t)output % 64 == 0);
}

/* A copy whose whole cache lines go past the caches: nothing is read in order to be overwritten. `next` is what will
   be read after it; reading ahead of the end goes on there. */
DML_INLINE void LOOP(stream_bytes)(char *output, const char *input, int64_t bytes, const char *next)
{
#if defined(__x86_64__)
    const int64_t size = sizeof(LOOP(vector)), distance = 1024;
    int64_t done = -(int64_t)(uintptr_t)output & 63, near = bytes - distance;
    if (!LOOP(streams)(output, bytes)) {
        LOOP(copy_bytes)(output, input, bytes);
        return;
    }
    LOOP(copy_short)(output, input, done);
    for (; done + 64 <= bytes; done += 64) {
        _mm_prefetch(done < near ? input + done + distance : next + (done - near), _MM_HINT_T0);
        for (int64_t i = 0; i < 64; i += size)
            DML_STREAM(output + done + i, DML_LOAD(input + done + i));
    }
    LOOP(copy_short)(output + done, input + done, bytes - done);
#else
    memcpy(output, input, (size_t)bytes);
#endif
}

static void LOOP(move_rows)(const dml_span *span, int stream)
{
    char *output = span->output;
    const char *input = span->input;
    int64_t bytes = span->length;
    for (int64_t i = 0; i < span->lines; i++, output += span->output_line, input += span->input_line) {
        if (stream)
            LOOP(stream_bytes)(output, input, bytes, input + span->input_line);
        else
            LOOP(copy_bytes)(output, input, bytes);
    }
}

DML_INLINE void LOOP(strided_line)(char *output, int64_t output_step, const char *input, int64_t input_step,
                                   int64_t count, const int64_t item)
{
    int64_t i = 0;
    for (; i + 4 <= count; i += 4, output += 4 * output_step, input += 4 * input_step) {
        char four[4][16];
        for (int k = 0; k < 4; k++)
            memcpy(four[k], input + k * input_step, (size_t)item);
        for (int k = 0; k < 4; k++)
            memcpy(output + k * output_step, four[k], (size_t)item);
    }
    for (; i < count; i++, output += output_step, input += input_step)
        memcpy(output, input, (size_t)item);
}

/* Items that are read in steps and written together; the commonest steps are known to the compiler. */
DML_INLINE void LOOP(packed_line)(char *output, const char *input, int64_t input_step, int64_t count,
                                  const int64_t item)
{
    if (input_step == -item)
        for (int64_t i = 0; i < count; i++)
            memcpy(output + i * item, input - i * item, (size_t)item);
    else if (input_step == 2 * item)
        for (int64_t i = 0; i < count; i++)
            memcpy(output + i * item, input + i * 2 * item, (size_t)item);
    else
        LOOP(strided_line)(output, item, input, input_step, count, item);
}

#include "narrow.h"

/* Lines that repeat one item each. */
DML_INLINE void LOOP(fill)(const dml_span *span, int stream, const int64_t item)
{
    char pattern[64];
    if (item < 8 && span->length * item <= 8 && span->output_line == span->length * item && span->input_line == item) {
        LOOP(together)(span->output, span->input, 0, span->length, span->lines, stream, item);
        return;
    }
    for (int64_t line = 0; line < span->lines; line++) {
        char *output = span->output + line * span->output_line;
        const char *input = span->input + line * span->input_line;
        int64_t done = 0, count = span->length;
        if (count * item >= 128) {
            for (int64_t i = 0; i < 64; i += item)
                memcpy(pattern + i, input, (size_t)item);
#if defined(__x86_64__)
            if (stream && (uintptr_t)output % item == 0) {
                const int64_t size = sizeof(LOOP(vector));
                LOOP(vector) value = DML_LOAD(pattern);
                done = (-(int64_t)(uintptr_t)output & 63) / item;
                memcpy(output, pattern, (size_t)(done * item));
                for (; done + 64 / item <= count; done += 64 / item)
                    for (int64_t i = 0; i < 64; i += size)
                        DML_STREAM(output + done * item + i, value);
            }
#endif
            for (; done + 64 / item <= count; done += 64 / item)
                memcpy(output + done * item, pattern, 64);
        }
        for (; done < count; done++)
            memcpy(output + done * item, input, (size_t)item);
    }
}

DML_INLINE void LOOP(strided)(const dml_span *span, int stream, const int64_t item)
{
    int64_t reach = span->length * span->input_step, ahead = span->input_line;
    /* Vectors of a line that is shorter than two would take longer to prepare. */
    int packs = span->output_step == item && span->length * item >= 64;
    if (reach < -4096 || reach > 4096)
        ahead = reach < 0 ? -DML_AHEAD : DML_AHEAD;
    for (int64_t line = 0; line < span->lines; line++) {
        char *output = span->output + line * span->output_line;
        const char *input = span->input + line * span->input_line;
        if (packs)
            LOOP(apart)(output, 0, input, span->input_step, ahead, 1, span->length, stream, item);
        else
            LOOP(strided_line)(output, span->output_step, input, span->input_step, span->length, item);
    }
}

#include "tiles.h"

#define DML_ITEM(name, item)                                                                                           \
    static void LOOP(name##_##item)(const dml_span *span, int stream)                                                  \
    {                                                                                                                  \
        LOOP(name)(span, stream, item);                                                                                \
    }
#define DML_ITEMS(name) DML_ITEM(name, 1) DML_ITEM(name, 2) DML_ITEM(name, 4) DML_ITEM(name, 8) DML_ITEM(name, 16)
DML_ITEMS(fill)
DML_ITEMS(strided)
DML_ITEMS(tiles)
#undef DML_ITEMS
#undef DML_ITEM

static const dml_move_table LOOP(move_table) = {
    .rows = LOOP(move_rows),
    .fill = {LOOP(fill_1), LOOP(fill_2), LOOP(fill_4), LOOP(fill_8), LOOP(fill_16)},
    .strided = {LOOP(strided_1), LOOP(strided_2), LOOP(strided_4), LOOP(strided_8), LOOP(strided_16)},
    .tiles = {LOOP(tiles_1), LOOP(tiles_2), LOOP(tiles_4), LOOP(tiles_8), LOOP(tiles_16)},
    .stream_end = LOOP(stream_end),
};
