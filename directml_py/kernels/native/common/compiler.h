/* What all files of the native kernels are written in: limits, names, and attributes of functions and loops. */
#pragma once

#include "system.h"

#define DML_MAX_DIMENSIONS 8
/* Results from this size on are written by streaming (non-temporal) stores: they would be evicted before they are
   read. It is half of the last cache, if that is known and a few cores share it. */
__attribute__((unused)) static int64_t dml_stream_bytes = 8 << 20;

#define DML_JOINED_(name, suffix) name##suffix
#define DML_JOINED(name, suffix) DML_JOINED_(name, suffix)
/* A function of a kernels.inc, by the ISA variant that it is compiled for. */
#define KERNEL(name) DML_JOINED(name, DML_SUFFIX)
/* A function of a template, all of whose names begin with its parameter NAME. */
#define NAMED(part) KERNEL(DML_JOINED(NAME, part))

/* A function that is neither inlined nor cloned: it is long, and has many callers. */
#if defined(__clang__)
#define DML_ONCE __attribute__((noinline))
#else
#define DML_ONCE __attribute__((noinline, noclone))
#endif

/* A loop that gcc must not unroll: it does not vectorize the blends of an unrolled one. */
#if defined(__clang__)
#define DML_ROLLED
#else
#define DML_ROLLED _Pragma("GCC unroll 1")
#endif

/* A loop over an array of accumulators, fully unrolled so that they stay in registers. */
#if defined(__clang__)
#define DML_UNROLLED _Pragma("clang loop unroll(full)")
#else
#define DML_UNROLLED _Pragma("GCC unroll 16")
#endif

#define DML_INLINE static inline __attribute__((always_inline))
