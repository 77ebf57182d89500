/* Reductions over any dimensions of tensors with any strides. Each is brought into one of two forms: rows are reduced
   if reduced elements are contiguous, or else columns, row by row, as they are in memory. Either is done for a block of
   accumulators at a time, which stays in the L1 cache. */

#include "../common/assert.h"
#include "../common/compiler.h"
#include "../common/dimensions.h"
#include "../threads/parallel.h"

#include "dispatch.h"
#include "finish.h"
#include "schedule.h"

static int64_t dml_reduce_distance(int64_t stride)
{
    /* All elements of a dimension of stride 0 are the same: it is best traversed last. */
    return stride == 0 ? INT64_MAX : stride < 0 ? -stride : stride;
}

/* Sorts dimensions from the largest stride of the input to the smallest. */
static void dml_reduce_sort(dml_dimension *dimensions, int count)
{
    for (int i = 1; i < count; i++)
        for (int j = i; j > 0; j--) {
            if (dml_reduce_distance(dimensions[j].input) <= dml_reduce_distance(dimensions[j - 1].input))
                break;
            dml_swap(&dimensions[j], &dimensions[j - 1]);
        }
}

/* Joins dimensions into as few as possible, at least one, with the innermost first. */
static int dml_reduce_normalize(dml_dimension *dimensions, int count)
{
    int joined = dml_join(dimensions, count);
    for (int i = 0; i < joined / 2; i++)
        dml_swap(&dimensions[i], &dimensions[joined - 1 - i]);
    if (joined == 0)
        dimensions[joined++] = (dml_dimension){1, 0, 0};
    return joined;
}

static const uint8_t dml_reduce_folds[] = {
    [DML_FUNCTION_SUM] = DML_REDUCE_SUM,
    [DML_FUNCTION_AVERAGE] = DML_REDUCE_SUM,
    [DML_FUNCTION_L1] = DML_REDUCE_ABSOLUTE,
    [DML_FUNCTION_L2] = DML_REDUCE_SQUARE,
    [DML_FUNCTION_SUM_SQUARE] = DML_REDUCE_SQUARE,
    [DML_FUNCTION_LOG_SUM] = DML_REDUCE_SUM,
    [DML_FUNCTION_LOG_SUM_EXP] = DML_REDUCE_EXP,
    [DML_FUNCTION_MULTIPLY] = DML_REDUCE_PRODUCT,
    [DML_FUNCTION_MIN] = DML_REDUCE_MIN,
    [DML_FUNCTION_MAX] = DML_REDUCE_MAX,
    [DML_FUNCTION_ARGMIN] = DML_REDUCE_ARGMIN,
    [DML_FUNCTION_ARGMAX] = DML_REDUCE_ARGMAX,
    [DML_FUNCTION_ARGMIN_LAST] = DML_REDUCE_ARGMIN_LAST,
    [DML_FUNCTION_ARGMAX_LAST] = DML_REDUCE_ARGMAX_LAST,
};

static uint64_t dml_reduce_bits(double value, int type)
{
    uint64_t bits = 0;
    float narrow = (float)value;
    memcpy(&bits, type == DML_TYPE_FLOAT64 ? (void *)&value : (void *)&narrow, dml_type_sizes[type]);
    return bits;
}

/* The identity of a function, with which accumulators begin. */
static uint64_t dml_reduce_identity(int fold, int type)
{
    int is_float = type == DML_TYPE_FLOAT32 || type == DML_TYPE_FLOAT64, bits = 8 * dml_type_sizes[type];
    int is_unsigned = type >= DML_TYPE_UINT8;
    uint64_t all = UINT64_MAX >> (64 - bits), sign = (uint64_t)1 << (bits - 1);
    switch (fold) {
    case DML_REDUCE_PRODUCT:
        return is_float ? dml_reduce_bits(1.0, type) : 1;
    case DML_REDUCE_MIN:
    case DML_REDUCE_ARGMIN:
    case DML_REDUCE_ARGMIN_LAST:
        return is_float ? dml_reduce_bits(INFINITY, type) : is_unsigned ? all : all ^ sign;
    case DML_REDUCE_MAX:
    case DML_REDUCE_EXP:
    case DML_REDUCE_ARGMAX:
    case DML_REDUCE_ARGMAX_LAST:
        return is_float ? dml_reduce_bits(-INFINITY, type) : is_unsigned ? 0 : sign;
    default:
        return is_float ? dml_reduce_bits(-0.0, type) : 0;
    }
}

