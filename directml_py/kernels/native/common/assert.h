/* Checks of what kernels rely on, in debug and sanitizer builds: those that define DML_DEBUG. */
#pragma once

#include "system.h"

#if defined(DML_DEBUG)
#define DML_ASSERT(condition) ((condition) ? (void)0 : dml_assert_failed(__FILE__, __LINE__, #condition))
__attribute__((noreturn, cold, unused)) static void dml_assert_failed(const char *file, int line, const char *condition)
{
    fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
    abort();
}
#else
#define DML_ASSERT(condition) ((void)0)
#endif
