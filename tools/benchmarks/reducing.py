"""REDUCE: every function, over the leading, a middle, the trailing and all axes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import directml_py as dml

from .benchmark_case import SIZES, BenchmarkCase, Contest, cube, filled, layouts
from .peers import onnx_call, torch, torch_call
from .replay_cost import ELEMENT, recorded, tensor

FUNCTIONS = tuple(name.removeprefix("DML_REDUCE_FUNCTION_") for name in dml.DML_REDUCE_FUNCTION.__members__)
# For the other types, one function per kind of loop, where the tables support it.
OTHERS = {
    "float16": ("SUM", "L2", "MAX", "ARGMAX", "LOG_SUM_EXP"),
    "int8": ("MAX", "ARGMAX"),
    "int64": ("SUM", "MAX", "ARGMAX"),
}
STRIDED = ("SUM", "MAX", "ARGMAX")
# Memory-bound functions.
BOUND = ("SUM", "MIN", "MAX", "L1", "SUM_SQUARE", "AVERAGE")
SHAPES = ("leading", "middle", "trailing", "all")
# Rows in a cache that cores share, and rows of few elements.
SHARED_CACHE = {"8 MiB": 8 << 20}
SHORT_ROWS = {"rows of 4": (1 << 20, 4), "rows of 49": (49152, 49), "rows of 256": (32768, 256)}


def cases() -> Iterator[BenchmarkCase]:
    for size_name, size in SIZES.items():
        for function in FUNCTIONS:
            for shape in SHAPES:
                yield case(function, shape, "float32", "packed", size_name, size)
        for dtype, functions in OTHERS.items():
            for function in functions:
                for shape in SHAPES:
                    yield case(function, shape, dtype, "packed", size_name, size)
        for function in STRIDED:
            for layout in ("padded", "transposed"):
                for shape in ("leading", "trailing"):
                    yield case(function, shape, "float32", layout, size_name, size)
    for size_name, size in SHARED_CACHE.items():
        for function in ("SUM", "L2", "MAX"):
            for shape in ("trailing", "all"):
                yield case(function, shape, "float32", "packed", size_name, size)
        yield case("SUM", "trailing", "float16", "packed", size_name, size)
    for name, sizes in SHORT_ROWS.items():
        for function in ("SUM", "L2", "MAX"):
            yield BenchmarkCase("REDUCE", f"{function} {name}, float32", partial(short_rows, function, sizes))


def short_rows(function: str, sizes: tuple[int, int], threads: int) -> Contest:
    return reduction(function, filled("float32", sizes), (1,), threads)


def case(function: str, shape: str, dtype: str, layout: str, size_name: str, size: int) -> BenchmarkCase:
    limit = ("read", size) if function in BOUND else None
    name = f"{function} {shape}, {layout}, {dtype}, {size_name}"
    return BenchmarkCase("REDUCE", name, partial(reduce, function, shape, dtype, layout, size), limit)


def reduce(function: str, shape: str, dtype: str, layout: str, size: int, threads: int) -> Contest:
    x = dict(layouts(dtype, size))[layout]
    if shape == "middle":
        x = filled(dtype, cube(dtype, size))
    if function == "LOG_SUM":
        x = np.abs(x)
    axes = {"leading": (0,), "middle": (1,), "trailing": (x.ndim - 1,), "all": tuple(range(x.ndim))}[shape]
    return reduction(function, x, axes, threads)


def reduction(function: str, x: Any, axes: tuple[int, ...], threads: int) -> Contest:
    is_index = function.startswith("ARG")
    kind = np.dtype(np.int64) if is_index else x.dtype
    sizes = tuple(1 if axis in axes else length for axis, length in enumerate(x.shape))
    desc = dml.DML_REDUCE_OPERATOR_DESC(
        Function=dml.DML_REDUCE_FUNCTION[f"DML_REDUCE_FUNCTION_{function}"],
        InputTensor=tensor(x),
        OutputTensor=dml.tensor_desc(ELEMENT[kind], list(sizes)),
        Axes=list(axes),
    )
    ours = recorded(desc, [x])
    (x,), (out,) = ours.inputs, ours.outputs
    peers = {
        "NumPy": numpy_call(function, x, axes, out),
        "PyTorch": pytorch_call(function, x, axes, out),
        "ONNX Runtime": onnx_reduce(function, x, axes, out, threads),
    }
    return Contest(ours, peers)


def numpy_call(function: str, x: Any, axes: tuple[int, ...], out: Any) -> Callable[[], object]:
    """The fastest single NumPy expression."""
    options: Any = {"axis": axes, "keepdims": True, "out": out}
    axis = axes[0] if len(axes) == 1 else None
    calls: dict[str, Callable[[], object]] = {
        "SUM": lambda: np.sum(x, **options),
        "AVERAGE": lambda: np.mean(x, **options),
        "MULTIPLY": lambda: np.prod(x, **options),
        "MIN": lambda: np.min(x, **options),
        "MAX": lambda: np.max(x, **options),
        "L1": lambda: np.sum(np.abs(x), **options),
        "SUM_SQUARE": lambda: np.sum(np.square(x), **options),
        "L2": lambda: np.sqrt(np.sum(np.square(x), **options), out=out),
        "LOG_SUM": lambda: np.log(np.sum(x, **options), out=out),
        "LOG_SUM_EXP": lambda: np.log(np.sum(np.exp(x), **options), out=out),
        "ARGMAX": lambda: np.argmax(
            x, axis, out=out.reshape(() if axis is None else np.delete(x.shape, axis))
        ),
        "ARGMIN": lambda: np.argmin(
            x, axis, out=out.reshape(() if axis is None else np.delete(x.shape, axis))
        ),
    }
    return calls[function]


def pytorch_call(function: str, x: Any, axes: tuple[int, ...], out: Any) -> Callable[[], object] | None:
    dim = list(axes)
    every = len(axes) == x.ndim
    calls: dict[str, Callable[[Any, Any], object]] = {
        "SUM": lambda a, o: torch.sum(a, dim, keepdim=True, out=o),
        "AVERAGE": lambda a, o: torch.mean(a, dim, keepdim=True, out=o),
        "MULTIPLY": lambda a, o: torch.prod(a) if every else torch.prod(a, dim[0], keepdim=True, out=o),
        "MIN": lambda a, o: torch.amin(a, dim, keepdim=True, out=o),
        "MAX": lambda a, o: torch.amax(a, dim, keepdim=True, out=o),
        "L1": lambda a, o: torch.linalg.vector_norm(a, 1, dim, keepdim=True, out=o),
        "L2": lambda a, o: torch.linalg.vector_norm(a, 2, dim, keepdim=True, out=o),
        "SUM_SQUARE": lambda a, o: torch.linalg.vector_norm(a, 2, dim, keepdim=True, out=o).square_(),
        "LOG_SUM": lambda a, o: torch.sum(a, dim, keepdim=True, out=o).log_(),
        "LOG_SUM_EXP": lambda a, o: torch.logsumexp(a, dim, keepdim=True, out=o),
        "ARGMAX": lambda a, o: torch.argmax(a) if every else torch.argmax(a, dim[0], keepdim=True, out=o),
        "ARGMIN": lambda a, o: torch.argmin(a) if every else torch.argmin(a, dim[0], keepdim=True, out=o),
    }
    return torch_call(calls[function], [x], [out])


NODES = {
    "SUM": "ReduceSum",
    "AVERAGE": "ReduceMean",
    "MULTIPLY": "ReduceProd",
    "MIN": "ReduceMin",
    "MAX": "ReduceMax",
    "L1": "ReduceL1",
    "L2": "ReduceL2",
    "SUM_SQUARE": "ReduceSumSquare",
    "LOG_SUM": "ReduceLogSum",
    "LOG_SUM_EXP": "ReduceLogSumExp",
    "ARGMAX": "ArgMax",
    "ARGMIN": "ArgMin",
}


def onnx_reduce(
    function: str, x: Any, axes: tuple[int, ...], out: Any, threads: int
) -> Callable[[], object] | None:
    node = NODES[function]
    if not node.startswith("Reduce"):
        if len(axes) > 1:
            x, axes, out = x.reshape(-1), (0,), out.reshape(-1)
        return onnx_call(node, [x], [out], threads, {"axis": axes[0], "keepdims": 1})
    return onnx_call(node, [x], [out], threads, {"keepdims": 1}, {"axes": np.array(axes, np.int64)})
