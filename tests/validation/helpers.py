"""Descs that several tests break."""

from __future__ import annotations

import directml_py as dml

LATEST = dml.DML_FEATURE_LEVEL_6_4
MOST = (1 << 32) - 1
WILD = 0xDEAD0000


def type_of(name):
    return dml.DML_TENSOR_DATA_TYPE[f"DML_TENSOR_DATA_TYPE_{name}"]


def tensor(sizes=(2, 3), kind="FLOAT32", **fields):
    return dml.tensor_desc(type_of(kind) if isinstance(kind, str) else kind, sizes, **fields)


def identity(x=None, y=None):
    """Input and output of ELEMENT_WISE_IDENTITY; by default what the other is, or FLOAT32 {2,3}."""
    x, y = x or y or tensor(), y or x or tensor()
    return dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(x, y)


def cast(x=None, y=None, sizes=(2, 3)):
    """CAST, whose tensors may differ in everything except sizes; omitted tensors are FLOAT32 of these sizes."""
    return dml.DML_CAST_OPERATOR_DESC(x or tensor(sizes), y or tensor(sizes))


def gemm(**fields):
    """A product of square matrices, which may be transposed."""
    values = dict.fromkeys(("ATensor", "BTensor", "OutputTensor"), tensor((3, 3)))
    return dml.DML_GEMM_OPERATOR_DESC(**{**values, **fields})


def reduce(**fields):
    values = {
        "Function": dml.DML_REDUCE_FUNCTION_SUM,
        "InputTensor": tensor((2, 3)),
        "OutputTensor": tensor((2, 1)),
        "Axes": [1],
    }
    return dml.DML_REDUCE_OPERATOR_DESC(**{**values, **fields})


def join(inputs, output, axis=0):
    return dml.DML_JOIN_OPERATOR_DESC(InputTensors=inputs, OutputTensor=output, Axis=axis)


def with_buffer(**fields):
    """A tensor whose buffer desc differs in the fields given."""
    values = {"DataType": 1, "DimensionCount": 2, "Sizes": [2, 3], "TotalTensorSizeInBytes": 24}
    return dml.DML_TENSOR_DESC(1, dml.DML_BUFFER_TENSOR_DESC(**{**values, **fields}))


def fill(data_type, kind="FLOAT32"):
    return dml.DML_FILL_VALUE_CONSTANT_OPERATOR_DESC(tensor(kind=kind), data_type, dml.DML_SCALAR_UNION())


def fused(**fields):
    return gemm(FusedActivation=dml.DML_ACTIVATION_RELU_OPERATOR_DESC(**fields))
