/* `count` coordinates, one after another, added to offsets into the array. */
typedef struct {
    const char *indices;
    int64_t stride, count, size, step;
    /* A place's own coordinate, for lengths. */
    int64_t own, own_step;
    int64_t *offsets;
} dml_places_line;

typedef struct {
    /* By how an index is read, and by its type. */
    void (*add[3][4])(const dml_places_line *line);
    /* `count` items from every `step` bytes to an array plus each offset that is one. */
    void (*write[5])(char *array, const int64_t *offsets, const char *values, int64_t step, int64_t count);
} dml_places_table;
