/* Turns coordinates into offsets, and reads or writes elements there. */

#include "../common/compiler.h"
#include "../move/copy.h"

#include "dispatch.h"
#include "gather.h"

/* An offset that no element has, nor the sum of one and this. */
#define DML_NOWHERE (INT64_MIN / 2)

DML_INLINE void gather_scatter_nd_write(char *array, const int64_t *offsets, const char *values, int64_t values_stride,
                                        int64_t count, const int64_t item)
{
    for (int64_t i = 0; i < count; i++) {
#if defined(__x86_64__)
        if (i + 24 < count && offsets[i + 24] != DML_NOWHERE)
            __builtin_prefetch(array + offsets[i + 24], 1);
#endif
        if (offsets[i] != DML_NOWHERE)
            memcpy(array + offsets[i], values + i * values_stride, (size_t)item);
    }
}

#define DML_ITEM(item)                                                                                                 \
    static void gather_scatter_nd_write_##item(char *array, const int64_t *offsets, const char *values,                \
                                               int64_t values_stride, int64_t count)                                   \
    {                                                                                                                  \
        if (values_stride == item)                                                                                     \
            gather_scatter_nd_write(array, offsets, values, item, count, item);                                        \
        else                                                                                                           \
            gather_scatter_nd_write(array, offsets, values, values_stride, count, item);                               \
    }
DML_EACH_ITEM(DML_ITEM)
#undef DML_ITEM

static void gather_scatter_nd_write_rows(char *array, const int64_t *offsets, const char *values, int64_t values_stride,
                                         int64_t count, int64_t bytes, int stream)
{
    for (int64_t i = 0; i < count; i++, values += values_stride) {
#if defined(__x86_64__)
        /* Some of the rows belong to other threads, so that the hardware prefetcher does not foresee the next one. */
        if (i + 16 < count && offsets[i + 16] != DML_NOWHERE) {
            prefetch_row(values + 16 * values_stride, bytes);
            if (!stream)
                prefetch_row(array + offsets[i + 16], bytes);
        }
#endif
        if (offsets[i] == DML_NOWHERE)
            continue;
        if (stream)
            stream_bytes(array + offsets[i], values, bytes, values + values_stride);
        else
            copy_bytes(array + offsets[i], values, bytes);
    }
}

#if defined(__clang__)
#define DML_BY_FOUR _Pragma("clang loop unroll_count(4)")
#else
#define DML_BY_FOUR _Pragma("GCC unroll 4")
#endif

/* An entry of the table: a kernel of a template in one mode. */
#define DML_IN_MODE(suffix, TASK, MODE)                                                                                \
    static void NAMED(suffix)(const TASK *task)                                                                        \
    {                                                                                                                  \
        NAMED(_mode)(task, MODE);                                                                                      \
    }

#define TYPE u32
#define T uint32_t
#define WIDE int64_t
#define SIGNED 0
#include "index_type.inc"

#define TYPE i32
#define T int32_t
#define WIDE int64_t
#define SIGNED 1
#include "index_type.inc"

#define TYPE u64
#define T uint64_t
#define WIDE uint64_t
#define SIGNED 0
#include "index_type.inc"

#define TYPE i64
#define T int64_t
#define WIDE int64_t
#define SIGNED 1
#include "index_type.inc"

#define DML_SINGLE_TYPE(type, mode)                                                                                    \
    {                                                                                                                  \
        single_##type##_1_##mode, single_##type##_2_##mode, single_##type##_4_##mode, single_##type##_8_##mode         \
    }
#define DML_SINGLE_MODE(mode)                                                                                          \
    {                                                                                                                  \
        DML_SINGLE_TYPE(u32, mode), DML_SINGLE_TYPE(i32, mode), DML_SINGLE_TYPE(u64, mode), DML_SINGLE_TYPE(i64, mode) \
    }
#define DML_GATHER_SCATTER_ND_MODE(mode)                                                                               \
    {                                                                                                                  \
        gather_scatter_nd_u32_##mode, gather_scatter_nd_i32_##mode, gather_scatter_nd_u64_##mode,                      \
            gather_scatter_nd_i64_##mode                                                                               \
    }
const dml_gather_scatter_nd_table DML_TABLE(gather_scatter_nd) = {
    .add = {DML_GATHER_SCATTER_ND_MODE(clamped), DML_GATHER_SCATTER_ND_MODE(exact),
            DML_GATHER_SCATTER_ND_MODE(reversed)},
    .single = {DML_SINGLE_MODE(clamped), DML_SINGLE_MODE(exact), DML_SINGLE_MODE(reversed)},
    .read_rows = gather_rows,
    .read = DML_ITEM_TABLE(gather_items),
    .write_rows = gather_scatter_nd_write_rows,
    .write = DML_ITEM_TABLE(gather_scatter_nd_write),
};
