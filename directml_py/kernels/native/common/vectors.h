/* Intrinsics of the processor. */
#pragma once

#include "compiler.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif
