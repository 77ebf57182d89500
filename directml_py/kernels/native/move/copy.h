/* Copies of bytes and of lines of items. Nothing here assumes that an item lies at a multiple of its size. */

#pragma once

#include "../common/vectors.h"

#include "dispatch.h"

/* The vector of copies, which is that of the instruction set. */
#if defined(__AVX2__)
typedef __m256i item_vector;
#define DML_VECTOR(operation) _mm256_##operation
#define DML_LOAD(from) _mm256_loadu_si256((const __m256i *)(from))
#define DML_STORE(to, value) _mm256_storeu_si256((__m256i *)(to), value)
#define DML_STREAM(to, value) _mm256_stream_si256((__m256i *)(to), value)
#elif defined(__x86_64__)
typedef __m128i item_vector;
#define DML_VECTOR(operation) _mm_##operation
#define DML_LOAD(from) _mm_loadu_si128((const __m128i *)(from))
#define DML_STORE(to, value) _mm_storeu_si128((__m128i *)(to), value)
#define DML_STREAM(to, value) _mm_stream_si128((__m128i *)(to), value)
#endif

/* A copy of 32 bytes, for which compilers would take two registers of 16 bytes. */
DML_INLINE void copy_32(char *output, const char *input)
{
#if defined(__AVX2__)
    DML_STORE(output, DML_LOAD(input));
#else
    memcpy(output, input, 32);
#endif
}

/* A copy that is too short to be worth a call. The last vector overlaps bytes that have been copied already. */
DML_INLINE void copy_short(char *output, const char *input, int64_t bytes)
{
    if (bytes >= 32) {
        for (int64_t i = 0; i + 32 < bytes; i += 32)
            copy_32(output + i, input + i);
        copy_32(output + bytes - 32, input + bytes - 32);
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

DML_INLINE void copy_bytes(char *output, const char *input, int64_t bytes)
{
    if (bytes < 256)
        copy_short(output, input, bytes);
    else
        memcpy(output, input, (size_t)bytes);
}

static void stream_end(void)
{
#if defined(__x86_64__)
    _mm_sfence();
#endif
}

/* Whether streaming stores suit a line: a cache line that is written in parts goes to memory twice. */
DML_INLINE int streams(const char *output, int64_t bytes)
{
    return bytes >= 512 || (bytes >= 64 && bytes % 64 == 0 && (uintptr_t)output % 64 == 0);
}

/* A copy that writes whole cache lines by streaming stores, for which memory is not read first. `next` is what will be
   read afterwards; prefetching beyond the end goes on there. */
DML_INLINE void stream_bytes(char *output, const char *input, int64_t bytes, const char *next)
{
#if defined(__x86_64__)
    const int64_t size = sizeof(item_vector), distance = 1024;
    int64_t done = -(int64_t)(uintptr_t)output & 63, near = bytes - distance;
    if (!streams(output, bytes)) {
        copy_bytes(output, input, bytes);
        return;
    }
    copy_short(output, input, done);
    for (; done + 64 <= bytes; done += 64) {
        _mm_prefetch(done < near ? input + done + distance : next + (done - near), _MM_HINT_T0);
        for (int64_t i = 0; i < 64; i += size)
            DML_STREAM(output + done + i, DML_LOAD(input + done + i));
    }
    copy_short(output + done, input + done, bytes - done);
#else
    memcpy(output, input, (size_t)bytes);
#endif
}

static void move_rows(const dml_span *span, int stream)
{
    char *output = span->output;
    const char *input = span->input;
    int64_t bytes = span->length;
    for (int64_t i = 0; i < span->lines; i++, output += span->output_line, input += span->input_line) {
        if (stream)
            stream_bytes(output, input, bytes, input + span->input_line);
        else
            copy_bytes(output, input, bytes);
    }
}

DML_INLINE void strided_line(char *output, int64_t output_stride, const char *input, int64_t input_stride,
                             int64_t count, const int64_t item)
{
    int64_t i = 0;
    for (; i + 4 <= count; i += 4, output += 4 * output_stride, input += 4 * input_stride) {
        char four[4][16];
        for (int k = 0; k < 4; k++)
            memcpy(four[k], input + k * input_stride, (size_t)item);
        for (int k = 0; k < 4; k++)
            memcpy(output + k * output_stride, four[k], (size_t)item);
    }
    for (; i < count; i++, output += output_stride, input += input_stride)
        memcpy(output, input, (size_t)item);
}

/* Packs items that are read with a stride. The commonest strides are known to the compiler. */
DML_INLINE void packed_line(char *output, const char *input, int64_t input_stride, int64_t count, const int64_t item)
{
    if (input_stride == -item)
        for (int64_t i = 0; i < count; i++)
            memcpy(output + i * item, input - i * item, (size_t)item);
    else if (input_stride == 2 * item)
        for (int64_t i = 0; i < count; i++)
            memcpy(output + i * item, input + i * 2 * item, (size_t)item);
    else
        strided_line(output, item, input, input_stride, count, item);
}
