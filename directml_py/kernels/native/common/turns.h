/* Tasks one after the other. Between two calls from Python, what an interpreter needs is fetched from far away again: by
   the time that a network's next step begins, the last one has filled the caches. */

/* So long Python's handlers of signals may wait. */
#define DML_TURNS_NANOSECONDS 20000000

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

int64_t dml_run_in_turn(const dml_turn *turns, int64_t count)
{
    int64_t until = dml_nanoseconds() + DML_TURNS_NANOSECONDS, i = 0;
    do
        dml_take_turn(turns + i++);
    while (i < count && dml_nanoseconds() < until);
    return i;
}
