"""Softmaxes of scores, in place."""

from __future__ import annotations

import numpy as np
import pytest
from sweeps import swept

from directml_py.kernels.attention import Added, attend, bound_heads, scratch_for

NOTHING = Added()


def attended(queries, keys, values, scale, added=NOTHING):
    heads, count, size = queries.shape
    total, value_size = values.shape[1:]
    output = np.empty((heads, count, value_size), np.float32)
    scratch = np.full(scratch_for(heads, count, total, size, value_size), 0xFF, np.uint8)
    bound_heads(queries, keys, values, output, scale, added, scratch)()
    return output


def weights(scores, scale, *others):
    """The softmax alone: queries that are scores already, of which everything is a key and a value."""
    identity = np.broadcast_to(
        np.eye(scores.shape[-1], dtype=np.float32), (len(scores), *scores.shape[-1:] * 2)
    )
    return attended(scores, identity, identity, scale, Added(others or (None, None)))


def softmax(scores):
    parts = np.exp(scores - scores.max(-1, keepdims=True))
    return parts / parts.sum(-1, keepdims=True)


@swept("count", [1, 2, 15, 16, 17, 33, 512, 1000])
@swept("others", ["none", "bias", "both", "both broadcast", "both turned"])
@pytest.mark.usefixtures("threads")
def test_weights(count, others):
    rng = np.random.default_rng(6)
    shape = (3, 7, count)
    scores, *added = (rng.standard_normal(shape, np.float32) * 2 for _ in range(3))
    if "broadcast" in others:
        added = [np.broadcast_to(added[0][:1], shape), np.broadcast_to(added[1][:1, :1], shape)]
    if "turned" in others:
        added = [one[..., ::-1] for one in added]
    bias, more = added if "both" in others else (added[0] if others == "bias" else None, None)
    wanted = softmax(sum((one for one in (bias, more) if one is not None), scores * np.float64(0.25)))
    np.testing.assert_allclose(weights(scores, 0.25, bias, more), wanted, rtol=4e-6, atol=1e-37)


def test_far_below_the_largest_there_is_nothing(native):
    scores = np.array([[[0, -87.5, -1000, -np.inf, -3e38, -80] + [-50] * 20]], np.float32)
    wanted = softmax(scores.astype(np.float64))
    found = weights(np.zeros_like(scores), 1.0, scores, None)
    assert (found[0, 0, 1:5] == 0).all()
    np.testing.assert_allclose(found[0, 0, 5:], wanted[0, 0, 5:], rtol=1e-6)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, 20])
def test_what_has_no_weights(value, place, native):
    """NaN and infinity spoil their row alone, as does a row of nothing but -infinity."""
    scores = np.zeros((1, 3, 21), np.float32)
    scores[0, 1, slice(None) if value == -np.inf else place] = value
    found = weights(np.zeros_like(scores), 1.0, scores, None)
    assert np.isnan(found[0, 1]).all()
    np.testing.assert_allclose(found[0, ::2], 1 / 21, rtol=1e-6)


def near(shape, seed=7):
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


# Heads, queries, keys, size, size of values: on both sides of a block's size, and of a tile's columns.
SIZES = [(1, 1, 1, 1, 1), (3, 33, 31, 5, 32), (2, 70, 300, 64, 33), (5, 32, 64, 17, 96), (1, 257, 40, 8, 1)]


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.usefixtures("threads")
def test_against_the_twin(sizes):
    heads, count, total, size, value_size = sizes
    queries, keys = near((heads, count, size)), near((total, heads, size)).swapaxes(0, 1)
    values = near((heads, value_size, total)).swapaxes(1, 2)
    bias = near((heads, count, total), 8)
    marks = (near((heads, count, total), 9) > 0).astype(np.int32) * -7
    marks[0, 0] = 0
    found = attended(queries, keys, values, 0.5, Added((None, bias), marks, -20.0))
    for head in range(heads):
        wanted = np.empty((count, value_size), np.float64)
        operands = (one[head].astype(np.float64) for one in (queries, keys, values))
        attend(*operands, wanted, 0.5, bias[head], marks[head] == 0, -20.0)
        np.testing.assert_allclose(found[head], wanted, rtol=2e-5, atol=2e-6)


@swept("count", [1, 2, 3])
@swept("sizes", [(1, 1, 1), (129, 64, 64), (31, 5, 33), (300, 100, 7)])
@swept("step", [1, 2])
@pytest.mark.usefixtures("threads")
def test_few_queries(count, sizes, step):
    """Of heads that lie in rows, every element or every other one of these."""
    total, size, value_size = sizes
    rows = [
        near((lines, 3, width * step), seed)[..., ::step]
        for seed, (lines, width) in enumerate([(count, size), (total, size), (total, value_size)])
    ]
    operands = [one.swapaxes(0, 1) for one in rows]
    bias = near((3, count, total), 8)
    found = attended(*operands, 0.5, Added((bias, None)))
    queries, keys, values = (one.astype(np.float64) for one in operands)
    wanted = softmax(queries @ keys.swapaxes(1, 2) * 0.5 + bias) @ values
    np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=2e-6)


def test_marks_of_all_heads(native):
    """Masks that heads and queries share, and a row in which every key is masked, which attends to all."""
    queries, keys, values = near((2, 3, 4)), near((2, 40, 4), 1), near((2, 40, 6), 2)
    marks = np.zeros((1, 1, 40), np.int32)
    plain = attended(queries, keys, values, 1.0)
    shared = np.broadcast_to(marks, (2, 3, 40))
    np.testing.assert_array_equal(
        attended(queries, keys, values, 1.0, Added((None, None), shared, -1e30)), plain
    )
    marks[0, 0, 5] = 1
    found = attended(queries, keys, values, 1.0, Added((None, None), shared, -1e30))
    np.testing.assert_allclose(found, np.broadcast_to(values[:, 5:6], found.shape), rtol=1e-6)
