"""Operators and tensors for the benchmarks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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


def convolution_desc(height: int) -> dml.DML_CONVOLUTION_OPERATOR_DESC:
    """A convolution of small images, with a bias."""
    sizes = {"InputTensor": [1, 3, height + 2, 8], "FilterTensor": [4, 3, 3, 3], "BiasTensor": [1, 4, 1, 1]}
    tensors: dict[str, Any] = {name: dml.tensor_desc(FLOAT32, shape) for name, shape in sizes.items()}
    return dml.DML_CONVOLUTION_OPERATOR_DESC(
        **tensors,
        OutputTensor=dml.tensor_desc(FLOAT32, [1, 4, height, 6]),
        Mode=dml.DML_CONVOLUTION_MODE_CROSS_CORRELATION,
        Direction=dml.DML_CONVOLUTION_DIRECTION_FORWARD,
        Strides=[1, 1],
        Dilations=[1, 1],
        StartPadding=[0, 0],
        EndPadding=[0, 0],
        OutputPadding=[0, 0],
        GroupCount=1,
    )


def scale_desc(sizes: Sequence[int]) -> dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC:
    """An identity with a scale, which a graph cannot elide."""
    x = dml.tensor_desc(FLOAT32, sizes)
    return dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(x, x, dml.DML_SCALE_BIAS(1.0, 1.0))


def device() -> IDMLDevice1:
    made = dml.DMLCreateDevice(dml.D3D12CreateDevice())
    assert isinstance(made, IDMLDevice1)
    return made
