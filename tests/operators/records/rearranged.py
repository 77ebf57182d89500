"""Data movement: ONNX Runtime moves element indices, so that it need not support the element types."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import directml_py as dml

from .activation import scaled_and_biased
from .onnx_node import run
from .record import saturated

UINT_COUNT = 2**32
NOWHERE = -1
COMPARED = (dml.DML_PADDING_MODE_CONSTANT, dml.DML_PADDING_MODE_EDGE)
ONNX_MODES = {
    dml.DML_PADDING_MODE_CONSTANT: "constant",
    dml.DML_PADDING_MODE_EDGE: "edge",
}


def numbered(sizes: Sequence[int]) -> Any:
    return np.arange(math.prod(sizes), dtype=np.float64).reshape(sizes)


def numbers(node: str, sizes: Sequence[int], *rest: Any, opset: int = 19, **attributes: Any) -> Any:
    """The element indices of a tensor as one node moves them."""
    (moved,) = run(node, [numbered(sizes), *rest], ["float64"], opset, **attributes)
    return moved.astype(np.int64)


def integers(*rows: Sequence[int]) -> list[Any]:
    return [np.array(row, np.int64) for row in rows]


def sliced(x: Any, starts: Sequence[int], counts: Sequence[int], steps: Sequence[int]) -> Any:
    ends = [
        start + step * (count - 1) + (1 if step > 0 else -1)
        for start, count, step in zip(starts, counts, steps)
    ]
    # ONNX counts negative ends from the end of the axis; one before its beginning is still more negative.
    ends = [end if end >= 0 else -size - 1 for end, size in zip(ends, x.shape)]
    return x.flat[numbers("Slice", x.shape, *integers(starts, ends, range(x.ndim), steps))]


def slice_(desc: Any, x: Any) -> Any:
    return sliced(x, desc.Offsets, desc.Sizes, desc.Strides)


def slice1(desc: Any, x: Any) -> Any:
    windows = zip(desc.InputWindowOffsets, desc.InputWindowSizes, desc.InputWindowStrides)
    starts = [offset if step > 0 else offset + size - 1 for offset, size, step in windows]
    return sliced(x, starts, desc.OutputTensor.sizes, desc.InputWindowStrides)


def slice_grad(desc: Any, gradient: Any) -> Any:
    """The inverse of the page's formula of SLICE1."""
    whole = np.full(desc.OutputGradientTensor.sizes, 0 if gradient.dtype == object else 0.0, gradient.dtype)
    windows = list(zip(desc.InputWindowOffsets, desc.InputWindowSizes, desc.InputWindowStrides))
    for place in np.ndindex(gradient.shape):
        at = tuple(
            offset + index * step if step > 0 else offset + size - 1 + index * step
            for index, (offset, size, step) in zip(place, windows)
        )
        whole[at] = gradient[place]
    return whole


