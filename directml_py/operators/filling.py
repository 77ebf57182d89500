"""Fill operators: the output comes from attributes alone, or from a small state."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..descs.operator_desc import OperatorDesc
from ..kernels import philox
from ..kernels.elementwise.functions import bits_of
from ..kernels.elementwise.map import map_elements
from ..kernels.fill import numpy_elements, sequence
from ..kernels.launch import launch_in_order
from ..kernels.move import move
from ..kernels.native_arrays import Array, Run
from .attributes import element
from .operator import Compute, Inputs, Kernel, Operator, Outputs, Shapes, of_sizes, operator

STATE_ELEMENTS = 6


class Filling(Operator):
    """Base of fill operators, whose output may have any sizes."""

    has_sizes = False

    def shapes(self, desc: OperatorDesc, *, output_sizes: Sequence[int] | None = None) -> Shapes:
        return of_sizes(output_sizes)


@operator("FILL_VALUE_CONSTANT")
class FillValueConstant(Filling):
    """A constant fill; NaN payloads are preserved (ns-directml-dml_fill_value_constant_operator_desc)."""

    def compute(self, desc: OperatorDesc) -> Compute:
        value, sizes = element(desc.Value, desc.OutputTensor.dtype), desc.OutputTensor.sizes
        return lambda: np.broadcast_to(value, sizes)

    def kernel(self, desc: OperatorDesc) -> Kernel:
        return copying_kernel(self.compute(desc)())


@operator("FILL_VALUE_SEQUENCE")
class FillValueSequence(Filling):
    """``ValueStart + i * ValueDelta`` for element i (ns-directml-dml_fill_value_sequence_operator_desc).

    Elements are numbered in coordinate order, whatever the strides. Integers wrap, as in the page's second example.
    Floats are not accumulated, so that errors do not grow; as in Microsoft's library, the index, the product and the
    sum are each rounded to FLOAT32: 0.1 + 6 * 0.1 is 0.70000005.
    """

    def compute(self, desc: OperatorDesc) -> Compute:
        start, delta, output = *ends(desc), desc.OutputTensor
        return lambda: numpy_elements(start, delta, 0, output.element_count).reshape(output.sizes)

    def kernel(self, desc: OperatorDesc) -> Kernel:
        start, delta = ends(desc)

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            return sequence(start, delta, outputs[0])

        return Kernel(bind)


def ends(desc: OperatorDesc) -> list[Any]:
    """The start and the step, in the output's type."""
    return [element(value, desc.OutputTensor.dtype) for value in (desc.ValueStart, desc.ValueDelta)]


@operator("DIAGONAL_MATRIX")
class DiagonalMatrix(Filling):
    """Value where column - row == Offset, else 0 (ns-directml-dml_diagonal_matrix_operator_desc).

    By the page 10.6 becomes 10 in an integer tensor; it says nothing of values out of range: see ``cut``.
    """

    def compute(self, desc: OperatorDesc) -> Compute:
        value, sizes = cut(desc.Value, desc.OutputTensor.dtype), desc.OutputTensor.sizes
        return lambda: diagonals(value, sizes, desc.Offset, desc.Offset + 1)

    def kernel(self, desc: OperatorDesc) -> Kernel:
        """Zero fill plus one element per row, which is less to write than a copy of a view of the whole strip."""
        value, (rows, columns) = cut(desc.Value, desc.OutputTensor.dtype), desc.OutputTensor.sizes[-2:]
        # np.diagonal converts the offset to a C int and negates it.
        offset = min(max(desc.Offset, -rows), columns)

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            output = outputs[0]
            diagonal = np.diagonal(output, offset, -2, -1)
            diagonal.flags.writeable = True
            zeros = move([(output, np.broadcast_to(value.dtype.type(0), output.shape))])
            values = move([(diagonal, np.broadcast_to(value, diagonal.shape))])
            return launch_in_order([zeros, values])

        return Kernel(bind)


