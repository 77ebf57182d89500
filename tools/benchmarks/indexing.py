"""Borders, steps and tiles; elements by their indices; order and running sums."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

import directml_py as dml

from .cases import KIB, Case, Contest, cube, filled, matrix
from .peers import onnx_call, torch, torch_call
from .replay import ELEMENT, recorded, tensor

SIZE = 64 * KIB * KIB
TYPES = ("float32", "float16", "int8")
K = 10


def cases() -> Iterator[Case]:
    """Limits are copies of as many bytes as are written, or of those that are read where that is more."""
    for name, make, limit in (
        ("PADDING constant", partial(padding, "CONSTANT"), "copy"),
        ("PADDING edge", partial(padding, "EDGE"), "copy"),
        ("PADDING reflection", partial(padding, "REFLECTION"), "copy"),
        ("SLICE steps of 2", partial(sliced, 2), ""),
        ("REVERSE backwards", partial(sliced, -1), "copy"),
        ("REVERSE_SUBSEQUENCES rows", partial(subsequences, 1), "copy"),
        ("REVERSE_SUBSEQUENCES columns", partial(subsequences, 0), "copy"),
        ("TILE 2 x 2", tiled, ""),
        ("SPACE_TO_DEPTH", to_depth, "copy"),
        ("DIAGONAL_MATRIX", diagonal, ""),
        ("CUMULATIVE_SUMMATION rows", partial(cumulative, 1), "copy"),
        ("CUMULATIVE_SUMMATION columns", partial(cumulative, 0), "copy"),
        ("GATHER_ELEMENTS rows", partial(gather_elements, 1), ""),
        ("GATHER_ELEMENTS columns", partial(gather_elements, 0), ""),
        ("SCATTER rows", partial(scatter, 1), ""),
        ("SCATTER columns", partial(scatter, 0), ""),
        ("TOP_K 10", partial(top_k, K), "read"),
        ("TOP_K half", partial(top_k, 0), ""),
        ("NONZERO_COORDINATES half", nonzero, ""),
        ("ONE_HOT 16", one_hot, ""),
    ):
        for dtype in TYPES:
            if dtype == "int8" and name.startswith("CUMULATIVE"):
                continue
            bound = (limit, SIZE) if limit else None
            yield Case(name.split()[0], f"{name}, {dtype}, 64 MiB", partial(make, dtype), bound)
    yield Case("RANDOM_GENERATOR", "RANDOM_GENERATOR, uint32, 64 MiB", random, None)


def output_like(x: Any, sizes: Sequence[int]) -> dml.DML_TENSOR_DESC:
    return dml.tensor_desc(ELEMENT[x.dtype], list(sizes))


def padding(mode: str, dtype: str, threads: int) -> Contest:
    """Three elements around each plane."""
    planes, height, width = cube(dtype, SIZE)
    x = filled(dtype, (1, planes, height, width))
    pads = [0, 0, 3, 3]
    desc = dml.DML_PADDING_OPERATOR_DESC(
        InputTensor=tensor(x),
        OutputTensor=output_like(x, [1, planes, height + 6, width + 6]),
        PaddingMode=dml.DML_PADDING_MODE[f"DML_PADDING_MODE_{mode}"],
        StartPadding=pads,
        EndPadding=pads,
    )
    ours = recorded(desc, [x])
    (x,), (out,) = ours.inputs, ours.outputs
    node: Any = {"CONSTANT": "constant", "EDGE": "edge", "REFLECTION": "reflect"}[mode]
    function = {"CONSTANT": "constant", "EDGE": "replicate", "REFLECTION": "reflect"}[mode]
    peers = {
        "NumPy": lambda: np.pad(x, [(pad, pad) for pad in pads], node),
        "PyTorch": torch_call(lambda a: torch.nn.functional.pad(a, (3, 3, 3, 3), function), [x], []),
        "ONNX Runtime": onnx_call("Pad", [x], [out], threads, {"mode": node}, {"pads": np.array(pads * 2)}),
    }
    return Contest(ours, peers)


def sliced(step: int, dtype: str, threads: int) -> Contest:
    """Elements along the last dimension, in steps."""
    x = filled(dtype, matrix(dtype, SIZE))
    rows, columns = x.shape
    count = columns // abs(step)
    desc = dml.DML_SLICE1_OPERATOR_DESC(
        InputTensor=tensor(x),
        OutputTensor=output_like(x, [rows, count]),
        InputWindowOffsets=[0, 0],
        InputWindowSizes=[rows, columns],
        InputWindowStrides=[1, step],
    )
    ours = recorded(desc, [x])
    (x,), (out,) = ours.inputs, ours.outputs
    torch_slice = torch_call(lambda a, o: o.copy_(a[:, ::step]), [x], [out]) if step > 0 else None
    names = ("starts", "ends", "axes", "steps")
    values = (0, columns, 1, step) if step > 0 else (columns - 1, -(2**62), 1, step)
    constants = {name: np.array([value]) for name, value in zip(names, values)}
    peers = {
        "NumPy": lambda: np.copyto(out, x[:, ::step]),
        "PyTorch": torch_slice or torch_call(lambda a: torch.flip(a, (1,)), [x], []),
        "ONNX Runtime": onnx_call("Slice", [x], [out], threads, {}, constants),
    }
    return Contest(ours, peers)


def subsequences(axis: int, dtype: str, threads: int) -> Contest:
    """A length for each row, or each column."""
    x = filled(dtype, matrix(dtype, SIZE))
    sizes = [size if each != axis else 1 for each, size in enumerate(x.shape)]
    lengths = np.random.default_rng(11).integers(1, x.shape[axis], sizes).astype(np.uint32)
    desc = dml.DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC(
        InputTensor=tensor(x), SequenceLengthsTensor=tensor(lengths), OutputTensor=tensor(x), Axis=axis
    )
    ours = recorded(desc, [x, lengths])
    (x, lengths), (out,) = ours.inputs, ours.outputs
    longs = lengths.reshape(-1).astype(np.int64)
    attributes = {"time_axis": axis, "batch_axis": 1 - axis}
    peers = {"ONNX Runtime": onnx_call("ReverseSequence", [x, longs], [out], threads, attributes)}
    return Contest(ours, peers)


def tiled(dtype: str, threads: int) -> Contest:
    x = filled(dtype, matrix(dtype, SIZE // 4))
    desc = dml.DML_TILE_OPERATOR_DESC(
        InputTensor=tensor(x), OutputTensor=output_like(x, [2 * size for size in x.shape]), Repeats=[2, 2]
    )
    ours = recorded(desc, [x])
    (x,), (out,) = ours.inputs, ours.outputs
    peers = {
        "NumPy": lambda: np.tile(x, (2, 2)),
        "PyTorch": torch_call(lambda a: torch.tile(a, (2, 2)), [x], []),
        "ONNX Runtime": onnx_call("Tile", [x], [out], threads, {}, {"repeats": np.array([2, 2])}),
    }
    return Contest(ours, peers)


def to_depth(dtype: str, threads: int) -> Contest:
    planes, height, width = cube(dtype, SIZE)
    x = filled(dtype, (1, planes, height, width))
    desc = dml.DML_SPACE_TO_DEPTH_OPERATOR_DESC(
        InputTensor=tensor(x),
        OutputTensor=output_like(x, [1, planes * 4, height // 2, width // 2]),
        BlockSize=2,
    )
    ours = recorded(desc, [x])
    (x,), (out,) = ours.inputs, ours.outputs
    view = out.reshape(1, 2, 2, planes, height // 2, width // 2)
    source = x.reshape(1, planes, height // 2, 2, width // 2, 2).transpose(0, 3, 5, 1, 2, 4)
    peers = {
        "NumPy": lambda: np.copyto(view, source),
        "PyTorch": torch_call(lambda a, b: b.copy_(a), [source], [view]),
        "ONNX Runtime": onnx_call("SpaceToDepth", [x], [out], threads, {"blocksize": 2}),
    }
    return Contest(ours, peers)


def diagonal(dtype: str, threads: int) -> Contest:
    sizes = matrix(dtype, SIZE)
    desc = dml.DML_DIAGONAL_MATRIX_OPERATOR_DESC(
        OutputTensor=dml.tensor_desc(ELEMENT[np.dtype(dtype)], list(sizes)), Value=1.0, Offset=0
    )
    ours = recorded(desc, [])
    (out,) = ours.outputs

    def numpy() -> None:
        out.fill(0)
        np.fill_diagonal(out, 1)

    peers = {
        "NumPy": numpy,
        "PyTorch": torch_call(lambda o: torch.eye(*o.shape, dtype=o.dtype, out=o), [], [out]),
        "ONNX Runtime": onnx_call("EyeLike", [out], [out], threads, {}),
    }
    return Contest(ours, peers)


def cumulative(axis: int, dtype: str, threads: int) -> Contest:
    x = filled(dtype, matrix(dtype, SIZE))
    desc = dml.DML_CUMULATIVE_SUMMATION_OPERATOR_DESC(
        InputTensor=tensor(x),
        OutputTensor=tensor(x),
        Axis=axis,
        AxisDirection=dml.DML_AXIS_DIRECTION_INCREASING,
        HasExclusiveSum=False,
    )
    ours = recorded(desc, [x])
    (x,), (out,) = ours.inputs, ours.outputs
    peers = {
        "NumPy": lambda: np.cumsum(x, axis, out=out),
        "PyTorch": torch_call(lambda a, o: torch.cumsum(a, axis, out=o), [x], [out]),
        "ONNX Runtime": onnx_call("CumSum", [x], [out], threads, {}, {"axis": np.array([axis])}),
    }
    return Contest(ours, peers)


def gather_elements(axis: int, dtype: str, threads: int) -> Contest:
    x = filled(dtype, matrix(dtype, SIZE))
    indices = np.random.default_rng(11).integers(0, x.shape[axis], x.shape)
    desc = dml.DML_GATHER_ELEMENTS_OPERATOR_DESC(
        InputTensor=tensor(x), IndicesTensor=tensor(indices), OutputTensor=tensor(x), Axis=axis
    )
    ours = recorded(desc, [x, indices])
    (x, indices), (out,) = ours.inputs, ours.outputs
    peers = {
        "NumPy": lambda: np.take_along_axis(x, indices, axis),
        "PyTorch": torch_call(lambda a, i, o: torch.gather(a, axis, i, out=o), [x, indices], [out]),
        "ONNX Runtime": onnx_call("GatherElements", [x, indices], [out], threads, {"axis": axis}),
    }
    return Contest(ours, peers)


def scatter(axis: int, dtype: str, threads: int) -> Contest:
    """As many updates as elements; no element has two."""
    x = filled(dtype, matrix(dtype, SIZE))
    generator = np.random.default_rng(11)
    orders = [generator.permutation(x.shape[axis]) for _ in range(64)]
    lines = [orders[line % 64] for line in range(x.shape[1 - axis])]
    indices = np.ascontiguousarray(np.moveaxis(np.array(lines), -1, axis))
    desc = dml.DML_SCATTER_OPERATOR_DESC(
        InputTensor=tensor(x),
        IndicesTensor=tensor(indices),
        UpdatesTensor=tensor(x),
        OutputTensor=tensor(x),
        Axis=axis,
    )
    ours = recorded(desc, [x, indices, x])
    (x, indices, updates), (out,) = ours.inputs, ours.outputs

    def numpy() -> None:
        np.copyto(out, x)
        np.put_along_axis(out, indices, updates, axis)

    peers = {
        "NumPy": numpy,
        "PyTorch": torch_call(
            lambda a, i, u, o: torch.scatter(a, axis, i, u, out=o), [x, indices, updates], [out]
        ),
        "ONNX Runtime": onnx_call("ScatterElements", [x, indices, updates], [out], threads, {"axis": axis}),
    }
    return Contest(ours, peers)


def top_k(count: int, dtype: str, threads: int) -> Contest:
    """The largest of each row; half of them for 0."""
    x = filled(dtype, matrix(dtype, SIZE))
    rows, columns = x.shape
    count = count or columns // 2
    desc = dml.DML_TOP_K_OPERATOR_DESC(
        InputTensor=tensor(x),
        OutputValueTensor=output_like(x, [rows, count]),
        OutputIndexTensor=dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_UINT32, [rows, count]),
        Axis=1,
        K=count,
    )
    ours = recorded(desc, [x])
    (x,), (out, _) = ours.inputs, ours.outputs
    found = np.empty((rows, count), np.int64)
    peers = {
        "PyTorch": torch_call(lambda a: torch.topk(a, count, 1), [x], []),
        "ONNX Runtime": onnx_call("TopK", [x], [out, found], threads, {}, {"k": np.array([count])}),
    }
    return Contest(ours, peers)


def nonzero(dtype: str, threads: int) -> Contest:
    """Half of the elements are zero."""
    x = filled(dtype, matrix(dtype, SIZE // 4))
    x[np.random.default_rng(5).random(x.shape, np.float32) < 0.5] = 0
    desc = dml.DML_NONZERO_COORDINATES_OPERATOR_DESC(
        InputTensor=tensor(x),
        OutputCountTensor=dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_UINT32, [1]),
        OutputCoordinatesTensor=dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_UINT32, [x.size, 2]),
    )
    ours = recorded(desc, [x])
    (x,) = ours.inputs
    found = np.empty((2, int(np.count_nonzero(x))), np.int64)
    peers = {
        "NumPy": lambda: np.nonzero(x),
        "PyTorch": torch_call(lambda a: torch.nonzero(a), [x], []),
        "ONNX Runtime": onnx_call("NonZero", [x], [found], threads, {}),
    }
    return Contest(ours, peers)


def one_hot(dtype: str, threads: int) -> Contest:
    """Of 16 elements each."""
    depth = 16
    count = SIZE // depth // np.dtype(dtype).itemsize
    indices = np.random.default_rng(5).integers(0, depth, (count, 1))
    values = np.array([[0, 1]], dtype)
    desc = dml.DML_ONE_HOT_OPERATOR_DESC(
        IndicesTensor=tensor(indices),
        ValuesTensor=tensor(values),
        OutputTensor=output_like(values, [count, depth]),
        Axis=1,
    )
    ours = recorded(desc, [indices, values])
    (indices, values), (out,) = ours.inputs, ours.outputs
    flat, pair = indices.reshape(-1), values.reshape(-1)

    def pytorch(i: Any, o: Any) -> None:
        o.zero_().scatter_(1, i, 1)

    several = onnx_call("OneHot", [flat, np.array([depth]), pair], [out], threads, {"axis": -1})
    return Contest(ours, {"PyTorch": torch_call(pytorch, [indices], [out]), "ONNX Runtime": several})


def random(threads: int) -> Contest:
    count = SIZE // 4
    state = np.arange(6, dtype=np.uint32)
    desc = dml.DML_RANDOM_GENERATOR_OPERATOR_DESC(
        InputStateTensor=tensor(state.reshape(1, 6)),
        OutputTensor=dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_UINT32, [1, count]),
        OutputStateTensor=tensor(state.reshape(1, 6)),
        Type=dml.DML_RANDOM_GENERATOR_TYPE_PHILOX_4X32_10,
    )
    ours = recorded(desc, [state.reshape(1, 6)])
    out, _ = ours.outputs
    generator = np.random.Generator(np.random.Philox(1))
    peers = {
        "NumPy": lambda: generator.integers(0, 2**32, count, np.uint32),
        "PyTorch": torch_call(lambda o: o.random_(), [], [out.view(np.int32)]),
    }
    return Contest(ours, peers)
