"""Fused activations: what an operator applies to its result before storing it (the page dml-fused-activations)."""

from __future__ import annotations

from collections.abc import Callable

from ..descs.operator_desc import OperatorDesc
from ..kernels.elementwise.activations import identity
from ..kernels.native_arrays import Array
from .operator import ElementWise
from .registry import operator_of


def activated(desc: OperatorDesc | None) -> Callable[[Array], Array]:
    """The function of a fused activation's desc, whose tensors are null; the identity without a desc.

    It takes the operator's unrounded result and returns the array to be stored, possibly the same one and possibly of
    a wider type.
    """
    return identity if desc is None else operator_of(desc.name).compute(desc)


def is_of_elements(desc: OperatorDesc | None) -> bool:
    """Whether the activation is element-wise; None counts as such."""
    return (
        desc is None or desc.name == "ACTIVATION_IDENTITY" or isinstance(operator_of(desc.name), ElementWise)
    )
