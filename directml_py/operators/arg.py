"""ARGMIN and ARGMAX, as operators and as functions of REDUCE."""

from __future__ import annotations

import numpy as np

from ..api.enums import DML_AXIS_DIRECTION
from ..descs.values import OperatorDesc
from ..validation.report import Report
from .operator import Array, Inputs, Kernel, Operator, Outputs, Shapes, operator
from .reduced_axes import AxesRules, check_reduction, infer_reduction


def arg_kernel(desc: OperatorDesc, largest: bool, decreasing: bool) -> Kernel:
    """The index of the largest (or smallest) element, counted over the reduced axes in increasing dimension order.

    Of equal elements the first counts, or the last if ``decreasing``. NaN is passed over, as in MAX and MIN; if
    there is nothing else, all elements count as equal.
    """
    axes = sorted(desc.Axes)
    rank = desc.InputTensor.dimension_count
    kept = [axis for axis in range(rank) if axis not in axes]
    order = (*kept, *axes)
    kept_sizes = tuple(desc.InputTensor.sizes[axis] for axis in kept)
    output_sizes = desc.OutputTensor.sizes

    def arg(inputs: Inputs, outputs: Outputs) -> None:
        rows = inputs[0].transpose(order).reshape((*kept_sizes, -1))
        found = first_index(rows[..., ::-1] if decreasing else rows, largest)
        if decreasing:
            found = rows.shape[-1] - 1 - found
        np.copyto(outputs[0], found.reshape(output_sizes), casting="unsafe")

    return arg


def first_index(rows: Array, largest: bool) -> Array:
    """The index of the first largest (or smallest) element along the last axis."""
    if rows.dtype.kind == "f" and np.isnan(rows).any():
        best = (np.fmax if largest else np.fmin).reduce(rows, axis=-1, keepdims=True)
        candidates: Array = (rows == best) | np.isnan(best)
        return np.asarray(candidates.argmax(axis=-1))
    return np.asarray(rows.argmax(axis=-1) if largest else rows.argmin(axis=-1))


class _Arg(Operator):
    """(ns-directml-dml_argmin_operator_desc, ns-directml-dml_argmax_operator_desc)"""

    largest: bool
    rules: AxesRules

    def constrain(self, desc: OperatorDesc, report: Report) -> None:
        check_reduction(desc, self.rules, report)

    def infer(self, desc: OperatorDesc, *, output_data_type: int | None = None) -> Shapes:
        """``output_data_type``: that of indices; UINT32 if left out."""
        return infer_reduction(desc, output_data_type)

    def kernel(self, desc: OperatorDesc) -> Kernel:
        decreasing = desc.AxisDirection == DML_AXIS_DIRECTION.DML_AXIS_DIRECTION_DECREASING
        return arg_kernel(desc, self.largest, decreasing)


@operator("ARGMIN")
class ArgMin(_Arg):
    """The index of the smallest element within the reduced axes."""

    largest = False
    rules = AxesRules("ARGMIN")


@operator("ARGMAX")
class ArgMax(_Arg):
    """The index of the largest element within the reduced axes."""

    largest = True
    rules = AxesRules("ARGMAX")
