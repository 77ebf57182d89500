/* Gathers along one run of index tuples. */

#pragma once

#include "../common/vectors.h"
#include "../move/copy.h"

#include "dispatch.h"

DML_INLINE void prefetch_row(const char *row, int64_t bytes)
{
#if defined(__x86_64__)
    /* Of longer rows the hardware prefetcher loads the rest. */
    for (int64_t i = 0; i < bytes && i < 512; i += 64)
        _mm_prefetch(row + i, _MM_HINT_T0);
#endif
}

#if defined(__x86_64__)
/* Gathers rows of whole cache lines by streaming stores. */
static void gather_lines(const dml_gather_scatter_nd_reads *reads)
{
    const int64_t *offsets = reads->offsets, bytes = reads->bytes, count = reads->count, size = sizeof(item_vector);
    char *output = reads->values;
    for (int64_t i = 0; i < count; i++, output += reads->values_stride) {
        const char *row = reads->array + offsets[i];
        if (reads->is_far && i + 16 < count)
            prefetch_row(reads->array + offsets[i + 16], bytes);
        for (int64_t j = 0; j < bytes; j += 64)
            for (int64_t k = 0; k < 64; k += size)
                DML_STREAM(output + j + k, DML_LOAD(row + j + k));
    }
}
#endif

static void gather_rows(const dml_gather_scatter_nd_reads *reads, int stream)
{
#if defined(__x86_64__)
    if (stream && ((uintptr_t)reads->values | (uintptr_t)reads->values_stride | (uintptr_t)reads->bytes) % 64 == 0) {
        gather_lines(reads);
        return;
    }
#endif
    char chunk[8192] __attribute__((aligned(64)));
    const int64_t *offsets = reads->offsets, bytes = reads->bytes, count = reads->count,
                  output_stride = reads->values_stride;
    const char *x = reads->array;
    /* Rows that follow each other in the output share cache lines, which are collected, and written as whole ones. */
    int64_t most = stream && output_stride == bytes && bytes < 1024 ? (int64_t)sizeof chunk / bytes : 1;
    for (int64_t i = 0, part; i < count; i += part) {
        char *output = reads->values + i * output_stride;
        part = dml_least(count - i, most);
        for (int64_t k = 0; k < part; k++) {
            int64_t ahead = i + k + 16;
            if (reads->is_far && ahead < count)
                prefetch_row(x + offsets[ahead], bytes);
            if (most > 1)
                copy_bytes(chunk + k * bytes, x + offsets[i + k], bytes);
            else if (stream)
                stream_bytes(output, x + offsets[i + k], bytes, x + offsets[ahead < count ? i + k + 1 : i + k]);
            else
                copy_bytes(output, x + offsets[i + k], bytes);
        }
        if (most > 1)
            stream_bytes(output, chunk, part * bytes, chunk);
    }
}

DML_INLINE void gather_each(char *output, int64_t output_stride, const char *x, const int64_t *offsets, int64_t count,
                            const int64_t item)
{
    int64_t i = 0;
    for (; i + 4 <= count; i += 4, output += 4 * output_stride) {
        char four[4][16];
        for (int k = 0; k < 4; k++)
            memcpy(four[k], x + offsets[i + k], (size_t)item);
        for (int k = 0; k < 4; k++)
            memcpy(output + k * output_stride, four[k], (size_t)item);
    }
    for (; i < count; i++, output += output_stride)
        memcpy(output, x + offsets[i], (size_t)item);
}

DML_INLINE void gather_items(const dml_gather_scatter_nd_reads *reads, const int64_t item)
{
    if (reads->values_stride == item)
        gather_each(reads->values, item, reads->array, reads->offsets, reads->count, item);
    else
        gather_each(reads->values, reads->values_stride, reads->array, reads->offsets, reads->count, item);
}

#define DML_ITEM(item)                                                                                                 \
    static void gather_items_##item(const dml_gather_scatter_nd_reads *reads)                                          \
    {                                                                                                                  \
        gather_items(reads, item);                                                                                     \
    }
DML_EACH_ITEM(DML_ITEM)
#undef DML_ITEM
