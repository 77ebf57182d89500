/* Sums, products, the smallest and the largest element. Neighbouring accumulators never depend on each other, so that
   compilers vectorize the loops. */

#pragma once

#include "largest.h"
#include "operations.h"

#define BITS 8
#include "integer.inc"

#define BITS 16
#include "integer.inc"

#define BITS 32
#include "integer.inc"

#define BITS 64
#include "integer.inc"

#define NAME absolute_f32
#define T float
#define A double
#define LOAD DML_FLOATS_ABSOLUTE
#define VALUE DML_FLOAT_ABSOLUTE
#include "fold.inc"

#define NAME square_f32
#define T float
#define A double
#define LOAD DML_FLOATS_SQUARE
#define VALUE DML_FLOAT_SQUARE
#include "fold.inc"

#define NAME product_f32
#define T float
#define A double
#define LOAD DML_FLOATS
#define FOUR DML_FLOATS_FOUR_PRODUCT
#define ONE DML_FLOATS_PRODUCT
#define JOIN DML_FLOAT_MULTIPLY
#define IDENTITY 1.0
#include "fold.inc"

#define NAME sum_f64
#define T double
#include "fold.inc"

#define NAME product_f64
#define T double
#define JOIN DML_FLOAT_MULTIPLY
#define IDENTITY 1.0
#include "fold.inc"

#define NAME min_f32
#define T float
#define JOIN DML_SMALLER
#define IDENTITY INFINITY
#include "fold.inc"
