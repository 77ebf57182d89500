/* Packs lines of A or B into panels {kc, nr}. */

#pragma once

#include "../common/compiler.h"
#include "../half/convert.h"
#include "dispatch.h"
#include "microkernel.h"

/* Packs n lines of A or B into a panel {kc, nr}. */
static DML_ONCE void matmul_pack(float *panel, int64_t nr, const char *from, int64_t line_stride, int64_t k_stride,
                                 int64_t n, int64_t kc, int is_half)
{
    enum { BLOCK_KC = 64 };
    float buffer[4][BLOCK_KC];
    const float *lines[4];
    int64_t item = is_half ? 2 : 4;
    if (line_stride == item) {
        for (int64_t k = 0; k < kc; k++, panel += nr, from += k_stride) {
            if (is_half)
                floats_of_halves(panel, (const uint16_t *)from, n);
            else
                memcpy(panel, from, (size_t)n * sizeof(float));
            for (int64_t j = n; j < nr; j++)
                panel[j] = 0.0f;
        }
        return;
    }
    for (int64_t begin = 0; begin < kc; begin += BLOCK_KC) {
        int64_t block_kc = dml_least(kc - begin, BLOCK_KC), j = 0;
        float *block = panel + begin * nr;
        for (; j < n; j += 4) {
            int64_t lanes = dml_least(n - j, 4);
            for (int64_t i = 0; i < lanes; i++)
                lines[i] =
                    floats_of_row(buffer[i], from + (j + i) * line_stride, k_stride, begin, begin + block_kc, is_half);
            if (lanes < 4) {
                for (int64_t i = 0; i < lanes; i++)
                    for (int64_t k = 0; k < block_kc; k++)
                        block[k * nr + j + i] = lines[i][k];
                continue;
            }
            const float *first = lines[0], *second = lines[1], *third = lines[2], *fourth = lines[3];
            for (int64_t k = 0; k < block_kc; k++) {
                float *four = block + k * nr + j;
                four[0] = first[k];
                four[1] = second[k];
                four[2] = third[k];
                four[3] = fourth[k];
            }
        }
        for (int64_t k = 0; k < block_kc; k++)
            for (j = n; j < nr; j++)
                block[k * nr + j] = 0.0f;
    }
}
