/* Products of a panel: a row of LANES * vectors pixels for each of `depth` taps, and filters whose rows lie `row`
   elements apart. They are added to the tile if `adds`. */
typedef void (*dml_conv_tile)(float *tile, const float *weights, int64_t row, const float *panel, int64_t depth,
                              int adds);

/* A part of a panel's row that comes from one row of the input: `count` pixels from `first` on, and where, in elements,
   the first pixel of its vector would lie. */
typedef struct {
    int64_t place;
    int32_t vector, first, count;
} dml_conv_run_of_pixels;

typedef struct {
    int64_t channels, channel_stride, step, row;
    int type, vectors, runs;
    const dml_conv_run_of_pixels *run;
} dml_conv_packing;

enum { DML_CONV_VECTORS = 4, DML_CONV_ROWS = 4 };
typedef struct {
    int lanes, vectors;
    /* By the vectors of a panel, from 1 on: how many filters are worked on at a time, most first, and how. */
    int rows[DML_CONV_VECTORS][DML_CONV_ROWS];
    dml_conv_tile tiles[DML_CONV_VECTORS][DML_CONV_ROWS];
    void (*pack)(float *panel, const void *input, const dml_conv_packing *packing);
    void (*store)(const dml_conv *task, int64_t place, const float *tile, int64_t count, int64_t output);
} dml_conv_table;
