"""Control flow that is known: the branch of an If that is taken, and Loop and Scan unrolled.

A graph of DirectML has none, so that conditions and counts must follow from constants and sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from ..text.plural import counted_words
from .constants import Constants
from .errors import Refusal, UnknownValue
from .movement import sliced
from .node import OnnxNode
from .translators import Result
from .values import OnnxValue, known

# The outputs of a subgraph for values of its inputs.
Run: TypeAlias = Callable[[Any, Sequence[OnnxValue]], list[OnnxValue]]


def branch(node: OnnxNode, run: Run) -> Sequence[Result]:
    taken = bool(node.known(0, "cond").reshape(-1)[0])
    return run(node.get("then_branch" if taken else "else_branch"), [])


def loop(node: OnnxNode, run: Run) -> Sequence[Result]:
    """One copy of the body a round, while the condition, which must be known, is true."""
    body, states = node.get("body"), [node.input(index) for index in range(2, len(node.inputs))]
    most = int(node.known(0, "M").reshape(-1)[0]) if node.has(0) else None
    goes_on = bool(node.known(1, "cond").reshape(-1)[0]) if node.has(1) else True
    rounds: list[list[OnnxValue]] = []
    while goes_on and (most is None or len(rounds) < most):
        position = len(rounds)
        node.constants.budget.take_steps(1)
        round_ = [known("iteration", np.array(position, np.int64)), known("condition", np.array(True))]
        condition, *results = run(body, [*round_, *states])
        if condition.array is None:
            raise UnknownValue(condition.name, f"condition after round {position}")
        goes_on = bool(condition.array.reshape(-1)[0])
        states = _divided(results, len(states), rounds)
    count = len(body.output) - 1 - len(states)
    return [*states, *(_stacked(node, items, 0) for items in _by_output(rounds, count))]


def scan(node: OnnxNode, run: Run) -> Sequence[Result]:
    """One copy of the body for each place of the axes that are scanned."""
    if node.version < 9:
        raise Refusal("operator sets before 9 scan batches; ONNX's converter makes newer ones")
    body, count = node.get("body"), node.get("num_scan_inputs")
    values = [node.input(index) for index in range(len(node.inputs))]
    if not 1 <= count <= len(values):
        raise Refusal(
            f"is {count}; the node has {counted_words(len(values), 'input')}", "attribute num_scan_inputs"
        )
    states, scanned = values[:-count], values[-count:]
    axes = []
    for axis, value in zip(_numbers(node, "scan_input_axes", count), scanned):
        rank = len(value.shape)
        if not -rank <= axis < rank:
            raise Refusal(f"has {axis} for an input of {rank} dimensions", "attribute scan_input_axes")
        axes.append(axis % rank)
    backwards = _numbers(node, "scan_input_directions", count)
    length = scanned[0].shape[axes[0]]
    rounds: list[list[OnnxValue]] = []
    for position in range(length):
        node.constants.budget.take_steps(1 + count)
        indices = [length - 1 - position if back else position for back in backwards]
        slices = [_at(node, *each) for each in zip(scanned, axes, indices)]
        states = _divided(run(body, [*states, *slices]), len(states), rounds)
    count = len(body.output) - len(states)
    ends = zip(
        _by_output(rounds, count),
        _numbers(node, "scan_output_axes", count),
        _numbers(node, "scan_output_directions", count),
    )
    return [*states, *(_stacked(node, items[::-1] if back else items, axis) for items, axis, back in ends)]


CONTROL_FLOW = {"If": branch, "Loop": loop, "Scan": scan}


def _divided(results: list[OnnxValue], count: int, rounds: list[list[OnnxValue]]) -> list[OnnxValue]:
    """The first ``count`` results of a round, which are the states after it; the others are added to ``rounds``."""
    rounds.append(results[count:])
    return results[:count]


def _by_output(rounds: Sequence[Sequence[OnnxValue]], count: int) -> list[Sequence[OnnxValue]]:
    """What each of ``count`` outputs collects from all rounds, of which there may be none."""
    return [[round_[index] for round_ in rounds] for index in range(count)]


def _numbers(node: OnnxNode, name: str, count: int) -> list[int]:
    return list(node.get(name, [0] * count))


def _at(node: OnnxNode, value: OnnxValue, axis: int, index: int) -> OnnxValue:
    """``value`` at a place of an axis, without the axis."""
    shape = (*value.shape[:axis], *value.shape[axis + 1 :])
    if value.array is not None:
        return known(
            value.name, value.array[(slice(None),) * axis + (slice(index, index + 1),)].reshape(shape)
        )
    part = node.value(sliced(node, node.moved(value), axis, index, 1), value.dtype, value.shape)
    return OnnxValue(value.name, value.dtype, shape, None, part.expression, value.inputs)


def _stacked(node: OnnxNode, items: Sequence[OnnxValue], axis: int) -> Result:
    """The values of all rounds along a new axis."""
    if not items:
        raise Refusal("runs no round, so that what it collects is empty")
    if all(item.array is not None for item in items):
        node.constants.budget.take_bytes(sum(item.size * item.dtype.itemsize for item in items))
        return np.stack([np.asarray(item.array) for item in items], axis)
    shape = items[0].shape
    if any(item.shape != shape for item in items):
        raise Refusal("collects values of several sizes")
    axis %= len(shape) + 1
    one = (*shape[:axis], 1, *shape[axis:])
    parts = [node.moved(item, one) for item in items]
    joined = node.graph.join(parts, axis=axis) if len(parts) > 1 else parts[0]
    whole = (*shape[:axis], len(items), *shape[axis:])
    inputs = frozenset().union(*(item.inputs for item in items))
    stacked = node.value(joined, items[0].dtype, whole)
    return OnnxValue("stacked", stacked.dtype, whole, None, stacked.expression, inputs)


def initializers(body: Any, constants: Constants) -> dict[str, OnnxValue]:
    """The constants of a subgraph. Raises ``Refusal``."""
    found: dict[str, OnnxValue] = {}
    try:
        for tensor in body.initializer:
            name = tensor.name
            found[name] = known(name, constants.tensors.array_of(tensor))
        for sparse in body.sparse_initializer:
            name = sparse.values.name
            found[name] = known(name, constants.tensors.dense(sparse, constants.budget))
    except Refusal as error:
        raise Refusal(error.reason, f"initializer {name!r}") from None
    return found
