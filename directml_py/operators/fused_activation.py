"""What an operator applies to its result: the activation that is fused into it (the page dml-fused-activations)."""

from __future__ import annotations

from collections.abc import Callable

from ..descs.operator_desc import OperatorDesc
from ..kernels.elementwise.activations import identity
from ..kernels.native_arrays import Array
from .operator import ElementWise
from .registry import operator_of


def activated(desc: OperatorDesc | None) -> Callable[[Array], Array]:
    """The function of an activation's desc, whose tensors are null; without a desc, of an array itself.

    It takes the operator's result before that is rounded and returns what is to be stored, maybe the same array and
    maybe of a wider type.
    """
    return identity if desc is None else operator_of(desc.name).compute(desc)


def is_of_elements(desc: OperatorDesc | None) -> bool:
    """Whether the activation looks at one element at a time; what is none does."""
    return (
        desc is None or desc.name == "ACTIVATION_IDENTITY" or isinstance(operator_of(desc.name), ElementWise)
    )
