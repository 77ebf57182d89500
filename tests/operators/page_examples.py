"""The pages' printed examples, in other layouts."""

from __future__ import annotations

from dataclasses import replace

from directml_py.descs.operator_desc import OperatorDesc
from directml_py.testing.desc_changes import change_tensor

from .helpers import LAYOUTS


def laid_out(desc: OperatorDesc, layout: str) -> OperatorDesc:
    """``desc`` with every tensor in one of ``LAYOUTS`` whose strides the page does not print."""
    for slot in (*desc.inputs, *desc.outputs):
        if slot.tensor is not None and slot.tensor.strides is None:
            strides = LAYOUTS[layout](slot.tensor.sizes)
            strided = replace(slot.tensor, strides=None if strides is None else tuple(strides), total_size=-1)
            desc = change_tensor(desc, slot, strided)
    return desc
