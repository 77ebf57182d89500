/* The sizes of blocks, and how products of matrices are cut into them. */

#ifndef DML_UNIT
#include "../common/editor.h"
#endif

/* Steps that are added up at a time, and columns that a block has at most: what one thread has on its stack. */
#define DML_MATMUL_STEPS 256
#define DML_MATMUL_COLUMNS 384
#define DML_MATMUL_ROW_STEPS 4096
/* The widest tile of any kind of processor. */
#define DML_MATMUL_WIDEST 32
/* More rows than these are worth panels, if `b` does not fit into the nearest cache. */
#define DML_MATMUL_FEW_ROWS 16
#define DML_MATMUL_NEAR_BYTES (32 << 10)
/* Rows of a block that are worth its panels. */
#define DML_MATMUL_ROWS 128
#define DML_MATMUL_TILE_ROWS 8
/* Products that take as long as a byte of memory. */
#define DML_MATMUL_PER_BYTE 8
