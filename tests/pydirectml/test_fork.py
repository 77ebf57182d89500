"""``directml``, compatible with aisk/PyDirectML."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest

from directml_py.pydirectml import fork as dml
from directml_py.pydirectml.pybind_arguments import REQUIRED

from .fork_names import CLASSES, FUNCTIONS, entries

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


def test_functions_and_their_parameters():
    for name, text in entries(FUNCTIONS):
        positional, _, keywords = text.partition("|")
        own = inspect.signature(getattr(dml, name)).parameters
        if name == "reinterpret":
            # It takes pydirectml's parameters, too, and says so by its own.
            assert positional.split() == ["input", "sizes", "strides?", "dtype?"]
            continue
        names = [one.rstrip("?") for one in (positional + keywords).split()]
        assert set(names) <= own.keys(), name
        assert list(own)[: len(positional.split())] == names[: len(positional.split())], name
        for one in (positional + keywords).split():
            default = own[one.rstrip("?")].default
            assert not one.endswith("?") or default not in (inspect.Parameter.empty, REQUIRED), (name, one)


def test_classes_and_their_members():
    for name, members in entries(CLASSES):
        kind = getattr(dml, name)
        assert [one for one in members.split() if not hasattr(kind, one)] == [], name


def test_fused_activations_by_name():
    assert dml.FusedActivation(dml.OperatorType.ACTIVATION_GELU).desc == dml.FusedActivation.gelu().desc
    assert dml.FusedActivation(dml.OperatorType.INVALID).desc is dml.FusedActivation.none().desc is None
    with pytest.raises(AttributeError, match="FusedActivation has no activation 'swish'"):
        _ = dml.FusedActivation.swish
    linear = dml.FusedActivation.linear(2, beta=3).desc
    assert (linear.name, linear.Alpha, linear.Beta) == ("ACTIVATION_LINEAR", 2, 3)
    assert list(inspect.signature(dml.FusedActivation.shrink).parameters) == ["bias", "threshold"]
    for _, members in (one for one in entries(CLASSES) if one[0] == "FusedActivation"):
        for name in set(members.split()) - {"linear", "parametric_softplus"}:
            getattr(dml.FusedActivation, name)()


@pytest.mark.parametrize(
    ("arguments", "keywords", "strides", "total"),
    [
        ((np.float16, [1, 2, 2, 2]), {}, None, 16),
        ((np.dtype("uint8"), (1, 2, 2, 2)), {"strides": (8, 4, 2, 1)}, [8, 4, 2, 1], 8),
        ((FLOAT32, [1, 2, 2, 2]), {"tensor_policy": dml.TensorPolicy.interleaved_channel}, [8, 1, 4, 2], 32),
        ((FLOAT32, [1, 2, 2, 2]), {"flags": OWNED, "total_tensor_size_in_bytes": 64}, None, 64),
        ((), {"data_type": "int8", "sizes": [4], "guaranteed_base_offset_alignment": 16}, None, 4),
    ],
)
def test_descs_by_keyword(arguments, keywords, strides, total):
    desc = dml.TensorDesc(*arguments, **keywords)
    assert (desc.strides, desc.total_tensor_size_in_bytes) == (strides, total)
    assert desc.flags == keywords.get("flags", dml.TensorFlags.NONE)
    assert desc.guaranteed_base_offset_alignment == keywords.get("guaranteed_base_offset_alignment", 0)
    with pytest.raises(ValueError, match="tensor_policy decides the strides"):
        dml.TensorDesc(np.float32, [1], strides=[1], tensor_policy=dml.TensorPolicy.default)
    with pytest.raises(TypeError, match="data_type: DirectML has no data type for complex64"):
        dml.TensorDesc(np.complex64, [1])


def test_names():
    assert not hasattr(dml, "FLOAT32")
    assert not hasattr(dml, "activation_soft_max")
    assert not hasattr(dml, "Dimensions")
    assert not hasattr(dml.Expression, "__iadd__")
