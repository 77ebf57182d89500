/* Items, or rows of bytes, from `x` plus each offset to `output` and every `step` bytes after it. `ahead` is where
   `reach` bytes begin that will be read next. */
typedef struct {
    char *output;
    const char *x, *ahead;
    const int64_t *offsets;
    int64_t count, step, bytes, reach;
} dml_picks;

typedef struct {
    void (*rows)(const dml_picks *picks, int stream);
    void (*items[5])(const dml_picks *picks, int stream);
} dml_pick_table;
