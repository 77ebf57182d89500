"""What the lines of a capture say, read and checked; nothing in them is believed."""

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
    """Bytes in the file of contents."""

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

    @property
    def title(self) -> str:
        return self.name or f"resource {self.number}"


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
    """``op`` is None for an initializer, and for what ``is_released``: nobody could look at it any more."""

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
        """Its first byte in the allocation."""
        return self.resource.offset + self.offset

    def __str__(self) -> str:
        return f"bytes {self.offset} to {self.offset + self.size} of {self.resource.title}"


class MemoryPatch(NamedTuple):
    """Bytes that an allocation holds at some time."""

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
    """``number`` counts the dispatches of the capture, from 0. ``operators`` are those that an initializer has."""

    number: int
    dispatchable: Dispatchable
    operators: tuple[IDMLCompiledOperator | None, ...]
    bindings: dict[BindingPoint, ResourceRange]

    @property
    def is_known(self) -> bool:
        """Whether it can be done again."""
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
    """A command of which its effect alone is known."""

    title: str
    uses: tuple[EventAccess, ...]


class ClearEvent(NamedTuple):
    """A ClearUnorderedAccessViewUint or -Float. ``values`` are the bits of its four values."""

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
    """For timestamps."""

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
    """ResolveQueryData, of queries from ``start`` on."""

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
    """A WriteBufferImmediate: ``values`` of 32 bits, each with the four bytes that it goes to."""

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
    """One command as it ran, in the list at ``place`` among those of its execution.

    ``found`` is what it read and nobody had written down. ``messages`` came up when it was about to run; ``freed`` are
    the allocations that were given back before. Times are in seconds.
    """

    place: int
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
    """One ExecuteCommandLists. ``complete`` if all its commands ran and the capture goes on behind them."""

    number: int
    queue: CapturedObject
    lists: tuple[CapturedObject, ...]
    time: float
    commands: list[CapturedCommand] = field(default_factory=list)
    messages: list[CapturedMessage] = field(default_factory=list)
    complete: bool = False


class SignalEvent(NamedTuple):
    """By the CPU if ``queue`` is None; so is ``WaitEvent``."""

    queue: CapturedObject | None
    fence: CapturedObject
    value: int


class WaitEvent(NamedTuple):
    queue: CapturedObject | None
    fence: CapturedObject
    value: int


class QueueMarkerEvent(NamedTuple):
    """A marker of a queue."""

    queue: CapturedObject
    marker: MarkerEvent


class Removed(NamedTuple):
    text: str


CaptureEvent: TypeAlias = (
    CapturedExecution | SignalEvent | WaitEvent | QueueMarkerEvent | CapturedMessage | Removed
)
"""What a program did, in the order of its calls."""
