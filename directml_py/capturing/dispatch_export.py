"""One dispatch of a capture as a DxDispatch model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .. import dxdispatch
from . import event_types as e
from .parser import CaptureError, CaptureLog
from .replay_state import ReplayState


def export(logs: Sequence[CaptureLog], number: int, path: str | Path) -> list[Path]:
    """Write dispatch ``number`` with the inputs that it found to ``path``, and files of them beside it.

    What the operator's inputs were initialized with is among them. Returns what was written. Raises ``OSError``, and
    ``CaptureError`` for a dispatch that is not there, is an initializer's, or one that DxDispatch has no words for.
    """
    for log in logs:
        machine = ReplayState(log)
        for _, command in log.ran:
            machine.find(command)
            if isinstance(command.what, e.DispatchEvent) and command.what.number == number:
                return _save(machine, command.what, Path(path))
            machine.leave(command)
    count = sum(len(log.dispatches) for log in logs)
    raise CaptureError(f"there is no dispatch {number}; the capture has {count}, from 0 on")


def _save(machine: ReplayState, dispatch: e.DispatchEvent, path: Path) -> list[Path]:
    op = dispatch.dispatchable.op
    if op is None:
        raise CaptureError(
            f"dispatch {dispatch.number} is {dispatch.dispatchable.title}, which is no operator"
        )
    inputs: list[bytes | None] = [None] * len(op.inputs)
    for operand in machine.operands(dispatch):
        if operand.slot.kind == "input":
            inputs[operand.slot.position] = operand.bytes[: operand.tensor.total_size].tobytes()
    missing = [slot.path for slot, one in zip(op.inputs, inputs) if slot.tensor is not None and one is None]
    if missing:
        text = f"it is not in the capture what {', '.join(missing)} of dispatch {dispatch.number} was initialized with"
        raise CaptureError(text)
    try:
        return dxdispatch.save(
            path, op, inputs, name=f"dispatch {dispatch.number}", execution_flags=int(op.flags)
        )
    except (TypeError, ValueError) as error:
        raise CaptureError(f"dispatch {dispatch.number}: {error}") from None
