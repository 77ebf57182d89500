"""Matrix products, recurrent networks and attention."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import directml_py as dml

from .benchmark_case import BenchmarkCase, Contest, filled
from .operation import Operation, contest
from .peers import torch


class Shape(NamedTuple):
    """A batch of products {rows, depth} x {depth, columns}; ``transposed`` is the second operand's layout."""

    name: str
    batch: int
    rows: int
    depth: int
    columns: int
    transposed: bool = False

    @property
    def limit(self) -> tuple[str, int] | None:
        """The limit of the product; a single row or column is memory-bound."""
        operations = 2 * self.batch * self.rows * self.depth * self.columns
        return ("sgemm", operations) if min(self.rows, self.columns) > 1 else None


SQUARE, ROW = Shape("512", 1, 512, 512, 512), Shape("1 by 4096 by 4096", 1, 1, 4096, 4096)
SHAPES = (
    SQUARE,
    SQUARE._replace(name="512, B transposed", transposed=True),
    Shape("2048", 1, 2048, 2048, 2048),
    *(Shape(f"{size}", 1, size, size, size) for size in (96, 128, 192)),
    Shape("4096 by 64 by 4096", 1, 4096, 64, 4096),
    Shape("64 by 4096 by 64", 1, 64, 4096, 64),
    Shape("64 times 64", 64, 64, 64, 64),
    ROW,
    ROW._replace(name="1 by 4096 by 4096, B transposed", transposed=True),
    Shape("4096 by 4096 by 1", 1, 4096, 4096, 1),
)
TIME_STEPS, HIDDEN = 128, 512
HEADS, LENGTH, WIDTH = 12, 512, 64
GATES = {"lstm": 4, "gru": 3}


def cases() -> Iterator[BenchmarkCase]:
    for shape in SHAPES:
        for dtype in ("float32", "float16"):
            yield BenchmarkCase("GEMM", f"{shape.name}, {dtype}", partial(product, shape, dtype), shape.limit)
    for shape in (SQUARE, ROW):
        yield BenchmarkCase(
            "MATRIX_MULTIPLY_INTEGER", f"{shape.name}, uint8 by int8", partial(integers, shape)
        )
        yield BenchmarkCase(
            "QUANTIZED_LINEAR_MATRIX_MULTIPLY", f"{shape.name}, uint8 by int8", partial(quantized, shape)
        )
    for kind in GATES:
        for batch in (32, 1):
            name = f"{TIME_STEPS} steps, batch {batch}, hidden {HIDDEN}"
            yield BenchmarkCase(kind.upper(), name, partial(recurrent, kind, batch))
    for masks in (False, True):
        name = f"{HEADS} heads, {LENGTH} x {WIDTH}{', mask' if masks else ''}"
        yield BenchmarkCase("MULTIHEAD_ATTENTION", name, partial(attention, masks))


def factors(shape: Shape, *dtypes: str) -> list[Any]:
    right = (shape.columns, shape.depth) if shape.transposed else (shape.depth, shape.columns)
    sizes = ((1, shape.batch, shape.rows, shape.depth), (1, shape.batch, *right))
    return [filled(dtype, shape_) for dtype, shape_ in zip(dtypes, sizes)]


def product(shape: Shape, dtype: str, threads: int) -> Contest:
    a, b = factors(shape, dtype, dtype)
    is_transposed = shape.transposed
    operation = Operation(
        "gemm",
        {"trans_a": 0, "trans_b": int(is_transposed), "alpha": 1.0, "beta": 0.0},
        (lambda a, b, out: np.matmul(a, b.swapaxes(2, 3) if is_transposed else b, out=out))
        if dtype == "float32"
        else None,
        lambda a, b, out: torch.matmul(a, b.mT if is_transposed else b, out=out),
        None if is_transposed else ("MatMul", {}),
    )
    return contest(operation, [a, b], threads)


def single(value: Any) -> Any:
    return np.array(value).reshape(1, 1, 1, 1)