/* Chooses the types that a task is computed in; returns whether there are kernels for them. */
static int dml_reduce_choose(dml_reduce *task)
{
    int is_float = task->type <= DML_TYPE_FLOAT32, is_arg, fold;
    if (task->function < DML_FUNCTION_SUM || task->function > DML_FUNCTION_ARGMAX_LAST ||
        task->type < DML_TYPE_FLOAT16 || task->type > DML_TYPE_UINT64 || task->output_type < DML_TYPE_FLOAT16 ||
        task->output_type > DML_TYPE_UINT64)
        return 0;
    fold = dml_reduce_folds[task->function];
    is_arg = fold >= DML_REDUCE_ARGMIN;
    task->fold = fold;
    task->computed_type = task->type == DML_TYPE_FLOAT16 ? DML_TYPE_FLOAT32 : task->type;
    if (is_arg) {
        if (task->output_type <= DML_TYPE_FLOAT32 || dml_type_sizes[task->output_type] < 4)
            return 0;
        if (dml_type_sizes[task->type] < 4 && !is_float)
            task->computed_type = DML_TYPE_INT32;
        if (dml_type_sizes[task->computed_type] == 4 && task->count > INT32_MAX)
            return 0;
    } else if (task->output_type != task->type) {
        return 0;
    }
    if (!is_float && (fold == DML_REDUCE_EXP || task->function == DML_FUNCTION_AVERAGE ||
                      task->function == DML_FUNCTION_L2 || task->function == DML_FUNCTION_LOG_SUM))
        return 0;
    task->state_type = is_float && fold <= DML_REDUCE_PRODUCT ? DML_TYPE_FLOAT64 : task->computed_type;
    task->identity = dml_reduce_identity(fold, task->state_type);
    return 1;
}

/* Decides how many accumulators are kept at a time, and how the work is cut. Neither depends on the number of threads,
   so that results do not. */
static void dml_reduce_cut(dml_reduce *task)
{
    int64_t size = dml_type_sizes[task->type], inner = task->kept[0].size, part = task->count * size, wanted;
    int64_t block = task->fold < DML_REDUCE_EXP ? DML_REDUCE_BLOCK : DML_REDUCE_BLOCK / 4, least = task->rows ? 1 : 64;
    /* Rows that lie between dimensions that are reduced are read as they follow each other. */
    if (task->rows && task->reduced_rank > 1 &&
        dml_reduce_distance(task->reduced[1].input) > dml_reduce_distance(task->kept[0].input))
        part = task->reduced[0].size * size;
    /* For columns that stay in a cache, half as many are worth a thread. */
    int64_t most = task->rows ? (64 << 10) / part : part * inner <= (512 << 10) ? (128 << 10) / part : block;
    task->block = dml_least(most < least ? least : dml_least(most, block), inner);
    task->blocks = (inner + task->block - 1) / task->block;
    task->units = task->blocks;
    task->bytes = task->count * size * inner;
    for (int i = 1; i < task->kept_rank; i++) {
        task->units *= task->kept[i].size;
        task->bytes *= task->kept[i].size;
    }
    task->pieces = 1;
    part = task->count * size * task->block;
    if (task->units < DML_REDUCE_UNITS && part >= (512 << 10)) {
        wanted = dml_least(dml_quotient_up(DML_REDUCE_UNITS, task->units), task->count);
        task->pieces = dml_least(part / (256 << 10), wanted);
    }
}

int dml_reduce_prepare(dml_reduce *task, int function, int type, int output_type, int rank, const int64_t *sizes,
                       const int64_t *input_strides, const int64_t *output_strides, uint32_t axes, uintptr_t input,
                       uintptr_t output)
{
    dml_dimension *kept = task->kept, *reduced = task->reduced;
    int is_arg = function >= DML_FUNCTION_ARGMIN;
    uintptr_t input_alignment = input, output_alignment = output;
    if (rank > DML_MAX_DIMENSIONS)
        return 0;
    *task = (dml_reduce){.function = function, .type = type, .output_type = output_type, .count = 1};
    for (int i = 0; i < rank; i++) {
        int is_reduced = axes >> i & 1;
        dml_dimension one = {sizes[i], is_reduced ? 0 : output_strides[i], input_strides[i]};
        if (one.size < 1)
            return 0;
        if (one.size == 1)
            continue;
        if (is_reduced)
            task->count *= one.size;
        input_alignment |= (uintptr_t)one.input;
        output_alignment |= (uintptr_t)one.output;
        /* The order of elements matters only to indices; else a dimension may as well be traversed backwards. */
        if (one.input < 0 && !(is_arg && is_reduced)) {
            input += (uintptr_t)((one.size - 1) * one.input);
            output += (uintptr_t)((one.size - 1) * one.output);
            one.input = -one.input;
            one.output = -one.output;
        }
        if (is_reduced)
            reduced[task->reduced_rank++] = one;
        else
            kept[task->kept_rank++] = one;
    }
    if (!dml_reduce_choose(task) || input_alignment % dml_type_sizes[type] ||
        output_alignment % dml_type_sizes[output_type])
        return 0;
    dml_reduce_sort(kept, task->kept_rank);
    if (!is_arg)
        dml_reduce_sort(reduced, task->reduced_rank);
    task->kept_rank = dml_reduce_normalize(kept, task->kept_rank);
    task->reduced_rank = dml_reduce_normalize(reduced, task->reduced_rank);
    /* A few results of a few elements each are not worth a block: the longest dimension makes longer blocks. */
    if (kept[0].size * reduced[0].size < 256)
        for (int i = 1; i < task->kept_rank; i++)
            if (kept[i].size > kept[0].size)
                dml_swap(&kept[i], &kept[0]);
    task->rows = reduced[0].size > 1 &&
                 (kept[0].size == 1 || dml_reduce_distance(reduced[0].input) <= dml_reduce_distance(kept[0].input));
    /* The exponentials of a short row do not fill vectors; those of many columns do, even if they are copied first. */
    if (task->fold == DML_REDUCE_EXP && reduced[0].size < 32 && kept[0].size >= 32)
        task->rows = 0;
    task->input = input;
    task->output = output;
    dml_reduce_cut(task);
    return 1;
}

