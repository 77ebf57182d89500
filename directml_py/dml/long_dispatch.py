"""Detection of long dispatches: sums of products, whose number grows faster than the size of their tensors."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import isqrt, prod

from ..descs.operator_desc import OperatorDesc
from ..kernels.backend import backend
from ..operators import operator_of

FAMILIES = frozenset(("matrix", "window", "quantized", "recurrent"))
# Some 30 ms on one core with AVX2 in the native kernels, which handle interrupts between operators; NumPy takes as long
# for fewer products where it has no BLAS. Another thread delays a dispatch by a fifth of a millisecond.
LONG = 1 << 29
LONG_IN_NUMPY = 1 << 26


def is_long(descs: Iterable[OperatorDesc]) -> bool:
    """Whether a keyboard interrupt should not wait for the end of a dispatch of these operators."""
    most = LONG_IN_NUMPY if backend.native is None else LONG
    return any(products(desc) > most for desc in descs)


@lru_cache(maxsize=1024)
def products(desc: OperatorDesc) -> int:
    """The approximate number of multiply-adds; exact for a product of two matrices, from their element counts MK, KN
    and MN. 0 for operators without sums of products."""
    if desc.schema.family not in FAMILIES:
        return 0
    exact = operator_of(desc.name).products(desc)
    if exact is not None:
        return exact
    tensors = [slot.tensor for slot in (*desc.inputs, *desc.outputs) if slot.tensor is not None]
    largest = sorted(prod(tensor.sizes) for tensor in tensors)[-3:]
    return isqrt(prod(largest)) if len(largest) == 3 else 0
