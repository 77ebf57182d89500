"""Operators that order elements."""

from __future__ import annotations

from ..descs.values import OperatorDesc
from .operator import Operator, Shapes, operator


@operator("TOP_K", "TOP_K1")
class TopK(Operator):
    """The K largest or smallest elements along an axis, in order (ns-directml-dml_top_k1_operator_desc)."""

    def shapes(self, desc: OperatorDesc) -> Shapes:
        sizes, axis = desc.InputTensor.sizes, desc.Axis
        chosen = (*sizes[:axis], desc.K, *sizes[axis + 1 :])
        return {"OutputValueTensor": chosen, "OutputIndexTensor": chosen}
