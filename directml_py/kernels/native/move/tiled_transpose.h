/* Transposes: a line has contiguous items in the output, and neighbouring lines are contiguous in the input. Both are
   taken in tiles of one cache line each way, so that every cache line of memory is read and written once. */

#pragma once

#include "../common/vectors.h"

#include "dispatch.h"
#include "copy.h"
#include "narrow_transpose.h"
#include "fill.h"

#if defined(__x86_64__)

/* One round of a transpose: after log2(N) of them, N rows of N items have become columns. */
#define DML_ROUND(from, to, count, width)                                                                              \
    for (int i = 0; i < (count) / 2; i++) {                                                                            \
        to[2 * i] = DML_VECTOR(unpacklo_epi##width)(from[i], from[i + (count) / 2]);                                   \
        to[2 * i + 1] = DML_VECTOR(unpackhi_epi##width)(from[i], from[i + (count) / 2]);                               \
    }

/* Transposes 16 bytes each of as many input rows as a vector has items. With 32-byte vectors the rows of the second
   half go through the upper lanes: unpacking stays within lanes, and makes output rows of double length there. */
DML_INLINE void transpose(char *output, int64_t output_line, const char *input, int64_t input_stride,
                          const int64_t item)
{
    const int count = (int)(16 / item);
    item_vector a[16], b[16];
    for (int i = 0; i < count; i++) {
        __m128i low = _mm_loadu_si128((const __m128i *)(input + i * input_stride));
#if defined(__AVX2__)
        __m128i high = _mm_loadu_si128((const __m128i *)(input + (i + count) * input_stride));
        a[i] = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
#else
        a[i] = low;
#endif
    }
    if (item == 16) {
        b[0] = a[0];
    } else if (item == 8) {
        DML_ROUND(a, b, 2, 64)
    } else if (item == 4) {
        DML_ROUND(a, b, 4, 32)
        DML_ROUND(b, a, 4, 32)
    } else if (item == 2) {
        DML_ROUND(a, b, 8, 16)
        DML_ROUND(b, a, 8, 16)
        DML_ROUND(a, b, 8, 16)
    } else {
        DML_ROUND(a, b, 16, 8)
        DML_ROUND(b, a, 16, 8)
        DML_ROUND(a, b, 16, 8)
        DML_ROUND(b, a, 16, 8)
    }
    for (int i = 0; i < count; i++)
        DML_STORE(output + i * output_line, item == 4 || item == 1 ? a[i] : b[i]);
}
#undef DML_ROUND

#endif

DML_INLINE void tile(char *output, int64_t output_line, const char *input, int64_t input_stride, int64_t lines,
                     int64_t length, const int64_t item)
{
    int64_t whole_lines = 0, whole_length = 0;
#if defined(__x86_64__)
    const int64_t across = 16 / item, along = (int64_t)sizeof(item_vector) / item;
    whole_lines = lines - lines % across;
    whole_length = length - length % along;
    for (int64_t j = 0; j < whole_length; j += along)
        for (int64_t i = 0; i < whole_lines; i += across)
            transpose(output + i * output_line + j * item, output_line, input + j * input_stride + i * item,
                      input_stride, item);
#endif
    for (int64_t i = 0; i < lines; i++)
        for (int64_t j = i < whole_lines ? whole_length : 0; j < length; j++)
            memcpy(output + i * output_line + j * item, input + j * input_stride + i * item, (size_t)item);
}

/* Transposes a plane that no tile fits: in blocks that the cache holds, along its longer side. */
DML_INLINE void strips(const dml_span *span, const int64_t item)
{
    const int64_t most = span->lines < span->length ? 512 : 64;
    dml_span part = *span;
    if (span->lines > span->length && span->length < 16) {
        part.lines = span->length;
        part.output_line = span->output_stride;
        part.input_line = span->input_stride;
        part.length = span->lines;
        part.output_stride = span->output_line;
        part.input_stride = span->input_line;
    }
    for (int64_t i = 0, length = part.length; i < length; i += most) {
        part.length = dml_least(length - i, most);
        strided(&part, 0, item);
        part.output += most * part.output_stride;
        part.input += most * part.input_stride;
    }
}

DML_INLINE void tiles(const dml_span *span, int stream, const int64_t item)
{
    const int64_t side = 64 / item;
    if (span->input_line == item && span->output_stride == item) {
        if (span->lines <= 16 && has_groups(span->input_stride, span->lines, item) &&
            (span->lines * item < 16 || span->lines <= 4)) {
            apart[item](span->output, span->output_line, span->input, span->input_stride, DML_AHEAD, span->lines,
                        span->length, stream);
            return;
        }
        if (span->length * item < 16 && span->output_line == span->length * item) {
            together[item](span->output, span->input, span->input_stride, span->length, span->lines, stream);
            return;
        }
    }
    int64_t output_line = span->output_line, input_stride = span->input_stride;
    if (span->input_line != item || span->output_stride != item || span->lines * item < 16 ||
        span->length * item < 16) {
        strips(span, item);
        return;
    }
    int64_t j = 0, head = span->length;
#if defined(__x86_64__)
    char lines[64][64] __attribute__((aligned(64)));
    if (output_line % 64 != 0 || (uintptr_t)span->output % item != 0)
        stream = 0;
    if (stream)
        head = dml_least((-(int64_t)(uintptr_t)span->output & 63) / item, span->length);
#else
    stream = 0;
#endif
    /* Lines are copied up to the beginning of the output's cache lines, if that matters, and then line by line. */
    while (j < span->length) {
        int64_t end = stream && j < head ? head : dml_least(j + side, span->length);
        const char *input = span->input + j * input_stride;
        char *output = span->output + j * item;
        for (int64_t i = 0; i < span->lines; i += side) {
            int64_t across = dml_least(span->lines - i, side);
#if defined(__x86_64__)
            if (stream && end - j == side && across == side) {
                tile(lines[0], 64, input + i * item, input_stride, side, side, item);
                for (int64_t k = 0; k < side; k++)
                    for (int64_t byte = 0; byte < 64; byte += (int64_t)sizeof(item_vector))
                        DML_STREAM(output + (i + k) * output_line + byte, DML_LOAD(lines[k] + byte));
                continue;
            }
#endif
            if (end - j == side && across == side)
                tile(output + i * output_line, output_line, input + i * item, input_stride, side, side, item);
            else
                tile(output + i * output_line, output_line, input + i * item, input_stride, across, end - j, item);
        }
        j = end;
    }
}
