/* Tasks one after the other. Between two calls from Python, what an interpreter needs is fetched from far away again: by
   the time that a network's next step begins, the last one has filled the caches. */

static void dml_take_turn(const dml_turn *turn)
{
    const void *task = (const void *)turn->task;
    switch (turn->function) {
#define DML_TAKE(NUMBER, run)                                                                                          \
    case DML_TURN_##NUMBER:                                                                                            \
        run(task);                                                                                                     \
        break
        DML_TAKE(BLEND, dml_blend_run);
        DML_TAKE(BYTE_ROW, dml_byte_row_run);
        DML_TAKE(CONV, dml_conv_run);
        DML_TAKE(FOLD, dml_fold_run);
        DML_TAKE(MAP, dml_map_run);
        DML_TAKE(PICK, dml_pick_run);
        DML_TAKE(PLACES, dml_places_run);
        DML_TAKE(PRODUCT, dml_product_run);
        DML_TAKE(ROWS, dml_rows_run);
        DML_TAKE(SCAN, dml_scan_run);
        DML_TAKE(SLIDE, dml_slide_run);
        DML_TAKE(TOP, dml_top_run);
#undef DML_TAKE
    case DML_TURN_MOVE:
        dml_move_run(task, turn->count);
        break;
    }
}

void dml_run_in_turn(const dml_turn *turns, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        dml_take_turn(turns + i);
}
