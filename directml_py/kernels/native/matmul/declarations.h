#pragma once
#include "../half/declarations.h"
#include "../elementwise/declarations.h"
#include "../softmax_norm/declarations.h"
/* Products of matrices of FLOAT32 or FLOAT16, added up in FLOAT32. */
enum { DML_MATMUL_BATCH_DIMENSIONS = 6 };
/* A factor, or the result; strides are in bytes. `batch` has the strides of the dimensions before the last two. */
typedef struct {
    uintptr_t memory;
    int64_t batch[DML_MATMUL_BATCH_DIMENSIONS], row, column;
    int32_t is_half;
} dml_matrix;

/* Prepacked weights: panels {k, nr} of nr rows of each of the `gates`, {hidden, k}; panels of all gates follow each
   other. */
typedef struct {
    int64_t count, gates, hidden, k;
    dml_matrix matrix;
    uintptr_t panels;
} dml_prepack;
/* The bytes of memory that `panels` must have for one matrix. */
int64_t dml_prepack_size(int64_t gates, int64_t hidden, int64_t k);
void dml_prepack_run(const dml_prepack *task);

/* Blocks of mc by nc of the product are computed at a time, as units of the work; factors are packed first, or read in
   place. */
typedef struct {
    int64_t mc, nc, units;
    int32_t packs_a, packs_b;
} dml_matmul_plan;

/* C = A x B, {m, k} x {k, n}, for each element of the `rank` leading dimensions. Elements of `out`, which is C, are
   FLOAT32, in contiguous rows; all are aligned, and sizes at least 1. If `is_packed`, `b` is panels. Post-operations are
   programs alone, over all matrices {m, n}. */
typedef struct {
    int64_t m, n, k;
    int32_t rank, is_packed;
    int64_t sizes[DML_MATMUL_BATCH_DIMENSIONS];
    dml_matrix a, b, out;
    dml_post_ops post_ops;
    dml_matmul_plan plan;
} dml_matmul_products;
void dml_matmul_prepare(dml_matmul_products *task);
void dml_matmul_run(const dml_matmul_products *task);

/* A row of bytes times a matrix of bytes, both less their zero points, as INT32 that wraps. Elements of a row of `b`
   are contiguous; strides are in bytes. A zero point at 0 is 0. */
typedef struct {
    int64_t n, k, a_stride, b_stride, b_zero_stride;
    uintptr_t a, b, out, a_zero, b_zero;
    int32_t a_is_signed, b_is_signed;
} dml_int8_gemv;
void dml_int8_gemv_run(const dml_int8_gemv *task);

/* A worker computes this many queries at a time. */
enum { DML_ATTENTION_MC = 32 };
/* Attention of heads: `out` {queries, value_size} is softmax(scale * `q` x `k` transposed + biases) x `v` for each
   head. The `biases` that are not 0 are added to the scores. If there is a `key_mask`, of INT32, `mask_value` is added
   where it is 0, except in rows where all of it is 0. Rows of `out`, of biases and of the key mask are contiguous;
   strides of the biases and of the key mask, which is the last of the three, are in bytes. */
typedef struct {
    int64_t heads, queries, keys, size, value_size;
    dml_matrix q, k, v, out;
    float scale, mask_value;
    uintptr_t biases[2], key_mask;
    int64_t head_strides[3], row_strides[3];
    int64_t workers;
    uintptr_t scratch;
} dml_attention;
/* The bytes of memory that `scratch` must have for this many `workers`, one of which each thread takes. */
int64_t dml_attention_scratch(int64_t heads, int64_t queries, int64_t keys, int64_t size, int64_t value_size,
                              int64_t workers);
void dml_attention_run(const dml_attention *task);

/* The time steps of a recurrent network: products with weights, and programs over the elements of their sums. */
enum { DML_RECURRENT_GATES = 4, DML_RECURRENT_PHASES = 2 };
/* Where a tensor {batch, hidden} of a program is: in a slot, where products are accumulated; in the hidden state before
   or after the time step; or in memory. */
enum { DML_RECURRENT_SLOT, DML_RECURRENT_BEFORE, DML_RECURRENT_AFTER, DML_RECURRENT_MEMORY };
typedef struct {
    int32_t kind, slot;
    uintptr_t memory;
    int64_t row;
} dml_recurrent_tensor;

/* The product of `operand`, which is the hidden state before the time step if it is 0, and the matrices of some gates
   is added to one slot for each gate; then the program runs over `tensors`. */
typedef struct {
    uintptr_t operand;
    int32_t first_gate, gates, slots[DML_RECURRENT_GATES];
    const dml_elementwise *program;
    dml_recurrent_tensor tensors[DML_ELEMENTWISE_MAX_TENSORS];
} dml_recurrent_phase;

/* A recurrent layer. All tensors are FLOAT32, in contiguous rows; `weights` and `recurrence` are panels of matrices
   {gates * hidden, input or hidden}. Strides are in bytes. x of time step t is at `x` + t * x_stride, in reverse order
   if `backward`. The hidden state after time step t is at `states` + t % period * state_stride. The bias has one row
   for each slot. The last states of each sequence are copied to `last`, from the hidden state and, if there is one,
   from `cell`. */
typedef struct {
    int64_t time_steps, batch, input, hidden, gates, slots, phases;
    uintptr_t x, before, states, cell, bias, lengths, last[2];
    int64_t x_row, x_stride, before_row, state_row, state_stride, period;
    int32_t backward;
    uintptr_t weights, recurrence;
    dml_recurrent_phase phase[DML_RECURRENT_PHASES];
    uintptr_t scratch;
} dml_recurrent;
/* The bytes of memory that `scratch` must have. */
int64_t dml_recurrent_scratch(int64_t batch, int64_t hidden, int64_t slots);
/* `lengths` are INT64, from 0 to `time_steps`. */
void dml_recurrent_run(const dml_recurrent *task);
