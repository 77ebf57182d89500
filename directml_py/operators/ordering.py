"""TOP_K."""

from __future__ import annotations

import numpy as np

from ..api.enums import DML_AXIS_DIRECTION_DECREASING
from ..descs.operator_desc import OperatorDesc
from ..kernels.native_arrays import Array, Run
from ..kernels.rowwise import map_rows
from ..kernels.top_k import top
from ..validation.report import Report
from .attributes import resized
from .numeric_warnings import report_elements
from .operator import Compute, Inputs, Kernel, Operator, Outputs, Shapes, operator, operator_rule

NAN = {
    name: operator_rule(name, "nan", f"No element that {name} orders is NaN", debug=True, library=True)
    for name in ("TOP_K", "TOP_K1")
}


def is_decreasing(desc: OperatorDesc) -> bool:
    """Whether the order is decreasing; TOP_K always takes the largest."""
    direction = getattr(desc, "AxisDirection", DML_AXIS_DIRECTION_DECREASING)
    return bool(direction == DML_AXIS_DIRECTION_DECREASING)


@operator("TOP_K", "TOP_K1")
class TopK(Operator):
    """The K largest or smallest elements along an axis, in order (ns-directml-dml_top_k_k_operator_desc,
    ns-directml-dml_top_k_k1_operator_desc).

    TOP_K takes the largest. The sort is stable in both directions; zeros of either sign are equal. The pages and ONNX
    are silent on NaN: as in MAX and MIN, where Direct3D ignores it, it comes after all numbers in both directions. In
    Microsoft's library NaN disturbs the order of all elements in no documented way: the debug layer warns of it.
    """

    def shapes(self, desc: OperatorDesc) -> Shapes:
        chosen = resized(desc.InputTensor.sizes, desc.Axis, desc.K)
        return {"OutputValueTensor": chosen, "OutputIndexTensor": chosen}

    def compute(self, desc: OperatorDesc) -> Compute:
        axis, count = desc.Axis, desc.K

        def top_elements(x: Array) -> tuple[Array, Array]:
            keys = sort_keys(np.moveaxis(x, axis, -1), is_decreasing(desc))
            indices = np.moveaxis(first_indices(keys, count), -1, axis)
            return np.take_along_axis(x, indices, axis), indices

        return top_elements

    def inspect(self, desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
        x = inputs[0]
        if x.dtype.kind == "f" and desc.InputTensor.sizes[desc.Axis] > 1:
            one, several = (f"{words} NaN" for words in ("element that is", "elements that are"))
            report_elements(report, NAN[desc.name], "InputTensor", np.isnan(x), one, several)

    def kernel(self, desc: OperatorDesc) -> Kernel:
        compute = self.compute(desc)

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            values, indices = outputs
            few = top(inputs[0], values, indices, desc.Axis, decreasing=is_decreasing(desc))
            return few or map_rows(compute, inputs, outputs, [desc.Axis])

        return Kernel(bind)


def sort_keys(x: Array, decreasing: bool) -> Array:
    """Integer keys in the order of the elements, equal where these are."""
    if x.dtype.kind != "f":
        return ~x if decreasing else x
    kind = np.dtype(f"i{x.itemsize}")
    last = np.iinfo(kind).max
    # Adding 0 turns -0 into 0, so that both have the same key.
    bits = np.add(x, x.dtype.type(0), order="C").view(kind)
    keys: Array = np.where(bits < 0, bits ^ last, bits)
    if decreasing:
        np.invert(keys, out=keys)
    keys[np.isnan(x)] = last
    return keys


def first_indices(keys: Array, count: int) -> Array:
    """The indices of the ``count`` smallest keys of each row, sorted stably."""
    length = keys.shape[-1]
    low, high = int(keys.min()), int(keys.max())
    index_bits = (length - 1).bit_length()
    if (high - low).bit_length() + index_bits > 64:
        return np.argsort(keys, axis=-1, kind="stable")[..., :count]
    # Key and index in one number are unique, so that NumPy's fastest sort, which is not stable, suffices.
    numbers = keys.astype(np.uint64)
    numbers -= np.uint64(low % 2**64)
    numbers <<= np.uint64(index_bits)
    numbers |= np.arange(length, dtype=np.uint64)
    if count < length:
        numbers = np.partition(numbers, count - 1, axis=-1)[..., :count]
    numbers = np.sort(numbers, axis=-1)
    numbers &= np.uint64(2**index_bits - 1)
    return numbers.astype(np.intp)
