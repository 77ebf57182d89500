"""Event handles: on Linux, as in the Direct3D headers for it, eventfd(2) file descriptors."""

from __future__ import annotations

import os
import stat

from ..abi.hresult import E_HANDLE, DMLError

ONE = (1).to_bytes(8, "little")


class EventHandle:
    """An event that a fence sets. It duplicates the descriptor, as the program may close its handle first."""

    def __init__(self, handle: int, name: str) -> None:
        try:
            self._descriptor = os.dup(handle)
        except (OSError, OverflowError):
            raise DMLError(E_HANDLE, f"{name} is 0x{handle:X}, which is not an eventfd") from None
        if stat.S_IFMT(os.fstat(self._descriptor).st_mode):
            raise DMLError(E_HANDLE, f"{name} is the descriptor {handle}, which is not an eventfd")

    def set(self) -> None:
        try:
            os.write(self._descriptor, ONE)
        except OSError:
            # Nothing waits for an eventfd whose counter is full, or a descriptor that the program has reused.
            return

    def __del__(self) -> None:
        if "_descriptor" in self.__dict__:
            os.close(self._descriptor)
