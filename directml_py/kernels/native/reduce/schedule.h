/* The run of a prepared reduction. A unit of work is a block of accumulators; where there are too few units, each is
   cut into pieces of the reduced elements, whose accumulators are joined in their order. */

#pragma once

#include "../common/compiler.h"
#include "../context.h"
#include "../move/move.h"
#include "finish.h"

#define DML_REDUCE_UNITS 16
/* This many bytes come from beyond the L2 cache. */
#define DML_REDUCE_MUCH (1 << 20)
/* The bytes of the longest row that is packed before it is reduced. */
#define DML_REDUCE_GATHERED (64 << 10)
/* The bytes of an accumulator. */
#define DML_REDUCE_STATE (2 * sizeof(uint64_t))

typedef struct {
    const dml_reduce *task;
    char *partials;
} dml_reduce_work;

static void dml_reduce_begin(const dml_reduce *task, int64_t m, void *state, void *second)
{
    const int64_t size = dml_type_sizes[task->state_type];
    const dml_span span = {state, (const char *)&task->identity, 1, 0, 0, m, size, 0};
    dml_dispatch->move->fill[__builtin_ctzll((uint64_t)size)](&span, 0);
    if (second && task->fold >= DML_REDUCE_EXP)
        memset(second, task->fold == DML_REDUCE_EXP ? 0 : 0xff, (size_t)m * sizeof(uint64_t));
}

static const dml_reduce_kernel *dml_reduce_kernel_of(int fold, int type)
{
    if (type == DML_TYPE_FLOAT32 && fold == DML_REDUCE_SUM)
        return &dml_dispatch->reduce_float32->sum;
    if (type == DML_TYPE_FLOAT32 && fold == DML_REDUCE_EXP)
        return &dml_dispatch->reduce_float32->exp;
    return &dml_dispatch->reduce->kernels[fold][type];
}

/* The kernel that joins accumulators, in their type. */
static const dml_reduce_kernel *dml_reduce_joining(const dml_reduce *task)
{
    int adds = task->fold == DML_REDUCE_ABSOLUTE || task->fold == DML_REDUCE_SQUARE;
    return dml_reduce_kernel_of(adds ? DML_REDUCE_SUM : task->fold, task->state_type);
}

/* Reduces m x n elements that are not contiguous, or whose type has no kernels, through a packed copy. */
static __attribute__((noinline)) void dml_reduce_packed(const dml_reduce *task, char *state, char *second,
                                                        const char *source, int64_t m, int64_t n, int64_t index)
{
    const dml_reduce_kernel *kernel = dml_reduce_kernel_of(task->fold, task->computed_type);
    int64_t kept_stride = task->kept[0].input, reduced_stride = task->reduced[0].input;
    int64_t size = dml_type_sizes[task->computed_type], state_size = dml_type_sizes[task->state_type];
    int64_t second_size = task->fold == DML_REDUCE_EXP ? 8 : state_size;
    int widen = task->computed_type != task->type;
    char packed[DML_REDUCE_TILE * sizeof(uint64_t)] __attribute__((aligned(64)));
    int64_t inner = task->rows ? n : m, outer = task->rows ? m : n;
    /* Sums of exponentials are scaled once per tile, which had better be high. */
    int64_t widest = task->fold == DML_REDUCE_EXP && !task->rows ? 128 : DML_REDUCE_TILE;
    int64_t width = dml_least(inner, widest), height = DML_REDUCE_TILE / width;
    for (int64_t i = 0; i < outer; i += height)
        for (int64_t j = 0; j < inner; j += width) {
            int64_t h = dml_least(outer - i, height), w = dml_least(inner - j, width);
            if (task->rows) {
                dml_dispatch->reduce->pack(packed, source + i * kept_stride + j * reduced_stride, task->type, widen, h,
                                           kept_stride, w, reduced_stride);
                kernel->rows(state + i * state_size, second + i * second_size, packed, h, w * size, w, size, index + j);
            } else {
                dml_dispatch->reduce->pack(packed, source + i * reduced_stride + j * kept_stride, task->type, widen, h,
                                           reduced_stride, w, kept_stride);
                kernel->columns(state + j * state_size, second + j * second_size, packed, w, size, h, w * size,
                                index + i);
            }
        }
}

/* If there are so few columns that vectors would stay empty, or much memory, several rows are reduced as one, where
   rows follow each other without a gap: for wide vectors, or for streams of memory that are read side by side. Their
   accumulators are joined at the end. Returns the number of rows that are done. */
