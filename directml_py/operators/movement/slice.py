"""SLICE, SLICE1 and SLICE_GRAD: elements at regular steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ...abi.rules import Rule
from ...descs.operator_desc import OperatorDesc
from ...descs.tensor import TensorDesc
from ...descs.tensor_size import unsigned_numbers
from ...kernels.launch import launch_in_order
from ...kernels.move import move
from ...kernels.native_arrays import Array, Run
from ...validation.report import Report
from ..operator import (
    Compute,
    Inputs,
    Kernel,
    Move,
    Operator,
    Outputs,
    Shapes,
    Sizes,
    Slices,
    operator,
    operator_rule,
)

SLICE_BOUNDS = operator_rule("SLICE", "bounds", "Every element of the slice lies within InputTensor")
SLICE1_WINDOW = operator_rule("SLICE1", "window", "The window lies within InputTensor")
SLICE_GRAD_WINDOW = operator_rule("SLICE_GRAD", "window", "The window lies within OutputGradientTensor")


def strided_slices(starts: Iterable[int], counts: Iterable[int], strides: Iterable[int]) -> Slices:
    """Slices of ``counts`` elements from ``starts``, at ``strides``, per dimension."""

    def along(start: int, count: int, stride: int) -> slice:
        end = start + (count - 1) * stride + (1 if stride > 0 else -1)
        # Going backwards past element 0 takes None, as a stop of -1 means the last element.
        return slice(start, None if end < 0 else end, stride)

    return tuple(map(along, starts, counts, strides))


@operator("SLICE")
class Slice(Operator):
    """A strided slice (ns-directml-dml_slice_operator_desc)."""

    def attributes(self, desc: OperatorDesc, report: Report) -> None:
        dimensions = zip(desc.Offsets, desc.Sizes, desc.Strides, desc.InputTensor.sizes)
        for dimension, (offset, count, stride, size) in enumerate(dimensions):
            last = offset + (count - 1) * stride
            if last >= size:
                report.add(
                    SLICE_BOUNDS,
                    f"Offsets[{dimension}]",
                    f"is {offset}; with Sizes {count} and Strides {stride} the slice reads element {last}, but "
                    f"InputTensor's size is {size}",
                )

    def shapes(self, desc: OperatorDesc) -> Shapes:
        return {"OutputTensor": desc.Sizes}

    def moves(self, desc: OperatorDesc) -> Sequence[Move]:
        return [Move(0, strided_slices(desc.Offsets, desc.Sizes, desc.Strides), 0, ())]


def check_window(desc: OperatorDesc, field: str, rule: Rule, report: Report) -> None:
    """Check that InputWindowOffsets and InputWindowSizes lie within the tensor ``field``, if the desc has it yet."""
    tensor: TensorDesc | None = getattr(desc, field)
    dimensions = zip(desc.InputWindowOffsets, desc.InputWindowSizes, tensor.sizes if tensor else ())
    for dimension, (offset, count, size) in enumerate(dimensions):
        if offset + count > size:
            report.add(
                rule,
                f"InputWindowOffsets[{dimension}]",
                f"is {offset}; with InputWindowSizes {count} the window reaches beyond {field}'s size, which is {size}",
            )


def reachable(desc: OperatorDesc) -> Sizes:
    """The count of elements that the strides reach within the window, per dimension."""
    return tuple(
        1 + (size - 1) // abs(stride) for size, stride in zip(desc.InputWindowSizes, desc.InputWindowStrides)
    )


def sliced_sizes(desc: OperatorDesc, requested: Sizes) -> Sizes:
    """The valid slice sizes nearest to ``requested``: not every reachable element need be copied."""
    return tuple(min(size, most) for size, most in zip(requested, reachable(desc)))


def window_slices(desc: OperatorDesc, counts: Sizes) -> Slices:
    """The slices of ``counts`` elements of the window, starting at its end where the stride is negative."""
    windows = zip(desc.InputWindowOffsets, desc.InputWindowSizes, desc.InputWindowStrides)
    starts = [offset + (size - 1 if stride < 0 else 0) for offset, size, stride in windows]
    return strided_slices(starts, counts, desc.InputWindowStrides)


@operator("SLICE1")
class Slice1(Operator):
    """A strided slice of a window, reversed where a stride is negative (ns-directml-dml_slice1_operator_desc)."""

    def attributes(self, desc: OperatorDesc, report: Report) -> None:
        check_window(desc, "InputTensor", SLICE1_WINDOW, report)

    def shapes(self, desc: OperatorDesc, *, output_sizes: Sequence[int] | None = None) -> Shapes:
        """``output_sizes``: the output's sizes, if they are less than the window allows."""
        if output_sizes is None and desc.OutputTensor is None:
            return {"OutputTensor": reachable(desc)}
        wanted = (
            desc.OutputTensor.sizes
            if output_sizes is None
            else unsigned_numbers(output_sizes, "output_sizes")
        )
        return {"OutputTensor": sliced_sizes(desc, tuple(wanted))}

    def moves(self, desc: OperatorDesc) -> Sequence[Move]:
        return [Move(0, window_slices(desc, desc.OutputTensor.sizes), 0, ())]


