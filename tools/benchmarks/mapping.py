"""Element-wise operators: arithmetic, functions, conversions, and a chain of ten in one graph."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np

import directml_py as dml
from directml_py.graph import Graph
from directml_py.session import Session

from .benchmark_case import SIZES, BenchmarkCase, Contest, filled, matrix
from .operation import Operation, contest
from .peers import torch, torch_call
from .replay_cost import ELEMENT, replayed, strides_of

SIZE_NAME = "64 MiB"
SIZE = SIZES[SIZE_NAME]
LAYOUTS = ("packed", "rows", "columns", "transposed")
SCALE, BIAS = 2.0, 1.0
SCALE_BIAS = dml.DML_SCALE_BIAS(SCALE, BIAS)
NODES = 10


def out_of(name: str) -> Any:
    """A PyTorch function with ``out=``, as a function of inputs and output."""
    return lambda *tensors: getattr(torch, name)(*tensors[:-1], out=tensors[-1])


def aten(name: str, *attributes: Any) -> Any:
    """An ATen operator whose Python function has no ``out=``."""
    return lambda *tensors: getattr(torch.ops.aten, name).out(*tensors[:-1], *attributes, out=tensors[-1])


def scale_bias(x: Any, out: Any) -> None:
    """``x * scale + bias`` in one pass over memory."""
    torch.add(torch.tensor(BIAS, dtype=x.dtype), x, alpha=SCALE, out=out)


# Memory-bound operators.
ARITHMETIC = {
    "ADD": (2, Operation("add", {}, np.add, out_of("add"), ("Add", {}))),
    "MULTIPLY": (2, Operation("multiply", {}, np.multiply, out_of("mul"), ("Mul", {}))),
    "ABS": (1, Operation("abs", {}, np.abs, out_of("abs"), ("Abs", {}))),
    "RELU": (1, Operation("activation_relu", {}, None, aten("clamp_min", 0), ("Relu", {}))),
    "CLIP": (
        1,
        Operation(
            "clip",
            {"min": -1.0, "max": 1.0},
            lambda x, out: np.clip(x, -1, 1, out=out),
            aten("clamp", -1.0, 1.0),
        ),
    ),
    "IDENTITY with ScaleBias": (
        1,
        Operation("identity", {"scale_bias": SCALE_BIAS}, None, scale_bias),
    ),
}
FUNCTIONS = {
    "EXP": Operation("exp", {}, np.exp, out_of("exp"), ("Exp", {})),
    "LOG": Operation("log", {}, np.log, out_of("log"), ("Log", {})),
    "TANH": Operation("tanh", {}, np.tanh, out_of("tanh"), ("Tanh", {})),
    "SIGMOID": Operation("activation_sigmoid", {}, None, out_of("sigmoid"), ("Sigmoid", {})),
    "ERF": Operation("erf", {}, None, out_of("erf"), ("Erf", {})),
    "GELU": Operation("activation_gelu", {}, None, aten("gelu"), None),
    "SIN": Operation("sin", {}, np.sin, out_of("sin"), ("Sin", {})),
    "SQRT": Operation("sqrt", {}, np.sqrt, out_of("sqrt"), ("Sqrt", {})),
}
POSITIVE = ("LOG", "SQRT")
CONVERSIONS = (
    ("float16", "float32"),
    ("float32", "float16"),
    ("float32", "int32"),
    ("int32", "float32"),
    ("float32", "uint8"),
    ("uint8", "float32"),
    ("int8", "float32"),
)
QUANTIZED = ("quantize_linear", "dequantize_linear")
QUANTIZATION_SCALE, QUANTIZATION_ZERO_POINT = 0.05, 3


def cases() -> Iterator[BenchmarkCase]:
    for dtype in ("float32", "float16"):
        for name, (inputs, operation) in ARITHMETIC.items():
            moved = (inputs + 1) * SIZE // 2
            label = f"packed, {dtype}, {SIZE_NAME}"
            yield BenchmarkCase(
                name, label, partial(arithmetic, operation, inputs, dtype, "packed"), ("copy", moved)
            )
        for layout in LAYOUTS[1:]:
            operation = ARITHMETIC["ADD"][1]
            limit = None if layout == "transposed" else ("copy", SIZE)
            yield BenchmarkCase(
                "ADD",
                f"{layout}, {dtype}, {SIZE_NAME}",
                partial(arithmetic, operation, 2, dtype, layout),
                limit,
            )
        yield BenchmarkCase(
            "IF", f"packed, {dtype}, {SIZE_NAME}", partial(choice, dtype), ("copy", 3 * SIZE // 2)
        )
        for name, operation in FUNCTIONS.items():
            yield BenchmarkCase(
                name, f"packed, {dtype}, {SIZE_NAME}", partial(function, name, operation, dtype)
            )
        yield BenchmarkCase("POW", f"packed, {dtype}, {SIZE_NAME}", partial(power, dtype))
    yield BenchmarkCase(
        "ADD",
        f"packed, int8, {SIZE_NAME}",
        partial(arithmetic, ARITHMETIC["ADD"][1], 2, "int8", "packed"),
        ("copy", 3 * SIZE // 2),
    )
    for name in QUANTIZED:
        yield BenchmarkCase(name.upper(), f"uint8, {SIZE_NAME}", partial(quantization, name))
    for before, after in CONVERSIONS:
        moved = (SIZE + SIZE // np.dtype(before).itemsize * np.dtype(after).itemsize) // 2
        name = f"{before} to {after}, {SIZE_NAME}"
        yield BenchmarkCase("CAST", name, partial(conversion, before, after), ("copy", moved))
    yield BenchmarkCase("chain of ten", f"float32, {SIZE_NAME}", chain, ("copy", SIZE))
    for name, layout in product(("256 KiB", SIZE_NAME), ("rows", "columns")):
        for dtype in ("float32", "float16"):
            case = partial(bias_relu, dtype, layout, SIZES[name])
            yield BenchmarkCase("bias and RELU", f"{layout}, {dtype}, {name}", case)
    yield BenchmarkCase("SIGMOID times x", f"float32, {SIZE_NAME}", swish, ("copy", SIZE))


def arithmetic(operation: Operation, inputs: int, dtype: str, layout: str, threads: int) -> Contest:
    """With two inputs, the second is a broadcast row, a broadcast column, or transposed."""
    rows, columns = matrix(dtype, SIZE)
    arrays = [filled(dtype, (rows, columns))]
    if inputs == 2:
        shape = {
            "packed": (rows, columns),
            "rows": (1, columns),
            "columns": (rows, 1),
            "transposed": (columns, rows),
        }
        other = filled(dtype, shape[layout])
        arrays.append(np.broadcast_to(other.T if layout == "transposed" else other, (rows, columns)))
    return contest(operation, arrays, threads)


def choice(dtype: str, threads: int) -> Contest:
    shape = matrix(dtype, SIZE)
    condition = (filled("int8", shape) > 0).astype(np.uint8)
    operation = Operation(
        "element_wise_if",
        {},
        None,
        lambda c, a, b, out: torch.where(c.view(torch.bool), a, b, out=out),
    )
    return contest(operation, [condition, filled(dtype, shape), filled(dtype, shape)], threads)


def function(name: str, operation: Operation, dtype: str, threads: int) -> Contest:
    x = filled(dtype, matrix(dtype, SIZE))
    return contest(operation, [np.abs(x) if name in POSITIVE else x], threads)


def power(dtype: str, threads: int) -> Contest:
    x = filled(dtype, matrix(dtype, SIZE))
    operation = Operation("pow", {}, np.power, out_of("pow"), ("Pow", {}))
    return contest(operation, [np.abs(x), x], threads)


def conversion(before: str, after: str, threads: int) -> Contest:
    x = np.abs(filled(before, matrix(before, SIZE)))
    operation = Operation(
        "cast",
        {"output_data_type": ELEMENT[np.dtype(after)]},
        lambda x, out: np.copyto(out, x, casting="unsafe"),
        lambda x, out: out.copy_(x),
    )
    return contest(operation, [x], threads)


def quantization(name: str, threads: int) -> Contest:
    """With one scale and one zero point; the larger tensor has ``SIZE`` bytes."""
    shape = matrix("float32", SIZE)
    scale = np.array(QUANTIZATION_SCALE, np.float32)
    zero_point = np.array(QUANTIZATION_ZERO_POINT, np.uint8)
    is_quantize = name == "quantize_linear"
    x = filled("float32", shape) if is_quantize else np.abs(filled("int8", shape)).astype(np.uint8)
    operation = Operation(
        f"element_wise_{name}",
        {"output_data_type": ELEMENT[zero_point.dtype]} if is_quantize else {},
        onnx=("QuantizeLinear" if is_quantize else "DequantizeLinear", {}),
    )
    spread = [np.broadcast_to(array, shape) for array in (scale, zero_point)]
    return contest(operation, [x, *spread], threads, peer_inputs=[x, scale, zero_point])


def chain(threads: int) -> Contest:
    """``x * 2 + 1`` and RELU, five times; in PyTorch's eager mode."""
    x = filled("float32", matrix("float32", SIZE))
    graph = Graph()
    y = graph.input_tensor(0, ELEMENT[x.dtype], list(x.shape))
    for _ in range(NODES // 2):
        y = graph.activation_relu(graph.identity(y, scale_bias=SCALE_BIAS))
    ours = replayed(Session(graph.device), graph.compile([y]).operator, [x])

    def pytorch(x: Any, out: Any) -> None:
        for index in range(NODES // 2):
            scale_bias(x if index == 0 else out, out)
            torch.ops.aten.clamp_min.out(out, 0, out=out)

    return Contest(ours, {"PyTorch": torch_call(pytorch, ours.inputs, ours.outputs)})


def bias_relu(dtype: str, layout: str, size: int, threads: int) -> Contest:
    """A matrix plus a row or a column, and RELU, as a graph of two nodes."""
    rows, columns = matrix(dtype, size)
    x, bias = filled(dtype, (rows, columns)), filled(dtype, (1, columns) if layout == "rows" else (rows, 1))
    inputs, graph = [x, np.broadcast_to(bias, x.shape)], Graph()
    nodes = [
        graph.input_tensor(index, ELEMENT[x.dtype], list(array.shape), strides_of(array))
        for index, array in enumerate(inputs)
    ]
    compiled = graph.compile([graph.activation_relu(graph.add(*nodes))])
    ours = replayed(Session(graph.device), compiled.operator, inputs)

    def pytorch(x: Any, bias: Any, out: Any) -> None:
        torch.ops.aten.clamp_min.out(torch.add(x, bias, out=out), 0, out=out)

    return Contest(ours, {"PyTorch": torch_call(pytorch, ours.inputs, ours.outputs)})


def swish(threads: int) -> Contest:
    """``x * sigmoid(x)`` as a graph of two nodes, and as PyTorch's single operator."""
    x = filled("float32", matrix("float32", SIZE))
    graph = Graph()
    y = graph.input_tensor(0, ELEMENT[x.dtype], list(x.shape))
    compiled = graph.compile([graph.multiply(graph.activation_sigmoid(y), y)])
    ours = replayed(Session(graph.device), compiled.operator, [x])
    return Contest(ours, {"PyTorch": torch_call(aten("silu"), ours.inputs, ours.outputs)})
