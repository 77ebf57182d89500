/* Transposes of a few items, in either direction: items that are neighbours in one layout, with fewer bytes than a
   vector has, are in as many lines in the other. A vector of results is assembled from vectors that each have some of
   its bytes. */

#pragma once

#include "../common/vectors.h"
#include "copy.h"

/* Prefetch distance in bytes: the hardware prefetcher does not foresee short lines. */
#define DML_AHEAD 1024

#if defined(__AVX2__)

/* The most items that are a group, as groups have at most 16 bytes. */
#define DML_GROUP 16

/* The shuffle that moves byte number `byte_index` of a vector; it gives 0 where the number is not that of a byte. */
DML_INLINE __m256i shuffle_of(__m128i byte_indices)
{
    return _mm256_broadcastsi128_si256(_mm_adds_epu8(byte_indices, _mm_set1_epi8(0x70)));
}

DML_INLINE __m256i two_halves(const char *low, const char *high)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)low)),
                                   _mm_loadu_si128((const __m128i *)high), 1);
}

/* Copies the first `lines` items of each of `count` groups, each item to a line of its own: groups begin every `stride`
   bytes, with either sign if there is one line. `ahead` is prefetched. Returns for how many groups that is done. */
DML_INLINE int64_t take_apart(char *output, int64_t output_line, const char *input, int64_t stride, int64_t ahead,
                              int64_t lines, int64_t count, const int64_t item)
{
    const int64_t size = stride < 0 ? -stride : stride, vectors = size / item, whole = 32 / item;
    /* Nothing is read behind the last item or before the first one. */
    int64_t most = ((count - 1) * size + lines * item) / (whole * size) * whole;
    uint8_t byte_indices[16];
    __m256i shuffles[DML_GROUP * DML_GROUP];
    if (most <= 0)
        return 0;
    for (int64_t i = 0; i < 16; i++)
        byte_indices[i] = (uint8_t)((stride < 0 ? 16 / item - 1 - i / item : i / item) * size + i % item +
                                    (stride < 0 ? size - item : 0));
    for (int64_t line = 0; line < lines; line++)
        for (int64_t i = 0; i < vectors; i++)
            shuffles[line * vectors + i] = shuffle_of(_mm_add_epi8(_mm_loadu_si128((const __m128i *)byte_indices),
                                                                   _mm_set1_epi8((char)(line * item - 16 * i))));
    for (int64_t done = 0; done < most; done += whole) {
        const char *low = input + (stride < 0 ? (done + whole / 2) * stride + item : done * stride);
        const char *high = low + whole / 2 * stride;
        for (int64_t i = 0; i < 2 * vectors; i += 4)
            _mm_prefetch((stride < 0 ? high : low) + ahead + 16 * i, _MM_HINT_T0);
        for (int64_t line = 0; line < lines; line++) {
            const __m256i *shuffle = shuffles + line * vectors;
            __m256i found = _mm256_shuffle_epi8(two_halves(low, high), shuffle[0]);
            for (int64_t i = 1; i < vectors; i++)
                found =
                    _mm256_or_si256(found, _mm256_shuffle_epi8(two_halves(low + 16 * i, high + 16 * i), shuffle[i]));
            DML_STORE(output + line * output_line + done * item, found);
        }
    }
    return most;
}

/* Copies `count` items in reverse order; whole cache lines are written by streaming stores. */
DML_INLINE void stream_reversed(char *output, const char *input, int64_t count, const int64_t item)
{
    uint8_t byte_indices[16];
    int64_t done = dml_least((-(int64_t)(uintptr_t)output & 63) / item, count);
    for (int64_t i = 0; i < 16; i++)
        byte_indices[i] = (uint8_t)((16 / item - 1 - i / item) * item + i % item);
    const __m256i shuffle = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)byte_indices));
    for (int64_t i = 0; i < done; i++)
        memcpy(output + i * item, input - i * item, (size_t)item);
    for (; done + 64 / item <= count; done += 64 / item) {
        const char *from = input + item - done * item;
        _mm_prefetch(from - DML_AHEAD - 64, _MM_HINT_T0);
        for (int64_t i = 32; i <= 64; i += 32) {
            __m256i found = _mm256_shuffle_epi8(DML_LOAD(from - i), shuffle);
            DML_STREAM(output + done * item + i - 32, _mm256_permute2x128_si256(found, found, 1));
        }
    }
    for (; done < count; done++)
        memcpy(output + done * item, input - done * item, (size_t)item);
}

/* Assembles `count` groups, one after another, from an item of each of `lines`, which are `stride` bytes apart. Returns
   for how many that is done. */
