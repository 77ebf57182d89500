/* The largest element of FLOAT32, to which exponentials are relative. */

#pragma once

#include "dispatch.h"
#include "operations.h"

#define NAME max_f32
#define T float
#define JOIN DML_LARGER
#define IDENTITY -INFINITY
#include "fold.inc"
