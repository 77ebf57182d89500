#pragma once

#include "../common/compiler.h"
#include "declarations.h"

/* What is added to a row of attention scores after it was multiplied by `scale`; operands that are NULL are left out.
 */
typedef struct {
    float scale, mask_value;
    const float *bias, *added;
    const int32_t *key_mask;
} dml_attention_scores;

/* The value of `adds` for tiles that write C, whole cache lines of it, by streaming stores. */
enum { DML_MATMUL_STREAMS = 2 };

/* `tiles` accumulates C = A x B, {m, kc} x {kc, nr}, in register tiles of up to mr rows; strides of A, B and C are in
   elements. A GEMV of one row reads contiguous rows of B (`gemv_axpy`), or its columns (`gemv_dot`); strides are in
   bytes. `gemv_panels` reads two panels, `panel_stride` elements apart. `pack` makes a panel {kc, nr} of n lines, which
   are `line_stride` bytes apart, and pads it with 0. */
typedef struct {
    int64_t mr, nr;
    void (*tiles)(int64_t m, int64_t kc, const float *a, int64_t a_row, int64_t a_k_stride, const float *b,
                  int64_t b_k_stride, float *c, int64_t c_row, int adds);
    void (*pack)(float *panel, int64_t nr, const char *from, int64_t line_stride, int64_t k_stride, int64_t n,
                 int64_t kc, int is_half);
    void (*gemv_axpy)(float *to, const float *a, const char *b, int64_t b_k_stride, int64_t count, int64_t kc,
                      int is_half);
    float (*gemv_dot)(const float *a, const char *b, int64_t kc, int is_half);
    void (*gemv_panels)(float *to, const float *a, const float *b, int64_t panel_stride, int64_t kc, int adds);
    void (*gemv_int8)(int32_t *to, const int32_t *a, const uint8_t *b, int64_t b_k_stride, int64_t count, int64_t kc,
                      int is_signed);
    void (*softmax)(float *x, const dml_attention_scores *scores, int64_t count);
} dml_matmul_table;

extern DML_HIDDEN const dml_matmul_table dml_matmul_table_baseline, dml_matmul_table_avx2, dml_matmul_table_avx512;