@operator("SLICE_GRAD")
class SliceGrad(Operator):
    """The gradient of SLICE1: the slice scattered back into zeros (ns-directml-dml_slice_grad_operator_desc)."""

    def attributes(self, desc: OperatorDesc, report: Report) -> None:
        check_window(desc, "OutputGradientTensor", SLICE_GRAD_WINDOW, report)

    def shapes(self, desc: OperatorDesc, *, output_sizes: Sequence[int] | None = None) -> Shapes:
        """``output_sizes``: the sizes of the sliced tensor."""
        if output_sizes is not None:
            return {"OutputGradientTensor": tuple(unsigned_numbers(output_sizes, "output_sizes"))}
        return {"InputGradientTensor": sliced_sizes(desc, desc.InputGradientTensor.sizes)}

    def compute(self, desc: OperatorDesc) -> Compute:
        target = window_slices(desc, desc.InputGradientTensor.sizes)

        def scattered(gradient: Array) -> Array:
            whole = np.zeros(desc.OutputGradientTensor.sizes, gradient.dtype)
            whole[target] = gradient
            return whole

        return scattered

    def kernel(self, desc: OperatorDesc) -> Kernel:
        sizes, counts = desc.OutputGradientTensor.sizes, desc.InputGradientTensor.sizes
        target = window_slices(desc, counts)
        # A gradient without gaps and the zeros around it can be written in one pass over the output.
        has_gaps = any(count > 1 and abs(along.step) > 1 for along, count in zip(target, counts))
        zeros = [()] if has_gaps else border(sizes, tuple(map(span, target, counts)))

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            output = outputs[0]
            zero = np.zeros((), output.dtype)
            fill = [
                (part, np.broadcast_to(zero, part.shape))
                for part in (output[border_slices] for border_slices in zeros)
            ]
            gradient = (output[target], inputs[0])
            if not has_gaps:
                return move([*fill, gradient])
            return launch_in_order([move(fill), move([gradient])])

        return Kernel(bind)


def span(strided: slice, count: int) -> slice:
    """The forward slice from the first to the last element of a slice without gaps."""
    first = strided.start - (count - 1 if strided.step < 0 else 0)
    return slice(first, first + count)


def border(sizes: Sizes, inner_slices: Slices) -> list[Slices]:
    """The complement of ``inner_slices``, whose slices have step 1, as disjoint parts."""
    parts: list[Slices] = []
    for axis, (size, inner) in enumerate(zip(sizes, inner_slices)):
        behind = (slice(None),) * (len(sizes) - axis - 1)
        parts += [(*inner_slices[:axis], side, *behind) for side in sides(size, inner)]
    return parts


def sides(size: int, inner: slice) -> list[slice]:
    """The nonempty slices before and after ``inner`` in a dimension."""
    both = (slice(0, inner.start), slice(inner.stop, size))
    return [side for side in both if side.start < side.stop]
