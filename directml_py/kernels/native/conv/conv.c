/* Convolutions as products of matrices whose second one is never there as a whole: a panel of it is gathered from the
   input, is multiplied by the filters while it is in the nearest cache, and gives way to the next. */

/* Taps of a panel that are gathered at a time, and filters whose sums are kept meanwhile. Both are on the stack. */
#define DML_CONV_DEPTH 256
#define DML_CONV_DEEPEST 1024
#define DML_CONV_FILTERS 512
#define DML_CONV_HIGHEST 8
/* Operations that are worth as much as a byte of memory. */
#define DML_CONV_WORTH 2.5
/* Gathering a panel again is nothing against so many filters. */
#define DML_CONV_FEW 128
/* For so many, panels need not be gathered that lie in the input as they are. */
#define DML_CONV_FEWER 64
/* Places that are so many bytes apart have the same place in the nearest cache. */
#define DML_CONV_PAGE 4096

static int64_t dml_conv_size(int type)
{
    return type == DML_CONV_FLOATS ? 4 : type == DML_CONV_HALVES ? 2 : 1;
}

static int dml_conv_is_bytes(const dml_conv *task)
{
    return task->type == DML_CONV_UINT8 || task->type == DML_CONV_INT8;
}

/* Panels have as many vectors as fit, three where there may be four: a last one of four is better than one alone. */
static int64_t dml_conv_usual(void)
{
    return dml_loop->conv->vectors == 4 ? 3 : dml_loop->conv->vectors;
}

/* An image of which each pixel is seen once, as it lies, has a single row. */
static void dml_conv_flatten(dml_conv *task)
{
    int64_t *strides = task->input_strides + 2, pixels = 1;
    for (int i = 2; i >= 0; i--) {
        int is_plain = task->window[i] == 1 && task->padding[i] == 0 && task->strides[i] == 1;
        if (!is_plain || task->steps[i] != task->sizes[i] || (task->sizes[i] > 1 && strides[i] != pixels * strides[2]))
            return;
        pixels *= task->sizes[i];
    }
    task->sizes[0] = task->sizes[1] = task->steps[0] = task->steps[1] = 1;
    task->sizes[2] = task->steps[2] = pixels;
}

void dml_conv_prepare(dml_conv *task)
{
    dml_conv_flatten(task);
    int64_t usual = dml_conv_usual(), vectors, units, threads = dml_get_threads();
    task->taps = task->window[0] * task->window[1] * task->window[2];
    task->depth = task->taps * task->channels;
    task->pixels = task->steps[0] * task->steps[1] * task->steps[2];
    task->slice_taps = task->taps < DML_CONV_DEEPEST ? task->taps : DML_CONV_DEEPEST;
    task->slice_channels = (dml_conv_is_bytes(task) ? DML_CONV_DEEPEST : DML_CONV_DEPTH) / task->taps;
    task->slice_channels = task->slice_channels < 1 ? 1 : task->slice_channels;
    vectors = dml_quotient_up(task->pixels, dml_loop->conv->lanes);
    task->panels = vectors <= dml_loop->conv->vectors ? 1 : dml_quotient_up(vectors, usual);
    if (task->panels > 1 && vectors % usual == 1 && dml_loop->conv->vectors > usual)
        task->panels--;
    task->parts = dml_quotient_up(task->outputs, DML_CONV_FILTERS);
    units = task->batches * task->groups * task->panels;
    while (units * task->parts < 4 * threads && task->outputs >= 2 * DML_CONV_FEW * task->parts)
        task->parts *= 2;
    task->part_rows = dml_quotient_up(dml_quotient_up(task->outputs, task->parts), 8) * 8;
    task->parts = dml_quotient_up(task->outputs, task->part_rows);
}

/* The least number whose `times` fold is at least `least`; `times` is above 0. */
static int64_t dml_conv_first(int64_t least, int64_t times)
{
    return least <= 0 ? 0 : (least + times - 1) / times;
}

/* A zero point of what is unsigned or made so by 128 more, or of what is signed or made so by 128 less. */
static int32_t dml_conv_zero(uintptr_t zero, int64_t place, int type, int is_unsigned)
{
    int32_t value = 0;
    if (zero)
        value = type == DML_CONV_UINT8 ? ((const uint8_t *)zero)[place] : ((const int8_t *)zero)[place];
    if (is_unsigned)
        return type == DML_CONV_UINT8 ? value : value + 128;
    return type == DML_CONV_INT8 ? value : value - 128;
}

