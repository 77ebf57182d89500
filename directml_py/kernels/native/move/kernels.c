/* The kernels of a copy over two dimensions, and their table. Nothing here assumes that an item lies at a multiple of
   its size. */

#include "../common/compiler.h"

#include "dispatch.h"
#include "copy.h"
#include "narrow_transpose.h"
#include "fill.h"
#include "tiled_transpose.h"

#define DML_SPANS(name, item)                                                                                          \
    static void name##_##item(const dml_span *span, int stream)                                                        \
    {                                                                                                                  \
        name(span, stream, item);                                                                                      \
    }
#define DML_ITEM(item) DML_SPANS(fill, item) DML_SPANS(strided, item) DML_SPANS(tiles, item)
DML_EACH_ITEM(DML_ITEM)
#undef DML_ITEM
#undef DML_SPANS

const dml_move_table DML_TABLE(move) = {
    .rows = move_rows,
    .fill = DML_ITEM_TABLE(fill),
    .strided = DML_ITEM_TABLE(strided),
    .tiles = DML_ITEM_TABLE(tiles),
    .stream_end = stream_end,
};
