"""Replay state: the memory of a captured program at each event."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from ..abi.hresult import DMLError
from ..api.enums import DML_BINDING_TYPE_BUFFER, DML_BINDING_TYPE_BUFFER_ARRAY
from ..api.structs import DML_BINDING_DESC, DML_BUFFER_ARRAY_BINDING, DML_BUFFER_BINDING
from ..d3d12 import ID3D12Resource
from ..descs.tensor import TensorDesc
from ..dml import IDMLCompiledOperator, IDMLDevice
from ..dml.binding_point import PERSISTENT, BindingPoint
from ..late import lazy
from ..session import Bindable, Session, binding
from . import event_types as e
from .d3d12_replay import ReplayRange, Simple
from .parser import CaptureError, CaptureLog

Bytes = npt.NDArray[np.uint8]
# The allocation and the offset of what is bound; None for nothing.
Address: TypeAlias = "tuple[int, int] | None"
# Events that a replay executes; others it applies from their recorded contents.
Executed: TypeAlias = (
    e.DispatchEvent | e.ClearEvent | e.EndQueryEvent | e.ResolveQueryEvent | e.WriteImmediateEvent
)


class Operand(NamedTuple):
    """One tensor of a dispatch and its bytes; an input that DirectML owns has its initialization contents.

    ``range`` is None for an owned input.
    """

    name: str
    slot: BindingPoint
    tensor: TensorDesc
    bytes: Bytes
    range: e.ResourceRange | None


@dataclass
class Initialization:
    """The bytes of an operator's owned inputs, and its persistent resource if initialization has been replayed."""

    owned: dict[int, Bytes]
    persistent: ID3D12Resource | None = None


