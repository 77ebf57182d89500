"""Aliasing rules for the bound ranges of a dispatch (nf-directml-idmlbindingtable-bindinputs, -bindoutputs)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, product

from ..abi.rules import Severity, rule
from ..runtime.buffer import BufferRange
from ..validation.report import Report
from .binding_point import BindingPoint, Bound, Views, do_overlap
from .dispatchable import IDMLDispatchable

PAGE = "nf-directml-idmlbindingtable-bindinputs"
OUTPUTS_PAGE = "nf-directml-idmlbindingtable-bindoutputs"
# Microsoft's library checks no aliasing. Where a result depends on the order of reads and writes, the debug layer says
# so in an error; the dispatch runs all the same, as it does on Windows, here on copies (``separation``). A strict
# device refuses.
OUTPUTS = rule(
    "DML-Binding-outputs-overlap", "Two outputs share no element's memory", OUTPUTS_PAGE, debug=True
)
IN_PLACE = rule(
    "DML-Binding-in-place",
    "An input and an output share an element's memory only in one place and layout, and if the operator can overwrite"
    " that input",
    PAGE,
    debug=True,
)
SCRATCH = rule(
    "DML-Binding-resource-overlap",
    "The temporary resource shares memory with no other binding, the persistent one with no output",
    PAGE,
    debug=True,
)
INITIALIZER_OVERLAP = rule(
    "DML-Binding-initializer-overlap",
    "An initializer's inputs and outputs share no memory",
    PAGE,
    debug=True,
)
# All elements are read before they are overwritten, so that results are right.
IN_PLACE_TOTAL = rule(
    "DML-Binding-in-place-total-size",
    "An input and an output that begin at the same byte have the same TotalTensorSizeInBytes and ranges of one size",
    PAGE,
    Severity.WARNING,
    debug=True,
)
# In the following cases results do not depend on any order, and the library does not check.
# tensorflow-directml-plugin scatters into variables in this way.
IN_PLACE_UNLISTED = rule(
    "DML-Binding-in-place-unlisted",
    "An input and an output share a range only if the operator's page says that it works in place of that "
    "input",
    PAGE,
    Severity.WARNING,
)
RANGES = rule(
    "DML-Binding-ranges-overlap",
    "The range of an output overlaps no other tensor's that it is not identical to, even where no element is shared",
    PAGE,
    Severity.WARNING,
)
INITIALIZER = rule(
    "DML-Binding-initializer-resource",
    "An initializer's inputs and outputs lie in different resources",
    PAGE,
    Severity.WARNING,
)
UNDEFINED = "so that results depend on the order of reads and writes"


def check_hazards(dispatchable: IDMLDispatchable, views: Views, report: Report) -> None:
    """Report ranges of one buffer that overlap, of which at least one is written."""
    if not dispatchable.takes_separate_resources and not share_memory(views):
        return
    for one, other in pairs(views, lambda view: id(view.buffer)):
        dispatchable.check_pair(one, other, report)


def pairs(views: Views, key_of: Callable[[BufferRange], int]) -> Iterator[tuple[Bound, Bound]]:
    """The pairs of ranges with the same ``key_of``, an input first.

    Pairs of ranges that are only read, such as hundreds of weights in one buffer, are skipped.
    """
    groups: dict[int, tuple[list[Bound], list[Bound]]] = {}
    for slot, view in views.items():
        if view is not None:
            inputs, others = groups.setdefault(key_of(view), ([], []))
            (inputs if slot.kind == "input" else others).append(Bound(slot, view))
    for inputs, others in groups.values():
        yield from product(inputs, others)
        yield from combinations(others, 2)


def share_memory(views: Views) -> bool:
    """Whether any two ranges overlap, also through different resources of one heap."""
    return do_overlap([(view.gpu_address, view.size) for view in views.values() if view is not None])


def overlapping(views: Views) -> Iterator[tuple[Bound, Bound]]:
    """The pairs of ranges that share memory, also through different resources of one heap."""
    if not share_memory(views):
        return iter(())
    return (
        (one, other)
        for one, other in pairs(views, lambda view: id(view.buffer.allocation))
        if one.view.overlaps(other.view)
    )


def overlap(view: BufferRange, slot: BindingPoint, other: BufferRange) -> str:
    """The message for ``view``, which overlaps ``other``, the range of ``slot``."""
    ends = [f"bytes {part.offset} to {part.offset + part.size}" for part in (view, other)]
    return f"takes {ends[0]} of its buffer and overlaps {slot.name}, which takes {ends[1]}"


def begin_alike(one: BufferRange, other: BufferRange) -> bool:
    """Whether two ranges that overlap begin at the same byte."""
    return one.gpu_address == other.gpu_address