static int64_t dml_reduce_few_columns(const dml_reduce *task, const dml_reduce_kernel *kernel, char *state,
                                      const char *source, int64_t m, int64_t n)
{
    char wide[DML_REDUCE_BLOCK * sizeof(uint64_t)] __attribute__((aligned(64)));
    int64_t size = dml_type_sizes[task->type], together, wide_rows;
    together = (task->bytes >= DML_REDUCE_MUCH ? DML_REDUCE_BLOCK : m <= 16 ? 512 : 0) / m;
    while (together > 1 && n / together < 8)
        together /= 2;
    wide_rows = together > 1 ? n / together : 0;
    if (task->fold >= DML_REDUCE_EXP || wide_rows == 0 || task->reduced[0].input != m * size)
        return 0;
    dml_reduce_begin(task, together * m, wide, NULL);
    kernel->columns(wide, NULL, source, together * m, size, wide_rows, together * m * size, 0);
    dml_reduce_joining(task)->columns(state, NULL, wide, m, 0, together, m * dml_type_sizes[task->state_type], 0);
    return wide_rows * together;
}

static void dml_reduce_tile(const dml_reduce *task, char *state, char *second, const char *source, int64_t m, int64_t n,
                            int64_t index)
{
    const dml_reduce_kernel *kernel = dml_reduce_kernel_of(task->fold, task->type);
    int64_t kept_stride = task->kept[0].input, reduced_stride = task->reduced[0].input;
    int64_t size = dml_type_sizes[task->type], done = 0;
    int packed = task->rows ? reduced_stride == size : m == 1 || kept_stride == size;
    if (task->across && kernel->across) {
        kernel->across(state, second, source, m, kept_stride, n, reduced_stride, index);
    } else if ((task->rows ? kernel->rows : kernel->columns) == NULL || !packed) {
        dml_reduce_packed(task, state, second, source, m, n, index);
    } else if (task->rows) {
        kernel->rows(state, second, source, m, kept_stride, n, reduced_stride, index);
    } else {
        if (n >= 32)
            done = dml_reduce_few_columns(task, kernel, state, source, m, n);
        kernel->columns(state, second, source + done * reduced_stride, m, kept_stride, n - done, reduced_stride,
                        index + done);
    }
}

/* Folds rows whose lines have gaps between them, packing each first: several would not stay in the L1 cache. */
static __attribute__((noinline)) void dml_reduce_gathered(const dml_reduce *task, char *state, char *second,
                                                          const char *source, int64_t m)
{
    const int64_t size = dml_type_sizes[task->type], line = task->reduced[0].size * size;
    const dml_reduce_loop rows = dml_reduce_kernel_of(task->fold, task->type)->rows;
    char packed[DML_REDUCE_GATHERED] __attribute__((aligned(64)));
    for (int64_t i = 0; i < m; i++) {
        dml_move_lines(packed, line, source + i * task->kept[0].input, task->reduced[1].input, task->reduced[1].size,
                       line, 0);
        rows(state + i * dml_type_sizes[task->state_type], second, packed, 1, task->count * size, task->count, size, 0);
    }
}

/* Folds the reduced elements [begin, end) into m accumulators. */
static void dml_reduce_range(const dml_reduce *task, char *state, char *second, const char *source, int64_t m,
                             int64_t begin, int64_t end)
{
    int64_t at[DML_MAX_DIMENSIONS] = {0}, rest = begin;
    if (task->gathers) {
        dml_reduce_gathered(task, state, second, source, m);
        return;
    }
    for (int i = 0; i < task->reduced_rank && rest > 0; i++) {
        at[i] = rest % task->reduced[i].size;
        rest /= task->reduced[i].size;
        source += at[i] * task->reduced[i].input;
    }
    while (begin < end) {
        int64_t n = dml_least(task->reduced[0].size - at[0], end - begin);
        dml_reduce_tile(task, state, second, source, m, n, begin);
        begin += n;
        source -= at[0] * task->reduced[0].input;
        at[0] = 0;
        source = dml_reduce_next(task, 1, at, source);
    }
}

/* Finds where the block of a unit begins in memory; returns how many accumulators it has. */
static int64_t dml_reduce_locate(const dml_reduce *task, int64_t unit, const char **input, char **output)
{
    int64_t first = unit % task->blocks * task->block, rest = unit / task->blocks, m = task->kept[0].size - first;
    int64_t source = first * task->kept[0].input, target = first * task->kept[0].output;
    for (int i = 1; i < task->kept_rank && rest > 0; i++) {
        source += rest % task->kept[i].size * task->kept[i].input;
        target += rest % task->kept[i].size * task->kept[i].output;
        rest /= task->kept[i].size;
    }
    *input = (const char *)task->input + source;
    *output = (char *)task->output + target;
    return dml_least(m, task->block);
}

