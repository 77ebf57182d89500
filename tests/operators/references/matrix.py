"""GEMM."""

from __future__ import annotations

from typing import Any

import numpy as np

import directml_py as dml

from .activation import fused
from .onnx_node import run
from .row import DYADIC, Row


def gemm(desc: Any, a: Any, b: Any, c: Any) -> Any:
    """ONNX's Gemm is of two dimensions."""
    attributes = {
        "alpha": desc.Alpha,
        "beta": desc.Beta,
        "transA": int(desc.TransA == dml.DML_MATRIX_TRANSFORM_TRANSPOSE),
        "transB": int(desc.TransB == dml.DML_MATRIX_TRANSFORM_TRANSPOSE),
    }
    result = np.empty(desc.OutputTensor.sizes)
    for place in np.ndindex(result.shape[:-2]):
        matrices = [a[place], b[place], *([] if c is None else [c[place]])]
        (result[place],) = run("Gemm", matrices, **attributes)
    return fused(desc, result)


ROWS = {"GEMM": Row(gemm, DYADIC, samples=72)}
