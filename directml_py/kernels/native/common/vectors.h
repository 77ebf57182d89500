/* Intrinsics of the processor, and names of the vectors of gcc and clang. */
#pragma once

#include "compiler.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif
