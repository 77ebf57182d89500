"""Which bound ranges of one dispatch may share memory (nf-directml-idmlbindingtable-bindinputs, -bindoutputs)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from ..d3d12.resource import BufferRange
from ..validation.report import Report
from ..validation.rule import rule
from .binding_table import Slot
from .compiled_operator import IDMLCompiledOperator
from .objects import IDMLDispatchable

PAGE = "nf-directml-idmlbindingtable-bindinputs"
OUTPUTS = rule(
    "DML-Binding-outputs-overlap",
    "The ranges of two outputs do not share memory",
    "nf-directml-idmlbindingtable-bindoutputs",
)
IN_PLACE = rule(
    "DML-Binding-in-place",
    "An input's range may be an output's only if both are identical and the operator works in place",
    PAGE,
)
SCRATCH = rule(
    "DML-Binding-resource-overlap",
    "The temporary resource shares memory with nothing, the persistent one with no output",
    PAGE,
)
INITIALIZER = rule(
    "DML-Binding-initializer-resource", "An initializer's inputs and outputs lie in different resources", PAGE
)


def written(dispatchable: IDMLDispatchable, slot: Slot, view: BufferRange) -> BufferRange:
    """The part of a range that the dispatch touches: a tensor's TotalTensorSizeInBytes."""
    if not isinstance(dispatchable, IDMLCompiledOperator) or slot.kind not in ("input", "output"):
        return view
    slots = dispatchable.inputs if slot.kind == "input" else dispatchable.outputs
    tensor = slots[slot.position].tensor
    return view if tensor is None else view._replace(size=tensor.total_size)


def check_hazards(
    dispatchable: IDMLDispatchable, views: Mapping[Slot, BufferRange | None], report: Report
) -> None:
    """Report pairs of ranges that share memory though one of them is written."""
    bound = [(slot, view) for slot, view in views.items() if view is not None]
    for (slot, view), (other_slot, other) in combinations(bound, 2):
        if view.buffer is not other.buffer:
            continue
        kinds = {slot.kind, other_slot.kind}
        if not isinstance(dispatchable, IDMLCompiledOperator):
            if kinds == {"input", "output"}:
                report.add(
                    INITIALIZER, name(other_slot), f"lies in the resource of {name(slot)}; they must differ"
                )
            elif kinds == {"output"} and view.overlaps(other):
                report.add(OUTPUTS, name(other_slot), overlap(other, slot, view))
            continue
        one = written(dispatchable, slot, view)
        two = written(dispatchable, other_slot, other)
        if not one.overlaps(two):
            continue
        if kinds == {"output"}:
            report.add(OUTPUTS, name(other_slot), overlap(two, slot, one))
        elif kinds == {"input", "output"}:
            identical = _extent(view) == _extent(other) or _extent(one) == _extent(two)
            text = overlap(two, slot, one)
            check_in_place(dispatchable, name(other_slot), text, identical, report)
        elif "temporary" in kinds or kinds == {"persistent", "output"}:
            report.add(SCRATCH, name(other_slot), f"{overlap(two, slot, one)}; they must be apart")


def _extent(view: BufferRange) -> tuple[int, int]:
    return view.offset, view.size


def overlap(view: BufferRange, slot: Slot, other: BufferRange) -> str:
    """What is wrong with ``view``, which overlaps ``other``, the range of ``slot``."""
    ends = [f"bytes {part.offset} to {part.offset + part.size}" for part in (view, other)]
    return f"takes {ends[0]} of its buffer and overlaps {name(slot)}, which takes {ends[1]}"


def check_in_place(op: IDMLCompiledOperator, path: str, text: str, identical: bool, report: Report) -> None:
    if not op.program.in_place:
        report.add(IN_PLACE, path, f"{text}; {op.program.title} does not work in place")
    elif not identical:
        report.add(IN_PLACE, path, f"{text}; to work in place both must be the same bytes")


def name(slot: Slot) -> str:
    if slot.kind in ("temporary", "persistent"):
        return f"the {slot.kind} resource"
    part = f".Bindings[{slot.part}]" if slot.part else ""
    return f"{slot.kind}s[{slot.position}]{part}"
