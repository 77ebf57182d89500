"""Recipes for valid descs: element-wise operators."""

from __future__ import annotations

from ..maker import Fields, Maker
from ..recipes import plain, recipe


@recipe("ELEMENT_WISE_QUANTIZE_LINEAR", "ELEMENT_WISE_DEQUANTIZE_LINEAR")
def quantize_linear(make: Maker) -> Fields:
    """Before 6_2 there is always a zero point."""
    fields = plain(make)
    if make.level < 0x6200 or make.source.chance(50):
        fields["present"] = {"ZeroPointTensor"}
    return fields


@recipe("ELEMENT_WISE_POW")
def power(make: Maker) -> Fields:
    """Before 3_0 the exponent has the type of the base."""
    fields = plain(make)
    if make.level < 0x3000:
        table = make.table()
        assert table is not None
        data_type = make.source.choice(table.tensors["InputTensor"].types)
        fields["types"] = {"InputTensor": data_type, "ExponentTensor": data_type}
    return fields
