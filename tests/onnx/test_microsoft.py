"""Operators of the domain com.microsoft, compared with ONNX Runtime's."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("onnx.reference", reason="needs the package onnx")
pytest.importorskip("onnxruntime", reason="needs the package onnxruntime")
from judging.onnx import sides
from judging.onnx.drawn_cases import case_of
from judging.onnx.samples import of_microsoft
from judging.onnx.schemas import versions_of

import directml_py as dml
from directml_py.onnx.every_operator import OPERATORS
from directml_py.onnx.microsoft import SUCCESSORS
from directml_py.onnx.translators import OUTPUTS

from .microsoft_nodes import MICROSOFT, ONE, RANDOM, U8, bytes_of, floats, integers, model_of
from .node_by_node import different
from .onnx_runtime import results_of

KINDS = {kind for domain, kind in OPERATORS if domain == MICROSOFT} | SUCCESSORS.keys()
# How many integers may be off by one: halves are rounded either way, and ONNX Runtime's Softmax adds up rounded powers.
SHARES = {"QLinearSoftmax": 0.4}
SAMPLES = {sample.name: sample for sample in of_microsoft() if sample.operator in KINDS}
# Operators without a kernel of ONNX Runtime's CPU provider, which have tests of their own below.
NOT_ON_CPU = {
    "BiasAdd", "BiasSplitGelu", "FusedMatMulActivation", "GroupNorm", "NhwcConv", "NhwcFusedConv",
    "QLinearReduceMean", "SimplifiedLayerNormalization",
}  # fmt: skip


def is_refused(case):
    """Whether ONNX Runtime refuses a case; otherwise the results must agree."""
    try:
        kinds, expected = sides.theirs(case)
    except Exception:
        return True
    for own, values in zip(sides.ours(case, kinds), expected):
        share = SHARES.get(case.version.name, 0.2)
        assert not different(np.asarray(own), np.asarray(values), 2e-4, share)
    return False


@pytest.mark.parametrize("name", [name for name, one in SAMPLES.items() if one.operator not in NOT_ON_CPU])
def test_sample(name):
    """With all inputs given when it runs, and with all but the first as constants, as far as ONNX Runtime allows it."""
    sample = SAMPLES[name]
    case = case_of(versions_of(sample.domain, sample.operator)[-1], sample)
    given = [place for place, value in enumerate(case.inputs) if value is not None]
    refused = [is_refused(case._replace(constants=frozenset(fixed))) for fixed in ((), given[1:])]
    assert not all(refused)


def test_every_operator_has_a_sample():
    assert {sample.operator for sample in SAMPLES.values()} | NOT_ON_CPU == KINDS


def test_every_operator_says_its_types_and_sizes():
    """ONNX has no schemas of them."""
    assert {key for key in OPERATORS if key[0] == MICROSOFT} - OUTPUTS.keys() == set()


MASKS = {
    "none": None,
    "a boolean per key": integers([1, 1, 1, 1, 1, 1, 0], [1, 1, 1, 0, 1, 0, 0]),
    "lengths": integers(7, 5),
}


@pytest.mark.parametrize("kind", ["Attention", "QAttention"])
@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize("mask", MASKS)
def test_attention_behind_past_keys_and_values(kind, causal, mask):
    """Three tokens behind four, and the keys and values of all seven."""
    past, own = floats(2, 2, 2, 4, 4), floats(24)
    if kind == "Attention":
        inputs = [floats(2, 3, 8), floats(8, 24), own, MASKS[mask], past]
    else:
        factors = [bytes_of(2, 3, 8), bytes_of(8, 24), own]
        inputs = [*factors, ONE / 20, ONE / 20, MASKS[mask], U8, U8, past]
    inputs = [None if array is None else np.asarray(array) for array in inputs]
    model, given = model_of(kind, inputs, {"num_heads": 2, "unidirectional": causal}, outputs=2)
    found = dml.onnx.load(model).run(given)
    for name, expected in zip(("out0", "out1"), results_of(model, given)):
        assert found[name].shape == expected.shape
        np.testing.assert_allclose(found[name], expected, rtol=2e-4, atol=2e-5)


def run_alone(kind, inputs, **attributes):
    model, given = model_of(kind, inputs, attributes)
    return dml.onnx.load(model).run(given)["out0"]


def test_bias_add():
    x, bias, skip = floats(2, 3, 4), floats(4), floats(2, 3, 4)
    np.testing.assert_allclose(run_alone("BiasAdd", [x, bias, skip]), x + bias + skip, rtol=1e-6)


def test_bias_split_gelu():
    x, bias = floats(2, 3, 8), floats(8)
    first, second = np.split(x + bias, 2, axis=-1)
    np.testing.assert_allclose(
        run_alone("BiasSplitGelu", [x, bias]), first * gelu(second), rtol=1e-4, atol=1e-6
    )


def test_codes_that_are_not_transposed():
    """ONNX Runtime reads beyond the weights; they are those of the transposed product with the identity."""
    x, codes, scales = floats(3, 8), bytes_of(128), abs(floats(16))
    attributes = {"K": 32, "N": 8, "block_size": 16, "quant_type": 1}
    model, given = model_of("MatMulBnb4", [np.eye(32, dtype=np.float32), codes, scales], attributes)
    (weights,) = results_of(model, given)
    found = run_alone("MatMulBnb4", [x, codes, scales], **attributes, transB=0)
    np.testing.assert_allclose(found, x @ weights.T, rtol=1e-5, atol=1e-5)


def softmax(scores):
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def gelu(x):
    return x / 2 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


TOKENS = np.ones((1, 2, 16), np.float32)
# Of two tokens; and angles of a quarter of a circle for the second one.
VALUES = np.eye(2, 16, dtype=np.float32)
QUARTERS = [np.repeat(np.float32(column), 8, axis=1) for column in ([[1], [0]], [[0], [1]])]
COLUMN = np.float32([[[2], [4]]])
# For each operator whose results differ: inputs, attributes, and the result of ONNX Runtime's DirectML provider.
DIFFERING = {
    "FastGelu": ([np.float32([-3, 0.5, 2])], {}, gelu(np.float32([-3, 0.5, 2]))),
    # Without turns both tokens have the scores of equal keys.
    "GroupQueryAttention": (
        [TOKENS, TOKENS, VALUES[None], None, None, np.int32([1]), np.array(2, np.int32), *QUARTERS],
        {"num_heads": 1, "kv_num_heads": 1, "do_rotary": 1},
        np.stack([VALUES[0], VALUES.mean(0)]),
    ),
    # Of codes of 9, and a scale of 2.
    "MatMulNBits": (
        [np.ones((1, 16), np.float32), np.full((1, 1, 8), 0x99, np.uint8), np.float32([2])],
        {"K": 16, "N": 1, "block_size": 16},
        [16 * 9 * 2],
    ),
    # The first query sees the second key too.
    "MultiHeadAttention": (
        [COLUMN, COLUMN, COLUMN],
        {"num_heads": 1, "unidirectional": 1},
        softmax(np.float32([[4, 8], [8, 16]])) @ np.float32([2, 4]),
    ),
    # The root of the mean square of 3 and 4 is that of 12.5.
    "SkipSimplifiedLayerNormalization": (
        [np.float32([[[1, 1]]]), np.float32([[[2, 3]]]), np.float32([1, 1]), np.float32([10, 20])],
        {},
        [3 / 12.5**0.5 + 10, 4 / 12.5**0.5 + 20],
    ),
}


@pytest.mark.parametrize("kind", DIFFERING)
def test_semantics(kind):
    inputs, attributes, result = DIFFERING[kind]
    model, given = model_of(kind, inputs, attributes, outputs=3 if kind.startswith("Group") else 1)
    expected = results_of(model, given)[0]
    bound = {"in6": given.pop("in6")} if "in6" in given else {}
    for settings, values in (({}, expected), ({"semantics": "directml"}, np.float32(result))):
        found = dml.onnx.load(model, inputs=bound, **settings).run(given)["out0"]
        np.testing.assert_allclose(found.reshape(-1), values.reshape(-1), rtol=1e-5, atol=1e-6)
    assert abs(expected.reshape(-1) - np.float32(result).reshape(-1)).max() > 1e-5


@pytest.mark.parametrize("last", [0, 1])
def test_group_norm(last):
    x, scale, bias = floats(2, 3, 3, 8), floats(8), floats(8)
    groups = x.reshape(2, 9, 4, 2)
    centred = groups - groups.mean((1, 3), keepdims=True)
    normal = (centred / np.sqrt(np.square(centred).mean((1, 3), keepdims=True) + 1e-5)).reshape(x.shape)
    expected = normal * scale + bias
    expected = expected / (1 + np.exp(-expected))
    if not last:
        x, expected = x.transpose(0, 3, 1, 2), expected.transpose(0, 3, 1, 2)
    found = run_alone(
        "GroupNorm", [np.ascontiguousarray(x), scale, bias], groups=4, activation=1, channels_last=last
    )
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_channels_last_convolution():
    x, filters, bias = floats(1, 5, 6, 2), floats(3, 3, 3, 2), floats(3)
    found = run_alone("NhwcConv", [x, filters, bias], pads=[1, 1, 1, 1], strides=[1, 2])
    windows = np.lib.stride_tricks.sliding_window_view(
        np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0))), (3, 3), (1, 2)
    )
    expected = np.einsum("bhwcij,oijc->bhwo", windows[:, :, ::2], filters) + bias
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("count", [3, 4], ids=["", "sum"])
@pytest.mark.parametrize("kind", ["HardSigmoid", "Clip"])
def test_channels_last_fused_convolution(kind, count):
    """As ONNX Runtime's FusedConv, which has channels first."""
    inputs = [floats(1, 2, 5, 6), floats(3, 2, 3, 3), floats(3), floats(1, 3, 5, 6)][:count]
    attributes = {"activation": kind, "activation_params": [0.3, 0.4], "pads": [1, 1, 1, 1]}
    model, given = model_of("FusedConv", inputs, attributes)
    (expected,) = results_of(model, given)
    last = [np.moveaxis(array, 1, -1).copy() if array.ndim > 1 else array for array in inputs]
    found = run_alone("NhwcFusedConv", last, **attributes)
    np.testing.assert_allclose(found, np.moveaxis(expected, 1, -1), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("new", "past", "key_heads", "lengths"),
    [(1, 5, 2, [6, 4]), (3, 0, 2, [3]), (3, 5, 4, [8])],
    ids=["one token, two lengths", "a prompt", "several tokens behind others"],
)
@pytest.mark.parametrize(
    ("rotary", "packed", "others"),
    [
        (None, False, {}),
        (0, False, {}),
        (1, True, {}),
        (None, False, {"local_window_size": 2, "softcap": 1.5}),
    ],
    ids=["as they are", "turned", "packed, turned in pairs", "capped, in a window"],
)
def test_group_query_attention(new, past, key_heads, lengths, rotary, packed, others):
    batch, heads, width = len(lengths), 4, 16
    keys = (batch, key_heads, past, width)
    inputs = [
        floats(batch, new, heads * width),
        floats(batch, new, key_heads * width),
        floats(batch, new, key_heads * width),
        floats(*keys),
        floats(*keys),
        np.array(lengths, np.int32) - 1,
        np.array(past + new, np.int32),
    ]
    attributes = {"num_heads": heads, "kv_num_heads": key_heads, **others}
    if packed:
        inputs[:3] = [np.concatenate(inputs[:3], axis=2), None, None]
    if rotary is not None:
        angles = RANDOM.random((16, width // 2)).astype(np.float32)
        inputs += [np.cos(angles), np.sin(angles)]
        attributes |= {"do_rotary": 1, "rotary_interleaved": rotary, "smooth_softmax": -1}
    model, given = model_of("GroupQueryAttention", inputs, attributes, outputs=3)
    expected = results_of(model, given)
    total = given.pop("in6")
    found = dml.onnx.load(model, inputs={"in6": total}).run(given)
    for ours, theirs in zip(found.values(), expected):
        assert ours.shape == theirs.shape
    for row, length in enumerate(lengths):
        np.testing.assert_allclose(found["out0"][row], expected[0][row], rtol=1e-4, atol=1e-5)
        for name, theirs in zip(("out1", "out2"), expected[1:]):
            # What lies behind a shorter sequence is not defined.
            own = found[name][row][:, :length]
            np.testing.assert_allclose(own, theirs[row][:, :length], rtol=1e-5, atol=1e-6)


def test_group_query_attention_needs_the_total_length():
    inputs = (
        [floats(1, 1, 8)] * 3 + [floats(1, 1, 2, 8)] * 2 + [np.array([2], np.int32), np.array(3, np.int32)]
    )
    model, _ = model_of("GroupQueryAttention", inputs, {"num_heads": 1, "kv_num_heads": 1}, outputs=3)
    with pytest.raises(
        dml.onnx.OnnxError, match=r"total_sequence_length: its value determines.* contents of 'in6'"
    ):
        dml.onnx.load(model)
