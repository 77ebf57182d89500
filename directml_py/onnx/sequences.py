"""Sequences of tensors, and optional values: lists on the host that leave no trace in the graph."""

from __future__ import annotations

import numpy as np

from .errors import Refusal, UnknownValue
from .movement import sliced
from .node import OnnxNode
from .translators import Result, Results, operator
from .values import OnnxValue, known, nothing, sequence


def items_of(node: OnnxNode, index: int = 0) -> tuple[OnnxValue, ...]:
    items = node.input(index).items
    if items is None:
        raise Refusal("is not a sequence", f"input {index}")
    return items


def position_of(node: OnnxNode, index: int, count: int) -> int:
    """A position, counted from the end if negative."""
    value = node.input(index)
    if value.array is None:
        raise UnknownValue(value.name, "input position")
    position = int(value.array.reshape(-1)[0])
    if not -count <= position < count:
        raise Refusal(f"is {position}; the sequence has {count} tensors", "input position")
    return position % count


@operator("SequenceEmpty")
def empty(node: OnnxNode) -> Results:
    return sequence(())


@operator("SequenceConstruct")
def construct(node: OnnxNode) -> Results:
    return sequence(node.input(index) for index in range(len(node.inputs)))


@operator("SequenceAt")
def at(node: OnnxNode) -> Results:
    items = items_of(node)
    return items[position_of(node, 1, len(items))]


@operator("SequenceErase")
def erase(node: OnnxNode) -> Results:
    items = items_of(node)
    position = position_of(node, 1, len(items)) if node.has(1) else len(items) - 1
    return sequence(items[:position] + items[position + 1 :])


@operator("SequenceInsert")
def insert(node: OnnxNode) -> Results:
    items = items_of(node)
    position = position_of(node, 2, len(items) + 1) if node.has(2) else len(items)
    # Counted from the end, the last position is before the last tensor.
    if node.has(2) and int(node.known(2, "position").reshape(-1)[0]) < 0:
        position -= 1
    return sequence((*items[:position], node.input(1), *items[position:]))


@operator("SequenceLength")
def length(node: OnnxNode) -> Results:
    return np.array(len(items_of(node)), np.int64)


@operator("ConcatFromSequence")
def concat(node: OnnxNode) -> Results:
    items = items_of(node)
    if not items:
        raise Refusal("is empty", "input input_sequence")
    rank = len(items[0].shape) + node.get("new_axis", 0)
    axis = node.axis(rank)
    if node.get("new_axis", 0):
        sizes = [(*item.shape[:axis], 1, *item.shape[axis:]) for item in items]
    else:
        sizes = [item.shape for item in items]
    parts = [node.moved(item, size) for item, size in zip(items, sizes)]
    joined = node.graph.join(parts, axis=axis) if len(parts) > 1 else parts[0]
    result = list(sizes[0])
    result[axis] = sum(size[axis] for size in sizes)
    return node.value(joined, items[0].dtype, tuple(result))


@operator("SplitToSequence")
def split(node: OnnxNode) -> Results:
    shape = node.shape()
    axis = node.axis(len(shape), 0)
    kept = True
    lengths = node.known(1, "split") if node.has(1) else np.array(1)
    count = lengths.size if lengths.ndim else shape[axis] // max(1, int(lengths))
    node.constants.budget.take_steps(count)
    if node.has(1):
        length = max(1, int(lengths)) if lengths.ndim == 0 else 1
        equal = [min(length, shape[axis] - start) for start in range(0, shape[axis], length)]
        sizes = [int(size) for size in lengths] if lengths.ndim else equal
    else:
        sizes, kept = [1] * shape[axis], bool(node.get("keepdims", 1))
    starts = np.cumsum([0, *sizes])
    parts: list[OnnxValue] = []
    for start, size in zip(starts, sizes):
        middle = (size,) if kept else ()
        part_sizes = (*shape[:axis], *middle, *shape[axis + 1 :])
        if not size:
            parts.append(known("part", np.empty(part_sizes, node.input().dtype)))
            continue
        parts.append(
            node.value(sliced(node, node.moved(), axis, int(start), size), node.input().dtype, part_sizes)
        )
    return sequence(parts)


@operator("Optional")
def wrapped(node: OnnxNode) -> Result:
    return node.input() if node.has(0) else nothing()


@operator("OptionalGetElement")
def unwrapped(node: OnnxNode) -> Result:
    value = node.input()
    if value.is_nothing:
        raise Refusal("is an optional without an element", "input input")
    return value


@operator("OptionalHasElement")
def has_element(node: OnnxNode) -> Results:
    return np.array(node.has(0) and not node.input().is_nothing)
