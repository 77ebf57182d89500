"""``IDMLDispatchable``: the interface for binding tables, the recorder and hazard checks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ..abi.lifetime import Lifetime
from ..abi.rules import LIBRARY, rule
from ..api.iids import IID_IDMLDispatchable
from ..api.structs import DML_BINDING_PROPERTIES
from ..operators.program import NO_BYTES
from ..runtime.buffer import BufferRange
from ..runtime.recording import Access
from ..validation.report import Report
from .binding_point import NO_VIEWS, TEMPORARY, BindingPoint, Bound, Views
from .bindings import BUFFER_ARRAY, NONE, Binding, Names, Need, bindable_heaps, binds_nothing, single_view
from .dml_object import IDMLPageable
from .kept_bindings import KeptBindings

if TYPE_CHECKING:
    import numpy.typing as npt

RESOURCE_ALIGNMENT = 256

COUNTS = {
    "input": rule(
        "DML-BindInputs-count",
        "There are as many bindings as the dispatchable has inputs, absent optional ones included",
        "nf-directml-idmlbindingtable-bindinputs",
    ),
    "output": rule(
        "DML-BindOutputs-count",
        "There are as many bindings as the dispatchable has outputs, absent optional ones included",
        "nf-directml-idmlbindingtable-bindoutputs",
    ),
}
NOT_BINDABLE = {
    "input": rule(
        "DML-BindInputs-owned",
        "A tensor flagged OWNED_BY_DML is bound only at initialization, any other only at execution, an absent one "
        "never",
        "ne-directml-dml_tensor_flags",
    ),
    "output": rule(
        "DML-BindOutputs-empty",
        "Nothing is bound for an absent output, or for an operator that needs no persistent resource",
        "nf-directml-idmlbindingtable-bindoutputs",
    ),
}
NULL = {
    kind: rule(
        f"DML-Bind{kind.capitalize()}Resource-null",
        f"A {kind} resource is bound where {kind.capitalize()}ResourceSize is not 0",
        f"nf-directml-idmlbindingtable-bind{kind}resource",
    )
    for kind in ("temporary", "persistent")
}
# The pages say that no resource need be bound where the size is 0, not that none may be.
UNNEEDED = {
    kind: rule(
        f"DML-Bind{kind.capitalize()}Resource-unneeded",
        f"No {kind} resource is bound where {kind.capitalize()}ResourceSize is 0",
        LIBRARY,
    )
    for kind in ("temporary", "persistent")
}
REQUIRED = {
    "input": rule(
        "DML-BindInputs-null",
        "No required input is bound to DML_BINDING_TYPE_NONE or to a null Buffer",
        "nf-directml-idmlbindingtable-bindinputs",
    ),
    "output": rule(
        "DML-BindOutputs-null",
        "No required output is bound to DML_BINDING_TYPE_NONE or to a null Buffer",
        "nf-directml-idmlbindingtable-bindoutputs",
    ),
}

Run: TypeAlias = Callable[[], None]
# Takes the views and the dispatch's title, and adds to the report.
DebugCheck: TypeAlias = Callable[[Views, str, Report], None]


@cache
def tensor_points(kind: str, count: int) -> Sequence[tuple[BindingPoint, str]]:
    """The first ``count`` binding points of a kind, with the paths of their bindings in messages."""
    return tuple((BindingPoint(kind, index), f"bindings[{index}]") for index in range(count))


class IDMLDispatchable(IDMLPageable):
    """Base of compiled operators and initializers, which can be dispatched (nn-directml-idmldispatchable)."""

    IID = IID_IDMLDispatchable
    # Whether ranges of one resource are checked even where they do not overlap.
    takes_separate_resources = False
    # What it keeps of the last bindings; None if that may not be used again.
    kept: KeptBindings | None = None

    @abstractmethod
    def GetBindingProperties(self) -> DML_BINDING_PROPERTIES:
        """The descriptors, and the bytes of temporary and persistent memory, that a dispatch needs."""

    @property
    @abstractmethod
    def temporary_size(self) -> int:
        """TemporaryResourceSize."""

    @property
    @abstractmethod
    def title(self) -> str:
        """Its name in messages: ``DML_OPERATOR_JOIN``, ``an operator initializer``."""

    @property
    def dispatch_title(self) -> str:
        """``the dispatch of DML_OPERATOR_JOIN 'name'``."""
        name = self.life.name
        return f"the dispatch of {self.title}" + (f" {name!r}" if name else "")

    @property
    def takes_long(self) -> bool:
        """Whether a keyboard interrupt should not wait for the end of a dispatch."""
        return False

    @property
    def used_lives(self) -> Iterable[Lifetime]:
        """The lifetimes of objects that a dispatch uses besides the dispatchable and its bindings."""
        return ()

    @property
    def is_resettable(self) -> bool:
        """Whether what it does may change between the recording of a dispatch and its execution."""
        return False

    @property
    def volatile(self) -> bool:
        """Whether bindings are read when a dispatch executes rather than when it is recorded."""
        return False

    @property
    def revision(self) -> int:
        """Changes when a dispatch would do something else with the same bindings."""
        return 0

    @property
    @abstractmethod
    def needs(self) -> Mapping[BindingPoint, Need]:
        """The required bindings of a dispatch, in the order of the descriptors."""

    @property
    def descriptor_layout(self) -> Mapping[str, tuple[int, Sequence[BindingPoint]]]:
        """Where the descriptors of each kind of binding point begin, and the points, in their order."""
        needs = list(self.needs)
        kinds = [slot.kind for slot in needs]
        return {
            kind: (kinds.index(kind), [slot for slot in needs if slot.kind == kind])
            for kind in dict.fromkeys(kinds)
        }

    @property
    def has_descriptors(self) -> bool:
        """Whether bindings are written as descriptors. Late bindings always are, as they are read from there."""
        return self.volatile or self.device.profile.descriptors is not None

    @property
    def descriptor_count(self) -> int:
        """The descriptor count of its tables: one per binding, plus those that the device's profile adds."""
        return len(self.needs) + (self.device.profile.descriptors or 0) if self.has_descriptors else 0

    @property
    @abstractmethod
    def output_needs(self) -> Sequence[Need | None]:
        """The requirement on each output's binding; None where nothing may be bound."""

    @abstractmethod
    def input_views(self, records: Sequence[Binding], report: Report) -> dict[BindingPoint, BufferRange]:
        """The ranges bound by BindInputs, from its DML_BINDING_DESCs."""

    def output_views(self, records: Sequence[Binding], report: Report) -> dict[BindingPoint, BufferRange]:
        """The ranges bound by BindOutputs, from its DML_BINDING_DESCs."""
        return self.tensor_views("output", records, self.output_needs, report)

    def tensor_views(
        self, kind: str, records: Sequence[Binding], needs: Sequence[Need | None], report: Report
    ) -> dict[BindingPoint, BufferRange]:
        """The bound ranges, where each binding point takes one buffer."""
        if not self.is_count(kind, len(records), len(needs), report):
            return {}
        views = {}
        for (slot, path), record, need in zip(tensor_points(kind, len(records)), records, needs):
            if need is None:
                self._must_be_unbound(slot, record, path, report)
                continue
            view = single_view(record, need, path, self.device.d3d12_device, report)
            if view is not None:
                views[slot] = view
            elif binds_nothing(record, path, report):
                self.report_required(slot, need, path, report)
        return views

    def plain_views(self, kind: str, names: Names) -> dict[BindingPoint, BufferRange] | None:
        """As ``tensor_views``, of what bindings in C's memory name; None if there is anything to report."""
        return None

    def report_required(self, slot: BindingPoint, need: Need, path: str, report: Report) -> None:
        """Report a missing binding of a tensor, or of a resource that an initializer fills."""
        text = f"names no buffer; {self.describe(slot)} needs one of at least {need.size} bytes"
        report.add(REQUIRED[slot.kind], path, text)

    def is_count(self, kind: str, count: int, needed: int, report: Report) -> bool:
        """Report a binding count other than ``needed``."""
        if count != needed:
            report.add(COUNTS[kind], "bindingCount", f"is {count}; {self.describe_count(kind, needed)}")
        return count == needed

    @abstractmethod
    def describe_count(self, kind: str, count: int) -> str:
        """``the initializer has 2 operators``."""

    def _must_be_unbound(self, slot: BindingPoint, record: Binding, path: str, report: Report) -> None:
        if record.Type == NONE or record.Desc is None:
            return
        if record.Type == BUFFER_ARRAY or record.Desc.Buffer is not None:
            text = f"names a buffer, but {self.why_unbound(slot)}; bind nothing"
            report.add(NOT_BINDABLE[slot.kind], path, text)

    @abstractmethod
    def why_unbound(self, slot: BindingPoint) -> str:
        """Why nothing may be bound at a binding point without a requirement."""

    def resource_need(self, size: int) -> Need | None:
        """The requirement on a temporary or persistent resource of ``size`` bytes; None if there is none."""
        heaps = bindable_heaps(self.device.feature_level)
        return Need(size, RESOURCE_ALIGNMENT, heaps) if size else None

    def report_null(self, kind: str, need: Need, report: Report) -> None:
        """Report a missing temporary or persistent resource."""
        text = f"is null, but {kind.capitalize()}ResourceSize is {need.size}"
        report.add(NULL[kind], "binding", text)

    def check_unneeded(self, kind: str, is_bound: bool, report: Report) -> None:
        """Report the binding of a temporary or persistent resource of which no bytes are needed; with ``is_bound``
        False, NONE was bound."""
        if is_bound:
            text = f"names a {kind} resource, but {kind.capitalize()}ResourceSize is 0; bind nothing"
            report.add(UNNEEDED[kind], "binding", text)

    @abstractmethod
    def describe(self, slot: BindingPoint) -> str:
        """The name of the tensor or resource of a binding point."""

    @abstractmethod
    def accesses(self, slot: BindingPoint, view: BufferRange, views: Views = NO_VIEWS) -> Iterator[Access]:
        """The accesses of a dispatch to ``view``, the range bound at ``slot``, among ``views``."""

    @abstractmethod
    def check_pair(self, one: Bound, other: Bound, report: Report) -> None:
        """Report two ranges of one buffer that must not overlap."""

    def scratch(self, views: Views) -> npt.NDArray[np.uint8]:
        """The required bytes of the temporary resource."""
        view = views.get(TEMPORARY)
        return NO_BYTES if view is None else view.bytes[: self.temporary_size]

    @abstractmethod
    def prepare(self, views: Views) -> Run:
        """A call that executes over the bound memory. It holds no references that Windows does not hold."""

    def takes_memory(self, views: Views) -> bool:
        """Whether what ``prepare`` returns has memory of its own, as large as tensors."""
        return True

    @abstractmethod
    def debug_check(self) -> DebugCheck:
        """A debug device's check for the execution of a dispatch recorded at this time. It holds no references that
        Windows does not hold."""
