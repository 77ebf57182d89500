/* The kernels of a copy over two dimensions, and their table. Nothing here assumes that an item lies at a multiple of
   its size. */

#include "../common/compiler.h"

#include "dispatch.h"
#include "copy.h"
#include "narrow_transpose.h"
#include "fill.h"
#include "tiled_transpose.h"

#define DML_ITEM(name, item)                                                                                           \
    static void name##_##item(const dml_span *span, int stream)                                                        \
    {                                                                                                                  \
        name(span, stream, item);                                                                                      \
    }
#define DML_ITEMS(name) DML_ITEM(name, 1) DML_ITEM(name, 2) DML_ITEM(name, 4) DML_ITEM(name, 8) DML_ITEM(name, 16)
DML_ITEMS(fill)
DML_ITEMS(strided)
DML_ITEMS(tiles)
#undef DML_ITEMS
#undef DML_ITEM

const dml_move_table DML_TABLE(move) = {
    .rows = move_rows,
    .fill = {fill_1, fill_2, fill_4, fill_8, fill_16},
    .strided = {strided_1, strided_2, strided_4, strided_8, strided_16},
    .tiles = {tiles_1, tiles_2, tiles_4, tiles_8, tiles_16},
    .stream_end = stream_end,
};
