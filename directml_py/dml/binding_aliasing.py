"""Aliasing rules for the bound ranges of a dispatch (nf-directml-idmlbindingtable-bindinputs, -bindoutputs)."""

from __future__ import annotations

from itertools import combinations, product

from ..abi.rules import Severity, rule
from ..d3d12.resource import BufferRange
from ..validation.report import Report
from .binding_point import BindingPoint, Bound, Views
from .dispatchable import IDMLDispatchable

PAGE = "nf-directml-idmlbindingtable-bindinputs"
OUTPUTS = rule(
    "DML-Binding-outputs-overlap",
    "The ranges of two outputs do not share memory",
    "nf-directml-idmlbindingtable-bindoutputs",
)
IN_PLACE = rule(
    "DML-Binding-in-place",
    "An input and an output share memory only if their ranges are identical, the operator can overwrite that"
    " input, and both tensors have the same sizes and strides",
    PAGE,
)
# All elements are read before they are overwritten, so that results are right.
IN_PLACE_TOTAL = rule(
    "DML-Binding-in-place-total-size",
    "An input and an output with the same range have the same TotalTensorSizeInBytes",
    PAGE,
    Severity.WARNING,
    debug=True,
)
# Microsoft's library does not check this, and tensorflow-directml-plugin scatters into variables in this way.
IN_PLACE_UNLISTED = rule(
    "DML-Binding-in-place-unlisted",
    "An input and an output share a range only if the operator's page says that it works in place of that "
    "input",
    PAGE,
    Severity.WARNING,
)
SCRATCH = rule(
    "DML-Binding-resource-overlap",
    "The temporary resource shares memory with no other binding, the persistent one with no output",
    PAGE,
)
INITIALIZER = rule(
    "DML-Binding-initializer-resource", "An initializer's inputs and outputs lie in different resources", PAGE
)


def check_hazards(dispatchable: IDMLDispatchable, views: Views, report: Report) -> None:
    """Report overlapping ranges of which at least one is written."""
    buffers: dict[int, tuple[list[Bound], list[Bound]]] = {}
    for slot, view in views.items():
        if view is not None:
            inputs, others = buffers.setdefault(id(view.buffer), ([], []))
            (inputs if slot.kind == "input" else others).append(Bound(slot, view))
    # Pairs of ranges that are only read, such as hundreds of weights in one buffer, are skipped.
    for inputs, others in buffers.values():
        for one, other in (*product(inputs, others), *combinations(others, 2)):
            dispatchable.check_pair(one, other, report)


def overlap(view: BufferRange, slot: BindingPoint, other: BufferRange) -> str:
    """The message for ``view``, which overlaps ``other``, the range of ``slot``."""
    ends = [f"bytes {part.offset} to {part.offset + part.size}" for part in (view, other)]
    return f"takes {ends[0]} of its buffer and overlaps {slot.name}, which takes {ends[1]}"


def are_identical(one: BufferRange, other: BufferRange) -> bool:
    """Whether two ranges of one buffer cover the same bytes."""
    return (one.offset, one.size) == (other.offset, other.size)
