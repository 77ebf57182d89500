"""``ID3D12CommandAllocator``: the backing memory of recorded commands."""

from __future__ import annotations

import weakref
from typing import Any, Final, Protocol

from ..abi.arguments import enumerator, invalid
from ..abi.hresult import E_FAIL, E_NOTIMPL, DMLError
from ..api.d3d12_enums import (
    D3D12_COMMAND_LIST_TYPE,
    D3D12_COMMAND_LIST_TYPE_COMPUTE,
    D3D12_COMMAND_LIST_TYPE_COPY,
    D3D12_COMMAND_LIST_TYPE_DIRECT,
    D3D12_COMMAND_LIST_TYPE_NONE,
    D3D12_MESSAGE_CATEGORY_EXECUTION,
    D3D12_MESSAGE_ID_COMMAND_ALLOCATOR_CANNOT_RESET,
    D3D12_MESSAGE_ID_COMMAND_ALLOCATOR_SYNC,
    D3D12_MESSAGE_SEVERITY_ERROR,
)
from ..api.iids import IID_ID3D12CommandAllocator
from ..runtime.execution import CommandMemory, Recording
from .device_child import ID3D12Pageable, ParentDevice, short

DIRECT: Final = D3D12_COMMAND_LIST_TYPE_DIRECT
COMPUTE: Final = D3D12_COMMAND_LIST_TYPE_COMPUTE
COPY: Final = D3D12_COMMAND_LIST_TYPE_COPY
EMULATED_TYPES: Final = (DIRECT, COMPUTE, COPY)

ERROR: Final = D3D12_MESSAGE_SEVERITY_ERROR
EXECUTION: Final = D3D12_MESSAGE_CATEGORY_EXECUTION


def command_list_type(value: Any, name: str) -> D3D12_COMMAND_LIST_TYPE:
    """DIRECT, COMPUTE or COPY. Raises ``E_NOTIMPL`` for the other types, which DirectML does not use."""
    kind = enumerator(value, D3D12_COMMAND_LIST_TYPE, name)
    if kind == D3D12_COMMAND_LIST_TYPE_NONE:
        raise invalid(f"{name} must not be {kind.name}")
    if kind not in EMULATED_TYPES:
        raise DMLError(E_NOTIMPL, f"{name}: {kind.name} is not emulated")
    return kind


class RecordingList(Protocol):
    """A list that records into the memory of an allocator."""

    open: bool
    recording: Recording


class ID3D12CommandAllocator(ID3D12Pageable):
    """The memory of recorded commands: at most one list records into it at a time, and ``Reset`` invalidates what was
    recorded."""

    IID = IID_ID3D12CommandAllocator

    def __init__(self, device: ParentDevice, type: D3D12_COMMAND_LIST_TYPE) -> None:
        self.memory = CommandMemory("ID3D12CommandAllocator")
        super().__init__(device, self.memory)
        self.type = type
        self._recording: weakref.ref[RecordingList] | None = None

    def _about(self) -> str:
        return short(self.type)

    @property
    def recording(self) -> bool:
        """Whether an open list is recording into it."""
        user = self._recording() if self._recording is not None else None
        return user is not None and user.open and user.recording.memory is self.memory

    def attach(self, user: RecordingList) -> None:
        self._recording = weakref.ref(user)

    def Reset(self) -> None:
        """Raises ``E_FAIL`` while an open list records into it.

        The debug layer reports both that and a reset while recorded commands are in flight as errors. The commands
        still run.
        """
        self.device.check_alive()
        if self.recording:
            raise self.device.failure(
                EXECUTION,
                D3D12_MESSAGE_ID_COMMAND_ALLOCATOR_CANNOT_RESET,
                f"{self} cannot be reset while a command list is recording into it",
                E_FAIL,
            )
        self.memory.generation += 1
        validator = self.device.sync_validator
        if validator is not None and validator.is_in_flight(self.memory):
            self.device.report(
                ERROR,
                EXECUTION,
                D3D12_MESSAGE_ID_COMMAND_ALLOCATOR_SYNC,
                f"{self} was reset before commands that were recorded into it have run",
                E_FAIL,
            )


def check_allocator(allocator: ID3D12CommandAllocator, type: D3D12_COMMAND_LIST_TYPE) -> None:
    """Raises ``E_INVALIDARG`` if a list of ``type`` cannot record into ``allocator`` now."""
    if allocator.type != type:
        raise invalid(f"allocator is of type {allocator.type.name}, but the command list is {type.name}")
    if allocator.recording:
        raise invalid("allocator is in use by another command list that is recording")