/* A part of a panel that lies in one row of the output: pixels from `x` on, and where, without padding, they see the
   first tap of the window. */
typedef struct {
    int64_t z, y, x, lane, count;
} dml_conv_line;

static int dml_conv_find_lines(const dml_conv *task, int64_t begin, int64_t count, dml_conv_line *lines)
{
    int64_t x = begin % task->steps[2], y = begin / task->steps[2] % task->steps[1];
    int64_t z = begin / task->steps[2] / task->steps[1], lane = 0;
    int found = 0;
    while (lane < count) {
        int64_t some = task->steps[2] - x < count - lane ? task->steps[2] - x : count - lane;
        lines[found++] = (dml_conv_line){z * task->strides[0] - task->padding[0],
                                         y * task->strides[1] - task->padding[1], x, lane, some};
        lane += some;
        x = 0;
        if (++y == task->steps[1]) {
            y = 0;
            z++;
        }
    }
    return found;
}

/* Where in the input the first pixel of a line sees a tap of the window. */
static int64_t dml_conv_place(const dml_conv *task, const dml_conv_line *line, int64_t tap)
{
    int64_t x = line->x * task->strides[2] - task->padding[2] + tap % task->window[2] * task->dilations[2];
    int64_t y = line->y + tap / task->window[2] % task->window[1] * task->dilations[1];
    int64_t z = line->z + tap / task->window[2] / task->window[1] * task->dilations[0];
    return z * task->input_strides[2] + y * task->input_strides[3] + x * task->input_strides[4];
}

/* What the pixels of lines see at a tap of the window, where that is not padding. */
static int dml_conv_find_runs(const dml_conv *task, int64_t tap, const dml_conv_line *lines, int count,
                              dml_conv_run_of_pixels *runs)
{
    int64_t lanes = dml_loop->conv->lanes, step = task->strides[2] * task->input_strides[4];
    int64_t tx = tap % task->window[2] * task->dilations[2] - task->padding[2];
    int64_t ty = tap / task->window[2] % task->window[1] * task->dilations[1];
    int64_t tz = tap / task->window[2] / task->window[1] * task->dilations[0];
    int64_t low = dml_conv_first(-tx, task->strides[2]), high = dml_conv_first(task->sizes[2] - tx, task->strides[2]);
    int found = 0;
    for (const dml_conv_line *line = lines; line < lines + count; line++) {
        int64_t z = line->z + tz, y = line->y + ty, behind = line->x + line->count;
        int64_t place = z * task->input_strides[2] + y * task->input_strides[3] + tx * task->input_strides[4];
        if (z < 0 || z >= task->sizes[0] || y < 0 || y >= task->sizes[1])
            continue;
        behind = behind < high ? behind : high;
        for (int64_t x = line->x < low ? low : line->x; x < behind;) {
            int64_t lane = line->lane + x - line->x, first = lane % lanes;
            int64_t some = lanes - first < behind - x ? lanes - first : behind - x;
            runs[found++] = (dml_conv_run_of_pixels){place + (x - first) * step, (int32_t)(lane / lanes),
                                                     (int32_t)first, (int32_t)some};
            x += some;
        }
    }
    return found;
}

typedef struct {
    const char *input, *filters;
    int64_t output, channel, begin, count, rows;
} dml_conv_unit;

/* What a thread works with: a slice of a panel, how much of it there is, and the sums of all slices so far. Of bytes
   there are also the rows before they are joined, the sums of filters, and after the last row of the tile those of what
   pixels see. */
typedef struct {
    float panel[DML_CONV_DEEPEST * DML_CONV_WIDEST] __attribute__((aligned(64)));
    float tile[(DML_CONV_FILTERS + 1) * DML_CONV_WIDEST] __attribute__((aligned(64)));
    uint8_t rows[DML_CONV_DEEPEST * DML_CONV_WIDEST] __attribute__((aligned(64)));
    int64_t places[DML_CONV_DEEPEST];
    int32_t filter_sums[DML_CONV_FILTERS];
    const float *pixels;
    int64_t vectors, first, depth;
} dml_conv_work;

