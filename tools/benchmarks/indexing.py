"""Gather, scatter, top-k and scans."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import directml_py as dml

from .benchmark_case import LARGE, TYPES, BenchmarkCase, Contest, filled, matrix
from .peers import onnx_call, torch, torch_call
from .replay_cost import output_like, recorded, tensor

K = 10


def cases() -> Iterator[BenchmarkCase]:
    """Limits are copies of the bytes written or read, whichever are more."""
    for name, make, limit in (
        ("CUMULATIVE_SUMMATION rows", partial(cumulative, "SUMMATION", 1), "copy"),
        ("CUMULATIVE_SUMMATION columns", partial(cumulative, "SUMMATION", 0), "copy"),
        ("CUMULATIVE_SUMMATION rows, exclusive, backwards", partial(cumulative_backwards, 1), "copy"),
        ("CUMULATIVE_SUMMATION columns, exclusive, backwards", partial(cumulative_backwards, 0), "copy"),
        ("CUMULATIVE_PRODUCT rows", partial(cumulative, "PRODUCT", 1), "copy"),
        ("CUMULATIVE_PRODUCT columns", partial(cumulative, "PRODUCT", 0), "copy"),
        ("GATHER_ELEMENTS rows", partial(gather_elements, 1), ""),
        ("GATHER_ELEMENTS columns", partial(gather_elements, 0), ""),
        ("GATHER_ND elements", partial(gather_tuples, 1), ""),
        ("GATHER_ND rows", partial(gather_tuples, 64), "copy"),
        ("SCATTER rows", partial(scatter, 1), ""),
        ("SCATTER columns", partial(scatter, 0), ""),
        ("SCATTER_ND elements", partial(scatter_tuples, 1), ""),
        ("SCATTER_ND rows", partial(scatter_tuples, 64), ""),
        ("TOP_K 10", partial(top_k, K), "read"),
        ("TOP_K half", partial(top_k, 0), ""),
        ("TOP_K 200 of 1000", partial(top_k, 200, columns=1000), ""),
        ("NONZERO_COORDINATES half", nonzero, ""),
        ("ONE_HOT 16", one_hot, ""),
    ):
        for dtype in TYPES:
            if name.startswith({"int8": "CUMULATIVE", "int64": "NONZERO"}.get(dtype, ",")):
                continue
            bound = (limit, LARGE) if limit else None
            yield BenchmarkCase(name.split()[0], f"{name}, {dtype}, 64 MiB", partial(make, dtype), bound)


def cumulative(function: str, axis: int, dtype: str, threads: int) -> Contest:
    x = filled(dtype, matrix(dtype, LARGE))
    choice: dict[str, Any] = {f"HasExclusive{'Sum' if function == 'SUMMATION' else 'Product'}": False}
    desc = getattr(dml, f"DML_CUMULATIVE_{function}_OPERATOR_DESC")(
        InputTensor=tensor(x),
        OutputTensor=tensor(x),
        Axis=axis,
        AxisDirection=dml.DML_AXIS_DIRECTION_INCREASING,
        **choice,
    )
    ours = recorded(desc, [x])
    (x,), (out,) = ours.inputs, ours.outputs
    if function == "PRODUCT":
        peers = {
            "NumPy": lambda: np.cumprod(x, axis, out=out),
            "PyTorch": torch_call(lambda a, o: torch.cumprod(a, axis, out=o), [x], [out]),
        }
        return Contest(ours, peers)
    peers = {
        "NumPy": lambda: np.cumsum(x, axis, out=out),
        "PyTorch": torch_call(lambda a, o: torch.cumsum(a, axis, out=o), [x], [out]),
        "ONNX Runtime": onnx_call("CumSum", [x], [out], threads, {}, {"axis": np.array([axis])}),
    }
    return Contest(ours, peers)


def cumulative_backwards(axis: int, dtype: str, threads: int) -> Contest:
    x = filled(dtype, matrix(dtype, LARGE))
    desc = dml.DML_CUMULATIVE_SUMMATION_OPERATOR_DESC(
        InputTensor=tensor(x),
        OutputTensor=tensor(x),
        Axis=axis,
        AxisDirection=dml.DML_AXIS_DIRECTION_DECREASING,
        HasExclusiveSum=True,
    )
    ours = recorded(desc, [x])
    (x,), (out,) = ours.inputs, ours.outputs
    attributes = {"exclusive": 1, "reverse": 1}
    several = onnx_call("CumSum", [x], [out], threads, attributes, {"axis": np.array([axis])})
    return Contest(ours, {"ONNX Runtime": several})


def tuples(count: int, sizes: tuple[int, int]) -> Any:
    """Distinct coordinates in the first two dimensions, in random order."""
    numbers = np.random.default_rng(11).permutation(sizes[0] * sizes[1])[:count]
    return np.ascontiguousarray(np.stack(np.divmod(numbers, sizes[1]), -1))


def gather_tuples(width: int, dtype: str, threads: int) -> Contest:
    """GATHER_ND of rows of ``width`` elements, by two coordinates each."""
    rows, columns = matrix(dtype, LARGE // width)
    x = filled(dtype, (rows, columns, width))
    indices = tuples(rows * columns, (rows, columns))
    desc = dml.DML_GATHER_ND_OPERATOR_DESC(
        InputTensor=tensor(x),
        IndicesTensor=tensor(indices.reshape(1, *indices.shape)),
        OutputTensor=output_like(x, [1, len(indices), width]),
        InputDimensionCount=3,
        IndicesDimensionCount=2,
    )
    ours = recorded(desc, [x, indices.reshape(1, *indices.shape)])
    x, indices = ours.inputs[0], ours.inputs[1][0]
    out = ours.outputs[0][0]
    first, second = (np.ascontiguousarray(numbers) for numbers in indices.T)
    peers = {
        "NumPy": lambda: x[first, second],
        "PyTorch": torch_call(lambda a, i, j: a[i, j], [x, first, second], []),
        "ONNX Runtime": onnx_call("GatherND", [x, indices], [out], threads, {}),
    }
    return Contest(ours, peers)


def scatter_tuples(width: int, dtype: str, threads: int) -> Contest:
    """SCATTER_ND of one update per row, in random order."""
    rows, columns = matrix(dtype, LARGE // width)
    x = filled(dtype, (rows, columns, width))
    indices = tuples(rows * columns, (rows, columns))
    updates = x.reshape(1, rows * columns, width)
    desc = dml.DML_SCATTER_ND_OPERATOR_DESC(
        InputTensor=tensor(x),
        IndicesTensor=tensor(indices.reshape(1, *indices.shape)),
        UpdatesTensor=tensor(updates),
        OutputTensor=tensor(x),
        InputDimensionCount=3,
        IndicesDimensionCount=2,
    )
    ours = recorded(desc, [x, indices.reshape(1, *indices.shape), updates])
    x, indices, updates = ours.inputs[0], ours.inputs[1][0], ours.inputs[2][0]
    (out,) = ours.outputs
    first, second = (np.ascontiguousarray(numbers) for numbers in indices.T)

    def numpy() -> None:
        np.copyto(out, x)
        out[first, second] = updates

    def pytorch(a: Any, i: Any, j: Any, u: Any, o: Any) -> None:
        o.copy_(a)
        o.index_put_((i, j), u)

    peers = {
        "NumPy": numpy,
        "PyTorch": torch_call(pytorch, [x, first, second, updates], [out]),
        "ONNX Runtime": onnx_call("ScatterND", [x, indices, updates], [out], threads, {}),
    }
    return Contest(ours, peers)


def gather_elements(axis: int, dtype: str, threads: int) -> Contest:
    x = filled(dtype, matrix(dtype, LARGE))
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
    """One update for each element."""
    x = filled(dtype, matrix(dtype, LARGE))
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


def top_k(count: int, dtype: str, threads: int, columns: int = 0) -> Contest:
    """The ``count`` largest elements of each row; 0 means half of them, and as many columns as rows."""
    whole = matrix(dtype, LARGE)
    x = filled(dtype, (math.prod(whole) // columns, columns) if columns else whole)
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
    positions = np.empty((rows, count), np.int64)
    peers = {
        "PyTorch": torch_call(lambda a: torch.topk(a, count, 1), [x], []),
        "ONNX Runtime": onnx_call("TopK", [x], [out, positions], threads, {}, {"k": np.array([count])}),
    }
    return Contest(ours, peers)


def nonzero(dtype: str, threads: int) -> Contest:
    """Half of the elements are zero."""
    x = filled(dtype, matrix(dtype, LARGE // 4))
    x[np.random.default_rng(5).random(x.shape, np.float32) < 0.5] = 0
    desc = dml.DML_NONZERO_COORDINATES_OPERATOR_DESC(
        InputTensor=tensor(x),
        OutputCountTensor=dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_UINT32, [1]),
        OutputCoordinatesTensor=dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_UINT32, [x.size, 2]),
    )
    ours = recorded(desc, [x])
    (x,) = ours.inputs
    coordinates = np.empty((2, int(np.count_nonzero(x))), np.int64)
    peers = {
        "NumPy": lambda: np.nonzero(x),
        "PyTorch": torch_call(lambda a: torch.nonzero(a), [x], []),
        "ONNX Runtime": onnx_call("NonZero", [x], [coordinates], threads, {}),
    }
    return Contest(ours, peers)


def one_hot(dtype: str, threads: int) -> Contest:
    """One-hot rows of 16 elements."""
    depth = 16
    count = LARGE // depth // np.dtype(dtype).itemsize
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
