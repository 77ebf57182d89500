"""Operators that generate outputs from a few numbers: fills, sequences, diagonals, random numbers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

import directml_py as dml

from .benchmark_case import LARGE, TYPES, BenchmarkCase, Contest, matrix
from .peers import onnx_call, torch, torch_call
from .replay_cost import ELEMENT, recorded, scalar, tensor


def cases() -> Iterator[BenchmarkCase]:
    for dtype in TYPES:
        name = f"{dtype}, 64 MiB"
        yield BenchmarkCase("DIAGONAL_MATRIX", f"DIAGONAL_MATRIX, {name}", partial(diagonal, dtype))
        yield BenchmarkCase("FILL_VALUE_CONSTANT", f"FILL_VALUE_CONSTANT, {name}", partial(constant, dtype))
        yield BenchmarkCase("FILL_VALUE_SEQUENCE", f"FILL_VALUE_SEQUENCE, {name}", partial(sequence, dtype))
    yield BenchmarkCase("RANDOM_GENERATOR", "RANDOM_GENERATOR, uint32, 64 MiB", random)


def diagonal(dtype: str, threads: int) -> Contest:
    sizes = matrix(dtype, LARGE)
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


def constant(dtype: str, threads: int) -> Contest:
    kind = np.dtype(dtype)
    desc = dml.DML_FILL_VALUE_CONSTANT_OPERATOR_DESC(
        OutputTensor=dml.tensor_desc(ELEMENT[kind], [LARGE // kind.itemsize]),
        ValueDataType=ELEMENT[kind],
        Value=scalar(kind, 3),
    )
    ours = recorded(desc, [])
    (out,) = ours.outputs
    return Contest(
        ours, {"NumPy": lambda: out.fill(3), "PyTorch": torch_call(lambda o: o.fill_(3), [], [out])}
    )


def sequence(dtype: str, threads: int) -> Contest:
    kind = np.dtype(dtype)
    count = LARGE // kind.itemsize
    desc = dml.DML_FILL_VALUE_SEQUENCE_OPERATOR_DESC(
        OutputTensor=dml.tensor_desc(ELEMENT[kind], [count]),
        ValueDataType=ELEMENT[kind],
        ValueStart=scalar(kind, 3),
        ValueDelta=scalar(kind, 2),
    )
    ours = recorded(desc, [])
    (out,) = ours.outputs
    peers = {
        "NumPy": lambda: np.arange(3, 3 + 2 * count, 2, dtype=np.int64).astype(kind),
        "PyTorch": torch_call(lambda o: torch.arange(3, 3 + 2 * count, 2, dtype=o.dtype, out=o), [], [out]),
    }
    return Contest(ours, peers)


def random(threads: int) -> Contest:
    count = LARGE // 4
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
