/* Reductions over any dimensions of tensors of any strides.

   What is reduced is brought into one of two forms. If reduced elements lie next to each other, rows of them are folded;
   else kept ones do, and columns of them are folded row by row, as memory has them. Either is done for a block of results
   at a time, small enough to stay in the nearest cache. */

static const uint8_t dml_reduce_sizes[DML_REDUCE_TYPES] = {2, 4, 1, 2, 4, 8, 1, 2, 4, 8, 8};

#include "reduce_finish.h"
#include "reduce_run.h"

typedef struct {
    int64_t size, input, output;
} dml_reduce_dimension;

static int64_t dml_reduce_distance(int64_t stride)
{
    /* Elements at distance 0 are one and the same: such a dimension is best gone through last. */
    return stride == 0 ? INT64_MAX : stride < 0 ? -stride : stride;
}

/* Innermost first. */
static void dml_reduce_sort(dml_reduce_dimension *dimensions, int count)
{
    for (int i = 1; i < count; i++)
        for (int j = i; j > 0; j--) {
            dml_reduce_dimension outer = dimensions[j];
            if (dml_reduce_distance(outer.input) >= dml_reduce_distance(dimensions[j - 1].input))
                break;
            dimensions[j] = dimensions[j - 1];
            dimensions[j - 1] = outer;
        }
}

/* Dimensions that step through memory as one become one. */
static int dml_reduce_merge(dml_reduce_dimension *dimensions, int count)
{
    int merged = 0;
    for (int i = 0; i < count; i++) {
        dml_reduce_dimension *inner = &dimensions[merged - (merged > 0)];
        if (merged > 0 && dimensions[i].input == inner->input * inner->size && dimensions[i].output == inner->output * inner->size)
            inner->size *= dimensions[i].size;
        else
            dimensions[merged++] = dimensions[i];
    }
    if (merged == 0)
        dimensions[merged++] = (dml_reduce_dimension){1, 0, 0};
    return merged;
}

static int dml_reduce_fold(int function)
{
    switch (function) {
    case DML_REDUCE_L1:
        return DML_FOLD_ABSOLUTE;
    case DML_REDUCE_L2:
    case DML_REDUCE_SUM_SQUARE:
        return DML_FOLD_SQUARE;
    case DML_REDUCE_LOG_SUM_EXP:
        return DML_FOLD_EXP;
    case DML_REDUCE_MULTIPLY:
        return DML_FOLD_PRODUCT;
    case DML_REDUCE_MIN:
        return DML_FOLD_MIN;
    case DML_REDUCE_MAX:
        return DML_FOLD_MAX;
    case DML_REDUCE_ARGMIN:
        return DML_FOLD_ARGMIN;
    case DML_REDUCE_ARGMAX:
        return DML_FOLD_ARGMAX;
    case DML_REDUCE_ARGMIN_LAST:
        return DML_FOLD_ARGMIN_LAST;
    case DML_REDUCE_ARGMAX_LAST:
        return DML_FOLD_ARGMAX_LAST;
    default:
        return DML_FOLD_SUM;
    }
}

static uint64_t dml_reduce_bits(double value, int type)
{
    uint64_t bits = 0;
    float narrow = (float)value;
    memcpy(&bits, type == DML_REDUCE_FLOAT64 ? (void *)&value : (void *)&narrow, dml_reduce_sizes[type]);
    return bits;
}

