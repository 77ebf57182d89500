/* Products of bytes in tiles: registers of 16 rows of 64 bytes, which Linux grants only to processes that ask for them.
 */

#include <sys/syscall.h>
#include <unistd.h>

#include "../common/amx.h"
#include "../common/dimensions.h"
#include "../common/vectors.h"
#include "dispatch.h"

enum { DML_AMX_ROWS = 16, DML_AMX_FOURS = 16 };
/* With fewer filters than this, the tiles are mostly empty. */
enum { DML_AMX_FEW = 8 };

typedef struct {
    uint8_t palette, start, unused[14];
    uint16_t bytes[16];
    uint8_t rows[16];
} __attribute__((aligned(64))) dml_amx_shape;

/* A process asks for tiles when it first needs them: from then on the stack of a signal must have room for them too. */
static int dml_amx_is_allowed(void)
{
    enum { UNKNOWN, NO, YES };
    static int answer = UNKNOWN;
    int known = __atomic_load_n(&answer, __ATOMIC_RELAXED);
    if (known == UNKNOWN) {
        known = syscall(SYS_arch_prctl, DML_AMX_ASK, DML_AMX_TILES) == 0 ? YES : NO;
        __atomic_store_n(&answer, known, __ATOMIC_RELAXED);
    }
    return known == YES;
}

/* Tiles 0 to 3 hold sums, tile 4 holds filters, and tiles 5 to 7 hold pixels. */
static void dml_amx_configure(int64_t rows)
{
    dml_amx_shape shape = {.palette = 1};
    for (int i = 0; i < 8; i++) {
        shape.bytes[i] = 64;
        shape.rows[i] = (uint8_t)(i < 5 ? rows : DML_AMX_FOURS);
    }
    _tile_loadconfig(&shape);
}

/* What is done for a vector of pixels, if there is one: the numbers of tiles are part of the instructions. */
#define DML_AMX_BEGIN(SUMS)                                                                                            \
    if (vectors > SUMS && adds)                                                                                        \
        _tile_loadd(SUMS, tile + 16 * SUMS, width * 4);                                                                \
    else if (vectors > SUMS)                                                                                           \
        _tile_zero(SUMS)
#define DML_AMX_PRODUCT(SUMS, PIXELS)                                                                                  \
    if (vectors > SUMS) {                                                                                              \
        _tile_loadd(PIXELS, panel + row_offsets[k] + 16 * SUMS, stride);                                               \
        _tile_dpbsud(SUMS, 4, PIXELS);                                                                                 \
    }
#define DML_AMX_END(SUMS)                                                                                              \
    if (vectors > SUMS)                                                                                                \
        _tile_stored(SUMS, tile + 16 * SUMS, width * 4)

/* The products of up to 16 filters and `vectors` of pixels; rows of a panel begin `stride` bytes apart, from each of
   the `row_offsets` on. */
static void dml_amx_products(int32_t *tile, const int8_t *filters, int64_t row, const uint32_t *panel,
                             const int64_t *row_offsets, int64_t stride, int64_t vectors, int64_t fours, int adds)
{
    const int64_t width = 16 * vectors;
    DML_AMX_BEGIN(0);
    DML_AMX_BEGIN(1);
    DML_AMX_BEGIN(2);
    DML_AMX_BEGIN(3);
    for (int64_t k = 0; k < fours; k += DML_AMX_FOURS, filters += 64) {
        _tile_loadd(4, filters, row);
        DML_AMX_PRODUCT(0, 5)
        DML_AMX_PRODUCT(1, 6)
        DML_AMX_PRODUCT(2, 7)
        DML_AMX_PRODUCT(3, 5)
    }
    DML_AMX_END(0);
    DML_AMX_END(1);
    DML_AMX_END(2);
    DML_AMX_END(3);
}

/* A tile of sums of all rows. Whatever a filter has behind its `fours` is multiplied by zeros, which are put behind
   those of the panel: it is packed unless `fours` fill tiles. */
int dml_conv_multiply_bytes_amx(int32_t *tile, const int8_t *filters, int64_t row, int64_t rows, const uint32_t *panel,
                                const int64_t *row_offsets, int64_t vectors, int64_t fours, int adds)
{
    const int64_t missing = -fours & (DML_AMX_FOURS - 1), width = 16 * vectors;
    const int64_t stride = fours == 1 ? width * 4 : (row_offsets[1] - row_offsets[0]) * 4;
    int64_t shaped = 0;
    if (rows < DML_AMX_FEW || !dml_amx_is_allowed())
        return 0;
    if (missing)
        memset((uint32_t *)panel + fours * width, 0, (size_t)(missing * width) * 4);
    for (int64_t i = 0; i < rows; i += DML_AMX_ROWS, tile += DML_AMX_ROWS * width, filters += DML_AMX_ROWS * row) {
        int64_t tile_rows = dml_least(rows - i, DML_AMX_ROWS);
        if (tile_rows != shaped)
            dml_amx_configure(shaped = tile_rows);
        dml_amx_products(tile, filters, row, panel, row_offsets, stride, vectors, fours, adds);
    }
    _tile_release();
    return 1;
}
