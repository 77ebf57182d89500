"""Tensors in the runner's files, and the comparison of outputs.

A file is the number of its tensors, and of each: the length of its name, the name, its element type as ONNX numbers
them, its rank, its sizes, the number of its bytes, and these. Counts and types have 32 bits, sizes and byte counts 64,
all little-endian.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from onnx import TensorProto, numpy_helper

Array: TypeAlias = "np.ndarray[Any, Any]"

RTOL, ATOL = 1e-3, 1e-4
# For FLOAT16, of which results are rounded after each operator.
HALF_RTOL, HALF_ATOL = 2e-2, 2e-2
HALVES = (TensorProto.FLOAT16, TensorProto.BFLOAT16)


def named(name: str, array: Array) -> TensorProto:
    return numpy_helper.from_array(np.asarray(array), name)


def write(path: Path, tensors: Iterable[TensorProto]) -> None:
    parts = []
    for tensor in tensors:
        # Contents may be in any of a TensorProto's fields; bytes are wanted.
        data = tensor.raw_data or numpy_helper.from_array(numpy_helper.to_array(tensor)).raw_data
        name = tensor.name.encode()
        parts += [
            struct.pack("<I", len(name)), name, struct.pack("<iI", tensor.data_type, len(tensor.dims)),
            struct.pack(f"<{len(tensor.dims)}q", *tensor.dims), struct.pack("<Q", len(data)), data,
        ]  # fmt: skip
    count = len(parts) // 6
    path.write_bytes(b"".join((struct.pack("<I", count), *parts)))


def read(path: Path) -> list[TensorProto]:
    """The tensors of a file that the runner has written."""
    data, position, tensors = path.read_bytes(), 0, []

    def take(form: str) -> tuple[Any, ...]:
        nonlocal position
        values = struct.unpack_from("<" + form, data, position)
        position += struct.calcsize("<" + form)
        return values

    (count,) = take("I")
    for _ in range(count):
        (length,) = take("I")
        (name,) = take(f"{length}s")
        kind, rank = take("iI")
        sizes = take(f"{rank}q")
        (size,) = take("Q")
        (raw,) = take(f"{size}s")
        tensors.append(TensorProto(name=name.decode(), data_type=kind, dims=sizes, raw_data=raw))
    return tensors


def difference(found: Sequence[TensorProto], expected: Sequence[TensorProto | None]) -> str:
    """How outputs differ from the expected ones, in one sentence; "" if they agree. What is None is not compared."""
    if len(found) < len(expected):
        return f"{len(found)} outputs, not {len(expected)}"
    for tensor, wanted in zip(found, expected):
        if wanted is not None and (why := _difference(tensor, wanted)):
            return f"{tensor.name}: {why}"
    return ""


def _difference(found: TensorProto, expected: TensorProto) -> str:
    if found.data_type != expected.data_type:
        names = [TensorProto.DataType.Name(tensor.data_type) for tensor in (found, expected)]
        return f"the elements are {names[0]}, not {names[1]}"
    if list(found.dims) != list(expected.dims):
        return f"the sizes are {list(found.dims)}, not {list(expected.dims)}"
    one, two = (numpy_helper.to_array(tensor) for tensor in (found, expected))
    if one.dtype.kind in "biu":
        wrong = one != two
    else:
        one, two = one.astype(np.float64), two.astype(np.float64)
        half = found.data_type in HALVES
        with np.errstate(all="ignore"):
            near = np.isclose(
                one, two, HALF_RTOL if half else RTOL, HALF_ATOL if half else ATOL, equal_nan=True
            )
        wrong = ~near
    if not wrong.any():
        return ""
    coordinates = tuple(int(index) for index in np.argwhere(wrong)[0])
    count = f"{np.count_nonzero(wrong)} of {wrong.size} elements differ"
    return f"{count}, the first at {list(coordinates)}: {one[coordinates]}, not {two[coordinates]}"


def error(found: Sequence[TensorProto], expected: Sequence[TensorProto | None]) -> float:
    """The largest error of floating-point outputs, relative to the largest finite expected value of each."""
    largest = 0.0
    for tensor, wanted in zip(found, expected):
        if wanted is None or tensor.data_type != wanted.data_type or tensor.dims != wanted.dims:
            continue
        one, two = numpy_helper.to_array(tensor), numpy_helper.to_array(wanted)
        if one.dtype.kind in "biu" or not one.size:
            continue
        one, two = one.astype(np.float64), two.astype(np.float64)
        finite = np.isfinite(one) & np.isfinite(two)
        if finite.any() and (scale := float(np.abs(two[finite]).max())):
            largest = max(largest, float(np.abs(one[finite] - two[finite]).max()) / scale)
    return largest
