"""A device of ``pydirectml``, and graphs of one function on it."""

from __future__ import annotations

import numpy as np
import pytest

from directml_py import pydirectml as dml


@pytest.fixture
def device():
    return dml.Device()


@pytest.fixture
def run(device):
    """``run(function, *arrays)``: build a graph with an input per array, and compute the function's expressions."""

    def run(function, *arrays):
        builder = dml.GraphBuilder(device)
        inputs = [
            dml.input_tensor(builder, index, dml.TensorDesc(dml.TensorDataType.FLOAT32, list(array.shape)))
            for index, array in enumerate(arrays)
        ]
        outputs = function(*inputs)
        outputs = outputs if isinstance(outputs, list) else [outputs]
        model = builder.build(dml.ExecutionFlags.NONE, outputs)
        bindings = [dml.Binding(one, array) for one, array in zip(inputs, arrays)]
        found = [np.array(one) for one in device.compute(model, bindings, outputs)]
        return found[0] if len(found) == 1 else found

    return run
