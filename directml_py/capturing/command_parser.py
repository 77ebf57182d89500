"""Commands, as the lines of a capture say them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..d3d12.clears import CHANNELS
from ..d3d12.formats import format_of_name
from ..d3d12.immediate import SIZE
from ..d3d12.queries import RESULT_SIZE
from ..dml.binding_point import BindingPoint
from ..graph.json_reader import Item
from . import event_types as e

UINT64_MAX = (1 << 64) - 1
UINT32_MAX = (1 << 32) - 1
CALLS = ("SetMarker", "BeginEvent", "EndEvent")
CLEARS = ("ClearUnorderedAccessViewUint", "ClearUnorderedAccessViewFloat")
KINDS = ("input", "output", "temporary", "persistent")
USES = ("READ", "WRITE", "SCRATCH")


class CommandReader:
    """``resources``, ``dispatchables`` and ``query_heaps`` are those that lines before have spoken of."""

    def __init__(
        self,
        resources: Mapping[int, e.CapturedResource],
        dispatchables: Mapping[int, e.Dispatchable],
        query_heaps: Mapping[int, e.QueryHeap],
    ) -> None:
        self._resources = resources
        self._dispatchables = dispatchables
        self._query_heaps = query_heaps

    def read(self, members: dict[str, Item]) -> e.CommandEvent:
        kind = get(members, "kind")
        if kind.value == "dispatch":
            return self._dispatch(members)
        if kind.value == "copy":
            copy = e.CopyEvent(self._range(get(members, "source")), self._range(get(members, "destination")))
            if copy.source.size != copy.destination.size:
                raise members["source"].error("has another size than destination")
            return copy
        if kind.value == "barriers":
            return e.BarrierEvent(tuple(self._barrier(one) for one in get(members, "barriers")))
        if kind.value == "marker":
            return marker_of(members)
        if kind.value == "clear":
            return self._clear(members)
        if kind.value == "query":
            heap = self._query_heap(members)
            return e.EndQueryEvent(heap, get(members, "query").integer(0, heap.count - 1))
        if kind.value == "resolve":
            return self._resolve(members)
        if kind.value == "immediate":
            return self._immediate(members)
        if kind.value == "other":
            uses = tuple(self._use(one) for one in get(members, "ranges"))
            return e.OtherEvent(text_of(get(members, "title")), uses)
        raise kind.error(f"is {kind.value!r}, which is no kind of command")

    def _dispatch(self, members: dict[str, Item]) -> e.DispatchEvent:
        entry = self._dispatchables[old(members, "dispatchable", self._dispatchables)]
        operators = []
        for one in get(members, "operators"):
            known = self._dispatchables.get(one.integer(0, UINT64_MAX))
            if known is None:
                raise one.error("is no operator of this capture")
            operators.append(known.op)
        bindings = {}
        for one in get(members, "bindings"):
            parts = one.fields({"slot", "range"})
            bindings[slot_of(parts["slot"])] = self._range(parts["range"])
        dispatch = e.DispatchEvent(0, entry, tuple(operators), bindings)
        if entry.op is not None:
            self._check_bindings(entry.op.needs, dispatch, members["bindings"])
        return dispatch

    @staticmethod
    def _check_bindings(needs: Any, dispatch: e.DispatchEvent, item: Item) -> None:
        """All tensors that the operator needs are there and large enough.

        How much else it needs depends on the loops of the machine.
        """
        for slot, need in needs.items():
            if not slot.is_tensor:
                continue
            bound = dispatch.bindings.get(slot)
            if bound is None or bound.size < need.size:
                size = 0 if bound is None else bound.size
                raise item.error(f"binds {size} bytes to {slot.name}; {need.size} are needed")
        for slot in dispatch.bindings:
            if slot.is_tensor and slot not in needs:
                raise item.error(f"binds {slot.name}, which the operator does not have")

    def _barrier(self, item: Item) -> e.CapturedBarrier:
        members = item.fields({"type"}, {"resource", "before", "after", "flags"})
        kind = members["type"].text()
        if kind == "TRANSITION":
            resource = self._resource(get(members, "resource"))
            if resource is None:
                raise members["resource"].error("must be a resource")
            texts = [text_of(get(members, name)) for name in ("before", "after", "flags")]
            return e.CapturedTransition(resource, texts[0], texts[1], texts[2])
        if kind == "ALIASING":
            before, after = (self._resource(get(members, name)) for name in ("before", "after"))
            return e.CapturedAliasing(before, after)
        if kind == "UAV":
            return e.CapturedUavBarrier(self._resource(get(members, "resource")))
        raise members["type"].error(f"is {kind!r}, which is no type of barrier")

    def _resource(self, item: Item) -> e.CapturedResource | None:
        if item.value is None:
            return None
        if type(item.value) is not int or item.value not in self._resources:
            raise item.error("is no resource of this capture")
        return self._resources[item.value]

    def _range(self, item: Item) -> e.ResourceRange:
        parts = list(item)
        if len(parts) != 3:
            raise item.error("must be a resource, an offset and a size")
        resource = self._resource(parts[0])
        offset, size = (one.integer(0, UINT64_MAX) for one in parts[1:])
        if resource is None or offset + size > resource.width:
            raise item.error(f"is {size} bytes from byte {offset} on, which no resource has")
        return e.ResourceRange(resource, offset, size)

    def _use(self, item: Item) -> e.EventAccess:
        parts = item.fields({"name", "use", "range"})
        use = parts["use"].text()
        if use not in USES:
            raise parts["use"].error(f"must be one of {', '.join(USES)}")
        return e.EventAccess(text_of(parts["name"]), use, self._range(parts["range"]))

    def _clear(self, members: dict[str, Item]) -> e.ClearEvent:
        call = get(members, "call").text()
        if call not in CLEARS:
            raise members["call"].error(f"must be one of {', '.join(CLEARS)}")
        format = format_of_name(get(members, "format").text())
        if format is None:
            raise members["format"].error("is no format of a view")
        values = tuple(one.integer(0, UINT32_MAX) for one in get(members, "values"))
        if len(values) != CHANNELS:
            raise members["values"].error(f"must be {CHANNELS} numbers")
        part = self._range(get(members, "range"))
        if not part.size or part.size % format.size or part.start % format.size:
            raise members["range"].error(f"must be whole elements of {format.size} bytes")
        return e.ClearEvent(call, format, values, part)

    def _query_heap(self, members: dict[str, Item]) -> e.QueryHeap:
        return self._query_heaps[old(members, "heap", self._query_heaps)]

    def _resolve(self, members: dict[str, Item]) -> e.ResolveQueryEvent:
        heap = self._query_heap(members)
        start = get(members, "start").integer(0, heap.count)
        destination = self._range(get(members, "destination"))
        if destination.size % RESULT_SIZE or destination.offset % RESULT_SIZE:
            raise members["destination"].error(f"must be whole results of {RESULT_SIZE} bytes")
        if start + destination.size // RESULT_SIZE > heap.count:
            raise members["start"].error(f"is {start}; from there on {heap.title} has not as many queries")
        return e.ResolveQueryEvent(heap, start, destination)

    def _immediate(self, members: dict[str, Item]) -> e.WriteImmediateEvent:
        ranges, values = [], []
        for item in get(members, "writes"):
            parts = item.fields({"range", "value"})
            destination = self._range(parts["range"])
            if destination.size != SIZE or destination.start % SIZE:
                raise parts["range"].error(f"must be {SIZE} bytes at a multiple of {SIZE}")
            ranges.append(destination)
            values.append(parts["value"].integer(0, UINT32_MAX))
        return e.WriteImmediateEvent(tuple(ranges), tuple(values))


def old(members: dict[str, Item], name: str, known: Mapping[int, Any]) -> int:
    number = get(members, name).integer(0, UINT64_MAX)
    if number not in known:
        raise members[name].error(f"is {number}, of which no line before speaks")
    return number


def get(members: dict[str, Item], name: str) -> Item:
    if name not in members:
        raise next(iter(members.values())).error(f"comes without {name!r}")
    return members[name]


def text_of(item: Item) -> str:
    """Any string, the empty one too."""
    if type(item.value) is not str:
        raise item.error("must be a string")
    return item.value


def slot_of(item: Item) -> BindingPoint:
    parts = list(item)
    if len(parts) != 3 or parts[0].value not in KINDS:
        raise item.error(f"must be one of {', '.join(KINDS)} with two numbers")
    return BindingPoint(parts[0].value, parts[1].integer(), parts[2].integer())


def marker_of(members: dict[str, Item]) -> e.MarkerEvent:
    call = get(members, "call").text()
    if call not in CALLS:
        raise members["call"].error(f"must be one of {', '.join(CALLS)}")
    return e.MarkerEvent(call, text_of(get(members, "text")))
