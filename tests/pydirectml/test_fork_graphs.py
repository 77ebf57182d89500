"""The newer interface of the fork: its graphs, and its operators by hand arithmetic and NumPy."""

from __future__ import annotations

import sys
from functools import partial

import numpy as np
import pytest

from directml_py.pydirectml import fork as dml

A, B = (np.array(rows, np.float32).reshape(1, 1, 2, 2) for rows in ([1, 2, 3, 4], [4, 3, 2, 1]))
ROW = np.array([1, 3, 2, 0.5], np.float32).reshape(1, 1, 1, 4)


@pytest.fixture(scope="module")
def device():
    return dml.Device()


def shaped(values, dtype=np.float32):
    array = np.asarray(values, dtype)
    return array.reshape((1,) * (4 - array.ndim) + array.shape)


def computed(device, build, *arrays):
    """The outputs of ``build`` on inputs with these arrays."""
    graph = dml.Graph(device)
    inputs = [graph.input(array.shape, array.dtype) for array in arrays]
    made = build(*inputs)
    outputs = [made] if isinstance(made, dml.Expression) else list(made)
    return graph.compile(outputs)(dict(zip(inputs, arrays)))


def adding(device):
    """``x + w`` and its operator; ``w`` is owned."""
    graph = dml.Graph(device)
    x, w = graph.input([1, 1, 2, 2], name="x"), graph.input([1, 1, 2, 2], owned=True, name="w")
    return x, w, graph.compile([x + w])


def test_inputs_are_bound_by_expression_and_by_name(device):
    graph = dml.Graph(device)
    x = graph.input([1, 1, 2, 2], np.float32, name="x")
    w = graph.constant(np.full((1, 1, 2, 2), 2, np.float64), np.float32, name="w")
    op = graph.compile([dml.multiply(x, w), x - w])
    assert op.initialized
    for key in (x, "x"):
        product, difference = op({key: A.reshape(2, 2)})
        assert (product.dtype, product.shape) == (np.float32, (1, 1, 2, 2))
        assert product.tolist() == (A * 2).tolist()
        assert difference.tolist() == (A - 2).tolist()


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({}, "missing input 0 'x'"),
        ({"y": A}, "no input named 'y'"),
        ({"w": A}, "initialize"),
        ({"x": A.astype(np.int32)}, "astype"),
        ({"x": np.zeros((2, 3), np.float32)}, "does not fill"),
    ],
)
def test_what_a_call_refuses(device, data, text):
    _, w, op = adding(device)
    with pytest.raises(ValueError, match=r"initialize\(\).*input 1 'w'"):
        op({"x": A})
    op.initialize({w: B})
    with pytest.raises(ValueError, match=text):
        op(data)
    assert op({"x": A})[0].tolist() == (A + B).tolist()


def test_an_input_is_bound_once_and_is_the_graphs(device):
    x, _, op = adding(device)
    op.initialize({"w": B})
    with pytest.raises(ValueError, match=r"'x'.*bound twice"):
        op({"x": A, x: A})
    with pytest.raises(ValueError, match="not an input"):
        op({x + 1.0: A})
    with pytest.raises(TypeError, match="keys"):
        op({0: A})


def test_owned_inputs_can_be_given_again(device):
    x, w, op = adding(device)
    for value in (1, 2):
        op.initialize({w: np.full((2, 2), value, np.float32)})
        assert op({x: A})[0].tolist() == (A + value).tolist()
    with pytest.raises(ValueError, match="dispatch"):
        op.initialize({w: B, x: A})


def test_constants_are_not_kept(device):
    graph, array = dml.Graph(device), np.zeros((1, 1, 2, 2), np.float32)
    constant = graph.constant(array)
    before = sys.getrefcount(array)
    op = graph.compile([dml.activation_identity(constant)])
    assert sys.getrefcount(array) == before - 1
    with pytest.raises(ValueError, match="missing input 0"):
        op.initialize()


def test_buffers(device):
    graph = dml.Graph(device)
    x = graph.input([1, 1, 2, 2])
    op = graph.compile([x * 2.0, x + 1.0])
    doubled, more = op({x: dml.Buffer(device, A)}, readback=False)
    assert (doubled.shape, doubled.dtype, doubled.nbytes) == ((1, 1, 2, 2), np.float32, 16)
    assert [one.numpy().tolist() for one in (doubled, more)] == [(A * 2).tolist(), (A + 1).tolist()]
    assert op({x: doubled})[0].tolist() == (A * 4).tolist()
    with pytest.raises(ValueError, match="different device"):
        op({x: dml.Buffer(dml.Device(), A)})
    with pytest.raises(ValueError, match="not converted"):
        op({x: dml.Buffer(device, A, np.float16)})


