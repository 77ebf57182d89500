/* Names, and attributes of functions and loops, for all files of the native kernels. */
#pragma once

#include "system.h"

#include "declarations.h"

#define DML_JOINED_(name, suffix) name##suffix
#define DML_JOINED(name, suffix) DML_JOINED_(name, suffix)
/* A function of a template, all of whose names begin with its parameter NAME. */
#define NAMED(part) DML_JOINED(NAME, part)

/* The instruction set that a kernels.c is compiled for, by which its dispatch table is named: dml_top_k_table_avx2. */
#ifndef DML_ISA
#define DML_ISA baseline
#endif
#define DML_TABLE(kernel) DML_JOINED(DML_JOINED(dml_, kernel), DML_JOINED(_table_, DML_ISA))

/* Functions of items of 1 to 16 bytes, which DEFINE(item) defines, and a table of them by the logarithm of that. */
#define DML_EACH_ITEM(DEFINE) DEFINE(1) DEFINE(2) DEFINE(4) DEFINE(8) DEFINE(16)
#define DML_ITEM_TABLE(name) {name##_1, name##_2, name##_4, name##_8, name##_16}

/* Whether a sanitizer keeps the bounds of memory or stacks: gcc defines macros, clang has features. */
#if defined(__has_feature)
#define DML_HAS_FEATURE(name) __has_feature(name)
#else
#define DML_HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || DML_HAS_FEATURE(address_sanitizer) ||             \
    DML_HAS_FEATURE(thread_sanitizer) || DML_HAS_FEATURE(memory_sanitizer)
#define DML_SANITIZES_MEMORY 1
#else
#define DML_SANITIZES_MEMORY 0
#endif

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

/* A loop whose iterations do not depend on each other, whatever the compiler fears of its pointers. */
#if defined(__clang__)
#define DML_ALIKE _Pragma("clang loop vectorize(assume_safety)")
#else
#define DML_ALIKE _Pragma("GCC ivdep")
#endif

/* Data that other objects of the library use, without a detour through the global offset table. */
#define DML_HIDDEN __attribute__((visibility("hidden")))

#define DML_INLINE static inline __attribute__((always_inline))

DML_INLINE int64_t dml_least(int64_t first, int64_t second)
{
    return first < second ? first : second;
}
