"""Recipes for valid descs: element-wise operators."""

from __future__ import annotations

from ...api.enums import DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_DATA_TYPE_INT32
from ..desc_generator import DescGenerator, Fields
from ..recipes import plain, recipe


@recipe("ELEMENT_WISE_DEQUANTIZE_LINEAR")
def dequantize_linear(make: DescGenerator) -> Fields:
    """Before level 6_2 the zero point is required."""
    fields = plain(make)
    if make.level < 0x6200 or make.source.chance(50):
        fields["present"] = {"ZeroPointTensor"}
    return fields


@recipe("ELEMENT_WISE_QUANTIZE_LINEAR")
def quantize_linear(make: DescGenerator) -> Fields:
    """The scale has the input's type, or FLOAT32 where that is INT32."""
    table = make.table()
    assert table is not None
    data_type = make.source.choice(table.tensors["InputTensor"].types)
    scale = DML_TENSOR_DATA_TYPE_FLOAT32 if data_type == DML_TENSOR_DATA_TYPE_INT32 else data_type
    return {**dequantize_linear(make), "types": {"InputTensor": data_type, "ScaleTensor": scale}}


@recipe("ELEMENT_WISE_POW")
def power(make: DescGenerator) -> Fields:
    """Before level 3_0 the exponent has the type of the base."""
    fields = plain(make)
    if make.level < 0x3000:
        table = make.table()
        assert table is not None
        data_type = make.source.choice(table.tensors["InputTensor"].types)
        fields["types"] = {"InputTensor": data_type, "ExponentTensor": data_type}
    return fields