def test_arithmetic(device):
    """``%`` rounds as in Python, and ``+=`` leaves the input as it is."""
    a, b = shaped([-7, -1, 1, 7], np.int32), shaped([5, 5, 5, 5], np.int32)
    assert computed(device, lambda x, y: x % y, a, b)[0].tolist() == (a % b).tolist()
    assert computed(device, lambda x: 2.0 / x, A)[0].tolist() == (2 / A).tolist()
    graph = dml.Graph(device)
    x = alias = graph.input([1, 1, 2, 2])
    x += 1.0
    assert x is not alias
    assert graph.compile([x])({alias: A})[0].tolist() == (A + 1).tolist()
    with pytest.raises(ValueError, match=r"\[1, 1, 2, 2\]> \+ .*\[1, 1, 2, 3\].*shapes differ"):
        alias + graph.input([1, 1, 2, 3])
    with pytest.raises(ValueError, match="types differ"):
        dml.multiply(alias, graph.input([1, 1, 2, 2], np.float16))


def test_broadcast(device):
    bias, image = np.arange(3, dtype=np.float32).reshape(3, 1, 1), np.zeros((2, 3, 2, 2), np.float32)
    (out,) = computed(device, lambda x, y: x + dml.broadcast(y, x.shape), image, bias)
    assert out.tolist() == (image + bias).tolist()
    x = dml.Graph(device).input([1, 3, 2, 2])
    assert dml.broadcast(x, x.shape) is x
    with pytest.raises(ValueError, match="cannot broadcast"):
        dml.broadcast(x, [1, 3, 4, 4])
    with pytest.raises(ValueError, match="fewer axes"):
        dml.broadcast(x, [3, 2, 2])


