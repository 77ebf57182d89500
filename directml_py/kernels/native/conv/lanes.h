/* The lanes of 32 bits that a vector has, in which pixels are side by side. */

#pragma once

#if defined(__AVX512F__)
enum { conv_lanes = 16 };
#elif defined(__AVX2__)
enum { conv_lanes = 8 };
#else
enum { conv_lanes = 4 };
#endif
