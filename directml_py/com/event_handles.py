"""Event handles: on Linux, as the Direct3D headers for it have them, file descriptors of eventfd(2)."""

from __future__ import annotations

import os
import stat

from ..abi.hresult import E_HANDLE, DMLError

ONE = (1).to_bytes(8, "little")


class EventHandle:
    """What a fence sets. It keeps a descriptor of its own: the program may close its handle before."""

    def __init__(self, handle: int, name: str) -> None:
        try:
            self._descriptor = os.dup(handle)
        except (OSError, OverflowError):
            raise DMLError(E_HANDLE, f"{name} is 0x{handle:X}, which is no eventfd") from None
        if stat.S_IFMT(os.fstat(self._descriptor).st_mode):
            raise DMLError(E_HANDLE, f"{name} is the descriptor {handle}, which is no eventfd")

    def set(self) -> None:
        try:
            os.write(self._descriptor, ONE)
        except OSError:
            # Nothing waits for an event that is full, or that the program has turned into something else.
            return

    def __del__(self) -> None:
        if "_descriptor" in self.__dict__:
            os.close(self._descriptor)