/* What a fold begins with: the result of nothing. */
static uint64_t dml_reduce_identity(int fold, int type)
{
    int is_float = type == DML_REDUCE_FLOAT32 || type == DML_REDUCE_FLOAT64, bits = 8 * dml_reduce_sizes[type];
    int is_unsigned = type >= DML_REDUCE_UINT8;
    uint64_t all = UINT64_MAX >> (64 - bits), sign = (uint64_t)1 << (bits - 1);
    switch (fold) {
    case DML_FOLD_PRODUCT:
        return is_float ? dml_reduce_bits(1.0, type) : 1;
    case DML_FOLD_MIN:
    case DML_FOLD_ARGMIN:
    case DML_FOLD_ARGMIN_LAST:
        return is_float ? dml_reduce_bits(INFINITY, type) : is_unsigned ? all : all ^ sign;
    case DML_FOLD_MAX:
    case DML_FOLD_EXP:
    case DML_FOLD_ARGMAX:
    case DML_FOLD_ARGMAX_LAST:
        return is_float ? dml_reduce_bits(-INFINITY, type) : is_unsigned ? 0 : sign;
    default:
        return is_float ? dml_reduce_bits(-0.0, type) : 0;
    }
}

/* Whether there are loops for what the task says; if so, the types that it is computed in. */
static int dml_reduce_choose(dml_reduce *task)
{
    int is_float = task->type <= DML_REDUCE_FLOAT32, is_arg, fold = dml_reduce_fold(task->function);
    if (task->function < DML_REDUCE_SUM || task->function > DML_REDUCE_ARGMAX_LAST || task->type < DML_REDUCE_FLOAT16 ||
        task->type > DML_REDUCE_UINT64 || task->output_type < DML_REDUCE_FLOAT16 || task->output_type > DML_REDUCE_UINT64)
        return 0;
    is_arg = fold >= DML_FOLD_ARGMIN;
    task->fold = fold;
    task->computed_type = task->type == DML_REDUCE_FLOAT16 ? DML_REDUCE_FLOAT32 : task->type;
    if (is_arg) {
        if (task->output_type <= DML_REDUCE_FLOAT32 || dml_reduce_sizes[task->output_type] < 4)
            return 0;
        if (dml_reduce_sizes[task->type] < 4 && !is_float)
            task->computed_type = DML_REDUCE_INT32;
        if (dml_reduce_sizes[task->computed_type] == 4 && task->count > INT32_MAX)
            return 0;
    } else if (task->output_type != task->type) {
        return 0;
    }
    if (!is_float && (fold == DML_FOLD_EXP || task->function == DML_REDUCE_AVERAGE || task->function == DML_REDUCE_L2 ||
                      task->function == DML_REDUCE_LOG_SUM))
        return 0;
    task->state_type = is_float && fold <= DML_FOLD_PRODUCT ? DML_REDUCE_FLOAT64 : task->computed_type;
    task->identity = dml_reduce_identity(fold, task->state_type);
    return 1;
}

/* How many results are kept at a time, and how the work is cut. This does not depend on the number of threads, so that
   results do not. */
static void dml_reduce_cut(dml_reduce *task)
{
    int64_t size = dml_reduce_sizes[task->type], inner = task->kept_sizes[0], part, wanted;
    int64_t block = task->fold < DML_FOLD_EXP ? DML_REDUCE_BLOCK : DML_REDUCE_BLOCK / 4;
    if (task->rows) {
        block = (64 << 10) / (task->count * size);
        block = block < 1 ? 1 : block > 256 ? 256 : block;
    }
    task->block = block < inner ? block : inner;
    task->blocks = (inner + task->block - 1) / task->block;
    task->units = task->blocks;
    task->bytes = task->count * size * inner;
    for (int i = 1; i < task->kept_rank; i++) {
        task->units *= task->kept_sizes[i];
        task->bytes *= task->kept_sizes[i];
    }
    task->pieces = 1;
    part = task->count * size * task->block;
    if (task->units < DML_REDUCE_UNITS && part >= (512 << 10)) {
        wanted = (DML_REDUCE_UNITS + task->units - 1) / task->units;
        task->pieces = part / (256 << 10) < wanted ? part / (256 << 10) : wanted;
        if (task->pieces > task->count)
            task->pieces = task->count;
    }
}

