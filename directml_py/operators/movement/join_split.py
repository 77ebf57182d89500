"""JOIN and SPLIT: concatenation along an axis and its inverse."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from ...descs.operator_desc import OperatorDesc
from ...descs.tensor_size import unsigned_numbers
from ..attributes import resized
from ..operator import Move, Operator, Shapes, Slices, operator


def slices_along(axis: int, sizes: Sequence[int]) -> list[Slices]:
    """The slices of consecutive parts with these sizes along ``axis``."""
    before = (slice(None),) * axis
    ends = list(accumulate(sizes))
    return [(*before, slice(start, end)) for start, end in zip([0, *ends], ends)]


@operator("JOIN")
class Join(Operator):
    """Concatenation along one axis (ns-directml-dml_join_operator_desc)."""

    def shapes(self, desc: OperatorDesc) -> Shapes:
        axis, first = desc.Axis, desc.InputTensors[0].sizes
        before, behind = first[:axis], first[axis + 1 :]
        along = [tensor.sizes[axis] for tensor in desc.InputTensors]
        return {
            "InputTensors": [(*before, size, *behind) for size in along],
            "OutputTensor": (*before, sum(along), *behind),
        }

    def moves(self, desc: OperatorDesc) -> Sequence[Move]:
        places = slices_along(desc.Axis, [tensor.sizes[desc.Axis] for tensor in desc.InputTensors])
        return [Move(index, (), 0, place) for index, place in enumerate(places)]


@operator("SPLIT")
class Split(Operator):
    """The inverse of JOIN (ns-directml-dml_split_operator_desc)."""

    def shapes(self, desc: OperatorDesc, *, sizes: Sequence[int] | None = None) -> Shapes:
        """``sizes``: the outputs' sizes along Axis."""
        axis, whole = desc.Axis, desc.InputTensor.sizes
        if sizes is not None:
            return {
                "OutputTensors": [resized(whole, axis, size) for size in unsigned_numbers(sizes, "sizes")]
            }
        along = [tensor.sizes[axis] for tensor in desc.OutputTensors]
        return {
            "InputTensor": resized(whole, axis, sum(along)),
            "OutputTensors": [resized(whole, axis, size) for size in along],
        }

    def moves(self, desc: OperatorDesc) -> Sequence[Move]:
        places = slices_along(desc.Axis, [tensor.sizes[desc.Axis] for tensor in desc.OutputTensors])
        return [Move(0, place, index, ()) for index, place in enumerate(places)]
