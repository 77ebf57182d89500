#include "../common/assert.h"
#include "../common/declarations.h"
#include "../common/dimensions.h"
#include "../context.h"
#include "../threads/parallel.h"

/* Long rows that are too few for threads, each of which scans several side by side, are cut into parts: at most this
   many in all, each of at least PART_ITEMS. */
#define DML_SCAN_PARTS 512
#define DML_SCAN_PART_ITEMS 8192
/* With fewer columns than this, rows are scanned. */
#define DML_SCAN_FEW_COLUMNS 64

typedef struct {
    const dml_scan *task;
    const dml_scan_kernels *kernels;
    int64_t items, stream;
    /* The dimension along which columns are neighbours, the columns of a block, and the number of blocks. */
    int across;
    int64_t width, blocks;
    /* The parts of each row, where they begin, their length, and their accumulators; outputs are written in the second
       pass only. */
    int64_t rows, parts, begin, length;
    char (*kept)[8];
    int writes;
} dml_scan_plan;

static const int dml_scan_items[] = {2, 4, 8, 1, 2, 4, 8};

/* Finds the offsets of row number `index`, of all dimensions but `without`. */
static void dml_scan_seek(const dml_scan *task, int without, int64_t index, int64_t *x, int64_t *output)
{
    *x = *output = 0;
    for (int i = task->rank - 1; i >= 0; i--) {
        if (i == without)
            continue;
        int64_t at = index % task->sizes[i];
        index /= task->sizes[i];
        *x += at * task->x_strides[i];
        *output += at * task->output_strides[i];
    }
}

static void dml_scan_share_columns(void *context, int64_t begin, int64_t end)
{
    const dml_scan_plan *plan = context;
    const dml_scan *task = plan->task;
    for (; begin < end; begin++) {
        int64_t x, output, first = begin % plan->blocks * plan->width, left = task->sizes[plan->across] - first;
        dml_scan_seek(task, plan->across, begin / plan->blocks, &x, &output);
        x += first * task->x_strides[plan->across];
        output += first * task->output_strides[plan->across];
        dml_scan_columns columns = {(const char *)task->x + x,     (char *)task->output + output,
                                    dml_least(left, plan->width), plan->across,
                                    (int)plan->stream,            task};
        plan->kernels->columns(&columns);
    }
    if (plan->stream)
        dml_dispatch->move->stream_end();
}

/* Units are rows, or parts of rows: a part of all rows, then the next part of all. Neighbouring units are scanned side
   by side. */
static void dml_scan_share_rows(void *context, int64_t begin, int64_t end)
{
    const dml_scan_plan *plan = context;
    const dml_scan *task = plan->task;
    for (; begin < end; begin += DML_SCAN_ROWS) {
        char kept[DML_SCAN_ROWS][8];
        dml_scan_rows rows = {.length = plan->length,
                              .count = (int)dml_least(end - begin, DML_SCAN_ROWS),
                              .stream = (int)plan->stream,
                              .task = task};
        for (int k = 0; k < DML_SCAN_ROWS; k++) {
            /* Lanes without a row scan the first one again. */
            int64_t unit = begin + (k < rows.count ? k : 0), x, output;
            int64_t first = plan->begin + unit / plan->rows * plan->length;
            dml_scan_seek(task, -1, unit % plan->rows, &x, &output);
            rows.x[k] = (const char *)task->x + x + first * task->x_axis_stride;
            rows.output[k] = plan->writes ? (char *)task->output + output + first * task->output_axis_stride : NULL;
            rows.kept[k] = plan->kept ? plan->kept[unit] : kept[k];
            if (!plan->kept)
                plan->kernels->start(kept[k], task->exclusive);
            else if (!plan->writes)
                plan->kernels->start(plan->kept[unit], 0);
        }
        plan->kernels->rows(&rows);
    }
    if (plan->stream)
        dml_dispatch->move->stream_end();
}

