#include "../common/compiler.h"

#include "dispatch.h"
#include "convert.h"

const dml_half_table DML_TABLE(half) = {floats_of_halves, halves_of_floats};
