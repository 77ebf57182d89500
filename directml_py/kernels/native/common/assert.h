/* Assertions of what kernels rely on, in debug builds, which define DML_DEBUG, and under sanitizers. Release builds
   have neither the conditions nor the messages. */
#pragma once

#include "compiler.h"
#include "system.h"

#if DML_SANITIZES_MEMORY || DML_HAS_FEATURE(undefined_behavior_sanitizer)
#define DML_DEBUG 1
#endif

#if defined(DML_DEBUG)
#define DML_ASSERT(condition) ((condition) ? (void)0 : dml_assert_failed(__FILE__, __LINE__, #condition))
#define DML_ASSERT_EACH(i, count, condition)                                                                           \
    do {                                                                                                               \
        for (int64_t i = 0; i < (count); i++)                                                                          \
            if (!(condition))                                                                                          \
                dml_assert_failed(__FILE__, __LINE__, #condition);                                                     \
    } while (0)
__attribute__((noreturn, cold, unused)) static void dml_assert_failed(const char *file, int line, const char *condition)
{
    fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
    abort();
}
#else
#define DML_ASSERT(condition) ((void)0)
#define DML_ASSERT_EACH(i, count, condition) ((void)0)
#endif

/* Conditions that several kernels assert. */
#define DML_IS_ALIGNED(address, bytes) ((uintptr_t)(address) % (uintptr_t)(bytes) == 0)
#define DML_IS_INDEX(value, count) ((value) >= 0 && (value) < (count))
#define DML_IS_RANK(rank) ((rank) >= 0 && (rank) <= DML_MAX_DIMENSIONS)
#define DML_IS_ITEM(bytes) ((bytes) == 1 || (bytes) == 2 || (bytes) == 4 || (bytes) == 8)