/* A slice of a panel times the filters. */
static void dml_conv_multiply(const dml_conv *task, const dml_conv_unit *unit, dml_conv_work *work)
{
    float floats[DML_CONV_HIGHEST * DML_CONV_DEEPEST];
    const dml_conv_table *loops = dml_loop->conv;
    const int *heights = loops->rows[work->vectors - 1];
    for (int64_t row = 0, k = 0; row < unit->rows; row += heights[k]) {
        while (heights[k] > unit->rows - row)
            k++;
        int64_t stride = task->filter_stride;
        const void *filters = unit->filters + (row * stride + work->first) * dml_conv_size(task->type);
        if (task->type == DML_CONV_HALVES) {
            for (int i = 0; i < heights[k]; i++)
                dml_loop->half->widen(floats + i * work->depth, (const uint16_t *)filters + i * stride, work->depth);
            filters = floats;
            stride = work->depth;
        }
        loops->tiles[work->vectors - 1][k](work->tile + row * work->vectors * loops->lanes, filters, stride,
                                           work->pixels, work->places, work->depth, work->first > 0);
    }
}

static void dml_conv_multiply_bytes(const dml_conv *task, const dml_conv_unit *unit, dml_conv_work *work)
{
    int32_t filters[DML_CONV_HIGHEST * DML_CONV_DEEPEST / 4], *tile = (int32_t *)work->tile;
    const dml_conv_table *loops = dml_loop->conv;
    const int *heights = loops->rows[work->vectors - 1];
    int64_t fours = dml_quotient_up(work->depth, 4), width = work->vectors * loops->lanes, adds = work->first > 0;
    int64_t row = 0, k = 0;
    memset(work->rows + work->depth * width, 0, (size_t)((4 * fours - work->depth) * width));
    loops->bytes->join((uint32_t *)work->panel, work->rows, width, fours, task->type == DML_CONV_INT8);
    for (; row < unit->rows; row += heights[k]) {
        while (heights[k] > unit->rows - row)
            k++;
        for (int i = 0; i < heights[k]; i++) {
            const char *filter = unit->filters + (row + i) * task->filter_stride + work->first;
            int32_t sum = loops->bytes->sign((int8_t *)(filters + i * fours), (const uint8_t *)filter, work->depth,
                                             task->filter_type == DML_CONV_INT8);
            work->filter_sums[row + i] = sum + (adds ? work->filter_sums[row + i] : 0);
        }
        loops->bytes->tiles[work->vectors - 1][k](tile + row * width, filters, fours, work->pixels, work->places, fours,
                                                  adds != 0);
    }
    memset(filters, 1, (size_t)work->depth);
    memset((char *)filters + work->depth, 0, (size_t)(4 * fours - work->depth));
    loops->bytes->tiles[work->vectors - 1][DML_CONV_ROWS - 1](tile + row * width, filters, fours, work->pixels,
                                                              work->places, fours, adds != 0);
}

/* Sums of (x - z) (f - y), where x and f may be 128 off as their zero points z and y are: those of x f, of which the
   tile has the rest taken. */
static void dml_conv_store_bytes(const dml_conv *task, const dml_conv_unit *unit, const dml_conv_work *work)
{
    int64_t width = work->vectors * dml_loop->conv->lanes;
    const int32_t *tile = (const int32_t *)work->tile, *seen = tile + unit->rows * width;
    uint32_t zero = (uint32_t)dml_conv_zero(task->input_zero, 0, task->type, 1);
    for (int64_t row = 0; row < unit->rows; row++) {
        int64_t place = (unit->channel + row) * task->filter_zero_stride;
        int32_t filter_zero = dml_conv_zero(task->filter_zero, place, task->filter_type, 0);
        uint32_t rest = zero * ((uint32_t)work->filter_sums[row] - (uint32_t)task->depth * (uint32_t)filter_zero);
        int32_t *output = (int32_t *)task->output + unit->output + row * task->output_strides[1];
        dml_loop->conv->bytes->store(output, tile + row * width, seen, unit->count, filter_zero, rest);
    }
}

/* Whether all that a panel sees lies in the input as it would be gathered: in one row, without padding. */
static int dml_conv_lies_ready(const dml_conv *task, const dml_conv_unit *unit, const dml_conv_line *line, int lines)
{
    int64_t x = line->x * task->strides[2] - task->padding[2], last[3] = {line->z, line->y, x + line->count - 1};
    if (task->type != DML_CONV_FLOATS || unit->rows > DML_CONV_FEWER || lines > 1 || x < 0 || line->z < 0 || line->y < 0)
        return 0;
    if (task->strides[2] * task->input_strides[4] != 1 || line->count % dml_loop->conv->lanes != 0)
        return 0;
    for (int i = 0; i < 3; i++)
        if (last[i] + (task->window[i] - 1) * task->dilations[i] >= task->sizes[i])
            return 0;
    return task->channels == 1 || task->input_strides[1] * 4 % DML_CONV_PAGE != 0;
}