static void dml_reduce_units(void *context, int64_t begin, int64_t end)
{
    const dml_reduce_work *work = context;
    const dml_reduce *task = work->task;
    uint64_t state[DML_REDUCE_BLOCK] __attribute__((aligned(64))),
        second[DML_REDUCE_BLOCK] __attribute__((aligned(64)));
    for (int64_t i = begin; i < end; i++) {
        const char *input;
        char *output, *partial;
        int64_t pieces = work->partials ? task->pieces : 1, piece = i % pieces, m, length, from, to;
        m = dml_reduce_locate(task, i / pieces, &input, &output);
        if (work->partials == NULL) {
            dml_reduce_begin(task, m, state, second);
            dml_reduce_range(task, (char *)state, (char *)second, input, m, 0, task->count);
            dml_reduce_finish(task, input, output, m, state, second);
            continue;
        }
        partial = work->partials + i * task->block * (int64_t)DML_REDUCE_STATE;
        length = (task->count + pieces - 1) / pieces;
        length = length >= 1024 ? (length + 63) / 64 * 64 : length;
        from = piece * length;
        to = dml_least(from + length, task->count);
        dml_reduce_begin(task, m, partial, partial + task->block * (int64_t)sizeof(uint64_t));
        dml_reduce_range(task, partial, partial + task->block * (int64_t)sizeof(uint64_t), input, m, from, to);
    }
}

static void dml_reduce_join_sums(int64_t m, float *largest, double *sum, const float *other_largest,
                                 const double *other_sum)
{
    for (int64_t i = 0; i < m; i++) {
        float most = other_largest[i] > largest[i] ? other_largest[i] : largest[i];
        double scale = largest[i] == most ? 1.0 : exp((double)largest[i] - most);
        double other_scale = other_largest[i] == most ? 1.0 : exp((double)other_largest[i] - most);
        sum[i] = sum[i] * scale + other_sum[i] * other_scale;
        largest[i] = most;
    }
}

/* The indices of a later piece replace those before if their elements are better, or equal where the last of equals
   counts. A piece of NaN has no index. */
#define DML_REDUCE_JOIN_ARG(T, I)                                                                                      \
    for (int64_t i = 0; i < m; i++) {                                                                                  \
        T *best = (T *)state + i, other = ((const T *)other_state)[i];                                                 \
        I position = ((const I *)other_second)[i];                                                                     \
        int wins = least ? other < *best : other > *best;                                                              \
        if (position >= 0 && (wins || (last && other == *best))) {                                                     \
            *best = other;                                                                                             \
            ((I *)second)[i] = position;                                                                               \
        }                                                                                                              \
    }                                                                                                                  \
    break

static void dml_reduce_join_indices(const dml_reduce *task, int64_t m, void *state, void *second,
                                    const void *other_state, const void *other_second)
{
    int least = task->fold == DML_REDUCE_ARGMIN || task->fold == DML_REDUCE_ARGMIN_LAST;
    int last = task->fold == DML_REDUCE_ARGMIN_LAST || task->fold == DML_REDUCE_ARGMAX_LAST;
    switch (task->state_type) {
    case DML_TYPE_FLOAT32:
        DML_REDUCE_JOIN_ARG(float, int32_t);
    case DML_TYPE_INT32:
        DML_REDUCE_JOIN_ARG(int32_t, int32_t);
    case DML_TYPE_UINT32:
        DML_REDUCE_JOIN_ARG(uint32_t, int32_t);
    case DML_TYPE_INT64:
        DML_REDUCE_JOIN_ARG(int64_t, int64_t);
    default:
        DML_REDUCE_JOIN_ARG(uint64_t, int64_t);
    }
}
#undef DML_REDUCE_JOIN_ARG

static void dml_reduce_combine(const dml_reduce_work *work, int64_t unit)
{
    const dml_reduce *task = work->task;
    int64_t half = task->block * (int64_t)sizeof(uint64_t), m;
    char *result = work->partials + unit * task->pieces * 2 * half, *output;
    const char *input;
    m = dml_reduce_locate(task, unit, &input, &output);
    for (int64_t piece = 1; piece < task->pieces; piece++) {
        const char *other = result + piece * 2 * half;
        if (task->fold == DML_REDUCE_EXP)
            dml_reduce_join_sums(m, (float *)result, (double *)(result + half), (const float *)other,
                                 (const double *)(other + half));
        else if (task->fold > DML_REDUCE_EXP)
            dml_reduce_join_indices(task, m, result, result + half, other, other + half);
        else
            dml_reduce_joining(task)->columns(result, NULL, other, m, 0, 1, 0, 0);
    }
    dml_reduce_finish(task, input, output, m, result, result + half);
}
