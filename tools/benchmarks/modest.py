"""Short work over 256 KiB, for which the overhead of calls and threads matters."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from .benchmark_case import SIZES, BenchmarkCase, Contest, filled, matrix
from .mapping import ARITHMETIC, FUNCTIONS, POSITIVE
from .matrices import Shape, product
from .operation import Operation, contest
from .softmax_normalization import softmax

SIZE_NAME = "256 KiB"
SIZE = SIZES[SIZE_NAME]
PRODUCT = Shape("64", 1, 64, 64, 64)


def cases() -> Iterator[BenchmarkCase]:
    operations = {**ARITHMETIC, **{name: (1, operation) for name, operation in FUNCTIONS.items()}}
    for name, (inputs, operation) in operations.items():
        yield BenchmarkCase(name, f"packed, float32, {SIZE_NAME}", partial(elements, name, operation, inputs))
    yield BenchmarkCase(
        "SOFTMAX", f"trailing, float32, {SIZE_NAME}", partial(softmax, "softmax", "float32", SIZE)
    )
    yield BenchmarkCase(
        "GEMM", f"{PRODUCT.name}, float32, below {SIZE_NAME}", partial(product, PRODUCT, "float32")
    )


def elements(name: str, operation: Operation, inputs: int, threads: int) -> Contest:
    x = filled("float32", matrix("float32", SIZE))
    return contest(operation, [np.abs(x) if name in POSITIVE else x] * inputs, threads)
