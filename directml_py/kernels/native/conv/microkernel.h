#pragma once

#include "../common/compiler.h"

/* A microkernel: a tile of MR filters and VECTORS vectors of pixels, whose MR * VECTORS accumulators stay in registers.
   KIND names the vectors of sums, conv_KIND, and of pixels, conv_unaligned_KIND; ITEM is the element of a filter that
   one step multiplies. MULTIPLY_ADD adds a product. Sums go to the tile, or to the `epilogue`. The filters of the next
   tile are prefetched: over few pixels, reading all filters once takes as long as the products. */
#define DML_CONV_PREFETCH(address) __builtin_prefetch((const void *)(uintptr_t)(address))
#define DML_CONV_TILE(KIND, ITEM, MULTIPLY_ADD, NAME, MR, VECTORS)                                                     \
    static void conv_##KIND##_##NAME##_##VECTORS(void *tile, const void *filters, int64_t row, const void *panel,      \
                                                 const int64_t *row_offsets, int64_t kc, int adds,                     \
                                                 const dml_conv_epilogue *epilogue)                                    \
    {                                                                                                                  \
        conv_##KIND sums[MR][VECTORS], *results = tile;                                                                \
        const ITEM *lines[MR], *rows = panel;                                                                          \
        const int64_t width = VECTORS * (int64_t)(sizeof **sums / sizeof(ITEM)), end = epilogue ? epilogue->n : width; \
        conv_##KIND *packed = epilogue ? (void *)epilogue->packed : NULL;                                              \
        _Pragma("GCC unroll 16") for (int i = 0; i < MR; i++) lines[i] = (const ITEM *)filters + i * row;              \
        for (int64_t n = 0; n < end; n += width, rows += kc * width) {                                                 \
            _Pragma("GCC unroll 16") for (int i = 0; i < MR; i++)                                                      \
                _Pragma("GCC unroll 16") for (int j = 0; j < VECTORS; j++) sums[i][j] =                                \
                    adds ? results[i * VECTORS + j] : (conv_##KIND){0};                                                \
            DML_ROLLED for (int64_t k = 0; k < kc; k++)                                                                \
            {                                                                                                          \
                const conv_unaligned_##KIND *pixels = (const void *)(rows + row_offsets[k]);                           \
                if (k % DML_CONV_LINE_ELEMENTS == 0)                                                                   \
                    _Pragma("GCC unroll 16") for (int i = 0; i < MR; i++) DML_CONV_PREFETCH(lines[i] + MR * row + k);  \
                conv_##KIND b[VECTORS];                                                                                \
                _Pragma("GCC unroll 16") for (int j = 0; j < VECTORS; j++) b[j] = pixels[j];                           \
                if (packed)                                                                                            \
                    _Pragma("GCC unroll 16") for (int j = 0; j < VECTORS; j++) packed[k * VECTORS + j] = b[j];         \
                _Pragma("GCC unroll 16") for (int i = 0; i < MR; i++)                                                  \
                    _Pragma("GCC unroll 16") for (int j = 0; j < VECTORS; j++)                                         \
                        MULTIPLY_ADD(sums[i][j], b[j], lines[i][k]);                                                   \
            }                                                                                                          \
            if (epilogue)                                                                                              \
                conv_epilogue_##KIND(epilogue, n, sums[0], MR, VECTORS);                                               \
        }                                                                                                              \
        if (!epilogue)                                                                                                 \
            _Pragma("GCC unroll 16") for (int i = 0; i < MR; i++)                                                      \
                _Pragma("GCC unroll 16") for (int j = 0; j < VECTORS; j++) results[i * VECTORS + j] = sums[i][j];      \
    }

/* Of as many accumulators as there are registers for, MAX_MR rows; and fewer rows for the last filters. */
#define DML_CONV_TILES(KIND, ITEM, MULTIPLY_ADD, VECTORS, MAX_MR)                                                      \
    DML_CONV_TILE(KIND, ITEM, MULTIPLY_ADD, most, MAX_MR, VECTORS)                                                     \
    DML_CONV_TILE(KIND, ITEM, MULTIPLY_ADD, 4, 4, VECTORS)                                                             \
    DML_CONV_TILE(KIND, ITEM, MULTIPLY_ADD, 2, 2, VECTORS)                                                             \
    DML_CONV_TILE(KIND, ITEM, MULTIPLY_ADD, 1, 1, VECTORS)
#define DML_CONV_NAMES(KIND, VECTORS)                                                                                  \
    {                                                                                                                  \
        conv_##KIND##_most_##VECTORS, conv_##KIND##_4_##VECTORS, conv_##KIND##_2_##VECTORS, conv_##KIND##_1_##VECTORS  \
    }
#define DML_CONV_MR(MAX_MR)                                                                                            \
    {                                                                                                                  \
        MAX_MR, 4, 2, 1                                                                                                \
    }

/* AVX-512 has 32 registers, all others have 16. */
#if defined(__AVX512F__)
#define DML_CONV_ALL_TILES(KIND, ITEM, MULTIPLY_ADD)                                                                   \
    DML_CONV_TILES(KIND, ITEM, MULTIPLY_ADD, 1, 8)                                                                     \
    DML_CONV_TILES(KIND, ITEM, MULTIPLY_ADD, 2, 6)                                                                     \
    DML_CONV_TILES(KIND, ITEM, MULTIPLY_ADD, 3, 8)                                                                     \
    DML_CONV_TILES(KIND, ITEM, MULTIPLY_ADD, 4, 6)
#define DML_CONV_ALL_NAMES(KIND)                                                                                       \
    {                                                                                                                  \
        DML_CONV_NAMES(KIND, 1), DML_CONV_NAMES(KIND, 2), DML_CONV_NAMES(KIND, 3), DML_CONV_NAMES(KIND, 4)             \
    }
#else
#define DML_CONV_ALL_TILES(KIND, ITEM, MULTIPLY_ADD)                                                                   \
    DML_CONV_TILES(KIND, ITEM, MULTIPLY_ADD, 1, 8)                                                                     \
    DML_CONV_TILES(KIND, ITEM, MULTIPLY_ADD, 2, 6)                                                                     \
    DML_CONV_TILES(KIND, ITEM, MULTIPLY_ADD, 3, 4)
#define DML_CONV_ALL_NAMES(KIND)                                                                                       \
    {                                                                                                                  \
        DML_CONV_NAMES(KIND, 1), DML_CONV_NAMES(KIND, 2), DML_CONV_NAMES(KIND, 3)                                      \
    }
#endif
