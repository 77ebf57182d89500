#pragma once

#include "../common/compiler.h"

/* Tiles: ROWS filters and VECTORS vectors of pixels, whose ROWS * VECTORS vectors of sums stay in registers. KIND
   names the vectors of sums, LOOP(conv_KIND), and those of pixels, which may begin anywhere, LOOP(conv_near_KIND); a
   filter has an ITEM for each of them. STEP adds a product. Sums go to the tile, or where `finish` says. Meanwhile
   the filters behind these are fetched: over few pixels, reading all of them once takes as long as the products. */
#define DML_CONV_FETCH(place) __builtin_prefetch((const void *)(uintptr_t)(place))
#define DML_CONV_TILE(KIND, ITEM, STEP, ROWS, VECTORS)                                                                 \
    static void LOOP(conv_##KIND##_##ROWS##_##VECTORS)(void *tile, const void *filters, int64_t row,                   \
                                                       const void *panel, const int64_t *places, int64_t depth,        \
                                                       int adds, const dml_conv_finish *finish)                        \
    {                                                                                                                  \
        LOOP(conv_##KIND) sums[ROWS][VECTORS], *results = tile;                                                        \
        const ITEM *rows[ROWS];                                                                                        \
        _Pragma("GCC unroll 16") for (int i = 0; i < ROWS; i++)                                                        \
        {                                                                                                              \
            rows[i] = (const ITEM *)filters + i * row;                                                                 \
            _Pragma("GCC unroll 16") for (int j = 0; j < VECTORS; j++) sums[i][j] =                                    \
                adds ? results[i * VECTORS + j] : (LOOP(conv_##KIND)){0};                                              \
        }                                                                                                              \
        DML_ROLLED for (int64_t k = 0; k < depth; k++)                                                                 \
        {                                                                                                              \
            const LOOP(conv_near_##KIND) *pixels = (const void *)((const ITEM *)panel + places[k]);                    \
            if (k % DML_CONV_LINE == 0)                                                                                \
                _Pragma("GCC unroll 16") for (int i = 0; i < ROWS; i++) DML_CONV_FETCH(rows[i] + ROWS * row + k);      \
            LOOP(conv_##KIND) seen[VECTORS];                                                                           \
            _Pragma("GCC unroll 16") for (int j = 0; j < VECTORS; j++) seen[j] = pixels[j];                            \
            _Pragma("GCC unroll 16") for (int i = 0; i < ROWS; i++)                                                    \
                _Pragma("GCC unroll 16") for (int j = 0; j < VECTORS; j++) STEP(sums[i][j], seen[j], rows[i][k]);      \
        }                                                                                                              \
        if (finish) {                                                                                                  \
            _Pragma("GCC unroll 16") for (int i = 0; i < ROWS; i++)                                                    \
                LOOP(conv_finish_##KIND)(finish, i, sums[i], VECTORS);                                                 \
            return;                                                                                                    \
        }                                                                                                              \
        _Pragma("GCC unroll 16") for (int i = 0; i < ROWS; i++)                                                        \
            _Pragma("GCC unroll 16") for (int j = 0; j < VECTORS; j++) results[i * VECTORS + j] = sums[i][j];          \
    }

#define DML_CONV_TILES(KIND, ITEM, STEP, VECTORS, MOST)                                                                \
    DML_CONV_TILE(KIND, ITEM, STEP, MOST, VECTORS)                                                                     \
    DML_CONV_TILE(KIND, ITEM, STEP, 4, VECTORS)                                                                        \
    DML_CONV_TILE(KIND, ITEM, STEP, 2, VECTORS)                                                                        \
    DML_CONV_TILE(KIND, ITEM, STEP, 1, VECTORS)
#define DML_CONV_NAMES(KIND, VECTORS, MOST)                                                                            \
    {LOOP(conv_##KIND##_##MOST##_##VECTORS), LOOP(conv_##KIND##_4_##VECTORS), LOOP(conv_##KIND##_2_##VECTORS),         \
     LOOP(conv_##KIND##_1_##VECTORS)}

/* As many as there are registers for: 32 of AVX-512, else 16. */
#define DML_CONV_LONG_TILES(KIND, ITEM, STEP)                                                                          \
    DML_CONV_TILES(KIND, ITEM, STEP, 1, 8)                                                                             \
    DML_CONV_TILES(KIND, ITEM, STEP, 2, 6)                                                                             \
    DML_CONV_TILES(KIND, ITEM, STEP, 3, 8)                                                                             \
    DML_CONV_TILES(KIND, ITEM, STEP, 4, 6)
#define DML_CONV_LONG_NAMES(KIND)                                                                                      \
    {DML_CONV_NAMES(KIND, 1, 8), DML_CONV_NAMES(KIND, 2, 6), DML_CONV_NAMES(KIND, 3, 8), DML_CONV_NAMES(KIND, 4, 6)}
#define DML_CONV_LONG_ROWS {{8, 4, 2, 1}, {6, 4, 2, 1}, {8, 4, 2, 1}, {6, 4, 2, 1}}
#define DML_CONV_SHORT_TILES(KIND, ITEM, STEP)                                                                         \
    DML_CONV_TILES(KIND, ITEM, STEP, 1, 8)                                                                             \
    DML_CONV_TILES(KIND, ITEM, STEP, 2, 6)
#define DML_CONV_SHORT_NAMES(KIND) {DML_CONV_NAMES(KIND, 1, 8), DML_CONV_NAMES(KIND, 2, 6)}
#define DML_CONV_SHORT_ROWS {{8, 4, 2, 1}, {6, 4, 2, 1}}
