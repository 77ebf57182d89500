"""Parser for the command events of a capture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..d3d12.clears import CHANNELS
from ..d3d12.formats import format_of_name
from ..d3d12.immediate import SIZE
from ..d3d12.queries import RESULT_SIZE
from ..dml.binding_point import BindingPoint
from ..text.json_reading import Item
from . import event_types as e

UINT64_MAX = (1 << 64) - 1
UINT32_MAX = (1 << 32) - 1
CALLS = ("SetMarker", "BeginEvent", "EndEvent")
CLEARS = ("ClearUnorderedAccessViewUint", "ClearUnorderedAccessViewFloat")
KINDS = ("input", "output", "temporary", "persistent")
USES = ("READ", "WRITE", "SCRATCH")


class CommandReader:
    """``resources``, ``dispatchables`` and ``query_heaps`` are those that earlier lines declared."""

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
                raise members["source"].error("has a different size from destination")
            return copy
        if kind.value == "barriers":
            return e.BarrierEvent(tuple(self._barrier(item) for item in get(members, "barriers")))
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
            uses = tuple(self._use(item) for item in get(members, "ranges"))
            return e.OtherEvent(text_of(get(members, "title")), uses)
        raise kind.error(f"is {kind.value!r}, which is not a kind of command")

    def _dispatch(self, members: dict[str, Item]) -> e.DispatchEvent:
        entry = self._dispatchables[old(members, "dispatchable", self._dispatchables)]
        operators = []
        for item in get(members, "operators"):
            entry_of = self._dispatchables.get(item.integer(0, UINT64_MAX))
            if entry_of is None:
                raise item.error("is not an operator of this capture")
            operators.append(entry_of.op)
        bindings = {}
        for item in get(members, "bindings"):
            fields = item.fields({"slot", "range"})
            bindings[slot_of(fields["slot"])] = self._range(fields["range"])
        dispatch = e.DispatchEvent(0, entry, tuple(operators), bindings)
        if entry.op is not None:
            self._check_bindings(entry.op.needs, dispatch, members["bindings"])
        return dispatch

    @staticmethod
    def _check_bindings(needs: Any, dispatch: e.DispatchEvent, item: Item) -> None:
        """Check that every tensor that the operator needs is bound and large enough.

        Other binding points are not checked: their sizes depend on this machine's kernels.
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
        raise members["type"].error(f"is {kind!r}, which is not a type of barrier")

    def _resource(self, item: Item) -> e.CapturedResource | None:
        if item.value is None:
            return None
        if type(item.value) is not int or item.value not in self._resources:
            raise item.error("is not a resource of this capture")
        return self._resources[item.value]

    def _range(self, item: Item) -> e.ResourceRange:
        parts = list(item)
        if len(parts) != 3:
            raise item.error("must be a resource, an offset and a size")
        resource = self._resource(parts[0])
        offset, size = (part.integer(0, UINT64_MAX) for part in parts[1:])
        if resource is None or offset + size > resource.width:
            raise item.error(f"is {size} bytes at offset {offset}, which is not within a resource")
        return e.ResourceRange(resource, offset, size)

    def _use(self, item: Item) -> e.EventAccess:
        fields = item.fields({"name", "use", "range"})
        use = fields["use"].text()
        if use not in USES:
            raise fields["use"].error(f"must be one of {', '.join(USES)}")
        return e.EventAccess(text_of(fields["name"]), use, self._range(fields["range"]))

    def _clear(self, members: dict[str, Item]) -> e.ClearEvent:
        call = get(members, "call").text()
        if call not in CLEARS:
            raise members["call"].error(f"must be one of {', '.join(CLEARS)}")
        format = format_of_name(get(members, "format").text())
        if format is None:
            raise members["format"].error("is not a view format")
        values = tuple(value.integer(0, UINT32_MAX) for value in get(members, "values"))
        if len(values) != CHANNELS:
            raise members["values"].error(f"must be {CHANNELS} numbers")
        view_range = self._range(get(members, "range"))
        if not view_range.size or view_range.size % format.size or view_range.start % format.size:
            raise members["range"].error(f"must be whole elements of {format.size} bytes")
        return e.ClearEvent(call, format, values, view_range)

    def _query_heap(self, members: dict[str, Item]) -> e.QueryHeap:
        return self._query_heaps[old(members, "heap", self._query_heaps)]

    def _resolve(self, members: dict[str, Item]) -> e.ResolveQueryEvent:
        heap = self._query_heap(members)
        start = get(members, "start").integer(0, heap.count)
        destination = self._range(get(members, "destination"))
        if destination.size % RESULT_SIZE or destination.offset % RESULT_SIZE:
            raise members["destination"].error(f"must be whole results of {RESULT_SIZE} bytes")
        if start + destination.size // RESULT_SIZE > heap.count:
            raise members["start"].error(f"is {start}; {heap.title} has too few queries from there on")
        return e.ResolveQueryEvent(heap, start, destination)

    def _immediate(self, members: dict[str, Item]) -> e.WriteImmediateEvent:
        ranges, values = [], []
        for item in get(members, "writes"):
            fields = item.fields({"range", "value"})
            destination = self._range(fields["range"])
            if destination.size != SIZE or destination.start % SIZE:
                raise fields["range"].error(f"must be {SIZE} bytes at a multiple of {SIZE}")
            ranges.append(destination)
            values.append(fields["value"].integer(0, UINT32_MAX))
        return e.WriteImmediateEvent(tuple(ranges), tuple(values))


def old(members: dict[str, Item], name: str, known: Mapping[int, Any]) -> int:
    number = get(members, name).integer(0, UINT64_MAX)
    if number not in known:
        raise members[name].error(f"is {number}, which no earlier line declares")
    return number


def get(members: dict[str, Item], name: str) -> Item:
    if name not in members:
        raise next(iter(members.values())).error(f"is missing {name!r}")
    return members[name]


def text_of(item: Item) -> str:
    """Any string, including an empty one."""
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
