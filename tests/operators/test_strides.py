"""Strided and padded tensors: which bytes may be written, and that inputs are unchanged."""

from __future__ import annotations

import numpy as np
import pytest

import directml_py as dml

from .dispatch import FILL, Dispatch
from .helpers import INCREASING, function, tensor

# Padding beyond the minimum: bytes of the tensor after its last element.
EXTRA = 64


def strided(name, sizes, strides):
    """A tensor whose TotalTensorSizeInBytes is larger than it need be."""
    least = dml.TensorDesc(dml.DML_TENSOR_DATA_TYPE[f"DML_TENSOR_DATA_TYPE_{name}"], sizes, strides)
    return tensor(name, sizes, list(strides), total_size=least.minimum_size + EXTRA)


def counted(sizes, dtype):
    return (np.arange(np.prod(sizes)) % 7 + 1).astype(dtype).reshape(sizes)


def join(name):
    desc = dml.DML_JOIN_OPERATOR_DESC(
        InputTensors=[strided(name, (2, 1), (3, 5)), strided(name, (2, 2), (1, 3))],
        OutputTensor=strided(name, (2, 3), (2, 5)),
        Axis=1,
    )
    a, b = counted((2, 1), name.lower()), counted((2, 2), name.lower())
    return desc, [a, b], [np.concatenate([a, b], 1)]


def split(name):
    desc = dml.DML_SPLIT_OPERATOR_DESC(
        InputTensor=strided(name, (2, 3), (1, 3)),
        OutputTensors=[strided(name, (2, 1), (3, 5)), strided(name, (2, 2), (2, 5))],
        Axis=1,
    )
    x = counted((2, 3), name.lower())
    return desc, [x], [x[:, :1], x[:, 1:]]


def reduce(name, operation, expected):
    desc = dml.DML_REDUCE_OPERATOR_DESC(
        Function=function(operation),
        InputTensor=strided(name, (3, 2), (5, 2)),
        OutputTensor=strided(name, (1, 2), (9, 3)),
        Axes=[0],
    )
    x = np.array([[1, 6], [2, 5], [3, 4]], name.lower())
    return desc, [x], [np.array([expected], name.lower())]


def arg(struct, expected):
    desc = struct(
        InputTensor=strided("INT8", (3, 2), (5, 2)),
        OutputTensor=strided("UINT32", (1, 2), (9, 3)),
        Axes=[0],
        AxisDirection=INCREASING,
    )
    return desc, [np.array([[1, 6], [3, 4], [2, 5]], np.int8)], [np.array([expected], np.uint32)]


def gather(name):
    desc = dml.DML_GATHER_OPERATOR_DESC(
        InputTensor=strided(name, (3, 2), (1, 4)),
        IndicesTensor=strided("INT32", (1, 2), (7, 3)),
        OutputTensor=strided(name, (2, 2), (3, 7)),
        Axis=0,
        IndexDimensions=1,
    )
    x = counted((3, 2), name.lower())
    return desc, [x, np.array([[-1, 0]], np.int32)], [x[[2, 0]]]


def identity(name, scale_bias=None):
    desc = dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(
        InputTensor=strided(name, (2, 3), (9, 2)),
        OutputTensor=strided(name, (2, 3), (1, 4)),
        ScaleBias=scale_bias and dml.DML_SCALE_BIAS(*scale_bias),
    )
    x = counted((2, 3), name.lower())
    return desc, [x], [x if scale_bias is None else (x * scale_bias[0] + scale_bias[1]).astype(x.dtype)]


CASES = {
    "join bytes": join("UINT8"),
    "join": join("FLOAT64"),
    "split halves": split("FLOAT16"),
    "split": split("INT64"),
    "sum": reduce("FLOAT32", "SUM", [6, 15]),
    "sum of halves": reduce("FLOAT16", "SUM", [6, 15]),
    "L1 of integers": reduce("INT32", "L1", [6, 15]),
    "sum of squares": reduce("FLOAT32", "SUM_SQUARE", [14, 77]),
    "minimum of bytes": reduce("INT8", "MIN", [1, 4]),
    "product": reduce("INT32", "MULTIPLY", [6, 120]),
    "average": reduce("FLOAT32", "AVERAGE", [2, 5]),
    "log sum exp": reduce(
        "FLOAT32", "LOG_SUM_EXP", np.log(np.exp([1.0, 6]) + np.exp([2.0, 5]) + np.exp([3.0, 4]))
    ),
    "argmax": arg(dml.DML_ARGMAX_OPERATOR_DESC, [1, 0]),
    "argmin": arg(dml.DML_ARGMIN_OPERATOR_DESC, [0, 1]),
    "gather bytes": gather("INT8"),
    "gather": gather("FLOAT32"),
    "identity": identity("INT16"),
    "scale of halves": identity("FLOAT16", (2, 1)),
    "scale of integers": identity("INT32", (3, -1)),
}


@pytest.mark.parametrize("case", CASES)
def test_memory_around_the_elements(case):
    desc, arrays, expected = CASES[case]
    run = Dispatch(desc, arrays)
    assert len(run.outputs) == len(expected)
    for output, wanted in zip(run.outputs, expected):
        np.testing.assert_array_equal(output.array, wanted, strict=True)
        assert np.all(output.outside == FILL)
    for memory, before, array in zip(run.inputs, run.before, arrays):
        assert memory.bytes.tobytes() == before.tobytes()
        np.testing.assert_array_equal(memory.array, array, strict=True)


@pytest.mark.parametrize(
    "case", ["sum", "scale of halves", "scale of integers", "log sum exp", "L1 of integers"]
)
def test_packed_inputs_are_not_computed_in_place(case):
    """A view of a packed input, unlike one of a strided input, could be reshaped and overwritten."""
    desc, arrays, _ = CASES[case]
    x = -arrays[0]
    packed = type(desc).from_buffer_copy(desc)
    packed.InputTensor = tensor(x.dtype.name.upper(), x.shape)
    run = Dispatch(packed, [x])
    assert run.inputs[0].bytes.tobytes() == run.before[0].tobytes()
    assert np.all(run.outputs[0].outside == FILL)
