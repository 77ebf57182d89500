"""The events of a capture as values, all of them validated: a capture is untrusted input."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from ..d3d12.formats import Format
from ..dml.binding_point import BindingPoint
from ..dml.compiled_operator import IDMLCompiledOperator


class Process(NamedTuple):
    pid: int
    arguments: tuple[str, ...]
    started: str
    version: str
    kernels: str

    @property
    def title(self) -> str:
        return " ".join(self.arguments) or f"process {self.pid}"


class Content(NamedTuple):
    """A range of bytes in the contents file."""

    offset: int
    size: int


class CapturedAllocation(NamedTuple):
    size: int
    fill: int


@dataclass
class CapturedResource:
    number: int
    allocation: int
    offset: int
    width: int
    heap: str
    flags: str
    state: str
    placed: bool
    name: str
    created: str = ""

    @property
    def title(self) -> str:
        """Without a name what else tells it from others: its heap and size, and the line that created it."""
        if self.name:
            return self.name
        heap = self.heap.removeprefix("D3D12_HEAP_TYPE_")
        line = f", created at {self.created.rpartition('/')[2]}" if self.created else ""
        return f"{'placed ' * self.placed}{heap} resource {self.number} ({self.width} bytes{line})"


@dataclass
class CapturedObject:
    """A queue, a list or a fence, the ``number``-th of its kind. ``detail`` is a type, or a value."""

    number: int
    kind: str
    detail: str
    name: str

    @property
    def title(self) -> str:
        return self.name or f"{self.kind} {self.number}"


@dataclass
class Dispatchable:
    """``op`` is None for an initializer, and where ``is_released``: it was gone before it could be described."""

    number: int
    name: str
    what: str
    op: IDMLCompiledOperator | None = None
    is_released: bool = False

    @property
    def title(self) -> str:
        return f"{self.what} {self.name!r}" if self.name else self.what


class ResourceRange(NamedTuple):
    """Bytes of a resource."""

    resource: CapturedResource
    offset: int
    size: int

    @property
    def start(self) -> int:
        """The offset of its first byte in the allocation."""
        return self.resource.offset + self.offset

    def __str__(self) -> str:
        return f"bytes {self.offset} to {self.offset + self.size} of {self.resource.title}"


class MemoryPatch(NamedTuple):
    """The contents of a range of an allocation at one event."""

    allocation: int
    offset: int
    content: Content


class CapturedTransition(NamedTuple):
    resource: CapturedResource
    before: str
    after: str
    flags: str


class CapturedAliasing(NamedTuple):
    before: CapturedResource | None
    after: CapturedResource | None


class CapturedUavBarrier(NamedTuple):
    """A UAV barrier; None stands for any resource."""

    resource: CapturedResource | None


CapturedBarrier: TypeAlias = CapturedTransition | CapturedAliasing | CapturedUavBarrier


class DispatchEvent(NamedTuple):
    """``number`` counts the dispatches of the capture, from 0. ``operators`` are those that an initializer prepares."""

    number: int
    dispatchable: Dispatchable
    operators: tuple[IDMLCompiledOperator | None, ...]
    bindings: dict[BindingPoint, ResourceRange]

    @property
    def is_known(self) -> bool:
        """Whether it can be replayed."""
        return not self.dispatchable.is_released and None not in self.operators

    @property
    def title(self) -> str:
        return f"dispatch {self.number} ({self.dispatchable.title})"


class CopyEvent(NamedTuple):
    source: ResourceRange
    destination: ResourceRange


class BarrierEvent(NamedTuple):
    barriers: tuple[CapturedBarrier, ...]


class MarkerEvent(NamedTuple):
    """``call`` is SetMarker, BeginEvent or EndEvent."""

    call: str
    text: str


class EventAccess(NamedTuple):
    name: str
    use: str
    range: ResourceRange


class OtherEvent(NamedTuple):
    """A command of which only the memory accesses are known."""

    title: str
    uses: tuple[EventAccess, ...]


class ClearEvent(NamedTuple):
    """A ClearUnorderedAccessViewUint or -Float. ``values`` are the bit patterns of its four values."""

    call: str
    format: Format
    values: tuple[int, ...]
    range: ResourceRange

    @property
    def title(self) -> str:
        return f"{self.call} of {self.range}"

    @property
    def uses(self) -> tuple[EventAccess, ...]:
        return (EventAccess("the view", "WRITE", self.range),)


@dataclass
class QueryHeap:
    """A timestamp query heap."""

    number: int
    count: int
    name: str

    @property
    def title(self) -> str:
        return self.name or f"query heap {self.number}"


class EndQueryEvent(NamedTuple):
    heap: QueryHeap
    query: int

    @property
    def title(self) -> str:
        return f"EndQuery {self.query} of {self.heap.title}"

    @property
    def uses(self) -> tuple[EventAccess, ...]:
        return ()


class ResolveQueryEvent(NamedTuple):
    """A ResolveQueryData, from query ``start`` on."""

    heap: QueryHeap
    start: int
    destination: ResourceRange

    @property
    def title(self) -> str:
        return f"ResolveQueryData of {self.heap.title} from {self.start} on"

    @property
    def uses(self) -> tuple[EventAccess, ...]:
        return (EventAccess("destinationBuffer", "WRITE", self.destination),)


class WriteImmediateEvent(NamedTuple):
    """A WriteBufferImmediate: 32-bit ``values``, each with the four bytes that it is written to."""

    ranges: tuple[ResourceRange, ...]
    values: tuple[int, ...]

    @property
    def title(self) -> str:
        return f"WriteBufferImmediate of {len(self.values)} value{'' if len(self.values) == 1 else 's'}"

    @property
    def uses(self) -> tuple[EventAccess, ...]:
        return tuple(
            EventAccess(f"params[{index}].Dest", "WRITE", one) for index, one in enumerate(self.ranges)
        )


CommandEvent: TypeAlias = (
    DispatchEvent
    | CopyEvent
    | BarrierEvent
    | MarkerEvent
    | ClearEvent
    | EndQueryEvent
    | ResolveQueryEvent
    | WriteImmediateEvent
    | OtherEvent
)


class CapturedMessage(NamedTuple):
    severity: str
    rule: str
    text: str


@dataclass
class CapturedCommand:
    """One command as it ran; ``list_index`` is the index of its list within the execution.

    ``found`` has the contents that it read and that do not follow from earlier events. ``messages`` were reported just
    before it ran; ``freed`` are the allocations freed before it. Times are in seconds.
    """

    list_index: int
    index: int
    time: float
    duration: float
    what: CommandEvent
    found: tuple[MemoryPatch, ...]
    written: tuple[MemoryPatch, ...]
    messages: list[CapturedMessage] = field(default_factory=list)
    freed: tuple[int, ...] = ()


@dataclass
class CapturedExecution:
    """One ExecuteCommandLists. ``complete`` if all its commands ran within the capture."""

    number: int
    queue: CapturedObject
    lists: tuple[CapturedObject, ...]
    time: float
    commands: list[CapturedCommand] = field(default_factory=list)
    messages: list[CapturedMessage] = field(default_factory=list)
    complete: bool = False


class SignalEvent(NamedTuple):
    """A fence signal, by the CPU if ``queue`` is None; the same holds for ``WaitEvent``."""

    queue: CapturedObject | None
    fence: CapturedObject
    value: int


class WaitEvent(NamedTuple):
    queue: CapturedObject | None
    fence: CapturedObject
    value: int


class QueueMarkerEvent(NamedTuple):
    """A marker set on a queue."""

    queue: CapturedObject
    marker: MarkerEvent


class Removed(NamedTuple):
    text: str


CaptureEvent: TypeAlias = (
    CapturedExecution | SignalEvent | WaitEvent | QueueMarkerEvent | CapturedMessage | Removed
)
"""An entry of the timeline, which is in the order of the program's calls."""
