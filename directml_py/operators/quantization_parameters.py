"""Scales and zero points: their sizes and checks.

They are per tensor, per row, per column or per channel. A parameter has a rank of its own and is aligned with its
tensor's last dimensions, except that channels are always the second dimension.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..descs.format import braces
from ..descs.operator_desc import OperatorDesc
from ..descs.tensor import TensorDesc
from ..kernels.native_arrays import Array
from ..text.plural import counted_words
from ..validation.report import Report
from .operator import Broadcast, Inputs, Sizes, operator_rule

SCALE = "ScaleTensor"
# The operators with an implementation whose pages state it.
ZERO_SCALES = {
    name: operator_rule(name, "scale-zero", "No scale is 0", debug=True)
    for name in (
        "ELEMENT_WISE_DEQUANTIZE_LINEAR",
        "ELEMENT_WISE_QUANTIZE_LINEAR",
        "ELEMENT_WISE_QUANTIZED_LINEAR_ADD",
        "QUANTIZED_LINEAR_AVERAGE_POOLING",
        "QUANTIZED_LINEAR_CONVOLUTION",
        "QUANTIZED_LINEAR_MATRIX_MULTIPLY",
    )
}


def inspect_scales(desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
    """Report scales of 0, for which the page leaves the result undefined.

    x / 0 is infinite and saturates to the largest or least integer; 0 / 0 gives the least.
    """
    for slot, scales in zip(desc.inputs, inputs):
        if not slot.field.endswith(SCALE) or scales is None:
            continue
        count = scales.size - int(np.count_nonzero(scales))
        if count:
            first = braces(np.argwhere(scales == 0)[0])
            scales_of_0 = f"{counted_words(count, 'scale that is', 'scales that are')} 0"
            report.add(ZERO_SCALES[desc.name], slot.path, f"has {scales_of_0}; the first is at {first}")


def single(parameter: TensorDesc | None) -> Sizes:
    """The sizes of a per-tensor parameter: one element."""
    return (1,) * _rank(parameter)


def per_row(parameter: TensorDesc | None, rows: int) -> Broadcast:
    """``{1, 1, rows, 1}``, or one element. In Microsoft's library a single dimension is that of columns, of size 1."""
    rank = _rank(parameter)
    return Broadcast((1,) if rank == 1 else (*(1,) * (rank - 2), rows, 1))


def per_column(parameter: TensorDesc | None, columns: int) -> Broadcast:
    """``{1, 1, 1, columns}``, or one element."""
    return Broadcast((*(1,) * (_rank(parameter) - 1), columns))


def per_channel(parameter: TensorDesc | None, channels: int) -> Broadcast:
    """``{1, channels, 1, 1}``, or one element.

    A 1-D parameter has one element: in Microsoft's library, channels are always the second dimension.
    """
    rank = _rank(parameter)
    return Broadcast((1,) if rank == 1 else (1, channels, *(1,) * (rank - 2)))


def along(parameter: Array | None, axis: int, rank: int) -> Any:
    """A parameter of any rank reshaped to broadcast along ``axis`` of a tensor of ``rank``; None if absent."""
    return None if parameter is None else parameter.reshape(*(1,) * axis, -1, *(1,) * (rank - axis - 1))


def _rank(parameter: TensorDesc | None) -> int:
    return 4 if parameter is None else parameter.dimension_count
