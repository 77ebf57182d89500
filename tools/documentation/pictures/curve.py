"""Plot of a function of one number, from samples that the operator computes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import directml_py
from directml_py.descs.encode import encode
from directml_py.descs.tensor import TensorDesc
from directml_py.graph.pictures.svg import element, number, text
from directml_py.operators import check
from directml_py.testing.desc_changes import change
from directml_py.testing.valid_descs import HIGHEST

from ..printed import Example
from .grid import framed

COUNT = 481
REACH = 4.0
SCALE = 34.0
# A steeper slope between adjacent samples is a discontinuity.
STEEP = 60.0


def curve(example: Example, caption: str) -> str:
    """The plot; empty if the operator is not a function of one real number."""
    points = sampled(example)
    if points is None:
        return ""
    x, y = points
    lines = list(pieces(x, y))
    if not lines:
        return ""
    finite = y[np.isfinite(y)]
    low = float(np.clip(np.floor(min(finite.min(), 0.0)), -REACH, 0))
    high = float(np.clip(np.ceil(max(finite.max(), 0.0)), 1, REACH))
    parts = list(axes(low, high))
    parts += [element("path", d=path(line, high), class_="curve") for line in visible(lines, low, high)]
    width, height = 2 * REACH * SCALE, (high - low) * SCALE
    return framed(width, height, parts, f"The curve of {example.operator}", caption)


def sampled(example: Example) -> tuple[Any, Any] | None:
    """Samples and results; None if a desc with as many elements is invalid or not element-wise."""
    inputs, outputs = example.desc.inputs, example.desc.outputs
    if len(inputs) != 1 or len(outputs) != 1:
        return None
    tensor = inputs[0].tensor
    if (
        tensor is None
        or tensor.dtype != np.float32
        or outputs[0].tensor != tensor
        or tensor.strides is not None
    ):
        return None
    line = TensorDesc(tensor.data_type, (1, 1, 1, COUNT))
    desc = change(example.desc, **{inputs[0].field: line, outputs[0].field: line.replace()})
    if check(desc, HIGHEST)[1].diagnostics:
        return None
    x = np.linspace(-REACH, REACH, COUNT, dtype=np.float32)
    encoded = encode(desc)
    y = directml_py.evaluate(encoded, [x.reshape(line.sizes)])[0].reshape(-1)
    backwards = directml_py.evaluate(encoded, [x[::-1].reshape(line.sizes)])[0].reshape(-1)[::-1]
    alone = directml_py.evaluate(encoded, [np.full(line.sizes, x[7], np.float32)])[0].reshape(-1)
    if not np.array_equal(y, backwards, equal_nan=True):
        return None
    if not np.array_equal(alone, np.full(COUNT, y[7]), equal_nan=True):
        return None
    return x.astype(np.float64), y.astype(np.float64)


def pieces(x: Any, y: Any) -> Iterator[Any]:
    """The parts of the curve between discontinuities and gaps, as arrays of points."""
    with np.errstate(invalid="ignore"):
        steep = np.abs(np.diff(y)) > STEEP * (x[1] - x[0])
    breaks = np.flatnonzero(steep | ~np.isfinite(y[1:]) | ~np.isfinite(y[:-1])) + 1
    for part in np.split(np.stack([x, y], axis=1), breaks):
        if len(part) > 1 and np.isfinite(part).all():
            yield part


def visible(lines: list[Any], low: float, high: float) -> Iterator[Any]:
    """The parts of the curve within the frame, including a small margin."""
    for line in lines:
        inside = (line[:, 1] >= low - 0.1) & (line[:, 1] <= high + 0.1)
        for part, keep in zip(
            np.split(line, np.flatnonzero(np.diff(inside)) + 1),
            np.split(inside, np.flatnonzero(np.diff(inside)) + 1),
        ):
            if keep[0] and len(part) > 1:
                yield part


def path(line: Any, high: float) -> str:
    points = [f"{number((x + REACH) * SCALE)} {number((high - y) * SCALE)}" for x, y in line]
    return "M" + "L".join(points)


def axes(low: float, high: float) -> Iterator[str]:
    """Grid lines at whole numbers, with emphasized axes and labels."""
    width, height = 2 * REACH * SCALE, (high - low) * SCALE
    for value in range(int(-REACH), int(REACH) + 1):
        x = (value + REACH) * SCALE
        yield element("path", d=f"M{number(x)} 0V{number(height)}", class_="line" if value else "axis")
        if value not in (0, int(-REACH), int(REACH)):
            yield text(x + 3, high * SCALE - 4 if low < 0 else height - 4, str(value), 10.0)
    for value in range(int(low), int(high) + 1):
        y = (high - value) * SCALE
        yield element("path", d=f"M0 {number(y)}H{number(width)}", class_="line" if value else "axis")
        if value not in (0, int(high)) or value == 1:
            yield text(REACH * SCALE + 3, y - 4 if value < high else y + 11, str(value), 10.0)
