"""Pools with strides of 0: all steps along such a dimension see what the first one does."""

from __future__ import annotations

import numpy as np
import pytest

import directml_py as dml
from directml_py.descs.decode import decode_operator_desc
from directml_py.operators import kernel_of, operator_of
from directml_py.operators.operator import computing_kernel
from directml_py.operators.window.pooling import pool_window, pooled_sizes

from .helpers import tensor

AVERAGES = (dml.DML_AVERAGE_POOLING_OPERATOR_DESC, dml.DML_AVERAGE_POOLING1_OPERATOR_DESC)
NORMS = (dml.DML_LP_POOLING_OPERATOR_DESC, dml.DML_LP_POOLING1_OPERATOR_DESC)
MAXIMA = (
    dml.DML_MAX_POOLING_OPERATOR_DESC,
    dml.DML_MAX_POOLING1_OPERATOR_DESC,
    dml.DML_MAX_POOLING2_OPERATOR_DESC,
)
DILATED = (AVERAGES[1], NORMS[1], MAXIMA[2])
# Rows 3 4 0, 6 8 0, 0 0 5.
X = np.array([[[[3, 4, 0], [6, 8, 0], [0, 0, 5]]]], np.float32)
# What a window of two by one finds in rows 0 and 1, for each column: the mean, the root of the squares, the maximum.
COLUMNS = {
    AVERAGES: [4.5, 6.0, 0.0],
    NORMS: [45**0.5, 80**0.5, 0.0],
    MAXIMA: [6.0, 8.0, 0.0],
}
KINDS = [(kind, columns) for kinds, columns in COLUMNS.items() for kind in kinds]


def pool(kind, steps, strides, x=(1, 1, 3, 3), **rest):
    fields = {
        "WindowSize": [2, 1],
        "Strides": strides,
        "StartPadding": [0, 0],
        "EndPadding": [0, 0],
        **({"Dilations": [1, 1]} if kind in DILATED else {}),
        **({"IncludePadding": False} if kind in AVERAGES else {}),
        **({"P": 2} if kind in NORMS else {}),
        **rest,
    }
    return kind(InputTensor=tensor("FLOAT32", x), OutputTensor=tensor("FLOAT32", (*x[:2], *steps)), **fields)


def dispatches(desc, inputs):
    """The results of its kernel and its reference."""
    decoded = decode_operator_desc(desc).desc
    for kernel in (kernel_of(decoded), computing_kernel(operator_of(decoded.name).compute(decoded))):
        tensors = [slot.tensor for slot in decoded.outputs]
        outputs = [None if one is None else np.full(one.sizes, 77, one.dtype) for one in tensors]
        kernel.bind(inputs, outputs, np.empty(kernel.scratch, np.uint8))()
        yield outputs


@pytest.mark.parametrize(("kind", "columns"), KINDS)
def test_every_row_is_the_first(kind, columns):
    desc = pool(kind, (4, 3), [0, 1])
    (warning,) = dml.validate(desc, strict=True)
    assert (warning.rule, warning.path) == (f"DML-{kind.__name__[4:-14]}-strides", "Strides[0]")
    assert not dml.validate(desc)
    found = dml.evaluate(desc, [X])[0]
    np.testing.assert_allclose(found[0, 0], [columns] * 4, rtol=1e-6)


@pytest.mark.parametrize(("kind", "columns"), KINDS)
def test_a_window_that_moves_nowhere(kind, columns):
    for output, *_ in dispatches(pool(kind, (2, 5), [0, 0]), [X]):
        np.testing.assert_allclose(output[0, 0], [columns[:1] * 5] * 2, rtol=1e-6)


def test_indices_are_those_of_the_first_step():
    indices = tensor("UINT32", (1, 1, 2, 4))
    desc = pool(MAXIMA[1], (2, 4), [1, 0], OutputIndicesTensor=indices)
    for values, places in dispatches(desc, [X]):
        assert values.tolist() == [[[[6.0] * 4] * 2]]
        assert places.tolist() == [[[[3] * 4] * 2]]


def test_padding_counts_in_every_step():
    """Above the first row is padding: the mean of it and of 3, 4 and 0."""
    desc = pool(AVERAGES[0], (3, 3), [0, 1], StartPadding=[1, 0], IncludePadding=True)
    for (output,) in dispatches(desc, [X]):
        assert output.tolist() == [[[[1.5, 2.0, 0.0]] * 3]]


def test_channels_of_a_strided_output():
    x = np.concatenate([X, 2 * X], axis=1)
    desc = pool(MAXIMA[0], (2, 3), [0, 1], x=(1, 2, 3, 3))
    desc.OutputTensor = tensor("FLOAT32", (1, 2, 2, 3), [24, 12, 6, 2])
    (output,) = dml.evaluate(desc, [x])
    assert output.tolist() == [[[[6.0, 8.0, 0.0]] * 2, [[12.0, 16.0, 0.0]] * 2]]


def test_quantized_averages():
    one, zero = tensor("FLOAT32", (1, 1, 1, 1)), tensor("UINT8", (1, 1, 1, 1))
    desc = dml.DML_QUANTIZED_LINEAR_AVERAGE_POOLING_OPERATOR_DESC(
        InputTensor=tensor("UINT8", (1, 1, 3, 3)),
        InputScaleTensor=one,
        InputZeroPointTensor=zero,
        OutputScaleTensor=one,
        OutputZeroPointTensor=zero,
        OutputTensor=tensor("UINT8", (1, 1, 3, 2)),
        Strides=[0, 1],
        WindowSize=[2, 2],
        StartPadding=[0, 0],
        EndPadding=[0, 0],
        Dilations=[1, 1],
        IncludePadding=False,
    )
    scale, none = np.ones((1, 1, 1, 1), np.float32), np.zeros((1, 1, 1, 1), np.uint8)
    x = np.array([[[[1, 3, 9], [5, 7, 1], [0, 0, 0]]]], np.uint8)
    for (output,) in dispatches(desc, [x, scale, none, scale, none]):
        assert output.tolist() == [[[[4, 5]] * 3]]


@pytest.mark.parametrize(
    ("strides", "own", "expected"),
    [
        # The page's formula for the columns, (9 - 2) / 2 + 1 rounded down or up; one row, unless the desc has more.
        ([0, 2], None, (1, 1, 1, 4)),
        ([0, 2], (1, 1, 7, 4), (1, 1, 7, 4)),
        ([0, 2], (1, 1, 7, 5), (1, 1, 7, 5)),
        ([0, 2], (1, 1, 7, 6), (1, 1, 7, 4)),
    ],
)
def test_sizes(strides, own, expected):
    desc = decode_operator_desc(pool(MAXIMA[0], (7, 4), strides, x=(1, 1, 3, 9), WindowSize=[2, 2])).desc
    assert pooled_sizes(pool_window(desc), (1, 1, 3, 9), own) == expected


def test_gradients_need_steps():
    desc = dml.DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC(
        InputGradientTensor=tensor("FLOAT32", (1, 1, 2, 2)),
        OutputGradientTensor=tensor("FLOAT32", (1, 1, 3, 3)),
        Strides=[0, 1],
        WindowSize=[2, 2],
        StartPadding=[0, 0],
        EndPadding=[0, 0],
        IncludePadding=False,
    )
    assert [found.rule for found in dml.validate(desc)] == ["DML-AVERAGE_POOLING_GRAD-strides"]
