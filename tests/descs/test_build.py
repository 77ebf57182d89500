"""Descs built from values by name."""

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


@pytest.mark.parametrize("size", [(1,), (1, 2, 3), 5, "12", None])
def test_structs_have_all_their_fields(size):
    with pytest.raises(TypeError, match=r"^PooledSize must be a DML_SIZE_2D or a tuple \(Width, Height\)"):
        build_operator_desc(SCHEMAS["ROI_POOLING"], {"PooledSize": size})


def test_a_scalar_is_a_number_or_its_eight_bytes():
    desc = {"ValueDataType": dml.DML_TENSOR_DATA_TYPE_UINT16, "Value": b"\1\2\3\4\5\6\7\10"}
    assert build_operator_desc(SCHEMAS["FILL_VALUE_CONSTANT"], desc).Value.raw == desc["Value"]
    short = {**desc, "Value": 0x0201}
    assert build_operator_desc(SCHEMAS["FILL_VALUE_CONSTANT"], short).Value.raw[:2] == b"\1\2"
    absent = {**desc, "Value": None}
    assert build_operator_desc(SCHEMAS["FILL_VALUE_CONSTANT"], absent).Value.raw == bytes(8)