class ReplayState:
    """Replays a log event by event. Allocations become buffers in DEFAULT heaps, of which resources are ranges.

    Operators get persistent and temporary resources of their own, whose contents and sizes depend on this machine's
    kernels.

    Raises ``CaptureError`` for what cannot be replayed.
    """

    def __init__(self, log: CaptureLog) -> None:
        self.log = log
        self._buffers: dict[int, ID3D12Resource] = {}
        self._sessions: dict[IDMLDevice, Session] = {}
        # By the address of the program's persistent resource: an operator may have several, each with its own weights.
        self._initialized: dict[tuple[IDMLCompiledOperator, Address], Initialization] = {}

    @lazy
    def _simple(self) -> Simple:
        return Simple(self.log.operators.newest)

    def _buffer(self, number: int) -> ID3D12Resource:
        if number not in self._buffers:
            size, fill = self.log.allocations[number]
            try:
                buffer = self._buffers[number] = self._simple.session.buffer(size)
            except DMLError as error:
                raise CaptureError(f"{self.log.path}: {error.args[-1]}") from None
            if fill:
                buffer.memory[:] = fill
        return self._buffers[number]

    def bytes(self, part: e.ResourceRange) -> Bytes:
        return self._buffer(part.resource.allocation).memory[part.start : part.start + part.size]

    def apply(self, patch: e.MemoryPatch) -> None:
        end = patch.offset + patch.content.size
        self._buffer(patch.allocation).memory[patch.offset : end] = self.log.bytes(patch.content)

    def find(self, command: e.CapturedCommand) -> None:
        """Bring memory to its state just before the command."""
        for number in command.freed:
            self._buffers.pop(number, None)
        for patch in command.found:
            self.apply(patch)
        event = command.what
        if isinstance(event, e.DispatchEvent) and event.operators:
            self._remember(event)

    def leave(self, command: e.CapturedCommand) -> None:
        """Bring memory to its recorded state just after the command, without executing it."""
        if isinstance(command.what, e.CopyEvent):
            self.bytes(command.what.destination)[:] = self.bytes(command.what.source)
        for patch in command.written:
            self.apply(patch)

    def _remember(self, dispatch: e.DispatchEvent) -> None:
        """Keep the contents of the owned inputs that an initializer is about to copy."""
        for position, op in enumerate(dispatch.operators):
            if op is None:
                continue
            bound = {
                index: dispatch.bindings.get(BindingPoint("input", position, index)) for index in op.owned
            }
            owned = {index: self.bytes(part).copy() for index, part in bound.items() if part is not None}
            address = _address(dispatch.bindings.get(BindingPoint("output", position)))
            self._initialized[op, address] = Initialization(owned)

    def operands(self, dispatch: e.DispatchEvent) -> Iterator[Operand]:
        """The tensors of a compiled operator's dispatch, inputs first; empty for an initializer."""
        op = dispatch.dispatchable.op
        if op is None:
            return
        initialization = self._initialized.get((op, _address(dispatch.bindings.get(PERSISTENT))))
        owned = {} if initialization is None else initialization.owned
        for kind, slots in (("input", op.inputs), ("output", op.outputs)):
            for index, (name, _, tensor) in enumerate(slots):
                slot = BindingPoint(kind, index)
                bound = dispatch.bindings.get(slot)
                if tensor is None:
                    continue
                if bound is not None:
                    yield Operand(name, slot, tensor, self.bytes(bound), bound)
                elif kind == "input" and index in owned:
                    yield Operand(name, slot, tensor, owned[index], None)

    def execute(self, event: Executed) -> None:
        """Execute the command on the current memory, and wait for it."""
        try:
            if isinstance(event, e.ClearEvent):
                self._simple.clear(self._part(event.range), event)
            elif isinstance(event, e.EndQueryEvent):
                self._simple.end_query(event)
            elif isinstance(event, e.ResolveQueryEvent):
                self._simple.resolve(self._part(event.destination), event)
            elif isinstance(event, e.WriteImmediateEvent):
                self._simple.write([self._part(destination) for destination in event.ranges], event)
            elif event.dispatchable.op is not None:
                self._execute_operator(event.dispatchable.op, event)
            elif event.operators:
                self._execute_initializer(event)
        except DMLError as error:
            raise CaptureError(f"{event.title} is rejected: {error.args[-1]}") from None

    def _session(self, device: IDMLDevice) -> Session:
        if device not in self._sessions:
            self._sessions[device] = Session(device)
        return self._sessions[device]

    def _execute_operator(self, op: IDMLCompiledOperator, dispatch: e.DispatchEvent) -> None:
        session, bound = self._session(cast(IDMLDevice, op.device)), dispatch.bindings
        table = session.table(
            op,
            [self._binding(bound.get(BindingPoint("input", index))) for index in range(len(op.inputs))],
            [self._binding(bound.get(BindingPoint("output", index))) for index in range(len(op.outputs))],
            session.temporary(op),
            self._persistent_of(op, dispatch) if op.persistent_size else None,
        )
        session.record(op, table)
        session.execute()
        session.dml.removal.check()

    def _persistent_of(self, op: IDMLCompiledOperator, dispatch: e.DispatchEvent) -> Bindable:
        """The operator's persistent resource: the program's if it was initialized before the recording began."""
        part = dispatch.bindings.get(PERSISTENT)
        initialization = self._initialized.get((op, _address(part)))
        if initialization is None or initialization.persistent is None:
            return self._binding(part)
        return initialization.persistent

    def persistent(self, op: IDMLCompiledOperator, part: e.ResourceRange | None) -> Bytes | None:
        """The replayed persistent resource of an operator, where the program's own is ``part``."""
        initialization = self._initialized.get((op, _address(part)))
        if initialization is None or initialization.persistent is None:
            return None
        return initialization.persistent.memory

    def _execute_initializer(self, dispatch: e.DispatchEvent) -> None:
        bound = dispatch.bindings
        by_device: dict[IDMLDevice, list[tuple[int, IDMLCompiledOperator]]] = {}
        for position, op in enumerate(dispatch.operators):
            if op is not None:
                by_device.setdefault(cast(IDMLDevice, op.device), []).append((position, op))
        for device, operators in by_device.items():
            session = self._session(device)
            initializer = device.CreateOperatorInitializer([op for _, op in operators])
            inputs = [
                self._array(
                    [bound.get(BindingPoint("input", position, index)) for index in range(len(op.inputs))]
                )
                for position, op in operators
            ]
            targets = [
                session.buffer(op.persistent_size) if op.persistent_size else None for _, op in operators
            ]
            for (position, op), target in zip(operators, targets):
                address = _address(bound.get(BindingPoint("output", position)))
                self._initialized[op, address].persistent = target
            outputs = [binding(target) for target in targets]
            table = session.table(initializer, inputs, outputs, session.temporary(initializer))
            session.record(initializer, table)
            session.execute()
            session.dml.removal.check()

    def _part(self, part: e.ResourceRange) -> ReplayRange:
        return ReplayRange(self._buffer(part.resource.allocation), part.start, part.size)

    def _view(self, part: e.ResourceRange | None) -> DML_BUFFER_BINDING:
        if part is None:
            return DML_BUFFER_BINDING()
        return DML_BUFFER_BINDING(self._buffer(part.resource.allocation), part.start, part.size)

    def _binding(self, part: e.ResourceRange | None) -> DML_BINDING_DESC:
        if part is None:
            return DML_BINDING_DESC()
        return DML_BINDING_DESC(DML_BINDING_TYPE_BUFFER, self._view(part))

    def _array(self, parts: list[e.ResourceRange | None]) -> DML_BINDING_DESC:
        if not any(parts):
            return DML_BINDING_DESC()
        return DML_BINDING_DESC(
            DML_BINDING_TYPE_BUFFER_ARRAY,
            DML_BUFFER_ARRAY_BINDING(Bindings=[self._view(part) for part in parts]),
        )


def _address(part: e.ResourceRange | None) -> Address:
    return None if part is None else (part.resource.allocation, part.start)
