/* Gathers along one run of indices. */

#include "../common/vectors.h"
#include "../move/copy.h"

#include "dispatch.h"
#include "prefetch.h"

#if defined(__x86_64__)
/* Gathers rows of whole cache lines by streaming stores. */
static void gather_lines(const dml_gather_items *copies)
{
    const int64_t *offsets = copies->offsets, bytes = copies->bytes, count = copies->count, size = sizeof(item_vector);
    char *output = copies->output;
    for (int64_t i = 0; i < count; i++, output += copies->output_stride) {
        const char *row = copies->x + offsets[i];
        if (copies->is_far && i + 16 < count)
            prefetch_row(copies->x + offsets[i + 16], bytes);
        for (int64_t j = 0; j < bytes; j += 64)
            for (int64_t k = 0; k < 64; k += size)
                DML_STREAM(output + j + k, DML_LOAD(row + j + k));
    }
}
#endif

static void gather_rows(const dml_gather_items *copies, int stream)
{
#if defined(__x86_64__)
    if (stream && ((uintptr_t)copies->output | (uintptr_t)copies->output_stride | (uintptr_t)copies->bytes) % 64 == 0) {
        gather_lines(copies);
        return;
    }
#endif
    char chunk[8192] __attribute__((aligned(64)));
    const int64_t *offsets = copies->offsets, bytes = copies->bytes, count = copies->count,
                  output_stride = copies->output_stride;
    const char *x = copies->x;
    /* Rows that follow each other in the output share cache lines, which are collected, and written as whole ones. */
    int64_t most = stream && output_stride == bytes && bytes < 1024 ? (int64_t)sizeof chunk / bytes : 1;
    for (int64_t i = 0, part; i < count; i += part) {
        char *output = copies->output + i * output_stride;
        part = dml_least(count - i, most);
        for (int64_t k = 0; k < part; k++) {
            int64_t ahead = i + k + 16;
            if (copies->is_far && ahead < count)
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

DML_INLINE void gather_items(const dml_gather_items *copies, int stream, const int64_t item)
{
    char chunk[4096] __attribute__((aligned(64)));
    const int64_t most = (int64_t)sizeof chunk / item;
    if (copies->output_stride != item) {
        gather_each(copies->output, copies->output_stride, copies->x, copies->offsets, copies->count, item);
    } else if (!stream) {
        gather_each(copies->output, item, copies->x, copies->offsets, copies->count, item);
    } else {
        for (int64_t i = 0, count; i < copies->count; i += count) {
            count = dml_least(copies->count - i, most);
            gather_each(chunk, item, copies->x, copies->offsets + i, count, item);
            stream_bytes(copies->output + i * item, chunk, count * item, chunk);
        }
    }
}

#define DML_ITEM(item)                                                                                                 \
    static void gather_items_##item(const dml_gather_items *copies, int stream)                                        \
    {                                                                                                                  \
        gather_items(copies, stream, item);                                                                            \
    }
DML_EACH_ITEM(DML_ITEM)
#undef DML_ITEM

const dml_gather_table DML_TABLE(gather) = {
    .rows = gather_rows,
    .items = DML_ITEM_TABLE(gather_items),
};
