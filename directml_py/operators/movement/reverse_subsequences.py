"""REVERSE_SUBSEQUENCES: the leading elements along an axis, reversed."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ...descs.operator_desc import OperatorDesc
from ...kernels.gather_scatter_nd import gather, read_reversed
from ...kernels.native_arrays import Array, Run
from ..attributes import resized
from ..operator import Compute, Inputs, Kernel, Operator, Outputs, Shapes, operator


def sources(lengths: Array, axis: int, size: int) -> Array:
    """The source index along the axis for each output element; ``lengths`` may broadcast."""
    # Clamped before conversion: UINT64 lengths may exceed any index.
    ends = np.minimum(lengths, min(size, np.iinfo(lengths.dtype).max)).astype(np.intp)
    coordinates = np.arange(size).reshape(resized((1,) * lengths.ndim, axis, size))
    return np.where(coordinates < ends, ends - 1 - coordinates, coordinates)


@operator("REVERSE_SUBSEQUENCES")
class ReverseSubsequences(Operator):
    """The leading elements along an axis reversed, like TensorFlow's ``reverse_sequence``
    (ns-directml-dml_reverse_subsequences_desc).

    A length greater than the axis reverses all of it.
    """

    def shapes(self, desc: OperatorDesc) -> Shapes:
        return {"SequenceLengthsTensor": resized(desc.InputTensor.sizes, desc.Axis, 1)}

    def compute(self, desc: OperatorDesc) -> Compute:
        axis, size = desc.Axis, desc.InputTensor.sizes[desc.Axis]
        return lambda x, lengths: np.take_along_axis(x, sources(lengths, axis, size), axis)

    def kernel(self, desc: OperatorDesc) -> Kernel:
        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            x, lengths = inputs
            # Where lengths are broadcast, as in ONNX, all elements along that dimension have the same source.
            varying = [each for each in range(x.ndim) if lengths.shape[each] > 1 and lengths.strides[each]]
            front = sorted({desc.Axis, *varying})
            order = [*front, *(each for each in range(x.ndim) if each not in front)]
            lengths = lengths.transpose(order)[(slice(None),) * len(front) + (0,) * (x.ndim - len(front))]
            return reverse(x.transpose(order), lengths, outputs[0].transpose(order), front.index(desc.Axis))

        return Kernel(bind)


def reverse(x: Array, lengths: Array, output: Array, axis: int) -> Run:
    """A call that reverses along ``axis``; the dimensions after those of ``lengths`` move with their elements.

    The gather treats all memory from the first to the last element as one dimension.
    """
    sizes, trail = x.shape[: lengths.ndim], x.shape[lengths.ndim :]
    alike = np.broadcast_to(lengths, sizes)
    run_natively = read_reversed(x, [alike if each == axis else None for each in range(lengths.ndim)], output)
    if run_natively:
        return run_natively
    element_strides = [stride // x.itemsize for stride in x.strides[: lengths.ndim]]
    lowest = x[tuple(slice(-1, None) if distance < 0 else slice(1) for distance in element_strides)]
    extent = 1 + sum((size - 1) * abs(distance) for size, distance in zip(sizes, element_strides))
    origin = sum((size - 1) * -distance for size, distance in zip(sizes, element_strides) if distance < 0)
    strides = (x.itemsize, *x.strides[lengths.ndim :])
    memory = as_strided(lowest, (extent, *trail), strides, writeable=False)

    def run() -> None:
        coordinates = list(np.ix_(*map(np.arange, sizes)))
        coordinates[axis] = sources(lengths, axis, sizes[axis])
        offsets = sum(
            (coordinate * distance for coordinate, distance in zip(coordinates, element_strides)),
            np.intp(origin),
        )
        gather(memory, np.asarray(offsets), output, 0)()

    return run
