"""Pure data movement: JOIN, SPLIT, identity and GATHER."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import directml_py as dml

from .benchmark_case import SIZES, TYPES, BenchmarkCase, Contest, filled, layouts, matrix
from .peers import onnx_call, torch, torch_call
from .replay_cost import ELEMENT, recorded, tensor

PARTS = 4


def cases() -> Iterator[BenchmarkCase]:
    for size_name, size in SIZES.items():
        for dtype in TYPES:
            for axis, along in ((1, "columns"), (0, "rows")):
                name = f"{along}, {dtype}, {size_name}"
                yield BenchmarkCase("JOIN", name, partial(join, dtype, size, axis), ("copy", size))
                yield BenchmarkCase("SPLIT", name, partial(split, dtype, size, axis), ("copy", size))
            for layout in ("packed", "padded", "transposed"):
                limit = None if layout == "transposed" else ("copy", size)
                name = f"{layout}, {dtype}, {size_name}"
                yield BenchmarkCase("identity", name, partial(identity, dtype, size, layout), limit)
            for kind in ("rows", "columns", "nested"):
                limit = ("copy", size) if kind != "columns" else None
                yield BenchmarkCase(
                    "GATHER", f"{kind}, {dtype}, {size_name}", partial(gather, dtype, size, kind), limit
                )


def join(dtype: str, size: int, axis: int, threads: int) -> Contest:
    whole = filled(dtype, matrix(dtype, size))
    parts = [np.ascontiguousarray(part) for part in np.split(whole, PARTS, axis)]
    desc = dml.DML_JOIN_OPERATOR_DESC(
        InputTensors=[tensor(part) for part in parts], OutputTensor=tensor(whole), Axis=axis
    )
    ours = recorded(desc, parts)
    parts, (out,) = ours.inputs, ours.outputs
    peers = {
        "NumPy": lambda: np.concatenate(parts, axis, out=out),
        "PyTorch": torch_call(lambda *t: torch.cat(t[:-1], axis, out=t[-1]), parts, [out]),
        "ONNX Runtime": onnx_call("Concat", parts, [out], threads, {"axis": axis}),
    }
    return Contest(ours, peers)


def split(dtype: str, size: int, axis: int, threads: int) -> Contest:
    whole = filled(dtype, matrix(dtype, size))
    packed = [np.ascontiguousarray(part) for part in np.split(whole, PARTS, axis)]
    desc = dml.DML_SPLIT_OPERATOR_DESC(
        InputTensor=tensor(whole), OutputTensors=[tensor(part) for part in packed], Axis=axis
    )
    ours = recorded(desc, [whole])
    (whole,), outs = ours.inputs, ours.outputs
    views = np.split(whole, PARTS, axis)

    def numpy() -> None:
        for out, view in zip(outs, views):
            np.copyto(out, view)

    def pytorch(x: Any, *targets: Any) -> None:
        for target, part in zip(targets, torch.chunk(x, PARTS, axis)):
            target.copy_(part)

    peers = {
        "NumPy": numpy,
        "PyTorch": torch_call(pytorch, [whole], outs),
        "ONNX Runtime": onnx_call("Split", [whole], outs, threads, {"axis": axis, "num_outputs": PARTS}),
    }
    return Contest(ours, peers)


def identity(dtype: str, size: int, layout: str, threads: int) -> Contest:
    x = dict(layouts(dtype, size))[layout]
    packed = dml.tensor_desc(ELEMENT[x.dtype], list(x.shape))
    ours = recorded(dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(tensor(x), packed), [x])
    (x,), (out,) = ours.inputs, ours.outputs
    node, attributes = ("Transpose", {"perm": [1, 0]}) if layout == "transposed" else ("Identity", {})
    source = x.T if layout == "transposed" else x
    peers = {
        "NumPy": lambda: np.copyto(out, x),
        "PyTorch": torch_call(lambda a, b: b.copy_(a), [x], [out]),
        "ONNX Runtime": onnx_call(node, [source], [out], threads, attributes),
    }
    return Contest(ours, peers)


def gather(dtype: str, size: int, kind: str, threads: int) -> Contest:
    """``rows`` and ``nested`` gather rows of at most 512 bytes, by a list and by a matrix of indices."""
    item = np.dtype(dtype).itemsize
    if kind == "columns":
        rows, columns = matrix(dtype, size)
        axis, count = 1, columns
    else:
        columns = min(512, size // 8) // item
        rows = count = size // item // columns
        axis = 0
    x = filled(dtype, (rows, columns))
    generator = np.random.default_rng(11)
    indices = generator.integers(0, x.shape[axis], count).astype(np.int64)
    if kind == "nested":
        indices = indices.reshape(2, -1)
    sizes = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    # The operator's input and output have equal ranks, so a matrix of indices requires a leading 1 in the input.
    rank = len(sizes)
    wide = x.reshape((1,) * (rank - 2) + x.shape)
    flat = indices.reshape((1,) * (rank - indices.ndim) + indices.shape)
    desc = dml.DML_GATHER_OPERATOR_DESC(
        InputTensor=tensor(wide),
        IndicesTensor=tensor(flat),
        OutputTensor=dml.tensor_desc(ELEMENT[x.dtype], list(sizes)),
        Axis=axis + rank - 2,
        IndexDimensions=indices.ndim,
    )
    ours = recorded(desc, [wide, flat])
    x, indices = ours.inputs[0].reshape(x.shape), ours.inputs[1].reshape(indices.shape)
    (out,) = ours.outputs
    peers = {
        "NumPy": lambda: np.take(x, indices, axis, out=out, mode="clip"),
        "PyTorch": torch_call(
            lambda a, i, o: torch.index_select(a, axis, i, out=o),
            [x, indices.reshape(-1)],
            [out.reshape(x.shape[0] if axis else count, -1)],
        ),
        "ONNX Runtime": onnx_call("Gather", [x, indices], [out], threads, {"axis": axis}),
    }
    return Contest(ours, peers)
