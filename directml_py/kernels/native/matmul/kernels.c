/* The kernels of matmul, and their table. */

#include "../common/compiler.h"

#include "dispatch.h"
#include "microkernel.h"
#include "packing.h"
#include "gemv.h"
#include "attention_softmax.h"

const dml_matmul_table DML_TABLE(matmul) = {
    DML_MATMUL_TILE_MR, 2 * DML_FLOAT_LANES, matmul_tiles,     matmul_pack,    matmul_gemv_axpy,
    matmul_gemv_dot,    matmul_gemv_panels,   matmul_gemv_int8, matmul_softmax,
};
