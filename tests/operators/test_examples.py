"""Every printed example: its desc is valid, and the operator gives the printed values."""

from __future__ import annotations

import numpy as np
import pytest
from documentation.printed import examples

import directml_py as dml
from directml_py.operators import operator_of

from .helpers import LAYOUTS
from .page_examples import laid_out

EXAMPLES = list(examples())


# Each with its operator, for ``--operator``.
CASES = [
    pytest.param(one, id=f"{one.operator}-{one.title}", marks=pytest.mark.operator(one.operator))
    for one in EXAMPLES
]


@pytest.mark.parametrize("example", CASES)
def test_the_desc_is_valid(example):
    assert dml.validate(example.desc) == []


@pytest.mark.parametrize("example", CASES)
def test_the_outputs_follow_from_the_inputs(example):
    """``shapes`` infers the printed output sizes."""
    shapes = operator_of(example.operator).shapes(example.desc)
    for field, shape in shapes.items():
        value = getattr(example.desc, field)
        if isinstance(value, tuple):
            assert [one.sizes for one in value] == [tuple(one) for one in shape]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("example", CASES)
def test_the_values_are_those_printed(example, layout):
    results = dml.evaluate(laid_out(example.desc, layout), example.inputs)
    for result, output in zip(results, example.outputs):
        if output is None or output.values is None:
            continue
        assert result.dtype == output.values.dtype
        if output.tolerance:
            np.testing.assert_allclose(result, output.values, rtol=0, atol=output.tolerance)
        else:
            np.testing.assert_array_equal(result, output.values)


def test_every_family_has_examples():
    assert len({example.operator for example in EXAMPLES}) >= 42
