"""Devices: bindings, initialization and results of ``compute``."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest

from directml_py import pydirectml as dml

from ..observation import observed

FLOAT32, OWNED = dml.TensorDataType.FLOAT32, dml.TensorFlags.OWNED_BY_DML


def sum_of_three(device):
    """x + owned + more, of which only the middle input is owned by the model."""
    builder = dml.GraphBuilder(device)
    x = dml.input_tensor(builder, 0, dml.TensorDesc(FLOAT32, [1, 1, 1, 3]))
    owned = dml.input_tensor(builder, 1, dml.TensorDesc(FLOAT32, OWNED, [1, 1, 1, 3]))
    more = dml.input_tensor(builder, 2, dml.TensorDesc(FLOAT32, [1, 1, 1, 3], [1, 1, 1, 0]))
    return builder, [x, owned, more], x + owned + more


def test_names():
    assert repr(dml.Device()) == "dml.Device on GPU"
    assert repr(dml.Device(use_gpu=False)) == "dml.Device on CPU"


@pytest.mark.parametrize("is_observed", [False, True])
def test_owned_inputs_are_read_at_each_call(device, is_observed):
    with observed() if is_observed else nullcontext():
        owned_inputs(device)


def owned_inputs(device):
    builder, inputs, total = sum_of_three(device)
    model = builder.build(dml.ExecutionFlags.NONE, [total])
    for x, owned, more in ([1, 2, 3], [10, 20, 30], 5), ([1, 1, 1], [7, 8, 9], 0), ([2, 2, 2], [7, 8, 9], 1):
        bindings = [dml.Binding(one, value) for one, value in zip(inputs, (x, owned, [more]))]
        for _ in range(2):
            (found,) = device.compute(model, bindings, [total])
            assert found.tolist() == [[[[a + b + more for a, b in zip(x, owned)]]]]


def test_bindings_copy(device):
    builder, inputs, total = sum_of_three(device)
    model = builder.build(dml.ExecutionFlags.NONE, [total])
    x = np.ones(3, np.float32)
    bindings = [dml.Binding(one, value) for one, value in zip(inputs, (x, x, x[:1]))]
    x[:] = 9
    assert device.compute(model, bindings, [total])[0].ravel().tolist() == [3, 3, 3]


def test_what_a_binding_takes(device):
    builder = dml.GraphBuilder(device)
    x = dml.input_tensor(builder, 0, dml.TensorDesc(FLOAT32, [2, 2]))
    same = dml.activation_identity(x)
    model = builder.build(dml.ExecutionFlags.NONE, [same])
    square = np.arange(16).reshape(4, 4)
    for data, wanted in [
        ([[1, 2], [3, 4]], [1, 2, 3, 4]),
        (np.array([1, 2, 3, 4], np.int8), [1, 2, 3, 4]),
        (square[::2, ::3], [0, 3, 8, 11]),
        (square.T, [0, 4, 8, 12]),
        ([True, False, True, True], [1, 0, 1, 1]),
    ]:
        assert device.compute(model, [dml.Binding(x, data)], [same])[0].ravel().tolist() == wanted
    with pytest.raises(ValueError, match=r"data has 12 bytes; .* needs 16"):
        dml.Binding(x, [1, 2, 3])
    with pytest.raises(TypeError, match="expr must be an Expression"):
        dml.Binding([1], x)


def test_absent_outputs_and_memory_that_nobody_writes(device):
    builder = dml.GraphBuilder(device)
    x = dml.input_tensor(builder, 0, dml.TensorDesc(FLOAT32, [2, 2]))
    outputs = [x + 1, x * 2]
    model = builder.build(dml.ExecutionFlags.NONE, outputs)
    both = device.compute(model, [dml.Binding(x, [1, 2, 3, 4])], outputs)
    assert [one.tolist() for one in both] == [[[2, 3], [4, 5]], [[2, 4], [6, 8]]]


def test_wrong_counts_and_kinds(device):
    builder, inputs, total = sum_of_three(device)
    with pytest.raises(TypeError, match="flags must be an ExecutionFlags, not int"):
        builder.build(0, [total])
    model = builder.build(dml.ExecutionFlags.NONE, [total])
    with pytest.raises(RuntimeError, match="inputs has 1 binding; the model has 3 inputs"):
        device.compute(model, [dml.Binding(inputs[0], [1, 2, 3])], [total])
    with pytest.raises(TypeError, match=r"inputs\[0\] must be a Binding, not list"):
        device.compute(model, [[1, 2, 3]], [total])
    with pytest.raises(RuntimeError, match="outputs has 2 expressions; the model has 1"):
        device.compute(model, [dml.Binding(one, [1, 2, 3]) for one in inputs], [total, total])
    with pytest.raises(
        RuntimeError, match=r"inputs has no binding for GraphInputs\[0\], which the model reads"
    ):
        device.compute(model, [None, *(dml.Binding(one, [1, 2, 3]) for one in inputs[1:])], [total])
    # The device goes on.
    bindings = [dml.Binding(one, [1, 2, 3]) for one in inputs]
    assert device.compute(model, bindings, [total])[0].ravel().tolist() == [3, 5, 7]


def test_other_types(device):
    """Microsoft's build reads beyond the memory of 16-bit results."""
    builder = dml.GraphBuilder(device)
    half = dml.TensorDataType.FLOAT16
    x = dml.input_tensor(builder, 0, dml.TensorDesc(half, [1, 1, 1, 3]))
    twice = x + x
    model = builder.build(dml.ExecutionFlags.NONE, [twice])
    for data in ([0.5, 1, 2], np.array([0.5, 1, 2], np.float16), np.array([0.5, 1, 2])):
        (found,) = device.compute(model, [dml.Binding(x, data)], [twice])
        assert (found.dtype, found.ravel().tolist()) == (np.float16, [1, 2, 4])
