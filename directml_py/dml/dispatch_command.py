"""The command that RecordDispatch records."""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from ..abi.hresult import S_OK
from ..abi.lifetime import Lifetime
from ..abi.rules import rule
from ..runtime.interruptible import run_interruptibly
from ..runtime.recording import Access, Command
from ..validation.report import Report
from .binding_aliasing import check_hazards
from .binding_point import BindingPoint, DescriptorRange, Views
from .bindings import Need, check_view
from .debug_checks import check_descriptors, check_resident
from .dispatchable import IDMLDispatchable, Run

# The page calls a dispatch without bindings both an error and undefined behaviour; here it is an error.
UNBOUND = rule(
    "DML-RecordDispatch-unbound",
    "All needed binding points are bound when a dispatch is recorded, or, with DESCRIPTORS_VOLATILE, when it executes",
    "nf-directml-idmlcommandrecorder-recorddispatch",
)


class RecordedDispatch(Command):
    """A recorded dispatch; with DESCRIPTORS_VOLATILE its descriptors are read when it executes.

    Under the debug layer it holds no reference to the dispatchable, as on Windows, and reads volatile descriptors at
    submission, from when they must not change.
    """

    is_dispatch = True

    def __init__(
        self,
        dispatchable: IDMLDispatchable,
        gpu: DescriptorRange,
        needs: Mapping[BindingPoint, Need],
        views: Views | None,
        run: Run | None,
    ) -> None:
        monitored = dispatchable.device.d3d12_device.sync_validator is not None
        self._dispatchable = weakref.ref(dispatchable)
        self._keep = None if monitored else dispatchable
        self._life = dispatchable.life
        # The lifetimes of the operators that an initializer had when it was recorded.
        self.used_lives = tuple(dispatchable.used_lives)
        self._removal = dispatchable.removal
        self._gpu = gpu
        self._needs = needs
        self._descriptors = dispatchable.descriptor_count
        self._views = views
        self._run = run
        self.is_long = dispatchable.takes_long
        self._is_checked = self._removal.debug or self._removal.strict
        self._debug_check = dispatchable.debug_check() if self._is_checked else None
        # Without the debug layer only observers query this, when the dispatch executes.
        self._accesses: tuple[Access, ...] | None = None
        if monitored or self._is_checked:
            self.title = dispatchable.dispatch_title
        if views is not None and (monitored or dispatchable.is_resettable):
            self._accesses = view_accesses(dispatchable, views)

    @property
    def is_watched(self) -> bool:
        """Whether the debug layer, or a strict device, tells one recording of the dispatch from another."""
        return self._keep is None or self._is_checked

    @property
    def muted(self) -> bool:
        """Whether the DirectML device's own switch mutes messages, which then holds for Direct3D's too."""
        return self._removal.muted

    @property
    def dispatchable(self) -> IDMLDispatchable | None:
        """None after its release."""
        return self._dispatchable()

    @property
    def life(self) -> Lifetime:
        """The dispatchable's lifetime record, which outlives it."""
        return self._life

    def bound(self) -> Views:
        """The bound ranges; with DESCRIPTORS_VOLATILE, those in the descriptors at the time of the call."""
        return self._late_views() if self._views is None else self._views

    def submitted(self) -> Command:
        dispatchable = self._dispatchable()
        if self._views is not None or dispatchable is None:
            return self
        command = copy.copy(self)
        command._views = self._late_views()
        command._accesses = view_accesses(dispatchable, command._views)
        return command

    def step(self) -> Callable[[], None]:
        call = self.execute if self._run is None or self._is_checked else self._run
        return partial(run_interruptibly, call) if self.is_long else call

    def execute(self) -> None:
        if self._run is not None:
            if self._is_checked:
                assert self._views is not None
                if not self._may_run(self._views):
                    return
            self._run()
            return
        dispatchable = self._dispatchable()
        if self._removal.reason != S_OK or dispatchable is None:
            return
        report = self._removal.new_report()
        views = self._late_views() if self._views is None else self._views
        # The descriptors may since have been written for another dispatchable.
        for slot, view in views.items():
            if view is not None:
                check_view(view, self._needs[slot], dispatchable.describe(slot), report)
        late_run = None if report.errors else prepare(dispatchable, views, report)
        if late_run is not None and (not self._is_checked or self._may_run(views)):
            late_run()
        self._removal.remove("Executing a dispatch with late bindings failed:", report, at_call=False)

    @property
    def took_effect(self) -> bool:
        # A late dispatch that could not run has removed its device.
        return self._run is not None or self._removal.reason == S_OK

    def _late_views(self) -> Views:
        return {slot: self._gpu.read(index) for index, slot in enumerate(self._needs)}

    def _may_run(self, views: Views) -> bool:
        """Run the checks of debug and strict devices. On a strict device an error removes it and stops the dispatch."""
        report = Report()
        check_resident(self._life, self.title, report)
        if self._views is not None:
            check_descriptors(self._gpu, views, self._descriptors, self.title, report)
        if self._debug_check is not None:
            self._debug_check(views, self.title, report)
        if self._removal.debug:
            self._removal.report(report)
            return True
        self._removal.remove("Executing a dispatch failed:", report, at_call=False)
        return not report.errors

    def lives(self) -> Iterable[Lifetime]:
        views = () if self._views is None else self._views.values()
        buffers = {id(view.buffer): view.buffer for view in views if view is not None}
        return (self._life, *self.used_lives, self._gpu.life, *buffers.values())

    def accesses(self) -> Iterable[Access]:
        dispatchable = self._dispatchable()
        if self._accesses is None:
            return () if dispatchable is None else view_accesses(dispatchable, self.bound())
        return self._accesses


def view_accesses(dispatchable: IDMLDispatchable, views: Views) -> tuple[Access, ...]:
    """The accesses of a dispatch to its bound memory.

    A late-bound range may be too small for its tensor; the dispatch then reports that and does not run.
    """
    return tuple(
        access
        for slot, view in views.items()
        if view is not None
        for access in dispatchable.accesses(slot, view, views)
        if access.range.offset + access.range.size <= access.range.buffer.width
    )


def prepare(dispatchable: IDMLDispatchable, views: Views, report: Report) -> Run | None:
    """The call that executes the dispatch, or None if a needed binding is missing or overlaps another."""
    for slot, view in views.items():
        if view is None:
            report.add(UNBOUND, dispatchable.describe(slot), "is not bound")
    check_hazards(dispatchable, views, report)
    return None if report.errors else dispatchable.prepare(views)
