"""``directml``, compatible with aisk/PyDirectML."""

from __future__ import annotations

import math

import numpy as np
import pytest

from directml_py.pydirectml import fork as dml

FLOAT32, OWNED = dml.TensorDataType.FLOAT32, dml.TensorFlags.OWNED_BY_DML
TYPES = [kind for kind in dml.TensorDataType.__members__.values() if kind.name != "UNKNOWN"]


@pytest.fixture
def device():
    return dml.Device(use_gpu=True)


def identity(device, kind, sizes, flags=dml.TensorFlags.NONE):
    builder = dml.GraphBuilder(device)
    x = dml.input_tensor(builder, 0, dml.TensorDesc(kind, flags, sizes))
    same = dml.activation_identity(x) if kind.name.startswith("FLOAT") else dml.join([x], 0)
    return builder.build(dml.ExecutionFlags.NONE, [same]), x, same


@pytest.mark.parametrize("kind", [one for one in TYPES if one.name != "FLOAT64"], ids=lambda one: one.name)
def test_types_are_kept(device, kind):
    model, x, same = identity(device, kind, [1, 1, 1, 3])
    (found,) = device.compute(model, [dml.Binding(x, np.array([1, 2, 3], kind.name.lower()))], [same])
    assert (found.dtype.name, found.ravel().tolist()) == (kind.name.lower(), [1, 2, 3])


@pytest.mark.parametrize(
    ("dtype", "size", "said"),
    [
        ("float64", 4, None),
        ("uint8", 4, None),
        ("float32", 3, None),
        ("int32", 4, "cannot bind a int32 array to a float32 tensor; convert it explicitly"),
        ("float32", 6, "array of 24 bytes does not fit a tensor of 16 bytes"),
    ],
)
def test_what_a_binding_takes(device, dtype, size, said):
    model, x, same = identity(device, FLOAT32, [2, 2])
    data = np.arange(1, size + 1).astype(dtype)
    if said is None:
        (found,) = device.compute(model, [dml.Binding(x, data)], [same])
        assert found.ravel().tolist() == [*range(1, size + 1), 0][:4]
    else:
        with pytest.raises(ValueError, match=said):
            dml.Binding(x, data)


def test_initialized_once(device):
    model, x, same = identity(device, FLOAT32, [3], OWNED)
    first, second = dml.Binding(x, np.ones(3)), dml.Binding(x, np.full(3, 2.0))
    with pytest.raises(ValueError, match="must be initialized before it is dispatched"):
        device.dispatch(model, [first], [same])
    assert device.compute(model, [first], [same])[0].tolist() == [1, 1, 1]
    assert device.compute(model=model, inputs=[second], outputs=[same])[0].tolist() == [1, 1, 1]
    device.initialize(model, [second])
    second.release_data()
    assert device.dispatch(model=model, inputs=[second], outputs=[same])[0].tolist() == [2, 2, 2]


def test_released_data_that_is_needed(device):
    model, x, same = identity(device, FLOAT32, [3])
    binding = dml.Binding(x, np.ones(3))
    device.initialize(model, [binding])
    binding.release_data()
    with pytest.raises(ValueError, match="released"):
        device.dispatch(model, [binding], [same])


def test_functions_with_other_arguments(device):
    x = np.random.default_rng(3).standard_normal((2, 3, 4, 5)).astype(np.float32)
    builder = dml.GraphBuilder(device)
    source = dml.input_tensor(builder, 0, dml.TensorDesc(FLOAT32, list(x.shape)))
    outputs = [
        dml.activation_softmax(source, axes=[1, 3]),
        dml.activation_gelu(source),
        dml.average_pooling(source, [1, 1], [2, 2], [0, 0], [0, 0], [1, 2], False),
        dml.mean_variance_normalization(source, None, None, [3], True, False, 0.5),
    ]
    model = builder.build(dml.ExecutionFlags.NONE, outputs)
    softmax, gelu, pooled, normalized = map(
        np.array, device.compute(model, [dml.Binding(source, x)], outputs)
    )
    powers = np.exp(x)
    np.testing.assert_allclose(softmax, powers / powers.sum((1, 3), keepdims=True), rtol=1e-5)
    halves = [0.5 * one * (1 + math.erf(one / math.sqrt(2))) for one in x.ravel().tolist()]
    np.testing.assert_allclose(gelu.ravel(), halves, rtol=1e-4, atol=1e-6)
    windows = [x[:, :, row : row + 3, column : column + 3] for row in (0, 1) for column in (0, 2)]
    np.testing.assert_allclose(pooled, sum(windows) / 4, rtol=1e-4, atol=1e-6)
    # Without its mean, the variance is that of the squares.
    np.testing.assert_allclose(
        normalized, x / np.sqrt((x**2).mean(3, keepdims=True) + 0.5), rtol=1e-4, atol=1e-5
    )


def test_names():
    assert not hasattr(dml, "FLOAT32")
    assert not hasattr(dml, "activation_soft_max")
    assert not hasattr(dml, "Dimensions")