/* A panel times some filters, a slice of the panel at a time. */
static void dml_conv_panel(const dml_conv *task, const dml_conv_unit *unit)
{
    dml_conv_work work;
    dml_conv_run_of_pixels runs[2 * DML_CONV_WIDEST];
    dml_conv_line lines[DML_CONV_WIDEST];
    const dml_conv_table *loops = dml_loop->conv;
    int64_t width, size = dml_conv_size(task->type), stride = task->input_strides[1];
    int line_count = dml_conv_find_lines(task, unit->begin, unit->count, lines), is_bytes = dml_conv_is_bytes(task);
    int lies_ready = dml_conv_lies_ready(task, unit, lines, line_count);
    work.vectors = dml_quotient_up(unit->count, loops->lanes);
    work.pixels = lies_ready ? (const float *)unit->input : work.panel;
    width = work.vectors * loops->lanes;
    dml_conv_packing packing = {.channel_stride = stride,
                                .step = task->strides[2] * task->input_strides[4],
                                .type = task->type,
                                .vectors = (int)work.vectors,
                                .zero = task->input_zero ? *(const uint8_t *)task->input_zero : 0,
                                .run = runs};
    for (int64_t c = 0; c < task->channels; c += task->slice_channels)
        for (int64_t t = 0; t < task->taps; t += task->slice_taps) {
            int64_t channels = task->channels - c < task->slice_channels ? task->channels - c : task->slice_channels;
            int64_t taps = task->taps - t < task->slice_taps ? task->taps - t : task->slice_taps;
            work.first = c * task->taps + t;
            work.depth = channels * taps;
            packing.channels = channels;
            packing.row = taps * width;
            for (int64_t i = 0; i < taps; i++) {
                int64_t tap = task->is_turned ? task->taps - 1 - t - i : t + i;
                const void *input = unit->input + c * stride * size;
                if (lies_ready) {
                    int64_t place = dml_conv_place(task, lines, tap) + c * stride;
                    for (int64_t k = 0; k < channels; k++)
                        work.places[k * taps + i] = place + k * stride;
                    continue;
                }
                packing.runs = dml_conv_find_runs(task, tap, lines, line_count, runs);
                loops->pack(is_bytes ? (void *)(work.rows + i * width) : work.panel + i * width, input, &packing);
            }
            if (!lies_ready)
                for (int64_t k = 0; k < work.depth; k++)
                    work.places[k] = k * width;
            (is_bytes ? dml_conv_multiply_bytes : dml_conv_multiply)(task, unit, &work);
        }
    if (is_bytes)
        dml_conv_store_bytes(task, unit, &work);
    else
        loops->store(task, &(dml_conv_storing){work.tile, work.vectors, unit->rows, unit->count, unit->output,
                                               unit->channel});
}

static void dml_conv_units(void *context, int64_t begin, int64_t end)
{
    const dml_conv *task = context;
    int64_t size = dml_conv_size(task->type), width = dml_conv_usual() * dml_loop->conv->lanes;
    for (; begin < end; begin++) {
        int64_t part = begin % task->parts, panel = begin / task->parts % task->panels;
        int64_t image = begin / task->parts / task->panels, group = image % task->groups, batch = image / task->groups;
        int64_t row = part * task->part_rows, channel = group * task->outputs + row;
        dml_conv_unit unit;
        unit.input = (const char *)task->input + size * (batch * task->input_strides[0] +
                                                         group * task->channels * task->input_strides[1]);
        unit.filters = (const char *)task->filters + size * channel * task->filter_stride;
        unit.begin = panel * width;
        unit.count = panel == task->panels - 1 ? task->pixels - unit.begin : width;
        unit.rows = task->outputs - row < task->part_rows ? task->outputs - row : task->part_rows;
        unit.channel = channel;
        unit.output = batch * task->output_strides[0] + channel * task->output_strides[1] + unit.begin;
        dml_conv_panel(task, &unit);
    }
}

void dml_conv_run(const dml_conv *task)
{
    double results = (double)task->pixels * (double)(task->outputs * task->groups * task->batches);
    double operations = 2.0 * (double)task->depth * results;
    dml_parallel(dml_conv_units, (void *)task, task->batches * task->groups * task->panels * task->parts, 1,
                 (int64_t)(operations / DML_CONV_WORTH));
}