def padding(desc: Any, x: Any) -> Any:
    """ONNX has no SYMMETRIC, and ONNX Runtime mirrors only once, after it has removed elements: modes that repeat a
    pattern are computed step by step."""
    pads = [
        [one - UINT_COUNT if one >= UINT_COUNT // 2 else one for one in side]
        for side in (desc.StartPadding, desc.EndPadding)
    ]
    value = getattr(desc.PaddingValue, "value", desc.PaddingValue)
    value = saturated(desc.OutputTensor.dtype)(value) if x.dtype == object else value
    if desc.PaddingMode in COMPARED and min(pads[0]) < 0:
        axes = zip(x.shape, desc.StartPadding, desc.OutputTensor.sizes)
        sources = np.ix_(*(compared(desc.PaddingMode, *one) for one in axes))
        is_inside = np.logical_and.reduce(np.broadcast_arrays(*(one >= 0 for one in sources)))
        places = np.where(is_inside, numbered(x.shape).astype(np.int64)[sources], NOWHERE)
    elif desc.PaddingMode in ONNX_MODES:
        constant = (
            [np.array(NOWHERE, np.float64)] if desc.PaddingMode == dml.DML_PADDING_MODE_CONSTANT else []
        )
        mode = ONNX_MODES[desc.PaddingMode]
        places = numbers("Pad", x.shape, *integers([*pads[0], *pads[1]]), *constant, mode=mode)
    else:
        sources = [patterned(desc.PaddingMode, *one) for one in zip(x.shape, *pads)]
        places = numbered(x.shape).astype(np.int64)[np.ix_(*sources)]
    return np.append(x, np.array(value, x.dtype))[places]


def compared(mode: int, size: int, start: int, count: int) -> list[int]:
    """The indices along one axis, as Microsoft's library compares coordinates with ``start``, as UINTs;
    -1 where it is constant."""
    if mode == dml.DML_PADDING_MODE_CONSTANT:
        return [place - start if start <= place < start + size else -1 for place in range(count)]
    last = (start + size - 1) % UINT_COUNT
    return [(min(max(place, start), last) - start) % UINT_COUNT for place in range(count)]


def patterned(mode: int, size: int, start: int, end: int) -> list[int]:
    """The indices along one axis: those of the whole input, laid side by side as often as needed, and then cropped, as
    in Microsoft's library; ONNX crops first."""
    forth = list(range(size))
    pattern = {
        dml.DML_PADDING_MODE_REFLECTION: forth + forth[-2:0:-1],
        dml.DML_PADDING_MODE_SYMMETRIC: forth + forth[::-1],
        dml.DML_PADDING_MODE_WRAP: forth,
    }[mode]
    times = max(0, start) // len(pattern) + 1
    first = times * len(pattern) - start
    count = size + start + end
    repeated = pattern * (times + (size + max(0, end)) // len(pattern) + 1)
    return repeated[first : first + count]


def tile(desc: Any, x: Any) -> Any:
    return x.flat[numbers("Tile", x.shape, *integers(desc.Repeats))]


def depth_mode(desc: Any) -> str:
    order = getattr(desc, "Order", dml.DML_DEPTH_SPACE_ORDER_DEPTH_COLUMN_ROW)
    return "DCR" if order == dml.DML_DEPTH_SPACE_ORDER_DEPTH_COLUMN_ROW else "CRD"


def depth_to_space(desc: Any, x: Any) -> Any:
    return x.flat[numbers("DepthToSpace", x.shape, blocksize=desc.BlockSize, mode=depth_mode(desc))]


def space_to_depth(desc: Any, x: Any) -> Any:
    """ONNX has one order of SpaceToDepth; the other undoes DepthToSpace."""
    if depth_mode(desc) == "DCR":
        return x.flat[numbers("SpaceToDepth", x.shape, blocksize=desc.BlockSize)]
    sizes = desc.OutputTensor.sizes
    result = np.empty(sizes, x.dtype)
    result.flat[numbers("DepthToSpace", sizes, blocksize=desc.BlockSize, mode="CRD").ravel()] = x.ravel()
    return result


def reverse_subsequences(desc: Any, x: Any, lengths: Any) -> Any:
    """ONNX has lengths for one batch axis; all other dimensions together are one."""
    rows = np.moveaxis(numbered(x.shape), desc.Axis, -1)
    size = rows.shape[-1]
    clamped = np.array(
        [min(int(length), size) for length in np.moveaxis(lengths, desc.Axis, -1).flat], np.int64
    )
    (moved,) = run(
        "ReverseSequence", [rows.reshape(-1, size), clamped], ["float64"], batch_axis=0, time_axis=1
    )
    return x.flat[np.moveaxis(moved.reshape(rows.shape), -1, desc.Axis).astype(np.int64)]


def value_scale_2d(desc: Any, x: Any) -> Any:
    channels = (scaled_and_biased(x[:, each], desc.Scale, bias) for each, bias in enumerate(desc.Bias))
    return np.stack(list(channels), axis=1)