DML_INLINE int64_t put_together(char *output, const char *input, int64_t stride, int64_t lines, int64_t count,
                                const int64_t item)
{
    const int64_t whole = 32 / item, most = count - count % whole;
    __m256i shuffles[DML_GROUP * DML_GROUP];
    if (most == 0)
        return 0;
    for (int64_t part = 0; part < lines; part++) {
        uint8_t byte_lines[16], byte_indices[16];
        for (int i = 0; i < 16; i++) {
            const uint16_t number = (uint16_t)((16 * part + i) / item);
            /* number / lines, both of which are below 256 */
            const uint16_t group = (uint16_t)((uint32_t)number * (uint32_t)(65536 / lines + 1) >> 16);
            byte_lines[i] = (uint8_t)(number - group * lines);
            byte_indices[i] = (uint8_t)(group * item + i % item);
        }
        for (int64_t i = 0; i < lines; i++) {
            __m128i is_of_line = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)byte_lines), _mm_set1_epi8((char)i));
            shuffles[part * lines + i] = shuffle_of(_mm_or_si128(_mm_loadu_si128((const __m128i *)byte_indices),
                                                                 _mm_andnot_si128(is_of_line, _mm_set1_epi8(-1))));
        }
    }
    for (int64_t done = 0; done < most; done += whole) {
        char *low = output + done * lines * item, *high = low + 16 * lines;
        for (int64_t part = 0; part < lines; part++) {
            const __m256i *shuffle = shuffles + part * lines;
            const char *from = input + done * item;
            _mm_prefetch(from + part * stride + DML_AHEAD, _MM_HINT_T0);
            __m256i found = _mm256_shuffle_epi8(DML_LOAD(from), shuffle[0]);
            for (int64_t i = 1; i < lines; i++)
                found = _mm256_or_si256(found, _mm256_shuffle_epi8(DML_LOAD(from + i * stride), shuffle[i]));
            _mm_storeu_si128((__m128i *)(low + 16 * part), _mm256_castsi256_si128(found));
            _mm_storeu_si128((__m128i *)(high + 16 * part), _mm256_extracti128_si256(found, 1));
        }
    }
    return most;
}

#endif

/* Whether vectors can split groups that begin every `stride` bytes and have at least `lines` items. */
DML_INLINE int has_groups(int64_t stride, int64_t lines, const int64_t item)
{
#if defined(__AVX2__)
    int64_t size = stride < 0 ? -stride : stride;
    return stride % item == 0 && lines * item <= size && size <= 16 && (stride > 0 || lines == 1);
#else
    (void)stride, (void)lines, (void)item;
    return 0;
#endif
}

/* A chunk that is in the cache needs no prefetch. */
static DML_ONCE void stream_chunk(char *output, const char *chunk, int64_t bytes)
{
    stream_bytes(output, chunk, bytes, chunk);
}

/* Copies `lines` that begin `item` bytes apart in the input, with their items every `stride` bytes; the output has
   contiguous lines. */
DML_INLINE void apart_items(char *output, int64_t output_line, const char *input, int64_t stride, int64_t ahead,
                            int64_t lines, int64_t length, int stream, const int64_t item)
{
    /* The results go through a chunk that stays in the cache, from which whole cache lines are streamed. */
    char chunk[8192] __attribute__((aligned(64)));
    const int64_t room = (int64_t)sizeof chunk / lines & -64, most = stream ? room / item : length;
#if defined(__AVX2__)
    if (stream && lines == 1 && stride == -item && (uintptr_t)output % item == 0 && streams(output, length * item)) {
        stream_reversed(output, input, length, item);
        return;
    }
#endif
    for (int64_t i = 0, count; i < length; i += count, output += count * item, input += count * stride) {
        char *to = stream ? chunk : output;
        int64_t to_line = stream ? room : output_line, done = 0;
        count = dml_least(length - i, most);
#if defined(__AVX2__)
        if (has_groups(stride, lines, item))
            done = take_apart(to, to_line, input, stride, ahead, lines, count, item);
#endif
        for (int64_t line = 0; line < lines; line++)
            packed_line(to + line * to_line + done * item, input + line * item + done * stride, stride, count - done,
                        item);
        for (int64_t line = 0; stream && line < lines; line++)
            stream_chunk(output + line * output_line, chunk + line * room, count * item);
    }
}

/* Interleaves `lines` that begin `stride` bytes apart: groups of an item of each, `length` of them. */
DML_INLINE void together_items(char *output, const char *input, int64_t stride, int64_t lines, int64_t length,
                               int stream, const int64_t item)
{
    char chunk[8192] __attribute__((aligned(64)));
    const int64_t group = lines * item, room = (int64_t)sizeof chunk / group & -32, most = stream ? room : length;
    for (int64_t i = 0, count; i < length; i += count, output += count * group, input += count * item) {
        char *to = stream ? chunk : output;
        int64_t done = 0;
        count = dml_least(length - i, most);
#if defined(__AVX2__)
        done = put_together(to, input, stride, lines, count, item);
#endif
        for (; done < count; done++)
            for (int64_t line = 0; line < lines; line++)
                memcpy(to + done * group + line * item, input + line * stride + done * item, (size_t)item);
        if (stream)
            stream_chunk(output, chunk, count * group);
    }
}

#define DML_ITEM(item)                                                                                                 \
    static DML_ONCE void apart_##item(char *output, int64_t output_line, const char *input, int64_t stride,            \
                                      int64_t ahead, int64_t lines, int64_t length, int stream)                        \
    {                                                                                                                  \
        apart_items(output, output_line, input, stride, ahead, lines, length, stream, item);                           \
    }                                                                                                                  \
    static DML_ONCE void together_##item(char *output, const char *input, int64_t stride, int64_t lines,               \
                                         int64_t length, int stream)                                                   \
    {                                                                                                                  \
        together_items(output, input, stride, lines, length, stream, item);                                            \
    }
DML_EACH_ITEM(DML_ITEM)
#undef DML_ITEM

/* By the bytes of an item. */
#define DML_BY_ITEM(NAME) {[1] = NAME##_1, [2] = NAME##_2, [4] = NAME##_4, [8] = NAME##_8, [16] = NAME##_16}
static __typeof__(apart_1) *const apart[] = DML_BY_ITEM(apart);
static __typeof__(together_1) *const together[] = DML_BY_ITEM(together);
#undef DML_BY_ITEM
