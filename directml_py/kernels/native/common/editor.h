/* What kernels.c has before each of its files, for a file that is opened alone: in an editor, or by a compiler that
   checks its syntax. By the flags in .clangd the processor is one that has all vectors, whose code is not greyed
   out. */
#pragma once

#include "every_kernel.h"

#define DML_MEMBER(kernel) const dml_##kernel##_table *kernel;
typedef struct {
    DML_FOR_KERNELS(DML_MEMBER)
} dml_dispatch_table;
static const dml_dispatch_table *dml_dispatch;

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
