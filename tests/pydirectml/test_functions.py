"""Results of functions compared with ONNX Runtime or NumPy, with the signatures' defaults."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from operators.records.onnx_node import run as onnx

from directml_py import pydirectml as dml

RELU = dml.FusedActivation(dml.OperatorType.ACTIVATION_RELU)


def drawn(*sizes, seed=0):
    return np.random.default_rng([seed, *sizes]).uniform(-2, 2, sizes).astype(np.float32)


X, ODD = drawn(2, 3, 6, 5), drawn(1, 4, 7, 9)
WEIGHTS, BIAS = drawn(4, 3, 3, 3), drawn(1, 4, 1, 1)
CHANNELS = [np.abs(drawn(1, 3, 1, 1, seed=seed)) for seed in range(4)]


@pytest.mark.parametrize(
    ("function", "arrays", "node", "attributes", "shaped"),
    [
        (dml.convolution, [X, WEIGHTS], "Conv", {}, None),
        (dml.convolution, [X, WEIGHTS, BIAS], "Conv", {}, [X, WEIGHTS, BIAS.ravel()]),
        (
            lambda x, w: dml.convolution(
                x, w, strides=[2, 1], dilations=[1, 2], start_padding=[1, 0], end_padding=[2, 3]
            ),
            [X, WEIGHTS],
            "Conv",
            {"strides": (2, 1), "dilations": (1, 2), "pads": (1, 0, 2, 3)},
            None,
        ),
        (
            lambda x, w: dml.convolution(x, w, group_count=4, start_padding=(1, 1)),
            [ODD, drawn(8, 1, 2, 2)],
            "Conv",
            {"group": 4, "pads": (1, 1, 0, 0)},
            None,
        ),
        (
            lambda x, w: dml.convolution(
                x, w, direction=dml.ConvolutionDirection.BACKWARD, strides=[2, 2], output_sizes=[2, 2, 13, 11]
            ),
            [X, drawn(3, 2, 3, 3)],
            "ConvTranspose",
            {"strides": (2, 2)},
            None,
        ),
        (dml.activation_sigmoid, [X], "Sigmoid", {}, None),
        (dml.activation_tanh, [X], "Tanh", {}, None),
        (dml.activation_relu, [X], "Relu", {}, None),
        (dml.activation_identity, [X], "Identity", {}, None),
        (dml.divide, [X, np.abs(X) + 1], "Div", {}, None),
        (
            lambda x: dml.up_sample_2d(x, dml.Size2D(2, 3), dml.InterpolationMode.NEAREST_NEIGHBOR),
            [X],
            "Resize",
            {"mode": "nearest"},
            [X, None, np.array([1, 1, 3, 2], np.float32)],
        ),
        (
            lambda x: dml.average_pooling(x, [2, 1], [3, 2], [1, 0], [1, 1], False),
            [X],
            "AveragePool",
            {"strides": (2, 1), "kernel_shape": (3, 2), "pads": (1, 0, 1, 1)},
            None,
        ),
        (
            lambda x: dml.average_pooling(x, [2, 1], [3, 2], [1, 0], [1, 1], 1),
            [X],
            "AveragePool",
            {"strides": (2, 1), "kernel_shape": (3, 2), "pads": (1, 0, 1, 1), "count_include_pad": 1},
            None,
        ),
        (
            lambda x: dml.max_pooling(x, [3, 2], dilations=[2, 1]).values,
            [X],
            "MaxPool",
            {"kernel_shape": (3, 2), "dilations": (2, 1)},
            None,
        ),
        (
            lambda x, m, v, s, b: dml.batch_normalization(x, m, v, s, b, 1, 0.125),
            [X, *CHANNELS],
            "BatchNormalization",
            {"epsilon": 0.125},
            [X, CHANNELS[2].ravel(), CHANNELS[3].ravel(), CHANNELS[0].ravel(), CHANNELS[1].ravel()],
        ),
        (
            lambda x, s, b: dml.mean_variance_normalization(
                x, s, b, [2, 3], normalize_variance=1, epsilon=0.25
            ),
            [X, CHANNELS[0], CHANNELS[1]],
            "InstanceNormalization",
            {"epsilon": 0.25},
            [X, CHANNELS[0].ravel(), CHANNELS[1].ravel()],
        ),
        (
            lambda x: dml.local_response_normalization(x, True, 3, 0.75, 0.5, 2),
            [ODD],
            "LRN",
            {"size": 3, "alpha": 0.75, "beta": 0.5, "bias": 2.0},
            None,
        ),
        (
            lambda x: dml.padding(x, dml.PaddingMode.REFLECTION, 0, [0, 0, 2, 1], [0, 1, 0, 3]),
            [X],
            "Pad",
            {"mode": "reflect"},
            [X, np.array([0, 0, 2, 1, 0, 1, 0, 3])],
        ),
        (lambda x: dml.join([x, x, x], 2), [X], "Concat", {"axis": 2}, [X, X, X]),
    ],
)
def test_as_onnx_runtime(run, function, arrays, node, attributes, shaped):
    (wanted,) = onnx(node, shaped or arrays, output_types=["float32"], **attributes)
    np.testing.assert_allclose(run(function, *arrays), wanted, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize(
    ("function", "formula"),
    [
        (lambda a, b: a + b, lambda a, b: a + b),
        (lambda a, b: a - b, lambda a, b: a - b),
        (lambda a, b: a * b, lambda a, b: a * b),
        (lambda a, b: a / b, lambda a, b: a / b),
        (lambda a, b: a % b, np.fmod),
        (lambda a, b: (a + 2) * b, lambda a, b: (a + 2) * b),
        (lambda a, b: (2 + a) - b, lambda a, b: (a + 2) - b),
        (lambda a, b: (2 - a) - b, lambda a, b: (2 - a) - b),
        (lambda a, b: (a - 2) - b, lambda a, b: (a - 2) - b),
        (lambda a, b: (3 * a) + b * 0.5, lambda a, b: 3 * a + b / 2),
        (lambda a, b: a / 4 + b, lambda a, b: a / 4 + b),
        (lambda a, b: 4 / a + b, lambda a, b: 4 / a + b),
        (lambda a, b: -a + b, lambda a, b: b - a),
        (lambda a, b: a + np.float32(1.5) * b, lambda a, b: a + b * 1.5),
        (lambda a, b: dml.add(a, b), lambda a, b: a + b),
        (lambda a, b: dml.add(a, b, RELU), lambda a, b: np.maximum(a + b, 0)),
        (lambda a, b: dml.subtract(b, a), lambda a, b: b - a),
        (lambda a, b: dml.multiply(a=b, b=a), lambda a, b: b * a),
        (lambda a, b: dml.activation_linear(a, 3, -1) * b, lambda a, b: (3 * a - 1) * b),
        (
            lambda a, b: dml.gemm(a, b, trans_b=dml.MatrixTransform.TRANSPOSE),
            lambda a, b: a @ b.swapaxes(2, 3),
        ),
        (
            lambda a, b: dml.gemm(a, b, None, dml.MatrixTransform.TRANSPOSE, alpha=2, fused_activation=RELU),
            lambda a, b: np.maximum(2 * (a.swapaxes(2, 3) @ b), 0),
        ),
        (
            lambda a, b: (
                dml.slice(a, [0, 1, 0, 1], [1, 2, 3, 3], [1, 1, -2, 1])
                + dml.slice(b, [0, 0, 0, 0], [1, 2, 2, 3], [1, 1, 1, 1])
            ),
            lambda a, b: a[:1, 1:3, 2::-2, 1:4] + b[:1, :2, :2, :3],
        ),
        (
            lambda a, b: dml.value_scale_2d(a, 2, [1, 2, 3]) - b,
            lambda a, b: 2 * a + np.array([1, 2, 3], np.float32).reshape(1, 3, 1, 1) - b,
        ),
        (
            lambda a, b: dml.reinterpret(a * 1, dml.TensorDataType.FLOAT32, [2, 3, 4, 4], [48, 16, 1, 4]) + b,
            lambda a, b: a.swapaxes(2, 3) + b,
        ),
        (
            lambda a, b: dml.reinterpret(a + b, dml.TensorDataType.FLOAT32, [1, 1, 6, 16], None) * 1,
            lambda a, b: (a + b).reshape(1, 1, 6, 16),
        ),
    ],
)
def test_as_numpy(run, function, formula):
    a, b = drawn(2, 3, 4, 4, seed=1) + 3, drawn(2, 3, 4, 4, seed=2)
    np.testing.assert_allclose(run(function, a, b), formula(a, b), rtol=1e-5, atol=1e-5)


def test_softmax(run):
    x = drawn(1, 1, 3, 5)
    powers = np.exp(x)
    np.testing.assert_allclose(
        run(dml.activation_soft_max, x), powers / powers.sum(3, keepdims=True), rtol=1e-6
    )


def test_changed_in_place(run):
    """The object itself is rebound, for all references to it."""

    def changed(a, b):
        same = a
        a += b
        a *= 2
        a -= 1
        a /= b
        a %= b
        assert same is a
        return a

    a, b = drawn(3, 4, seed=1), np.abs(drawn(3, 4, seed=2)) + 1
    np.testing.assert_allclose(run(changed, a, b), np.fmod((2 * (a + b) - 1) / b, b), rtol=1e-5, atol=1e-6)


def test_max_pooling_with_indices(device):
    builder = dml.GraphBuilder(device)
    x = dml.input_tensor(builder, 0, dml.TensorDesc(dml.TensorDataType.FLOAT32, [1, 1, 2, 4]))
    pooled = dml.max_pooling(x, window_sizes=[2, 2], strides=[2, 2], output_indices=True)
    assert pooled.indices.get_output_desc().data_type == dml.TensorDataType.UINT32
    outputs = [pooled.values, pooled.indices]
    model = builder.build(dml.ExecutionFlags.NONE, outputs)
    values, indices = device.compute(model, [dml.Binding(x, [[1, 2, 3, 9], [4, 0, 5, 6]])], outputs)
    assert values.tolist() == [[[[4, 9]]]]
    # Bits of integers, as floats.
    assert (indices.dtype, indices.view(np.uint32).tolist()) == (np.float32, [[[[4, 3]]]])


def test_indices_that_were_not_asked_for(run):
    with pytest.raises(TypeError, match="the Expression is empty"):
        run(lambda x: dml.max_pooling(x, [2, 2]).indices * 1, X)
    with pytest.raises(TypeError, match="the Expression is empty"):
        dml.Expression().get_output_desc()


def test_gather(device):
    builder = dml.GraphBuilder(device)
    x = dml.input_tensor(builder, 0, dml.TensorDesc(dml.TensorDataType.FLOAT32, [1, 1, 3, 2]))
    places = dml.input_tensor(builder, 1, dml.TensorDesc(dml.TensorDataType.UINT32, [1, 1, 1, 4]))
    gathered = dml.gather(x, places, axis=2, index_dimensions=1)
    model = builder.build(dml.ExecutionFlags.NONE, [gathered])
    table = np.arange(6).reshape(3, 2)
    order = np.array([2, 0, 1, 2])
    for given in (order, order.tolist(), order.astype(np.uint8), order.astype(np.uint32).view(np.float32)):
        (found,) = device.compute(model, [dml.Binding(x, table), dml.Binding(places, given)], [gathered])
        assert found[0, 0].tolist() == table[order].tolist()


@pytest.mark.parametrize(
    "options", [dml.OutputOptions.Both, dml.OutputOptions.Sequence, dml.OutputOptions.Single]
)
def test_gru(run, options):
    steps, batch, size, hidden = 3, 2, 4, 5
    x, weights = drawn(1, steps, batch, size), drawn(1, 1, 3 * hidden, size)
    recurrence, bias = drawn(1, 1, 3 * hidden, hidden), drawn(1, 1, 1, 6 * hidden)
    gates = [dml.OperatorType.ACTIVATION_SIGMOID, dml.OperatorType.ACTIVATION_TANH]

    def gru(x, weights, recurrence, bias):
        made = dml.gru(
            x,
            weights,
            recurrence,
            bias,
            activation_descs=[dml.FusedActivation(one) for one in gates],
            direction=dml.RecurrentNetworkDirection.FORWARD,
            output_options=options,
        )
        return [made.sequence] * (options != dml.OutputOptions.Single) + [made.single] * (
            options != dml.OutputOptions.Sequence
        )

    found = run(gru, x, weights, recurrence, bias)
    wanted = onnx(
        "GRU",
        [x[0], weights[0], recurrence[0], bias[0, 0]],
        output_types=["float32", "float32"],
        hidden_size=hidden,
        linear_before_reset=1,
    )
    found = found if isinstance(found, list) else [found]
    kept = [wanted[0]] * (options != dml.OutputOptions.Single) + [wanted[1][None]] * (
        options != dml.OutputOptions.Sequence
    )
    for one, other in zip(found, kept):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "parameters", "formula"),
    [
        ("ACTIVATION_LINEAR", (2, 3), lambda x: 2 * x + 3),
        ("ACTIVATION_LEAKY_RELU", (0.25,), lambda x: np.where(x < 0, x / 4, x)),
        ("ACTIVATION_SHRINK", (0.5, 1), lambda x: np.where(x > 1, x - 0.5, np.where(x < -1, x + 0.5, 0))),
        ("ACTIVATION_SCALED_TANH", (2, 0.5), lambda x: 2 * np.tanh(x / 2)),
        ("INVALID", (), lambda x: x),
    ],
)
def test_parameters_of_activations(run, name, parameters, formula):
    fused = dml.FusedActivation(dml.OperatorType.__members__[name], *parameters)
    found = run(lambda a, b: dml.add(a, b, fused), X, np.zeros_like(X))
    np.testing.assert_allclose(found, formula(X), rtol=1e-6, atol=1e-6)


def test_what_cannot_be_fused():
    with pytest.raises(TypeError, match="REDUCE cannot be fused"):
        dml.FusedActivation(dml.OperatorType.REDUCE)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda x: dml.convolution(x, x, mode=1),
            r"convolution\(\): mode must be a ConvolutionMode, not int",
        ),
        (
            lambda x: dml.convolution(x, x, direction=dml.ConvolutionMode.CONVOLUTION),
            "direction must be a ConvolutionDirection, not ConvolutionMode",
        ),
        (lambda x: dml.convolution(x, 3), "filter must be an Expression, not int"),
        (lambda x: dml.convolution(x, x, strides=[1, 2.5]), r"strides\[1\] must be an int, not float"),
        (
            lambda x: dml.padding(x, dml.PaddingMode.EDGE, "0", [], []),
            "padding_value must be a float, not str",
        ),
        (lambda x: dml.join(x, 1), "input must be a list, not Expression"),
        (lambda x: dml.mean_variance_normalization(x), "missing a required argument: 'normalize_variance'"),
        (lambda x: dml.activation_relu(), "missing a required argument: 'input'"),
        (lambda x: dml.activation_relu(x, x), "too many positional arguments"),
        (lambda x: x + "1", "unsupported operand"),
        (lambda x: x % 2, "unsupported operand"),
    ],
)
def test_wrong_arguments(run, call, said):
    with pytest.raises(TypeError, match=said):
        run(call, X)


def test_a_graph_that_breaks_a_rule(run):
    with pytest.raises(RuntimeError, match=r"FilterTensor.*E_INVALIDARG") as caught:
        run(dml.convolution, X, drawn(4, 2, 3, 3))
    assert caught.value.hresult == 0x80070057


def test_signatures_show_defaults():
    parameters = inspect.signature(dml.convolution).parameters
    assert list(parameters)[:5] == ["input", "filter", "bias", "mode", "direction"]
    assert parameters["mode"].default == dml.ConvolutionMode.CROSS_CORRELATION
    assert parameters["group_count"].default == 1
