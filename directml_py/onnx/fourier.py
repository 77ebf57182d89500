"""Discrete Fourier transforms as products with matrices of cosines and sines.

DirectML has no operator for them; ONNX Runtime's provider has a shader. A length is known, so its matrix is a constant.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..graph import Expression
from .errors import Refusal
from .matrices import multiplied, ranked
from .node import OnnxNode
from .translators import Results, Rows, operator, outputs
from .values import Array

# Above this size a matrix would be slower and larger than anything that a model gains by it.
MOST_BYTES = 1 << 28
# The elements of a matrix that are computed at a time.
BLOCK = 1 << 18


@operator("DFT")
def dft(node: OnnxNode) -> Results:
    """The input's last dimension has one element for real numbers, two for complex ones."""
    shape = node.shape()
    rank, parts = len(shape), shape[-1]
    axis = node.get("axis", 1 if node.version < 20 else -2)
    if node.has(2):
        axis = int(node.known(2, "axis").reshape(-1)[0])
    axis %= rank
    inverse, is_half = bool(node.get("inverse", 0)), bool(node.get("onesided", 0))
    length = 2 * (shape[axis] - 1) if inverse and is_half else shape[axis]
    if node.has(1):
        length = int(node.known(1, "dft_length").reshape(-1)[0])
    if length < 1:
        raise Refusal(f"is {length}; it must be at least 1", "input dft_length")
    count = min(shape[axis], length // 2 + 1 if inverse and is_half else length)
    kernel = coefficients(node, count, length, parts, inverse, is_half)
    outer, inner = math.prod(shape[:axis]), math.prod(shape[axis + 1 : -1])
    # Elements behind the transform's length are not read; those that are missing are zero.
    stride = inner * parts
    x = node.graph.reinterpret(
        node.tensor(),
        sizes=(outer, inner, count, parts),
        strides=(shape[axis] * stride, parts, stride, 1),
    )
    if inner > 1:
        rows = node.graph.reinterpret(node.packed(x), sizes=ranked(node, (outer * inner, count * parts)))
    else:
        sizes = ranked(node, (outer, count * parts))
        strides = (*(0,) * (len(sizes) - 2), shape[axis] * stride, 1)
        rows = node.graph.reinterpret(x, sizes=sizes, strides=strides)
    y = _product(node, rows, kernel)
    size, results = kernel.shape[1] // _parts(inverse, is_half), _parts(inverse, is_half)
    if inner > 1:
        y = node.transposed(y, (outer, inner, size, results), (0, 2, 1, 3))
    return node.graph.reinterpret(y, sizes=(*shape[:axis], size, *shape[axis + 1 : -1], results))


class Division(NamedTuple):
    """How a signal of ``whole`` elements with so many ``parts`` is divided: ``frames`` of ``length``."""

    batch: int
    whole: int
    parts: int
    frame_step: int
    length: int
    frames: int


def frames_of(node: OnnxNode) -> Division:
    shape = node.shape()
    if len(shape) not in (2, 3):
        raise Refusal(f"has sizes {list(shape)}; it must have 2 or 3 dimensions", "input signal")
    batch, whole, parts = shape if len(shape) == 3 else (*shape, 1)
    frame_step = int(node.known(1, "frame_step").reshape(-1)[0])
    if node.has(2) and len(node.shape(2)) != 1:
        raise Refusal(f"has sizes {list(node.shape(2))}; it must have 1 dimension", "input window")
    length = node.input(2).size if node.has(2) else whole
    if node.has(3):
        length = int(node.known(3, "frame_length").reshape(-1)[0])
    if frame_step < 1:
        raise Refusal(f"is {frame_step}; it must be at least 1", "input frame_step")
    if not 1 <= length <= whole:
        raise Refusal(f"is {length}; the signal has {whole} elements", "input frame_length")
    return Division(batch, whole, parts, frame_step, length, (whole - length) // frame_step + 1)


@outputs("STFT")
def spectra(node: OnnxNode) -> Rows:
    """ONNX's shape inference takes the default of onesided for 0."""
    division = frames_of(node)
    results = division.length // 2 + 1 if node.get("onesided", 1) else division.length
    return [(node.input().dtype, (division.batch, division.frames, results, 2))]


@operator("STFT")
def stft(node: OnnxNode) -> Results:
    """Frames of the signal are one view of it, in which they overlap; a constant window is part of the matrix."""
    batch, whole, parts, frame_step, length, count = frames_of(node)
    window = node.input(2) if node.has(2) else None
    is_constant = window is not None and window.array is not None
    factors = window.array if window is not None and is_constant else None
    kernel = coefficients(node, length, length, parts, False, bool(node.get("onesided", 1)), factors)
    strides: tuple[int, ...] = (whole * parts, frame_step * parts, 1)
    x = node.tensor(0, (batch, count, length * parts), strides)
    if window is not None and not is_constant:
        taps = node.spread(node.expression(window), (length, 1), (batch, count, length, parts))
        x = node.graph.reinterpret(x, sizes=(batch, count, length, parts), strides=(*strides[:2], parts, 1))
        x = node.graph.multiply(x, taps)
        strides = (count * length * parts, length * parts, 1)
    sizes = ranked(node, (batch, count, length * parts))
    x = node.graph.reinterpret(x, sizes=sizes, strides=(*(0,) * (len(sizes) - 3), *strides))
    return node.graph.reinterpret(_product(node, x, kernel), sizes=(batch, count, kernel.shape[1] // 2, 2))


def _parts(inverse: bool, is_half: bool) -> int:
    """The elements of a result: the inverse of half of a spectrum is real."""
    return 1 if inverse and is_half else 2


def coefficients(
    node: OnnxNode,
    count: int,
    length: int,
    parts: int,
    inverse: bool,
    is_half: bool,
    factors: Array | None = None,
) -> Array:
    """The matrix of the transform of ``length`` elements, of which ``count`` are given, each times its factor.

    Rows are the real and imaginary ``parts`` of the given elements, columns those of the results.
    """
    columns, results = length // 2 + 1 if is_half and not inverse else length, _parts(inverse, is_half)
    if 4 * count * parts * columns * results > MOST_BYTES:
        size = 4 * count * parts * columns * results >> 20
        raise Refusal(
            f"has {length} elements, whose matrix of {count * parts} x {columns * results} elements would have "
            f"{size} MiB; at most {MOST_BYTES >> 20} are made",
            "the transform",
        )
    node.check_room(count, parts, columns, results)
    angles = np.arange(length) * (2 * np.pi / length)
    wave = np.exp(1j * angles) / length if inverse else np.exp(-1j * angles)
    twice = np.full(count, 1.0) if factors is None else np.asarray(factors, np.float64)
    if inverse and is_half:
        # The other half of the spectrum, which mirrors this one, adds as much, except where it has no counterpart.
        twice = np.full(count, 2.0)
        twice[0] = 1
        if count > length // 2 and length % 2 == 0:
            twice[length // 2] = 1
    matrix = np.empty((count, parts, columns, results), np.float32)
    # A few rows at a time, since what is computed takes several times the memory of the matrix.
    block = max(1, BLOCK // columns)
    for start in range(0, count, block):
        rows_read = np.arange(start, min(count, start + block))
        factor = wave[np.outer(rows_read, np.arange(columns)) % length] * twice[rows_read, None]
        # A complex factor as a matrix, for each given part a row.
        rows = [[factor.real, factor.imag], [-factor.imag, factor.real]]
        for part in range(parts):
            for result in range(results):
                matrix[rows_read[0] : rows_read[-1] + 1, part, :, result] = rows[part][result]
    return matrix.reshape(count * parts, columns * results)


def _product(node: OnnxNode, rows: Expression, kernel: Array) -> Expression:
    """``rows`` times the matrix, in 32 bits."""
    dtype, sizes = node.input().dtype, rows.desc.sizes
    matrix = node.constant(kernel, np.float32)
    wanted = (*sizes[:-2], *kernel.shape)
    factor = node.spread(matrix, kernel.shape, wanted)
    return node.cast(multiplied(node, node.cast(rows, np.float32), factor), dtype)
