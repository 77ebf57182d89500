#include "../common/assert.h"
#include "../common/dimensions.h"
#include "../context.h"
#include "../move/move.h"
#include "../threads/parallel.h"

#include "gather.h"

/* For this many indices or fewer, each is a copy of its own. */
#define DML_GATHER_FEW_INDICES 16
/* A thread converts this many indices at once, on its stack; fewer if they move much memory, which threads share. */
#define DML_GATHER_BLOCK 4096
#define DML_GATHER_BLOCK_BYTES (1 << 17)
/* An x of this size stays in a second-level cache, where prefetching costs more than it saves. */
#define DML_GATHER_NEAR_BYTES (1 << 19)

/* The dimensions that the output and what it reads have in common, joined into as few as possible. */
static int dml_gather_dimensions(dml_dimension *dimensions, int rank, const int64_t *sizes,
                                 const int64_t *output_strides, const int64_t *input_strides)
{
    for (int i = 0; i < rank; i++)
        dimensions[i] = (dml_dimension){sizes[i], output_strides[i], input_strides[i]};
    return dml_join(dimensions, rank);
}

void dml_gather_choose_copy(dml_indexed_copy *copy, int64_t moved, int64_t most)
{
    const dml_move *trail = &copy->trail;
    int64_t block = moved > 0 ? DML_GATHER_BLOCK_BYTES / moved : 1;
    /* A trail whose strides are negative on both sides is one piece that does not begin at its first element. */
    int begins = trail->output == 0 && trail->input == 0;
    if (trail->item == moved && begins)
        copy->kind = DML_GATHER_ITEMS;
    else if (trail->kind == DML_MOVE_ROWS && trail->dimensions[trail->rank - 1].size == moved && begins)
        copy->kind = DML_GATHER_ROWS;
    else
        copy->kind = DML_GATHER_NESTED;
    copy->block = block < 1 ? 1 : block > most ? most : block;
}

int dml_gather_prepare(dml_gather *task, int64_t item, int rank, const int64_t *x_sizes, const int64_t *x_strides,
                       int axis, int index_rank, const int64_t *index_sizes, const int64_t *index_strides,
                       int index_type, const int64_t *output_strides, uintptr_t x, uintptr_t indices, uintptr_t output)
{
    dml_gather_params *params = &task->params;
    dml_gather_plan *plan = &task->plan;
    const int64_t *trail_output = output_strides + axis + index_rank;
    int trail_rank = rank - 1 - axis;
    int64_t moved;
    if (rank < 1 || rank > 8 || axis < 0 || axis >= rank || index_rank < 0 || index_rank > 8 || x_sizes[axis] < 1 ||
        index_type < DML_INDEX_UINT32 || index_type > DML_INDEX_INT64 ||
        (item != 1 && item != 2 && item != 4 && item != 8))
        return 0;
    memset(task, 0, sizeof *task);
    params->x = x;
    params->indices = indices;
    params->output = output;
    params->axis_size = x_sizes[axis];
    params->axis_stride = x_strides[axis];
    params->index_type = index_type;
    plan->count = dml_element_count(index_rank, index_sizes);
    plan->leads = dml_element_count(axis, x_sizes);
    moved = item * dml_element_count(trail_rank, x_sizes + axis + 1);
    plan->bytes = moved * plan->count * plan->leads;
    plan->index_rank =
        dml_gather_dimensions(plan->index, index_rank, index_sizes, output_strides + axis, index_strides);
    if (plan->index_rank == 0)
        plan->index[plan->index_rank++] = (dml_dimension){1, 0, 0};
    if (moved * plan->leads >= 256 && (plan->count == 1 || (plan->count <= DML_GATHER_FEW_INDICES && moved >= 64))) {
        int64_t sizes[8], from[8], to[8];
        for (int i = 0; i < rank - 1; i++) {
            sizes[i] = x_sizes[i < axis ? i : i + 1];
            from[i] = x_strides[i < axis ? i : i + 1];
            to[i] = output_strides[i < axis ? i : i + index_rank];
        }
        dml_move_layout(&plan->copy.trail, item, rank - 1, sizes, to, from);
        plan->copy.kind = DML_GATHER_FEW;
        return 1;
    }
    plan->lead_rank = dml_gather_dimensions(plan->lead, axis, x_sizes, output_strides, x_strides);
    dml_move_layout(&plan->copy.trail, item, trail_rank, x_sizes + axis + 1, trail_output, x_strides + axis + 1);
    dml_gather_choose_copy(&plan->copy, moved, DML_GATHER_BLOCK);
    return 1;
}