int dml_reduce_lay(dml_reduce *task, const dml_dimension *kept, const dml_dimension *reduced)
{
    const dml_reduce_kernel *kernel = dml_reduce_kernel_of(task->fold, task->type);
    const int64_t size = dml_type_sizes[task->type];
    /* The kernels of FLOAT16 add up elements by fours, but not those of a vector that is not full. */
    const int64_t vector = task->type == DML_TYPE_FLOAT16 ? 8 : 1;
    if (!task->rows || task->reduced_rank > 1 || task->fold >= DML_REDUCE_EXP)
        return 0;
    task->across = kernel->across && kept[0].input == size && kept[0].size % vector == 0 && reduced[1].size == 1 &&
                   task->count > DML_REDUCE_SHORT;
    task->gathers =
        kernel->rows && reduced[0].input == size && task->pieces == 1 && task->count * size <= DML_REDUCE_GATHERED;
    if (!task->across && !task->gathers)
        return 0;
    task->kept_rank = task->reduced_rank = 2;
    memcpy(task->kept, kept, 2 * sizeof *kept);
    memcpy(task->reduced, reduced, 2 * sizeof *reduced);
    if (task->across) {
        /* An even number of blocks of equal width. */
        const int64_t blocks = 2 * dml_quotient_up(kept[0].size, 2 * DML_REDUCE_ACROSS);
        task->block = dml_round_up(dml_quotient_up(kept[0].size, blocks), 8);
    }
    task->block = dml_least(task->block, kept[0].size);
    task->blocks = dml_quotient_up(kept[0].size, task->block);
    task->units = task->blocks * kept[1].size;
    return 1;
}

void dml_reduce_run(const dml_reduce *task)
{
    DML_ASSERT(DML_IS_INDEX(task->fold, DML_FOLDS) && DML_IS_INDEX(task->type, DML_TYPES));
    DML_ASSERT(DML_IS_INDEX(task->output_type, DML_TYPES) && DML_IS_INDEX(task->computed_type, DML_TYPES));
    DML_ASSERT(task->kept_rank >= 1 && DML_IS_RANK(task->kept_rank));
    DML_ASSERT(task->reduced_rank >= 1 && DML_IS_RANK(task->reduced_rank));
    DML_ASSERT_EACH(i, task->kept_rank, task->kept[i].size >= 0);
    DML_ASSERT_EACH(i, task->reduced_rank, task->reduced[i].size >= 0);
    DML_ASSERT(task->units >= 0 && task->pieces >= 0 && task->block >= 0 && task->bytes >= 0);
    DML_ASSERT(DML_IS_ALIGNED(task->input, dml_type_sizes[task->type]));
    DML_ASSERT(DML_IS_ALIGNED(task->output, dml_type_sizes[task->output_type]));
    dml_reduce_work work = {task, NULL};
    if (task->pieces > 1)
        work.partials = malloc((size_t)(task->units * task->pieces * task->block * DML_REDUCE_STATE));
    /* Exponentials are worth more threads than memory alone. */
    dml_parallel(dml_reduce_units, &work, work.partials ? task->units * task->pieces : task->units, 1,
                 task->fold == DML_REDUCE_EXP ? 4 * task->bytes : task->bytes);
    if (work.partials) {
        for (int64_t unit = 0; unit < task->units; unit++)
            dml_reduce_combine(&work, unit);
        free(work.partials);
    }
}
