"""Exports one dispatch of a capture as a DxDispatch model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .. import dxdispatch
from . import event_types as e
from .parser import CaptureError, CaptureLog
from .replay_state import ReplayState


def export(logs: Sequence[CaptureLog], number: int, path: str | Path) -> list[Path]:
    """Write dispatch ``number`` to ``path``, and the contents of its inputs at execution time to files beside it.

    Inputs that DirectML owns have the contents they were initialized with. Returns the paths written. Raises
    ``OSError``, and ``CaptureError`` for a dispatch that does not exist, is an initializer's, or has no equivalent in
    DxDispatch.
    """
    for log in logs:
        state = ReplayState(log)
        for _, command in log.ran:
            state.find(command)
            if isinstance(command.what, e.DispatchEvent) and command.what.number == number:
                return _save(state, command.what, Path(path))
            state.leave(command)
    count = sum(len(log.dispatches) for log in logs)
    raise CaptureError(f"there is no dispatch {number}; the capture has {count}, numbered from 0")


def _save(state: ReplayState, dispatch: e.DispatchEvent, path: Path) -> list[Path]:
    op = dispatch.dispatchable.op
    if op is None:
        raise CaptureError(
            f"dispatch {dispatch.number} is {dispatch.dispatchable.title}, which is not an operator"
        )
    inputs: list[bytes | None] = [None] * len(op.inputs)
    for operand in state.operands(dispatch):
        if operand.slot.kind == "input":
            inputs[operand.slot.position] = operand.bytes[: operand.tensor.total_size].tobytes()
    missing = [
        slot.path for slot, contents in zip(op.inputs, inputs) if slot.tensor is not None and contents is None
    ]
    if missing:
        names = ", ".join(missing)
        text = f"the capture lacks the initialization contents of {names} of dispatch {dispatch.number}"
        raise CaptureError(text)
    try:
        return dxdispatch.save(
            path, op, inputs, name=f"dispatch {dispatch.number}", execution_flags=int(op.flags)
        )
    except (TypeError, ValueError) as error:
        raise CaptureError(f"dispatch {dispatch.number}: {error}") from None
