"""Shared handles: resources, heaps and fences that several devices of the process use.

As all handles of the emulator, a shared handle is a file descriptor, which ``CloseHandle`` and ``os.close`` close;
under Wine it is one of Win32. A table of the process keeps the object alive until the last duplicate of the handle is
closed.
"""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple, Protocol

from ..abi.hresult import DXGI_ERROR_NAME_ALREADY_EXISTS, E_HANDLE, DMLError
from ..abi.locks import renew_after_fork
from ..api.d3d12_enums import (
    D3D12_FENCE_FLAG_SHARED,
    D3D12_HEAP_FLAG_SHARED,
)
from .device_child import ID3D12DeviceChild
from .fence import ID3D12Fence1
from .heap import ID3D12Heap
from .resource import ID3D12Resource

# HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND).
FILE_NOT_FOUND: Final = 0x8007_0002


class _Shared(NamedTuple):
    item: ID3D12DeviceChild
    name: str | None


class Handles(Protocol):
    """How a process makes handles, each of which it knows by a key."""

    def new(self) -> tuple[int, int]:
        """The key of a new handle, and the handle, which the program owns."""

    def is_same(self, key: int, handle: int) -> bool:
        """Whether ``handle`` is a duplicate of the one with this key, or that itself."""

    def is_closed(self, key: int) -> bool:
        """Whether no duplicate is left."""

    def forget(self, key: int) -> None:
        """A closed handle's key is used no more."""


class PipeHandles:
    """The write ends of pipes; the keys are the read ends, which hang up when the last duplicate is closed."""

    def new(self) -> tuple[int, int]:
        return os.pipe()

    def is_same(self, key: int, handle: int) -> bool:
        try:
            return os.path.sameopenfile(key, handle)
        except (OSError, OverflowError):
            return False

    def is_closed(self, key: int) -> bool:
        poll = select.poll()
        poll.register(key, 0)
        return bool(poll.poll(0))

    def forget(self, key: int) -> None:
        os.close(key)


class _Table:
    """The objects behind the open handles of the process, by the keys of these."""

    def __init__(self) -> None:
        self.handles: Handles = PipeHandles()
        self._lock = threading.RLock()
        renew_after_fork(self, "_lock")
        self._entries: dict[int, _Shared] = {}

    def add(self, shared: _Shared) -> int:
        with self._swept():
            if shared.name is not None and self._named(shared.name) is not None:
                raise DMLError(
                    DXGI_ERROR_NAME_ALREADY_EXISTS, f"name is {shared.name!r}, which an open handle has"
                )
            return self._new(shared)

    def named(self, name: str) -> int:
        """A new handle to the object of that name."""
        with self._swept():
            found = self._named(name)
            if found is None:
                raise DMLError(FILE_NOT_FOUND, f"name is {name!r}, which no open handle has")
            return self._new(found)

    def find(self, handle: int) -> _Shared:
        with self._swept():
            for key, shared in list(self._entries.items()):
                if self.handles.is_same(key, handle):
                    return shared
        raise DMLError(E_HANDLE, f"NTHandle is {handle}, which is not an open shared handle of this process")

    def _named(self, name: str) -> _Shared | None:
        return next((shared for shared in list(self._entries.values()) if shared.name == name), None)

    def _new(self, shared: _Shared) -> int:
        key, handle = self.handles.new()
        self._entries[key] = shared
        return handle

    @contextmanager
    def _swept(self) -> Iterator[None]:
        """Holds the lock, after removing the objects whose handles are all closed. They are released after the lock,
        since their release may run code of the program."""
        removed: list[_Shared] = []
        with self._lock:
            for key in list(filter(self.handles.is_closed, self._entries)):
                self.handles.forget(key)
                removed.append(self._entries.pop(key))
            yield


_table = _Table()


def share(item: ID3D12DeviceChild, name: str | None) -> int:
    """A new handle to ``item``."""
    return _table.add(_Shared(item, name))


def handle_by_name(name: str) -> int:
    """A new handle to the object that was shared as ``name``."""
    return _table.named(name)


def shared_object(handle: int) -> ID3D12DeviceChild:
    """The object behind an open handle."""
    return _table.find(handle).item


def use_handles(handles: Handles) -> None:
    """Make shared handles in another way from now on."""
    _table.handles = handles


def is_shareable(item: ID3D12DeviceChild) -> bool:
    """Whether it was created with its SHARED flag."""
    if isinstance(item, ID3D12Resource):
        return bool(item.placement.flags & D3D12_HEAP_FLAG_SHARED)
    if isinstance(item, ID3D12Heap):
        return bool(item.flags & D3D12_HEAP_FLAG_SHARED)
    return isinstance(item, ID3D12Fence1) and bool(item.GetCreationFlags() & D3D12_FENCE_FLAG_SHARED)
