"""Scales and zero points: their sizes, and what they must not be.

There is one for the whole tensor that they belong to, or one for each of its parts.

A parameter has its own rank, and is laid beside its tensor's last dimensions; but channels are the second always.
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
from .operator import Broadcast, Inputs, Sizes, own_rule

SCALE = "ScaleTensor"
# Those that execute of which the page says so.
ZERO_SCALES = {
    name: own_rule(name, "scale-zero", "No scale is 0", debug=True)
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
    """Report scales that are 0, with which the page leaves the result undefined.

    A quotient by 0 is infinite, and comes out as the largest or the least integer; 0 / 0 comes out as the least.
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
    """One element for the whole tensor."""
    return (1,) * _rank(parameter)


def per_row(parameter: TensorDesc | None, rows: int) -> Broadcast:
    """``{1, 1, rows, 1}``, or one element. One dimension is that of columns in Microsoft's library, and has one."""
    rank = _rank(parameter)
    return Broadcast((1,) if rank == 1 else (*(1,) * (rank - 2), rows, 1))


def per_column(parameter: TensorDesc | None, columns: int) -> Broadcast:
    """``{1, 1, 1, columns}``, or one element."""
    return Broadcast((*(1,) * (_rank(parameter) - 1), columns))


def per_channel(parameter: TensorDesc | None, channels: int) -> Broadcast:
    """``{1, channels, 1, 1}``, or one element.

    A parameter of one dimension has one element: in Microsoft's library, channels are the second dimension always.
    """
    rank = _rank(parameter)
    return Broadcast((1,) if rank == 1 else (1, channels, *(1,) * (rank - 2)))


def along(parameter: Array | None, axis: int, rank: int) -> Any:
    """The elements of a parameter, of whatever rank, along one dimension of a tensor of ``rank``; None of one that is
    absent."""
    return None if parameter is None else parameter.reshape(*(1,) * axis, -1, *(1,) * (rank - axis - 1))


def _rank(parameter: TensorDesc | None) -> int:
    return 4 if parameter is None else parameter.dimension_count