@operator("DIAGONAL_MATRIX1")
class DiagonalMatrix1(Operator):
    """A band of diagonals written over the input or over zeros (ns-directml-dml_diagonal_matrix1_operator_desc).

    The page's constraints omit the sizes of the input; its pseudocode reads the input at every coordinate of the
    output.
    """

    def shapes(self, desc: OperatorDesc, *, output_sizes: Sequence[int] | None = None) -> Shapes:
        """``output_sizes``: the output's sizes where there is no input."""
        if desc.InputTensor is not None:
            return {"OutputTensor": desc.InputTensor.sizes}
        return of_sizes(output_sizes)

    def compute(self, desc: OperatorDesc) -> Compute:
        value, sizes = element(desc.Value, desc.OutputTensor.dtype), desc.OutputTensor.sizes
        span = desc.DiagonalFillBegin, desc.DiagonalFillEnd
        if desc.InputTensor is None:
            return lambda x: diagonals(value, sizes, *span)
        return lambda x: np.where(along_diagonals(strip(sizes, *span), sizes), value, x)

    def kernel(self, desc: OperatorDesc) -> Kernel:
        """Works on the stored encoding, so that NaN payloads are preserved."""
        if desc.InputTensor is None:
            return copying_kernel(self.compute(desc)(None))
        value, sizes = bits_of(element(desc.Value, desc.OutputTensor.dtype)), desc.OutputTensor.sizes
        is_value = along_diagonals(strip(sizes, desc.DiagonalFillBegin, desc.DiagonalFillEnd), sizes)

        def written(is_filled: Array, x: Array) -> Array:
            return np.where(is_filled, value, x)

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            return map_elements(written, [is_value, bits_of(inputs[0])], [bits_of(outputs[0])])

        return Kernel(bind)


@operator("RANDOM_GENERATOR")
class RandomGenerator(Operator):
    """Counter-based random bits (ns-directml-dml_random_generator_operator_desc).

    Each value of the counter gives four elements in coordinate order; the last may give fewer. The words of counter and
    key are least significant first, as in the generator's reference implementation and TensorFlow. The counter is
    incremented once per four elements or part of them: the page's text says so, although its printed numbers decrease.
    """

    def shapes(self, desc: OperatorDesc, *, output_sizes: Sequence[int] | None = None) -> Shapes:
        """The state is one row: 4 counter words and 2 key words."""
        state = (1,) * (desc.InputStateTensor.dimension_count - 1) + (STATE_ELEMENTS,)
        return {"InputStateTensor": state, **of_sizes(output_sizes)}

    def compute(self, desc: OperatorDesc) -> Compute:
        output = desc.OutputTensor
        count = output.element_count
        return lambda state: (
            philox.words(state, 0, count).reshape(output.sizes),
            None if desc.OutputStateTensor is None else philox.advanced(state, count),
        )

    def kernel(self, desc: OperatorDesc) -> Kernel:
        count = desc.OutputTensor.element_count

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            state, (output, next_state) = inputs[0], outputs
            generate = philox.generate(state, output)

            def run() -> None:
                generate()
                if next_state is not None:
                    np.copyto(next_state, philox.advanced(state, count))

            return run

        return Kernel(bind)


def cut(value: float, dtype: np.dtype[Any]) -> Array:
    """A float cast to ``dtype``; for integers it is truncated, then wrapped.

    Microsoft's library casts as x86 compilers do: through INT32, or INT64 for UINT32 and 64-bit types, whose least
    value stands for anything out of range.
    """
    if dtype.kind == "f":
        return element(value, dtype)
    wide = np.iinfo(np.int64 if dtype.itemsize == 8 or dtype == np.uint32 else np.int32)
    whole = math.trunc(value) if math.isfinite(value) else wide.min
    whole = whole if wide.min <= whole <= wide.max else wide.min
    return np.array(whole, wide.dtype).astype(dtype)


def strip(sizes: Sequence[int], begin: int, end: int) -> Array:
    """A mask of the filled diagonals, from the lower left corner to the upper right one.

    A diagonal's number is its column in the top row. Filled are those in [begin, end), or, if ``begin`` is greater, all
    but those in [end, begin).
    """
    height, width = sizes[-2:]
    numbers = np.arange(1 - height, width, dtype=np.int64)
    inside = (numbers >= min(begin, end)) & (numbers < max(begin, end))
    return inside if begin <= end else ~inside


def along_diagonals(values: Array, sizes: Sequence[int]) -> Array:
    """A view of Toeplitz matrices: one value along each diagonal, with ``values`` in the order of ``strip``."""
    height, width = sizes[-2:]
    stride = values.itemsize
    matrix = np.lib.stride_tricks.as_strided(
        values[height - 1 :], (height, width), (-stride, stride), writeable=False
    )
    return np.broadcast_to(matrix, sizes)


def diagonals(value: Array, sizes: Sequence[int], begin: int, end: int) -> Array:
    """A view of matrices with ``value`` in a band of diagonals and zeros elsewhere."""
    return along_diagonals(np.where(strip(sizes, begin, end), value, value.dtype.type(0)), sizes)


def copying_kernel(values: Array) -> Kernel:
    """The kernel of an output known at compilation: one copy of a view."""

    def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
        return move([(outputs[0], values)])

    return Kernel(bind)
