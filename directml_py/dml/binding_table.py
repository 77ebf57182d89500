"""``IDMLBindingTable``: the memory that a dispatchable uses, as descriptors in a heap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import get_ident
from typing import Any

from ..abi.call_site import called, caller
from ..abi.rules import rule
from ..api.iids import IID_IDMLBindingTable
from ..runtime.buffer import BufferRange
from ..validation.report import Report
from .binding_point import BindingPoint, Views
from .bindings import Names, Need, bindable_heaps, names_at, read_binding, read_bindings, single_view
from .device_removal import hresult_method, void_method
from .dispatch_command import RecordedDispatch, prepare
from .dispatchable import RESOURCE_ALIGNMENT, IDMLDispatchable, Run
from .dml_object import IDMLDeviceChild, OneThread, OwnerDevice, one_thread
from .kept_bindings import BoundViews, KeptBindings
from .table_desc import SIZE, TableDesc, read_table_desc

EMPTY_TABLE = rule(
    "DML-BindingTable-empty",
    "Resources are bound only to a table that belongs to a dispatchable",
    "nf-directml-idmldevice-createbindingtable",
)
ONE_THREAD = rule(
    "DML-BindingTable-thread",
    "No thread uses a binding table while another thread is in one of its methods",
    "dml-binding",
)

NO_DESCRIPTORS: tuple[int, Sequence[BindingPoint]] = (0, ())


class Prepared:
    """A dispatch with the bindings of a table, for a ``revision`` of the dispatchable.

    ``command`` is the one that was recorded for it, which can be recorded again; None if nobody may share it.
    """

    __slots__ = ("command", "revision", "run", "views")

    def __init__(self, revision: int, views: Views, run: Run) -> None:
        self.revision = revision
        self.views = views
        self.run = run
        self.command: RecordedDispatch | None = None


class IDMLBindingTable(IDMLDeviceChild):
    """The memory bound for one dispatchable (nn-directml-idmlbindingtable). Not thread safe.

    Binding writes descriptors into the table's range: one per bound tensor, inputs first, then outputs, the temporary
    and the persistent resource.
    """

    IID = IID_IDMLBindingTable

    def __init__(self, device: OwnerDevice, desc: Any) -> None:
        super().__init__(device)
        # The call site of the last Bind method, under Direct3D's debug layer.
        self.bound_at = ""
        self.one_thread = OneThread(ONE_THREAD)
        self._take(read_table_desc(device, desc, "CreateBindingTable"))

    def _about(self) -> str:
        if self.desc is None:
            return "of nothing"
        count = sum(len(views) for views in self._bound.values())
        return f"{count} of {len(self.needs)} bound, for {self.desc.dispatchable.title}"

    def _take(self, desc: TableDesc | None) -> None:
        self.desc = desc
        # By the kind of binding point.
        self._bound: dict[str, BoundViews] = {}
        self._prepared: Prepared | None = None
        if desc is None:
            self.needs: Mapping[BindingPoint, Need] = {}
            self._kept: KeptBindings | None = None
        else:
            self.needs = desc.dispatchable.needs
            self._kept = desc.dispatchable.kept

    def follow(self, report: Report) -> bool:
        """After the Reset of an initializer, drop the bindings if the new operators have other needs.

        Returns whether the table has enough descriptors for the new operators.
        """
        if self.desc is None:
            return False
        needs = self.desc.dispatchable.needs
        if needs is not self.needs and needs != self.needs:
            self._bound, self.needs, self._prepared = {}, needs, None
        count = self.desc.dispatchable.descriptor_count
        fits = count <= self.desc.size
        if not fits:
            report.add(
                SIZE,
                "SizeInDescriptors",
                f"is {self.desc.size}; since the initializer was reset, {count} descriptors are needed",
            )
        return fits

    def prepared(self, dispatchable: IDMLDispatchable, report: Report) -> Prepared | None:
        """The dispatch that its bindings make, kept until they change; None if there is an error."""
        known, revision = self.prepared_again(dispatchable), dispatchable.revision
        if known is None:
            known = self._prepared
        if known is not None and known.revision == revision:
            return known
        views, kept = self._views(), dispatchable.kept
        run = prepare(dispatchable, views, report)
        if run is None:
            return None
        if kept is not None and not report.diagnostics and not dispatchable.takes_memory(views):
            kept.keep_run(views, run)
        made = Prepared(revision, views, run)
        # Warnings are given each time.
        self._prepared = None if report.diagnostics else made
        return made

    def prepared_again(self, dispatchable: Any) -> Prepared | None:
        """The dispatch if the operator keeps one for the bindings, or can move one there; so there is nothing to
        report."""
        desc, kept = self.desc, self._kept
        if desc is None or kept is None or desc.dispatchable is not dispatchable:
            return None
        if self._prepared is None:
            bound = tuple(self._bound.values())
            found = kept.dispatch(bound)
            if found is None:
                views = self._views()
                run = kept.run(views)
                if run is not None:
                    kept.keep_dispatch(bound, views, run)
                else:
                    run = kept.moved(views)
                    if run is None:
                        return None
                found = views, run
            self._prepared = Prepared(desc.dispatchable.revision, *found)
        return self._prepared

    def _views(self) -> Views:
        """The ranges of all needs, in their order."""
        bound: dict[BindingPoint, BufferRange] = {}
        for views in self._bound.values():
            bound.update(views)
        return {slot: bound.get(slot) for slot in self.needs}

    @property
    def dispatchable(self) -> IDMLDispatchable | None:
        return None if self.desc is None else self.desc.dispatchable

    @hresult_method
    @one_thread
    def Reset(self, desc: Any = None) -> None:
        """Clear all bindings and take a new DML_BINDING_TABLE_DESC; None makes the table empty.

        Raises ``DMLError`` ``E_INVALIDARG`` as CreateBindingTable does, leaving the table unchanged.
        """
        self._take(read_table_desc(self.device, desc, "Reset"))

    @void_method
    @one_thread
    def BindInputs(self, bindingCount: Any, bindings: Any = None) -> None:
        """``(count, bindings)`` or ``(bindings)``: one binding per input; a count of 0 unbinds all.

        For an initializer: one BUFFER_ARRAY (or NONE) per operator, with one range per input of the operator.
        """
        self._bind_tensors("BindInputs", "input", bindingCount, bindings)

    @void_method
    @one_thread
    def BindOutputs(self, bindingCount: Any, bindings: Any = None) -> None:
        """``(count, bindings)`` or ``(bindings)``: one binding per output; a count of 0 unbinds all.

        For an initializer: the persistent resource of each operator, NONE where it needs none.
        """
        self._bind_tensors("BindOutputs", "output", bindingCount, bindings)

    @void_method
    @one_thread
    def BindTemporaryResource(self, binding: Any = None) -> None:
        """Bind scratch memory of at least TemporaryResourceSize bytes at a multiple of 256; None where that is 0."""
        self._bind_single("BindTemporaryResource", "temporary", binding)

    @void_method
    @one_thread
    def BindPersistentResource(self, binding: Any = None) -> None:
        """Bind the resource filled by the initializer, at least PersistentResourceSize bytes; None where that is 0."""
        self._bind_single("BindPersistentResource", "persistent", binding)

    def _ready(self, method: str, report: Report) -> IDMLDispatchable | None:
        """The dispatchable to bind for, or None if the table is empty or too small for it."""
        if self.desc is None:
            report.add(EMPTY_TABLE, method, "needs a table that was created or reset for a dispatchable")
        return self.dispatchable if self.follow(report) else None

    def bind_plain(self, kind: str, names: Names | None) -> bool:
        """Bind tensors as BindInputs and BindOutputs do, where there is nothing to report; False where there may be,
        which is left to them."""
        desc, kept = self.desc, self._kept
        guard, thread = self.one_thread, get_ident()
        if (
            names is None
            or kept is None
            or desc is None
            or not (guard.inside is None or guard.inside == thread)
        ):
            return False
        views = kept.views(kind, names)
        if views is None:
            views = desc.dispatchable.plain_views(kind, names)
            if views is None:
                return False
            kept.keep_views(kind, names, views)
        if self.removal.alive():
            guard.inside = thread
            try:
                self._set("BindInputs" if kind == "input" else "BindOutputs", desc, kind, views)
            finally:
                guard.inside = None
        return True

    def _bind_tensors(self, method: str, kind: str, count: Any, bindings: Any) -> None:
        report, names = Report(), names_at(bindings, count)
        records = read_bindings(count, bindings, report, names)
        dispatchable, views = self._ready(method, report), {}
        if dispatchable is not None and records is not None:
            read = dispatchable.input_views if kind == "input" else dispatchable.output_views
            views = read(records, report)
        self._finish(method, kind, names, views, report)

    def _bind_single(self, method: str, kind: str, binding: Any) -> None:
        report, names = Report(), names_at(binding, 1)
        record = read_binding(binding, report, names)
        views = {}
        dispatchable = self._ready(method, report)
        if dispatchable is not None and not report.errors:
            slot = BindingPoint(kind)
            nothing = Need(0, RESOURCE_ALIGNMENT, bindable_heaps(self.device.feature_level))
            view = single_view(
                record, self.needs.get(slot, nothing), "binding", self.device.d3d12_device, report
            )
            if slot not in self.needs:
                dispatchable.check_unneeded(kind, view is not None, report)
            elif view is not None:
                views[slot] = view
            elif not report.diagnostics:
                dispatchable.report_null(kind, self.needs[slot], report)
        self._finish(method, kind, names, views, report)

    def _finish(self, method: str, kind: str, names: Names | None, views: BoundViews, report: Report) -> None:
        """Write the descriptors; on an error remove the device and keep the previous bindings."""
        if report.diagnostics and self.removal.strict:
            report.make_strict()
        if self.desc is not None and not report.errors:
            if self._kept is not None and names is not None and not report.diagnostics:
                self._kept.keep_views(kind, names, views)
            self._set(method, self.desc, kind, views)
        if report.diagnostics:
            self.removal.remove(f"{method} failed:", report)

    def _set(self, method: str, desc: TableDesc, kind: str, views: BoundViews) -> None:
        self._prepared = None
        self._bound[kind] = views
        writer = ""
        if self.device.d3d12_device.sync_validator is not None:
            self.bound_at = caller()
            writer = called(f"{method} of the binding table of {desc.dispatchable.title}", self.bound_at)
        count, heap, start = desc.dispatchable.descriptor_count, desc.cpu.heap, desc.cpu.start
        # Without a count there are no descriptors.
        if heap is None or not count:
            return
        first, slots = desc.dispatchable.descriptor_layout.get(kind, NO_DESCRIPTORS)
        heap.write_all(start + first, [views.get(slot) for slot in slots], writer)
        end = len(self.needs)
        if count > end:
            heap.write_all(start + end, [None] * (count - end), writer)
