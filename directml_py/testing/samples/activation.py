"""Recipes for valid descs: activations."""

from __future__ import annotations

from ..desc_generator import DescGenerator, Fields
from ..recipes import plain, recipe


@recipe("ACTIVATION_SOFTMAX", "ACTIVATION_LOG_SOFTMAX", "ACTIVATION_HARDMAX")
def rows(make: DescGenerator) -> Fields:
    """A batch of rows, with as many leading dimensions of size 1 as the level requires."""
    rank = make.rank("InputTensor")
    return {"InputTensor": [1] * max(0, rank - 2) + make.shape(min(rank, 2))}


@recipe("ACTIVATION_SOFTPLUS")
def softplus(make: DescGenerator) -> Fields:
    """Before level 6_4 Steepness is at least 1."""
    return {**plain(make), "Steepness": make.source.integer(4, 12) / 4}