int dml_reduce_prepare(dml_reduce *task, int function, int type, int output_type, int rank, const int64_t *sizes,
                       const int64_t *input_strides, const int64_t *output_strides, uint32_t axes, uintptr_t input,
                       uintptr_t output)
{
    dml_reduce_dimension kept[DML_MAX_DIMENSIONS], reduced[DML_MAX_DIMENSIONS];
    int kept_rank = 0, reduced_rank = 0, is_arg = function >= DML_REDUCE_ARGMIN;
    uintptr_t input_alignment = input, output_alignment = output;
    if (rank > DML_MAX_DIMENSIONS)
        return 0;
    *task = (dml_reduce){.function = function, .type = type, .output_type = output_type, .count = 1};
    for (int i = rank - 1; i >= 0; i--) {
        int is_reduced = axes >> i & 1;
        dml_reduce_dimension one = {sizes[i], input_strides[i], is_reduced ? 0 : output_strides[i]};
        if (one.size < 1)
            return 0;
        if (one.size == 1)
            continue;
        if (is_reduced)
            task->count *= one.size;
        input_alignment |= (uintptr_t)one.input;
        output_alignment |= (uintptr_t)one.output;
        /* The order of elements matters to indices alone; else a dimension may as well be gone through backwards. */
        if (one.input < 0 && !(is_arg && is_reduced)) {
            input += (uintptr_t)((one.size - 1) * one.input);
            output += (uintptr_t)((one.size - 1) * one.output);
            one.input = -one.input;
            one.output = -one.output;
        }
        if (is_reduced)
            reduced[reduced_rank++] = one;
        else
            kept[kept_rank++] = one;
    }
    if (!dml_reduce_choose(task) || input_alignment % dml_reduce_sizes[type] || output_alignment % dml_reduce_sizes[output_type])
        return 0;
    dml_reduce_sort(kept, kept_rank);
    if (!is_arg)
        dml_reduce_sort(reduced, reduced_rank);
    kept_rank = dml_reduce_merge(kept, kept_rank);
    reduced_rank = dml_reduce_merge(reduced, reduced_rank);
    /* A few results of a few elements each are not worth a block: the longest dimension makes longer ones. */
    if (kept[0].size * reduced[0].size < 256)
        for (int i = 1; i < kept_rank; i++)
            if (kept[i].size > kept[0].size) {
                dml_reduce_dimension longer = kept[i];
                kept[i] = kept[0];
                kept[0] = longer;
            }
    task->rows = reduced[0].size > 1 &&
                 (kept[0].size == 1 || dml_reduce_distance(reduced[0].input) <= dml_reduce_distance(kept[0].input));
    /* The exponentials of a short row do not fill the vectors, those of many columns do, even if copied first. */
    if (task->fold == DML_FOLD_EXP && reduced[0].size < 32 && kept[0].size >= 32)
        task->rows = 0;
    task->kept_rank = kept_rank;
    task->reduced_rank = reduced_rank;
    for (int i = 0; i < kept_rank; i++) {
        task->kept_sizes[i] = kept[i].size;
        task->kept_inputs[i] = kept[i].input;
        task->kept_outputs[i] = kept[i].output;
    }
    for (int i = 0; i < reduced_rank; i++) {
        task->reduced_sizes[i] = reduced[i].size;
        task->reduced_inputs[i] = reduced[i].input;
    }
    task->input = input;
    task->output = output;
    dml_reduce_cut(task);
    return 1;
}

void dml_reduce_run(const dml_reduce *task)
{
    dml_reduce_work work = {task, NULL};
    if (task->pieces > 1)
        work.partials = malloc((size_t)(task->units * task->pieces * task->block * DML_REDUCE_STATE));
    /* Exponentials are worth more threads than memory alone. */
    dml_parallel(dml_reduce_units, &work, work.partials ? task->units * task->pieces : task->units, 1,
                 task->fold == DML_FOLD_EXP ? 4 * task->bytes : task->bytes);
    if (work.partials) {
        for (int64_t unit = 0; unit < task->units; unit++)
            dml_reduce_combine(&work, unit);
        free(work.partials);
    }
}
