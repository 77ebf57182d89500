"""The operators and tensors that the benchmark uses."""

from __future__ import annotations

from collections.abc import Sequence

import directml_py as dml
from directml_py.dml import IDMLDevice1

FLOAT32 = dml.DML_TENSOR_DATA_TYPE_FLOAT32


def join_desc(*widths: int) -> dml.DML_JOIN_OPERATOR_DESC:
    """A JOIN of small tensors of these widths."""
    return dml.DML_JOIN_OPERATOR_DESC(
        InputTensors=[dml.tensor_desc(FLOAT32, [1, 1, 2, width]) for width in widths],
        OutputTensor=dml.tensor_desc(FLOAT32, [1, 1, 2, sum(widths)]),
        Axis=3,
    )


def scale_desc(sizes: Sequence[int]) -> dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC:
    """A node that computes, so that a graph cannot fold it away."""
    x = dml.tensor_desc(FLOAT32, sizes)
    return dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(x, x, dml.DML_SCALE_BIAS(1.0, 1.0))


def device() -> IDMLDevice1:
    made = dml.DMLCreateDevice(dml.D3D12CreateDevice())
    assert isinstance(made, IDMLDevice1)
    return made
