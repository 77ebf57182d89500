/* The context: what an instruction set offers, as one flat table of the dispatch tables of all kernels. */

#pragma once

#include "conv/dispatch.h"
#include "depthwise_pool/dispatch.h"
#include "elementwise/dispatch.h"
#include "fill/dispatch.h"
#include "gather_scatter_nd/dispatch.h"
#include "half/dispatch.h"
#include "matmul/dispatch.h"
#include "move/dispatch.h"
#include "nonzero/dispatch.h"
#include "reduce/dispatch.h"
#include "resample/dispatch.h"
#include "scan/dispatch.h"
#include "softmax_norm/dispatch.h"
#include "top_k/dispatch.h"

typedef struct {
    const char *isa;
    const dml_conv_table *conv;
    const dml_conv_bytes_table *conv_bytes;
    dml_conv_multiply_bytes_kernel conv_multiply_bytes;
    const dml_depthwise_pool_table *depthwise_pool;
    const dml_elementwise_table *elementwise;
    const dml_fill_table *fill;
    const dml_gather_scatter_nd_table *gather_scatter_nd;
    const dml_half_table *half;
    const dml_matmul_table *matmul;
    const dml_move_table *move;
    const dml_nonzero_table *nonzero;
    const dml_reduce_table *reduce;
    const dml_reduce_float32_table *reduce_float32;
    const dml_resample_table *resample;
    const dml_scan_table *scan;
    const dml_softmax_norm_table *softmax_norm;
    const dml_top_k_table *top_k;
} dml_context;

/* The context of the instruction set that was chosen. */
extern DML_HIDDEN const dml_context *dml_dispatch;
/* Results from this size on are written by streaming (non-temporal) stores: they would be evicted before they are
   read. It is half of the last cache, if that is known and a few cores share it. */
extern DML_HIDDEN int64_t dml_stream_bytes;
