#include "../common/assert.h"
#include "../common/dimensions.h"
#include "../common/element_types.h"
#include "../context.h"
#include "../threads/parallel.h"

static void dml_top_k_share(void *context, int64_t begin, int64_t end)
{
    const dml_top_k *task = context;
    int64_t item = dml_type_sizes[task->type], found[DML_TOP_K_MOST];
    for (; begin < end; begin++) {
        const char *row = (const char *)task->x;
        char *values = (char *)task->values, *indices = (char *)task->indices;
        int64_t rest = begin;
        for (int i = task->rank - 1; i >= 0; i--) {
            int64_t at = rest % task->sizes[i];
            rest /= task->sizes[i];
            row += at * task->x_strides[i];
            values += at * task->value_strides[i];
            indices += at * task->index_strides[i];
        }
        dml_dispatch->top_k->find[task->type][task->decreasing](row, task->length, task->count, found);
        for (int64_t k = 0; k < task->count; k++) {
            uint64_t wide = (uint64_t)found[k];
            uint32_t narrow = (uint32_t)wide;
            memcpy(values + k * task->value_axis_stride, row + found[k] * item, (size_t)item);
            memcpy(indices + k * task->index_axis_stride, task->index_item == 8 ? (void *)&wide : (void *)&narrow,
                   (size_t)task->index_item);
        }
    }
}

void dml_top_k_run(const dml_top_k *task)
{
    DML_ASSERT(DML_IS_INDEX(task->type, DML_TYPES) && DML_IS_INDEX(task->decreasing, 2));
    DML_ASSERT(task->index_item == 4 || task->index_item == 8);
    DML_ASSERT(DML_IS_RANK(task->rank));
    DML_ASSERT_EACH(i, task->rank, task->sizes[i] >= 0);
    DML_ASSERT(task->count >= 1 && task->count <= task->length && task->count <= DML_TOP_K_MOST);
    int64_t rows = dml_element_count(task->rank, task->sizes);
    dml_parallel(dml_top_k_share, (void *)task, rows, 1, rows * task->length * dml_type_sizes[task->type]);
}
