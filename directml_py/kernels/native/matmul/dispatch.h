#pragma once

#include "../common/compiler.h"
#ifndef DML_UNIT
#include "declarations.h"
#endif

/* What is added to a row of scores that are multiplied by `scale`; what is not there is 0. */
typedef struct {
    float scale, mask_value;
    const float *bias, *added;
    const int32_t *marks;
} dml_weights;

/* Factors are where a row and a step begin, and how far the next ones are, in elements. Two functions of rows, where
   there is one: of columns whose elements, and of steps whose elements lie next to each other; these take steps in
   bytes. A panel has `width` elements of each step next to each other, 0 behind `count`. */
typedef struct {
    int64_t nr;
    void (*tiles)(int64_t m, int64_t kc, const float *a, int64_t a_row, int64_t a_step, const float *b,
                  int64_t b_step, float *c, int64_t c_row, int adds);
    void (*pack)(float *to, int64_t width, const char *from, int64_t across, int64_t along, int64_t count,
                  int64_t depth, int is_half);
    void (*add_rows)(float *to, const float *a, const char *b, int64_t b_step, int64_t count, int64_t depth,
                     int is_half);
    float (*dot)(const float *a, const char *b, int64_t depth, int is_half);
    void (*add_bytes)(int32_t *to, const int32_t *a, const uint8_t *b, int64_t b_step, int64_t count, int64_t depth,
                      int is_signed);
    void (*weigh)(float *x, const dml_weights *weights, int64_t count);
} dml_matmul_table;
