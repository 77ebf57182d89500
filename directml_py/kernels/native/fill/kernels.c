/* Elements are computed from their numbers, a block at a time. */

#include "../common/compiler.h"
#include "../half/convert.h"

#include "dispatch.h"
#include "philox.h"

#define DML_FILL_INTEGERS(BITS)                                                                                        \
    static void fill_integer##BITS(void *elements, const dml_fill *task, int64_t number, int64_t count)                \
    {                                                                                                                  \
        uint##BITS##_t *restrict items = elements;                                                                     \
        const uint##BITS##_t by = (uint##BITS##_t)task->delta;                                                         \
        const uint##BITS##_t from = (uint##BITS##_t)(task->start + (uint64_t)number * task->delta);                    \
        for (int32_t i = 0; i < (int32_t)count; i++)                                                                   \
            items[i] = (uint##BITS##_t)(from + (uint##BITS##_t)((uint##BITS##_t)i * by));                              \
    }
DML_FILL_INTEGERS(8)
DML_FILL_INTEGERS(16)
DML_FILL_INTEGERS(32)
DML_FILL_INTEGERS(64)

/* Products are stored first, so that no compiler fuses the product and the sum, which would be rounded once. */
#define DML_FILL_FLOATS(NAME, T)                                                                                       \
    static void NAME(void *elements, const dml_fill *task, int64_t number, int64_t count)                              \
    {                                                                                                                  \
        T products[DML_FILL_BLOCK], *restrict items = elements;                                                        \
        const T from = (T)task->float_start, by = (T)task->float_delta;                                                \
        for (int32_t i = 0; i < (int32_t)count; i++)                                                                   \
            products[i] = (T)((double)number + (double)i) * by;                                                        \
        for (int32_t i = 0; i < (int32_t)count; i++)                                                                   \
            items[i] = products[i] + from;                                                                             \
    }
DML_FILL_FLOATS(fill_float32, float)
DML_FILL_FLOATS(fill_float64, double)

static void fill_float16(void *elements, const dml_fill *task, int64_t number, int64_t count)
{
    float wide[DML_FILL_BLOCK];
    fill_float32(wide, task, number, count);
    halves_of_floats(elements, wide, count);
}

const dml_fill_table DML_TABLE(fill) = {
    .elements = {fill_integer8, fill_integer16, fill_integer32, fill_integer64, fill_float16, fill_float32,
                 fill_float64, fill_philox},
};