/* Negative indices count from the end of the axis. An index that is still outside becomes the first or the last. */
DML_INLINE int64_t dml_clamp_index(int64_t index, int64_t size, int *outside)
{
    *outside |= index < -size || index >= size;
    if (index < 0)
        index = index < -size ? 0 : index + size;
    return index < size ? index : size - 1;
}

DML_INLINE int64_t dml_clamp_unsigned_index(uint64_t index, uint64_t size, int *outside)
{
    *outside |= index >= size;
    return (int64_t)(index < size ? index : size - 1);
}

/* Converts `count` indices to offsets into x. */
static void dml_gather_offsets(dml_gather *task, const char *indices, int64_t stride, int64_t count, int64_t *offsets)
{
    const dml_gather_params *params = &task->params;
    int64_t size = params->axis_size, axis_stride = params->axis_stride;
    int outside = 0;
#define DML_OFFSETS(type, clamp, size)                                                                                 \
    for (int64_t i = 0; i < count; i++, indices += stride) {                                                           \
        type index;                                                                                                    \
        memcpy(&index, indices, sizeof index);                                                                         \
        offsets[i] = clamp(index, size, &outside) * axis_stride;                                                       \
    }
    if (params->index_type == DML_INDEX_INT32)
        DML_OFFSETS(int32_t, dml_clamp_index, size)
    else if (params->index_type == DML_INDEX_UINT32)
        DML_OFFSETS(uint32_t, dml_clamp_unsigned_index, (uint64_t)size)
    else if (params->index_type == DML_INDEX_INT64)
        DML_OFFSETS(int64_t, dml_clamp_index, size)
    else
        DML_OFFSETS(uint64_t, dml_clamp_unsigned_index, (uint64_t)size)
#undef DML_OFFSETS
    if (outside)
        __atomic_store_n(&task->outside, 1, __ATOMIC_RELAXED);
}

/* Finds the offsets of index number `position` in the indices and in the output; returns how many indices are left in
   the last index dimension. */
static int64_t dml_gather_seek(const dml_gather *task, int64_t position, int64_t *index, int64_t *output)
{
    const dml_gather_plan *plan = &task->plan;
    int last = plan->index_rank - 1;
    int64_t left = plan->index[last].size;
    *index = *output = 0;
    for (int i = last; i >= 0; i--) {
        int64_t at = i > 0 ? position % plan->index[i].size : position;
        position = i > 0 ? position / plan->index[i].size : 0;
        if (i == last)
            left -= at;
        *index += at * plan->index[i].input;
        *output += at * plan->index[i].output;
    }
    return left;
}

/* Converts the indices [begin, end) to offsets into x. */
static void dml_gather_block(dml_gather *task, int64_t begin, int64_t end, int64_t *offsets)
{
    const dml_gather_plan *plan = &task->plan;
    for (int64_t i = begin, run; i < end; i += run) {
        int64_t index, output;
        run = dml_least(dml_gather_seek(task, i, &index, &output), end - i);
        dml_gather_offsets(task, (const char *)task->params.indices + index, plan->index[plan->index_rank - 1].input,
                           run, offsets + (i - begin));
    }
}

void dml_gather_copy(const dml_indexed_copy *copy, const dml_gather_items *copies, int stream)
{
    if (copy->kind == DML_GATHER_ROWS) {
        dml_dispatch->gather->rows(copies, stream);
    } else if (copy->kind == DML_GATHER_ITEMS) {
        dml_dispatch->gather->items[__builtin_ctzll((unsigned long long)copy->trail.item)](copies, stream);
    } else {
        char *output = copies->output + (intptr_t)copy->trail.output;
        const char *x = copies->x + (intptr_t)copy->trail.input;
        for (int64_t i = 0; i < copies->count; i++)
            dml_move_part(&copy->trail, output + i * copies->output_stride, x + copies->offsets[i], 0,
                          copy->trail.units, stream);
    }
}

