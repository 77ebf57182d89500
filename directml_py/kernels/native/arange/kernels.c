/* Elements are computed from their numbers, a block at a time. */

#include "../common/compiler.h"
#include "../half/convert.h"

#include "dispatch.h"

#define DML_ARANGE_INTEGERS(NAME, T)                                                                                   \
    static void NAME(void *elements, uint64_t first, uint64_t delta, int64_t count)                                    \
    {                                                                                                                  \
        T *restrict items = elements;                                                                                  \
        const T from = (T)first, by = (T)delta;                                                                        \
        for (int32_t i = 0; i < (int32_t)count; i++)                                                                   \
            items[i] = (T)(from + (T)((T)i * by));                                                                     \
    }
DML_ARANGE_INTEGERS(arange_8, uint8_t)
DML_ARANGE_INTEGERS(arange_16, uint16_t)
DML_ARANGE_INTEGERS(arange_32, uint32_t)
DML_ARANGE_INTEGERS(arange_64, uint64_t)

/* Products are stored first, so that no compiler fuses the product and the sum, which would be rounded once. */
#define DML_ARANGE_FLOATS(NAME, T)                                                                                     \
    static void NAME(void *elements, double first, double start, double delta, int64_t count)                          \
    {                                                                                                                  \
        T products[DML_ARANGE_BLOCK], *restrict items = elements;                                                      \
        const T from = (T)start, by = (T)delta;                                                                        \
        for (int32_t i = 0; i < (int32_t)count; i++)                                                                   \
            products[i] = (T)(first + (double)i) * by;                                                                 \
        for (int32_t i = 0; i < (int32_t)count; i++)                                                                   \
            items[i] = products[i] + from;                                                                             \
    }
DML_ARANGE_FLOATS(arange_f32, float)
DML_ARANGE_FLOATS(arange_f64, double)

static void arange_f16(void *elements, double first, double start, double delta, int64_t count)
{
    float wide[DML_ARANGE_BLOCK];
    arange_f32(wide, first, start, delta, count);
    halves_of_floats(elements, wide, count);
}

const dml_arange_table DML_TABLE(arange) = {
    .integers = {arange_8, arange_16, arange_32, arange_64},
    .floats = {NULL, arange_f16, arange_f32, arange_f64},
};
