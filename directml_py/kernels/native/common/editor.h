/* What kernels.c has before each of its files, for a file that is opened alone: in an editor, or by a compiler that
   checks its syntax. By the flags in .clangd the processor is one that has all vectors, whose code is not greyed
   out. */
#pragma once

#define DML_UNIT
#include "compiler.h"

#include "declarations.h"
#include "../half/declarations.h"
#include "../move/declarations.h"
#include "../elementwise/declarations.h"
#include "../gather/declarations.h"
#include "../reduce/declarations.h"
#include "../arange/declarations.h"
#include "../gather_scatter_nd/declarations.h"
#include "../matmul/declarations.h"
#include "../nonzero/declarations.h"
#include "../philox/declarations.h"
#include "../resample/declarations.h"
#include "../scan/declarations.h"
#include "../softmax_norm/declarations.h"
#include "../top_k/declarations.h"
#include "../conv/declarations.h"
#include "../depthwise_pool/declarations.h"

#include "assert.h"
#include "dimensions.h"
#include "log.h"
#include "../threads/team.h"
#include "../threads/helpers.h"
#include "../threads/parallel.h"
#include "../threads/barrier.h"

#include "../half/dispatch.h"
#include "../move/dispatch.h"
#include "../elementwise/dispatch.h"
#include "../gather/dispatch.h"
#include "../reduce/dispatch.h"
#include "../arange/dispatch.h"
#include "../gather_scatter_nd/dispatch.h"
#include "../matmul/dispatch.h"
#include "../nonzero/dispatch.h"
#include "../philox/dispatch.h"
#include "../resample/dispatch.h"
#include "../scan/dispatch.h"
#include "../softmax_norm/dispatch.h"
#include "../top_k/dispatch.h"
#include "../conv/dispatch.h"
#include "../depthwise_pool/dispatch.h"

#define DML_FOR_KERNELS(DO) \
    DO(half) DO(move) DO(elementwise) DO(gather) DO(reduce) DO(arange) DO(gather_scatter_nd) DO(matmul) \
    DO(nonzero) DO(philox) DO(resample) DO(scan) DO(softmax_norm) DO(top_k) DO(conv) DO(depthwise_pool)
#define DML_MEMBER(kernel) const dml_##kernel##_table *kernel;
typedef struct {
    DML_FOR_KERNELS(DML_MEMBER)
} dml_dispatch_table;
static const dml_dispatch_table *dml_dispatch;
#define DML_FOR_LAUNCHES(DO)
#define DML_FOR_ARRAY_LAUNCHES(DO)

#if defined(__AVX2__)
#define DML_AVX2 1
#endif
#if defined(__AVX512F__)
#define DML_AVX512 1
#endif
#if defined(__AVX512VNNI__)
#define DML_VNNI 1
#endif
#define DML_SUFFIX _editor