/* Units are coordinates of the leading dimensions, each of them once for each block of indices. */
static void dml_gather_share(void *context, int64_t begin, int64_t end)
{
    dml_gather *task = context;
    const dml_gather_params *params = &task->params;
    const dml_gather_plan *plan = &task->plan;
    int64_t offsets[DML_GATHER_BLOCK], known = -1;
    int stream = plan->bytes >= dml_stream_bytes, last = plan->index_rank - 1;
    int64_t block = begin / plan->leads, lead = begin % plan->leads;
    dml_gather_items copies = {.output_stride = plan->index[last].output,
                               .bytes = plan->copy.trail.bytes,
                               .is_far = llabs(params->axis_size * params->axis_stride) > DML_GATHER_NEAR_BYTES};
    for (; begin < end; begin++) {
        int64_t first = block * plan->copy.block, until = dml_least(first + plan->copy.block, plan->count);
        int64_t output = 0, x = 0, rest = lead;
        if (known != block)
            dml_gather_block(task, first, until, offsets);
        known = block;
        for (int i = plan->lead_rank - 1; i >= 0; i--) {
            int64_t at = i > 0 ? rest % plan->lead[i].size : rest;
            rest = i > 0 ? rest / plan->lead[i].size : 0;
            output += at * plan->lead[i].output;
            x += at * plan->lead[i].input;
        }
        copies.x = (const char *)params->x + x;
        for (int64_t i = first, run; i < until; i += run) {
            int64_t index, run_output;
            run = dml_least(dml_gather_seek(task, i, &index, &run_output), until - i);
            copies.output = (char *)params->output + output + run_output;
            copies.offsets = offsets + (i - first);
            copies.count = run;
            dml_gather_copy(&plan->copy, &copies, stream);
        }
        if (++lead == plan->leads) {
            lead = 0;
            block++;
        }
    }
    if (stream)
        dml_dispatch->move->stream_end();
}

/* Makes one copy for each index. */
static void dml_gather_few(dml_gather *task)
{
    const dml_gather_params *params = &task->params;
    const dml_gather_plan *plan = &task->plan;
    dml_move copies[DML_GATHER_FEW_INDICES];
    int64_t offsets[DML_GATHER_FEW_INDICES];
    dml_gather_block(task, 0, plan->count, offsets);
    for (int64_t i = 0; i < plan->count; i++) {
        int64_t index, output;
        dml_gather_seek(task, i, &index, &output);
        copies[i] = plan->copy.trail;
        copies[i].output += params->output + (uintptr_t)output;
        copies[i].input += params->x + (uintptr_t)offsets[i];
    }
    dml_move_run(copies, plan->count);
}

void dml_gather_run(dml_gather *task)
{
    const dml_gather_params *params = &task->params;
    const dml_gather_plan *plan = &task->plan;
    DML_ASSERT(DML_IS_INDEX(params->index_type, 4) && DML_IS_INDEX(plan->copy.kind, DML_GATHER_NESTED + 1));
    DML_ASSERT(DML_IS_RANK(plan->lead_rank) && DML_IS_RANK(plan->index_rank));
    DML_ASSERT_EACH(i, plan->lead_rank, plan->lead[i].size >= 0);
    DML_ASSERT_EACH(i, plan->index_rank, plan->index[i].size >= 0);
    DML_ASSERT(plan->bytes == 0 || params->axis_size >= 1);
    DML_ASSERT(plan->bytes == 0 || plan->copy.kind == DML_GATHER_FEW || plan->copy.block >= 1);
    DML_ASSERT(plan->count >= 0 && plan->leads >= 0 && plan->bytes >= 0);
    if (plan->bytes == 0)
        return;
    if (plan->copy.kind == DML_GATHER_FEW)
        dml_gather_few(task);
    else
        dml_parallel(dml_gather_share, task, dml_quotient_up(plan->count, plan->copy.block) * plan->leads, 1,
                     plan->bytes);
}
