/* Gather along one run of indices. */

#include "../common/vectors.h"
#include "../move/copy.h"

#include "dispatch.h"
#include "prefetch.h"

#if defined(__x86_64__)
/* Rows of whole cache lines, by streaming stores. */
static void gather_lines(const dml_gather_items *picks)
{
    const int64_t *offsets = picks->offsets, bytes = picks->bytes, count = picks->count, size = sizeof(item_vector);
    char *output = picks->output;
    for (int64_t i = 0; i < count; i++, output += picks->step) {
        const char *row = picks->x + offsets[i];
        if (picks->is_far && i + 16 < count)
            prefetch_row(picks->x + offsets[i + 16], bytes);
        for (int64_t j = 0; j < bytes; j += 64)
            for (int64_t k = 0; k < 64; k += size)
                DML_STREAM(output + j + k, DML_LOAD(row + j + k));
    }
}
#endif

static void gather_rows(const dml_gather_items *picks, int stream)
{
#if defined(__x86_64__)
    if (stream && ((uintptr_t)picks->output | (uintptr_t)picks->step | (uintptr_t)picks->bytes) % 64 == 0) {
        gather_lines(picks);
        return;
    }
#endif
    char chunk[8192] __attribute__((aligned(64)));
    const int64_t *offsets = picks->offsets, bytes = picks->bytes, count = picks->count, step = picks->step;
    const char *x = picks->x;
    /* Rows that follow each other in the output share cache lines; collected, they are written as whole ones. */
    int64_t most = stream && step == bytes && bytes < 1024 ? (int64_t)sizeof chunk / bytes : 1;
    for (int64_t i = 0, part; i < count; i += part) {
        char *output = picks->output + i * step;
        part = count - i < most ? count - i : most;
        for (int64_t k = 0; k < part; k++) {
            int64_t ahead = i + k + 16;
            if (picks->is_far && ahead < count)
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

DML_INLINE void pick(char *output, int64_t step, const char *x, const int64_t *offsets, int64_t count,
                     const int64_t item)
{
    int64_t i = 0;
    for (; i + 4 <= count; i += 4, output += 4 * step) {
        char four[4][16];
        for (int k = 0; k < 4; k++)
            memcpy(four[k], x + offsets[i + k], (size_t)item);
        for (int k = 0; k < 4; k++)
            memcpy(output + k * step, four[k], (size_t)item);
    }
    for (; i < count; i++, output += step)
        memcpy(output, x + offsets[i], (size_t)item);
}

DML_INLINE void gather_items(const dml_gather_items *picks, int stream, const int64_t item)
{
    char chunk[4096] __attribute__((aligned(64)));
    const int64_t most = (int64_t)sizeof chunk / item;
    if (picks->step != item) {
        pick(picks->output, picks->step, picks->x, picks->offsets, picks->count, item);
    } else if (!stream) {
        pick(picks->output, item, picks->x, picks->offsets, picks->count, item);
    } else {
        for (int64_t i = 0, count; i < picks->count; i += count) {
            count = picks->count - i < most ? picks->count - i : most;
#if defined(__x86_64__)
            for (int64_t k = 0; k < count && (i + k) * 64 < picks->reach; k++)
                _mm_prefetch(picks->ahead + (i + k) * 64, _MM_HINT_T1);
#endif
            pick(chunk, item, picks->x, picks->offsets + i, count, item);
            stream_bytes(picks->output + i * item, chunk, count * item, chunk);
        }
    }
}

#define DML_ITEM(item)                                                                                                 \
    static void gather_items_##item(const dml_gather_items *picks, int stream)                                         \
    {                                                                                                                  \
        gather_items(picks, stream, item);                                                                             \
    }
DML_ITEM(1)
DML_ITEM(2)
DML_ITEM(4)
DML_ITEM(8)
DML_ITEM(16)
#undef DML_ITEM

const dml_gather_table DML_TABLE(gather) = {
    .rows = gather_rows,
    .items = {gather_items_1, gather_items_2, gather_items_4, gather_items_8, gather_items_16},
};
