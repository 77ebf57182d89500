/* The bytes of an element by its type. */

#pragma once

#include "declarations.h"

static const uint8_t dml_type_sizes[DML_TYPES] = {
    [DML_TYPE_FLOAT16] = 2, [DML_TYPE_FLOAT32] = 4, [DML_TYPE_FLOAT64] = 8, [DML_TYPE_INT8] = 1,
    [DML_TYPE_INT16] = 2,   [DML_TYPE_INT32] = 4,   [DML_TYPE_INT64] = 8,   [DML_TYPE_UINT8] = 1,
    [DML_TYPE_UINT16] = 2,  [DML_TYPE_UINT32] = 4,  [DML_TYPE_UINT64] = 8,
};
