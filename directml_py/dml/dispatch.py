"""The command that RecordDispatch records."""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ..abi.hresult import S_OK
from ..abi.life import Life
from ..api.d3d12_enums import D3D12_RESOURCE_STATE_UNORDERED_ACCESS
from ..d3d12.commands import Command
from ..d3d12.resource import BufferRange
from ..d3d12.tracking.access import Access, Use
from ..validation.report import Report
from ..validation.rule import rule
from .binding_table import Slot, Views
from .bindings import Need, check_view
from .compiled_operator import Bound, IDMLCompiledOperator
from .debug_checks import check_descriptors, check_initializer, check_inputs, check_operator
from .hazards import check_hazards
from .initializer import BoundInitializer, IDMLOperatorInitializer
from .objects import IDMLDispatchable
from .table_desc import DescriptorRange

UNORDERED_ACCESS = D3D12_RESOURCE_STATE_UNORDERED_ACCESS

# The page calls dispatching without bindings both an error and undefined behaviour; here it is an error.
UNBOUND = rule(
    "DML-RecordDispatch-unbound",
    "Everything the dispatchable needs is bound when it is recorded, or, with DESCRIPTORS_VOLATILE, when it executes",
    "nf-directml-idmlcommandrecorder-recorddispatch",
)

Run = Callable[[], None]


class Dispatch(Command):
    """A recorded dispatch; with DESCRIPTORS_VOLATILE its descriptors are read when it executes.

    Under the debug layer it keeps the dispatchable no more alive than Windows does, and reads such descriptors when it
    is submitted: from then on they must not change.
    """

    is_dispatch = True

    def __init__(
        self,
        dispatchable: IDMLDispatchable,
        gpu: DescriptorRange,
        needs: Mapping[Slot, Need],
        views: Views | None,
        run: Run | None,
    ) -> None:
        monitored = dispatchable.device.d3d12_device.monitor is not None
        self._dispatchable = weakref.ref(dispatchable)
        self._keep = None if monitored else dispatchable
        self._life = dispatchable.life
        self._removal = dispatchable.removal
        self._gpu = gpu
        self._needs = needs
        self._views = views
        self._run = run
        self._targets = dispatchable.operators if isinstance(dispatchable, IDMLOperatorInitializer) else ()
        self._accesses: tuple[Access, ...] = ()
        if monitored or self._removal.debug:
            self.title = title(dispatchable)
        if monitored and views is not None:
            self._accesses = view_accesses(dispatchable, views)

    @property
    def muted(self) -> bool:
        """What the DirectML device's own switch holds back, Direct3D does not say either."""
        return self._removal.muted

    def submitted(self) -> Command:
        dispatchable = self._dispatchable()
        if self._views is not None or dispatchable is None:
            return self
        found = copy.copy(self)
        found._views = self._late_views()
        found._accesses = view_accesses(dispatchable, found._views)
        return found

    def call(self) -> Callable[[], None]:
        return self.execute if self._run is None or self._removal.debug else self._run

    def execute(self) -> None:
        if self._run is not None:
            if self._removal.debug:
                assert self._views is not None
                self._check(self._views)
            self._run()
            return
        dispatchable = self._dispatchable()
        if self._removal.reason != S_OK or dispatchable is None:
            return
        report = Report()
        views = self._late_views() if self._views is None else self._views
        # Whoever wrote the descriptors since may have meant another dispatchable.
        for slot, view in views.items():
            if view is not None:
                check_view(view, self._needs[slot], describe(dispatchable, slot), report)
        late_run = None if report.errors else prepare(dispatchable, views, report)
        if late_run is not None and not report.errors:
            if self._removal.debug:
                self._check(views)
            late_run()
        self._removal.remove("Executing a dispatch with late bindings failed:", report, at_call=False)

    def mark(self) -> None:
        # A late dispatch that could not run has removed its device.
        if self._run is not None or self._removal.reason == S_OK:
            super().mark()

    def _late_views(self) -> Views:
        return {slot: self._gpu.read(place) for place, slot in enumerate(self._needs)}

    def _check(self, views: Views) -> None:
        """What only a debug device asks."""
        dispatchable, report = self._dispatchable(), Report()
        if self._views is not None:
            check_descriptors(self._gpu, views, self.title, report)
        if isinstance(dispatchable, IDMLCompiledOperator):
            check_operator(dispatchable, views, self.title, report)
            check_inputs(dispatchable, views, report)
        check_initializer(self._targets, self.title, report)
        self._removal.notify(report)

    def lives(self) -> Iterable[Life]:
        views = () if self._views is None else self._views.values()
        buffers = {id(view.buffer): view.buffer for view in views if view is not None}
        return (self._life, self._gpu.life, *buffers.values())

    def accesses(self) -> Iterable[Access]:
        return self._accesses


def view_accesses(dispatchable: IDMLDispatchable, views: Views) -> tuple[Access, ...]:
    """What a dispatch does with the memory that is bound.

    A late-bound range may be too small for its tensor; the dispatch reports that and does not run.
    """
    return tuple(
        access
        for slot, view in views.items()
        if view is not None
        for access in slot_accesses(dispatchable, slot, view)
        if access.range.offset + access.range.size <= access.range.buffer.width
    )


def title(dispatchable: IDMLDispatchable) -> str:
    """``the dispatch of DML_OPERATOR_JOIN 'name'``, which the program may release before it executes."""
    what = "an operator initializer"
    if isinstance(dispatchable, IDMLCompiledOperator):
        what = dispatchable.program.title
    name = dispatchable.life.name
    return f"the dispatch of {what}" + (f" {name!r}" if name else "")


def slot_accesses(dispatchable: IDMLDispatchable, slot: Slot, view: BufferRange) -> Iterator[Access]:
    """What a dispatch does with the range that is bound for ``slot``."""
    if isinstance(dispatchable, IDMLOperatorInitializer):
        op = dispatchable.operators[slot.position]
        name = describe(dispatchable, slot)
        if slot.kind == "input":
            yield tensor_access(op.inputs[slot.part].tensor, view, 0, Use.READ, name)
        else:
            yield Access(resized(view, 0, op.persistent_size), Use.WRITE, UNORDERED_ACCESS, name)
        return
    assert isinstance(dispatchable, IDMLCompiledOperator)
    if slot.kind == "temporary":
        size = dispatchable.temporary_size
        yield Access(resized(view, 0, size), Use.SCRATCH, UNORDERED_ACCESS, "the temporary resource")
    elif slot.kind == "persistent":
        for index, start in dispatchable.owned.items():
            owned = dispatchable.inputs[index]
            yield tensor_access(
                owned.tensor, view, start, Use.READ, f"{owned.path} in the persistent resource"
            )
    else:
        reads = slot.kind == "input"
        tensor = (dispatchable.inputs if reads else dispatchable.outputs)[slot.position]
        yield tensor_access(tensor.tensor, view, 0, Use.READ if reads else Use.WRITE, tensor.path)


def tensor_access(tensor: Any, view: BufferRange, start: int, use: Use, name: str) -> Access:
    return Access(resized(view, start, tensor.total_size), use, UNORDERED_ACCESS, name, tensor.view)


def resized(view: BufferRange, start: int, size: int) -> BufferRange:
    return BufferRange(view.buffer, view.offset + start, size)


def prepare(dispatchable: IDMLDispatchable, views: Views, report: Report) -> Run | None:
    """The call that executes the dispatch, or None if something that it needs is unbound or overlaps."""
    for slot, view in views.items():
        if view is None:
            report.add(UNBOUND, describe(dispatchable, slot), "is not bound")
    check_hazards(dispatchable, views, report)
    if report.errors:
        return None
    if isinstance(dispatchable, IDMLCompiledOperator):
        return dispatchable.prepare(
            Bound(
                [views.get(Slot("input", index)) for index in range(len(dispatchable.inputs))],
                [views.get(Slot("output", index)) for index in range(len(dispatchable.outputs))],
                views.get(Slot("temporary", 0)),
                views.get(Slot("persistent", 0)),
            )
        )
    assert isinstance(dispatchable, IDMLOperatorInitializer)
    operators = dispatchable.operators
    inputs = [
        [views.get(Slot("input", index, part)) for part in range(len(op.inputs))]
        for index, op in enumerate(operators)
    ]
    outputs = [views.get(Slot("output", index)) for index in range(len(operators))]
    return dispatchable.prepare(BoundInitializer(inputs, outputs))


def describe(dispatchable: IDMLDispatchable, slot: Slot) -> str:
    """A slot by the name of the tensor or resource that belongs there."""
    if slot.kind in ("temporary", "persistent"):
        return f"the {slot.kind} resource"
    if isinstance(dispatchable, IDMLCompiledOperator):
        tensors = dispatchable.inputs if slot.kind == "input" else dispatchable.outputs
        return tensors[slot.position].path
    assert isinstance(dispatchable, IDMLOperatorInitializer)
    if slot.kind == "output":
        return f"the persistent resource of operators[{slot.position}]"
    return f"operators[{slot.position}].{dispatchable.operators[slot.position].inputs[slot.part].path}"
