"""Which dispatches take long: sums of products, whose number grows faster than their tensors."""

from __future__ import annotations

from collections.abc import Iterable
from math import isqrt, prod

from ..descs.operator_desc import OperatorDesc

FAMILIES = frozenset(("matrix", "window", "quantized", "recurrent"))
# Some milliseconds of one core; that another thread is started takes a tenth of one.
LONG = 1 << 26


def is_long(descs: Iterable[OperatorDesc]) -> bool:
    """Whether a keyboard interrupt should not wait for the end of a dispatch of these operators."""
    return any(products(desc) > LONG for desc in descs)


def products(desc: OperatorDesc) -> int:
    """Roughly how many products the operator adds up; exact for a product of two matrices, with the numbers of elements
    MK, KN and MN. 0 for operators that do not."""
    if desc.schema.family not in FAMILIES:
        return 0
    tensors = [slot.tensor for slot in (*desc.inputs, *desc.outputs) if slot.tensor is not None]
    largest = sorted(prod(tensor.sizes) for tensor in tensors)[-3:]
    return isqrt(prod(largest)) if len(largest) == 3 else 0
