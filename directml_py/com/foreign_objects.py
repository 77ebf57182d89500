"""Foreign objects: COM objects of the program, where the API takes any."""

from __future__ import annotations

import re
from typing import Any

from ..abi.interface import IUnknown
from ..abi.memory import MemoryFault, read
from .argument_memory import POINTER_SIZE

# QueryInterface, AddRef, Release.
IUNKNOWN_SLOTS = 3
MAPS = "/proc/self/maps"
EXECUTABLE = re.compile(rb"^([0-9a-f]+)-([0-9a-f]+) ..x", re.MULTILINE)


class ForeignUnknown(IUnknown):
    """A proxy for a foreign COM object, such as one that a program stores as private data."""

    def __init__(self, lib: Any, address: int) -> None:
        self._lib = lib
        self.address = address
        lib.dmlpy_foreign_AddRef(address)

    def __del__(self) -> None:
        if "address" in self.__dict__:
            self._lib.dmlpy_foreign_Release(self.address)


def is_com_object(address: int) -> bool:
    """Whether the memory looks like an object of COM: its first word leads to the addresses of three functions.

    A system that does not list its mappings is asked for readable memory alone.
    """
    try:
        table = int.from_bytes(read(address, POINTER_SIZE), "little")
        slots = memoryview(read(table, IUNKNOWN_SLOTS * POINTER_SIZE)).cast("Q")
    except MemoryFault:
        return False
    try:
        with open(MAPS, "rb") as file:
            maps = file.read()
    except OSError:
        return True
    code = [range(int(begin, 16), int(end, 16)) for begin, end in EXECUTABLE.findall(maps)]
    return all(any(slot in part for part in code) for slot in slots)
