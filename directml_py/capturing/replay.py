"""Executing a capture again, and comparing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..descs.format import braces
from ..dml import IDMLCompiledOperator
from ..dml.slot import Slot
from ..kernels import backend
from . import events as e
from .machine import Machine
from .reading import Log


class Difference(NamedTuple):
    """What one dispatch wrote into one tensor, or into the persistent resource of an initializer, and what it did not.

    ``element`` is the first that differs, in coordinates; elements of a persistent resource are bytes.
    """

    dispatch: e.Dispatch
    name: str
    element: tuple[int, ...]
    then: Any
    now: Any
    differing: int
    total: int

    def __str__(self) -> str:
        return (
            f"dispatch {self.dispatch.number} ({self.dispatch.dispatchable.title}): {self.name}{braces(self.element)} "
            f"is {self.now}, it was {self.then}; {self.differing} of {self.total} differ"
        )


def replay(log: Log) -> Iterator[tuple[e.Dispatch, list[Difference]]]:
    """Execute every dispatch again on the memory that it found, in the order in which they ran, and compare bit by bit.

    Each is judged alone: what goes on is what was recorded. Of padding between elements nothing is said, nor of scratch
    memory. Raises ``CaptureError`` for what cannot be executed.
    """
    machine = Machine(log)
    for _, command in log.ran:
        machine.find(command)
        if isinstance(command.what, e.Dispatch):
            machine.execute(command.what)
            yield command.what, list(_differences(machine, command, command.what))
        machine.leave(command)


def _differences(machine: Machine, command: e.Command, dispatch: e.Dispatch) -> Iterator[Difference]:
    written = {(patch.allocation, patch.offset): patch.content for patch in command.written}
    for operand in machine.operands(dispatch):
        if operand.slot.kind == "output" and operand.range is not None:
            content = written.get((operand.range.resource.allocation, operand.range.start))
            if content is not None and content.size >= operand.tensor.total_size:
                then = operand.tensor.view(machine.log.bytes(content))
                now = operand.tensor.view(operand.bytes)
                yield from _compare(dispatch, operand.name, then, now)
    # What other loops leave there is theirs to read.
    if machine.log.process.kernels == backend.title:
        for position, op in enumerate(dispatch.operators):
            yield from _initialized(machine, dispatch, position, op, written)


def _initialized(
    machine: Machine,
    dispatch: e.Dispatch,
    position: int,
    op: IDMLCompiledOperator | None,
    written: dict[tuple[int, int], e.Content],
) -> Iterator[Difference]:
    now = None if op is None else machine.persistent(op)
    part = dispatch.bindings.get(Slot("output", position))
    content = None if part is None else written.get((part.resource.allocation, part.start))
    if now is not None and content is not None and content.size == len(now):
        name = f"the persistent resource of operator {position}"
        yield from _compare(dispatch, name, machine.log.bytes(content), now)


def _compare(
    dispatch: e.Dispatch, name: str, then: npt.NDArray[Any], now: npt.NDArray[Any]
) -> Iterator[Difference]:
    bits = np.dtype(f"u{then.dtype.itemsize}")
    differs = then.view(bits) != now.view(bits)
    count = int(np.count_nonzero(differs))
    if count:
        place = np.unravel_index(int(differs.argmax()), differs.shape)
        element = tuple(int(one) for one in place)
        yield Difference(dispatch, name, element, then[element], now[element], count, differs.size)
