/* Counts of contiguous items that are not 0, and their numbers. */

#include "../common/compiler.h"

#include "dispatch.h"

#define DML_NONZERO_KERNELS(T, BITS)                                                                                   \
    static int64_t nonzero_count_##BITS(const char *items, int64_t count, uint64_t mask)                               \
    {                                                                                                                  \
        const T kept = (T)mask;                                                                                        \
        int64_t total = 0;                                                                                             \
        /* So few that their count fits into the width of an item. */                                                  \
        for (int64_t i = 0; i < count; i += 128) {                                                                     \
            const int64_t part = dml_least(count - i, 128);                                                            \
            T sum = 0;                                                                                                 \
            for (int64_t j = i; j < i + part; j++) {                                                                   \
                T item;                                                                                                \
                memcpy(&item, items + j * (int64_t)sizeof(T), sizeof item);                                            \
                sum = (T)(sum + ((item & kept) != 0));                                                                 \
            }                                                                                                          \
            total += (int64_t)sum;                                                                                     \
        }                                                                                                              \
        return total;                                                                                                  \
    }                                                                                                                  \
    static int64_t nonzero_find_##BITS(const char *items, int64_t count, uint64_t mask, uint32_t *found)               \
    {                                                                                                                  \
        const T kept = (T)mask;                                                                                        \
        int64_t many = 0;                                                                                              \
        for (int64_t i = 0; i < count; i++) {                                                                          \
            T item;                                                                                                    \
            memcpy(&item, items + i * (int64_t)sizeof(T), sizeof item);                                                \
            found[many] = (uint32_t)i;                                                                                 \
            many += (item & kept) != 0;                                                                                \
        }                                                                                                              \
        return many;                                                                                                   \
    }
DML_NONZERO_KERNELS(uint8_t, 8)
DML_NONZERO_KERNELS(uint16_t, 16)
DML_NONZERO_KERNELS(uint32_t, 32)
DML_NONZERO_KERNELS(uint64_t, 64)

DML_INLINE void nonzero_spread_as(uint32_t *rows, const uint32_t *found, int64_t count, const uint32_t *outer,
                                  uint32_t first, const int width)
{
    for (int64_t i = 0; i < count; i++, rows += width) {
        for (int k = 0; k < width - 1; k++)
            rows[k] = outer[k];
        rows[width - 1] = first + found[i];
    }
}

static void nonzero_spread(uint32_t *rows, const uint32_t *found, int64_t count, const uint32_t *outer, int width,
                           uint32_t first)
{
    if (width == 1)
        nonzero_spread_as(rows, found, count, outer, first, 1);
    else if (width == 2)
        nonzero_spread_as(rows, found, count, outer, first, 2);
    else
        nonzero_spread_as(rows, found, count, outer, first, width);
}

const dml_nonzero_table DML_TABLE(nonzero) = {
    .count = {nonzero_count_8, nonzero_count_16, nonzero_count_32, nonzero_count_64},
    .find = {nonzero_find_8, nonzero_find_16, nonzero_find_32, nonzero_find_64},
    .spread = nonzero_spread,
};