/* The first pass accumulates each part; with that, the second pass stores the results. Elements behind the last part of
   a row, fewer than there are parts, come last. */
static void dml_scan_run_parts(dml_scan_plan *plan, int64_t bytes)
{
    const dml_scan *task = plan->task;
    char kept[DML_SCAN_PARTS][8], ends[DML_SCAN_PARTS][8];
    plan->kept = kept;
    plan->writes = 0;
    dml_parallel(dml_scan_share_rows, plan, plan->rows * plan->parts, DML_SCAN_ROWS, bytes);
    for (int64_t row = 0; row < plan->rows; row++) {
        plan->kernels->start(ends[row], task->exclusive);
        plan->kernels->carry(kept[row], plan->parts, 8 * plan->rows, ends[row]);
    }
    /* The rest of an input is not read before it is overwritten: the accumulators do not have it. */
    plan->writes = 1;
    dml_parallel(dml_scan_share_rows, plan, plan->rows * plan->parts, DML_SCAN_ROWS, bytes);
    plan->begin = plan->parts * plan->length;
    plan->length = task->length - plan->begin;
    plan->kept = ends;
    if (plan->length > 0)
        dml_scan_share_rows(plan, 0, plan->rows);
    plan->kept = NULL;
}

/* The dimension in which the output has the smallest stride; -1 if that is the one that is scanned, or it has few
   elements. */
static int dml_scan_across(const dml_scan *task)
{
    int across = -1;
    int64_t least = dml_magnitude(task->output_axis_stride);
    for (int i = 0; i < task->rank; i++) {
        if (task->sizes[i] > 1 && dml_magnitude(task->output_strides[i]) < least) {
            least = dml_magnitude(task->output_strides[i]);
            across = i;
        }
    }
    return across >= 0 && task->sizes[across] >= DML_SCAN_FEW_COLUMNS ? across : -1;
}

void dml_scan_run(const dml_scan *task)
{
    DML_ASSERT(DML_IS_INDEX(task->function, 2) && DML_IS_INDEX(task->type, 7));
    DML_ASSERT(DML_IS_RANK(task->rank) && task->length >= 0);
    DML_ASSERT_EACH(i, task->rank, task->sizes[i] >= 0);
    dml_scan_plan plan = {.task = task, .kernels = &dml_dispatch->scan->kernels[task->function][task->type]};
    int64_t bytes, share;
    plan.rows = dml_element_count(task->rank, task->sizes);
    bytes = plan.rows * task->length * dml_scan_items[task->type];
    if (bytes == 0)
        return;
    plan.stream = bytes >= dml_stream_bytes;
    plan.across = dml_scan_across(task);
    if (plan.across >= 0) {
        int64_t size = task->sizes[plan.across];
        share = dml_quotient_up(plan.rows, (int64_t)4 * dml_get_threads());
        plan.width = share > DML_SCAN_COLUMNS ? DML_SCAN_COLUMNS : share > 64 ? (share + 63) / 64 * 64 : 64;
        plan.blocks = dml_quotient_up(size, plan.width);
        dml_parallel(dml_scan_share_columns, &plan, plan.rows / size * plan.blocks, 1, bytes);
        return;
    }
    plan.parts = 1;
    plan.length = task->length;
    plan.writes = 1;
    /* Parts of floats may not be combined: they are added one after the other. */
    if (plan.rows < 2 * DML_SCAN_ROWS && task->length >= 4 * DML_SCAN_PART_ITEMS && task->type >= DML_SCAN_8) {
        plan.parts = dml_least(task->length / DML_SCAN_PART_ITEMS, DML_SCAN_PARTS / plan.rows);
        plan.length = task->length / plan.parts;
        dml_scan_run_parts(&plan, bytes);
        return;
    }
    dml_parallel(dml_scan_share_rows, &plan, plan.rows, DML_SCAN_ROWS, bytes);
}