def integers(shape: Shape, threads: int) -> Contest:
    """An integer product with two zero points."""
    zeros = np.uint8(120), np.int8(-3)
    a, b = factors(shape, "uint8", "int8")
    ours = {"a": a, "a_zero_point": single(zeros[0]), "b": b, "b_zero_point": single(zeros[1])}
    operation = Operation("matrix_multiply_integer", onnx=("MatMulInteger", {}))
    return contest(operation, [], threads, [a, b, *map(np.array, zeros)], ours)


def quantized(shape: Shape, threads: int) -> Contest:
    scale, zeros = np.float32(0.05), (np.uint8(120), np.int8(0), np.uint8(3))
    a, b = factors(shape, "uint8", "int8")
    operation = Operation("quantized_linear_matrix_multiply", onnx=("QLinearMatMul", {}))
    ours = {}
    for name, array, zero in zip(("a", "b", "output"), (a, b, None), zeros):
        if array is not None:
            ours[name] = array
        ours |= {f"{name}_scale": single(scale), f"{name}_zero_point": single(zero)}
    onnx_inputs = [operand if operand.size > 1 else operand.reshape(()) for operand in ours.values()]
    return contest(operation, [], threads, onnx_inputs, ours)


def recurrent(kind: str, batch: int, threads: int) -> Contest:
    """A recurrent layer. The gate order differs between peers, which does not affect the cost."""
    height = GATES[kind] * HIDDEN
    x = filled("float32", (1, TIME_STEPS, batch, HIDDEN))
    weights, recurrence = (filled("float32", (1, 1, height, HIDDEN)) / 32 for _ in range(2))
    sigmoid, tanh = dml.DML_ACTIVATION_SIGMOID_OPERATOR_DESC(), dml.DML_ACTIVATION_TANH_OPERATOR_DESC()

    def pytorch() -> Callable[..., object]:
        made = getattr(torch.nn, kind.upper())(HIDDEN, HIDDEN, bias=False)
        return torch.inference_mode()(lambda x, weights, recurrence, out: made(x))  # type: ignore[no-any-return]

    common = {
        "direction": dml.DML_RECURRENT_NETWORK_DIRECTION_FORWARD,
        "output_sequence": True,
        "output_single": False,
    }
    attributes: dict[str, dict[str, Any]] = {
        "lstm": {
            "activation_descs": [sigmoid, tanh, tanh],
            "clip_threshold": 0.0,
            "use_clip_threshold": False,
            "couple_input_forget": False,
            "output_cell_single": False,
        },
        "gru": {"activation_descs": [sigmoid, tanh], "linear_before_reset": True},
    }
    node: dict[str, dict[str, Any]] = {"lstm": {}, "gru": {"linear_before_reset": 1}}
    operation = Operation(
        kind,
        {**common, **attributes[kind]},
        None,
        None if torch is None else pytorch(),
        (kind.upper(), {"hidden_size": HIDDEN, **node[kind]}),
    )
    return contest(operation, [x, weights, recurrence], threads, [x[0], weights[0], recurrence[0]])


def attention(masks: bool, threads: int) -> Contest:
    """Multi-head attention. With ``masks`` a third of the keys is masked for each query."""
    arrays = [filled("float32", (1, LENGTH, HEADS * WIDTH)) for _ in range(3)]
    distances = np.add.outer(np.arange(LENGTH), np.arange(LENGTH))
    mask = np.tile((distances % 3 > 0).astype(np.int32), (1, HEADS, 1, 1))
    visible = None if torch is None or not masks else torch.from_numpy(mask != 0)

    def pytorch(*tensors: Any) -> None:
        parts = [one.view(1, LENGTH, HEADS, WIDTH).transpose(1, 2) for one in tensors[:3]]
        torch.nn.functional.scaled_dot_product_attention(*parts, visible)

    types = dml.DML_MULTIHEAD_ATTENTION_MASK_TYPE_NONE, dml.DML_MULTIHEAD_ATTENTION_MASK_TYPE_BOOLEAN
    operation = Operation(
        "multihead_attention",
        {"scale": WIDTH**-0.5, "mask_filter_value": -1e4, "head_count": HEADS, "mask_type": types[masks]},
        None,
        pytorch,
    )
    return contest(operation, arrays, threads, others={"mask": mask} if masks else {})
