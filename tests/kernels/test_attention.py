"""Softmaxes of scores, in place."""

from __future__ import annotations

import numpy as np
import pytest

from directml_py.kernels.attention import weigh

from .loops import IS_BASELINE, assert_passes_with_baseline_loops


def softmax(scores):
    parts = np.exp(scores - scores.max(-1, keepdims=True))
    return parts / parts.sum(-1, keepdims=True)


@pytest.mark.parametrize("count", [1, 2, 15, 16, 17, 33, 512, 1000])
@pytest.mark.parametrize("others", ["none", "bias", "both", "both broadcast", "both turned"])
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
    weigh(scores, 0.25, bias, more)
    np.testing.assert_allclose(scores, wanted, rtol=4e-6, atol=1e-37)


def test_far_below_the_largest_there_is_nothing(native):
    scores = np.array([[[0, -87.5, -1000, -np.inf, -3e38, -80] + [-50] * 20]], np.float32)
    wanted = softmax(scores.astype(np.float64))
    weigh(scores, 1.0, None, None)
    assert (scores[0, 0, 1:5] == 0).all()
    np.testing.assert_allclose(scores[0, 0, 5:], wanted[0, 0, 5:], rtol=1e-6)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, 20])
def test_what_has_no_weights(value, place, native):
    """NaN and infinity spoil their row alone, as does a row of nothing but -infinity."""
    scores = np.zeros((1, 3, 21), np.float32)
    scores[0, 1, slice(None) if value == -np.inf else place] = value
    weigh(scores, 1.0, None, None)
    assert np.isnan(scores[0, 1]).all()
    np.testing.assert_allclose(scores[0, ::2], 1 / 21, rtol=1e-6)


@pytest.mark.skipif(IS_BASELINE, reason="these are the baseline loops")
def test_baseline_loops():
    assert_passes_with_baseline_loops(__file__)
