"""Descs that are built of values by name."""

from __future__ import annotations

import pytest

import directml_py as dml
from directml_py.descs.build import build_operator_desc
from directml_py.operators import SCHEMAS


@pytest.mark.parametrize(("last", "beyond"), [(-(1 << 31), -(1 << 31) - 1), ((1 << 31) - 1, 1 << 31)])
def test_numbers_with_a_sign(last, beyond):
    schema = SCHEMAS["DIAGONAL_MATRIX"]
    assert build_operator_desc(schema, {"Offset": last}).Offset == last
    with pytest.raises(ValueError, match=rf"^Offset must be a signed 32-bit number, not {beyond}$"):
        build_operator_desc(schema, {"Offset": beyond})


def test_an_enumerator_that_is_left_out_is_the_one_of_number_0():
    desc = build_operator_desc(SCHEMAS["PADDING"], {"PaddingMode": None})
    assert desc.PaddingMode == dml.DML_PADDING_MODE_CONSTANT
