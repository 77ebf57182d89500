"""Every printed example gives the printed values, in every layout. Under the debug layers: ``rules/test_right_use``."""

from __future__ import annotations

import numpy as np
import pytest
from documentation.illustrations import printed
from sweeps import swept

import directml_py as dml

from .helpers import LAYOUTS, laid_out


@pytest.mark.parametrize("operator", printed())
@swept("layout", LAYOUTS)
def test_the_values_are_those_printed(operator, layout):
    for example in printed()[operator]:
        results = dml.evaluate(laid_out(example.desc, layout), example.inputs)
        for result, output in zip(results, example.outputs):
            if output is not None and output.values is not None:
                assert result.dtype == output.values.dtype
                np.testing.assert_allclose(
                    result, output.values, rtol=0, atol=output.tolerance or 0, err_msg=example.title
                )


def test_every_family_has_examples():
    assert len(printed()) >= 42
