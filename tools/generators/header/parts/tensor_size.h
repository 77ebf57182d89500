// The minimum size of a buffer tensor in bytes, rounded up to a multiple of 4. Sizes and strides are in elements;
// strides may be null for a packed tensor. 0 for an unknown data type and for a tensor with a size of 0. In C++ it is a
// template, so that a program with a function of this name, such as DirectMLX.h, keeps its own; in C such a program
// defines DIRECTML_NO_CALC_BUFFER_TENSOR_SIZE.
#ifndef DIRECTML_NO_CALC_BUFFER_TENSOR_SIZE

#ifdef __cplusplus
extern "C++" template <typename = void>
inline
#else
static inline
#endif
UINT64 DMLCalcBufferTensorSize(
    DML_TENSOR_DATA_TYPE dataType,
    UINT dimensionCount,
    const UINT* sizes,
    const UINT* strides)
{
    UINT64 bits = 0;
    switch (dataType)
    {
    @cases@
    default:
        return 0;
    }

    UINT64 elements = 1; // up to and including the last one
    for (UINT i = 0; i < dimensionCount; ++i)
    {
        if (sizes[i] == 0)
        {
            return 0;
        }
        if (strides)
        {
            const UINT64 steps = sizes[i] - 1;
            elements += steps * strides[i];
        }
        else
        {
            elements *= sizes[i];
        }
    }

    const UINT64 bytes = elements / 8 * bits + (elements % 8 * bits + 7) / 8;
    return (bytes + 3) / 4 * 4;
}

#endif // DIRECTML_NO_CALC_BUFFER_TENSOR_SIZE