INDICES, INCREASING = shaped([[1, 0], [0, 1]], np.uint32), dml.AxisDirection.INCREASING
OPERATORS = {
    "abs": (lambda x: dml.abs(x, scale_bias=(2.0, -5.0)), [A], abs(A * 2 - 5)),
    "clip": (lambda x: dml.clip(x, min=2, max=3), [A], A.clip(2, 3)),
    "round": (lambda x: dml.round(x), [shaped([0.5, 1.5, -1.5])], shaped([0, 2, -2])),
    "is_nan": (dml.is_nan, [shaped([0, np.nan])], shaped([0, 1], np.uint8)),
    "cast": (lambda x: dml.cast(x, dtype=np.int32), [shaped([1.7, -1.7])], shaped([1, -1], np.int32)),
    "max": (dml.max, [A, B], np.maximum(A, B)),
    "less_than": (dml.less_than, [A, B], (A < B).astype(np.uint8)),
    "pow": (lambda x: dml.pow(x, 2.0), [A], A**2),
    "where": (dml.where, [shaped([[1, 0], [0, 1]], np.uint8), A, B], shaped([[1, 3], [2, 4]])),
    "elu": (lambda x: dml.activation_elu(x, alpha=2), [A], A),
    "tile": (lambda x: dml.tile(x, repeats=[1, 1, 2, 1]), [A], np.tile(A, (1, 1, 2, 1))),
    "gather": (lambda x, i: dml.gather_elements(x, i, axis=3), [A, INDICES], shaped([[2, 1], [3, 4]])),
    "depth": (lambda x: dml.space_to_depth(x, block_size=2), [A], A.reshape(1, 4, 1, 1)),
    "reduce": (lambda x: dml.reduce(x, function=dml.ReduceFunction.SUM), [A], shaped([10])),
    "cumulative": (lambda x: dml.cumulative_product(x, axis=3), [ROW], ROW.cumprod().reshape(ROW.shape)),
    "max_pooling": (lambda x: dml.max_pooling(x, window_sizes=(2, 2)).values, [A], shaped([4])),
    "average_pooling": (
        lambda x: dml.average_pooling(x, strides=[2, 2], window_sizes=[1, 1], output_sizes=[1, 1, 1, 1]),
        [A],
        shaped([1]),
    ),
    "padding": (
        lambda x: dml.padding(x, start_padding=[0, 0, 0, 1], end_padding=[0] * 4),
        [A],
        shaped([[0, 1, 2], [0, 3, 4]]),
    ),
    "batch_normalization": (
        lambda x, zero, one: dml.batch_normalization(x, zero, one - 1e-5, one * 3.0, one),
        [A, shaped([0]), shaped([1])],
        A * 3 + 1,
    ),
    "join": (lambda x, y: -dml.join([x, y], axis=2), [A, B], -np.concatenate([A, B], 2)),
    "no activation": (lambda x, y: dml.add(x, y, fused_activation=None), [A, B], A + B),
    "fused": (
        lambda x, y: dml.add(x, y, fused_activation=dml.FusedActivation.relu()),
        [A, -B],
        shaped([[0, 0], [1, 3]]),
    ),
    "dequantize": (
        dml.dequantize_linear,
        [shaped([4], np.uint8), shaped([0.5]), shaped([2], np.uint8)],
        shaped([1]),
    ),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_operators(device, name):
    build, arrays, expected = OPERATORS[name]
    (out,) = computed(device, build, *arrays)
    assert (out.dtype, out.tolist()) == (expected.dtype, expected.tolist())


def test_operators_with_several_outputs(device):
    values, indices = computed(device, lambda x: dml.top_k(x, axis=3, k=2), ROW)
    assert (values.ravel().tolist(), indices.ravel().tolist()) == ([3, 2], [1, 2])
    smallest = computed(device, lambda x: dml.top_k(x, axis=3, k=1, axis_direction=INCREASING), ROW)
    assert [one.item() for one in smallest] == [0.5, 3]
    count, coordinates = computed(device, dml.non_zero_coordinates, shaped([[0, 2], [3, 0]]))
    assert (count.item(), coordinates[:2].tolist()) == (2, [[0, 0, 0, 1], [0, 0, 1, 0]])
    left, right = computed(device, lambda x: dml.split(x, axis=3, output_axis_sizes=[1, 1]), A)
    assert (left.ravel().tolist(), right.ravel().tolist()) == ([1, 3], [2, 4])


def test_outputs_that_were_not_requested_are_none(device):
    graph = dml.Graph(device)
    pooled = dml.max_pooling(graph.input([1, 1, 2, 2]), window_sizes=[2, 2])
    assert (pooled._fields, pooled.indices) == (("values", "indices"), None)
    tensors = [graph.input(sizes) for sizes in ([1, 5, 2, 3], [1, 1, 12, 3], [1, 1, 12, 4])]
    functions = [dml.FusedActivation.sigmoid(), dml.FusedActivation.tanh()]
    both = dml.gru(*tensors, activation_descs=functions)
    assert [one.shape for one in both] == [(5, 1, 2, 4), (1, 1, 2, 4)]
    single = dml.gru(*tensors, activation_descs=functions, output_options=dml.GRUOutputOptions.Single)
    assert (single._fields, single.sequence, single.single.shape) == (
        ("sequence", "single"),
        None,
        (1, 1, 2, 4),
    )


def test_attention_of_several_examples(device):
    """The batch is the first size, which is the second to the operator."""
    query, key, value = (
        np.random.default_rng(seed).standard_normal((2, 1, 3, 4)).astype(np.float32) for seed in range(3)
    )
    attention = partial(dml.multihead_attention, head_count=1, scale=0.5)
    (out,) = computed(device, attention, query, key, value)
    scores = np.exp(query @ key.transpose(0, 1, 3, 2) * 0.5)
    np.testing.assert_allclose(out, scores / scores.sum(3, keepdims=True) @ value, rtol=1e-5, atol=1e-6)


def test_filled_tensors(device):
    graph = dml.Graph(device)
    outputs = [
        dml.fill_value_constant(graph, sizes=[1, 1, 1, 2], value=-3, dtype=np.int32),
        dml.fill_value_sequence(graph, sizes=[1, 1, 1, 3], value_start=1, value_delta=0.5),
    ]
    constant, sequence = graph.compile(outputs)()
    assert (constant.dtype, constant.ravel().tolist()) == (np.int32, [-3, -3])
    assert sequence.ravel().tolist() == [1, 1.5, 2]
    with pytest.raises(ValueError, match="value=300"):
        dml.fill_value_constant(graph, sizes=[1], value=300, dtype=np.uint8)


def test_arguments_of_operators(device):
    x = dml.Graph(device).input([1, 1, 2, 2])
    with pytest.raises(TypeError, match=r"clip\(\): missing a required"):
        dml.clip(x, min=0)
    with pytest.raises(TypeError, match=r"clip\(\): there is no argument 'mins'; did you mean min\?"):
        dml.clip(x, mins=0)
    with pytest.raises(
        TypeError, match=r"gemm\(\): there is no argument 'trans_c'; did you mean trans_[ab]\?"
    ):
        dml.gemm(x, trans_c=dml.MatrixTransform.NONE)
    with pytest.raises(TypeError, match=r"max\(\): b must be an Expression"):
        dml.max(x, 1.0)
