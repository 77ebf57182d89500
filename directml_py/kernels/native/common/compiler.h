/* What all files of the native loops are written in: limits, names, and attributes of functions and loops. */
#pragma once

#include "system.h"

#define DML_MAX_DIMENSIONS 8
/* Results beyond this size are written past the caches: by the time they are read they would be gone anyway. */
#define DML_STREAM_BYTES (8 << 20)

#define DML_JOINED_(name, suffix) name##suffix
#define DML_JOINED(name, suffix) DML_JOINED_(name, suffix)
/* A function of a kernels.inc, by the kind of processor that it is compiled for. */
#define LOOP(name) DML_JOINED(name, DML_SUFFIX)
/* A function of a template, all of whose names begin with its parameter NAME. */
#define NAMED(part) LOOP(DML_JOINED(NAME, part))

/* A function that is compiled as it stands, not again for each caller: there are many of these, and they are long. */
#if defined(__clang__)
#define DML_ONCE __attribute__((noinline))
#else
#define DML_ONCE __attribute__((noinline, noclone))
#endif

/* A loop that gcc must not write out: it does not vectorise choices that it has written out. */
#if defined(__clang__)
#define DML_ROLLED
#else
#define DML_ROLLED _Pragma("GCC unroll 1")
#endif

/* A loop over an array that stays in registers. */
#if defined(__clang__)
#define DML_UNROLLED _Pragma("clang loop unroll(full)")
#else
#define DML_UNROLLED _Pragma("GCC unroll 16")
#endif

#define DML_INLINE static inline __attribute__((always_inline))
