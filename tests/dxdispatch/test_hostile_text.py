"""Hostile models: extremely long text and deep nesting."""

from __future__ import annotations

import pytest

from .conftest import add_model, tensor


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        '{"a":' * 100_000,
        "/*" * 200_000,
        '"' * 200_001,
        '"\\' * 100_000,
        "," * 200_000,
        "1" * 100_000,
        "[" + "1," * 100_000 + "/**/]",
        b"\xff\xfe\x00{",
        b'{"resources": {"\xff": 3}}',
    ],
)
def test_hostile_text(text, failure):
    assert failure(text)[0]


@pytest.mark.parametrize(("count", "is_refused"), [(8, False), (9, True), (200, True)])
def test_activations_without_end(failure, count, is_refused):
    """Eight levels can be parsed; that no operator accepts them is reported elsewhere."""
    inner = {"Type": "ACTIVATION_RELU"}
    for _ in range(count - 1):
        inner = {"Type": "ELEMENT_WISE_ADD1", "FusedActivation": inner}
    dispatchable = {
        "type": "ELEMENT_WISE_ADD1",
        **dict.fromkeys(("ATensor", "BTensor", "OutputTensor"), tensor(1)),
    }
    content = add_model()
    content["dispatchables"]["x"] = {**dispatchable, "FusedActivation": inner}
    assert ("nested more than 8 deep" in failure(content)[0]) == is_refused
