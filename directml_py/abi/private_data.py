"""Private data and debug names of objects, shared by Direct3D 12 and DirectML."""

from __future__ import annotations

import codecs
from typing import Any, ClassVar, NamedTuple

from .arguments import refusal, uint
from .hresult import DXGI_ERROR_NOT_FOUND, S_OK, DMLError
from .interface import IUnknown
from .rules import Rule, violation
from .wintypes import GUID

# Looked up early: a codec is a module, which no thread may be importing when the process forks.
UTF_16 = codecs.lookup("utf-16-le").name
# The GUID in d3dcommon.h under which Direct3D stores the names of objects.
WKPDID_D3DDebugObjectNameW = GUID("4cca5fd8-921f-42c8-8566-70caf2a9b741")


class PrivateDataRules(NamedTuple):
    """The rules of one API about the arguments."""

    size: Rule
    guid: Rule


class PrivateData:
    """The data stored by ``SetPrivateData`` and ``SetPrivateDataInterface``, by GUID: bytes, or an object that is kept
    alive.

    There is no lock, as an object that is replaced may run code of the program: each method is one operation of a dict
    whose keys are bytes, which is atomic.
    """

    def __init__(self) -> None:
        self._values: dict[bytes, bytes | IUnknown] = {}

    def is_empty(self) -> bool:
        return not self._values

    def get(self, guid: GUID) -> bytes | IUnknown | None:
        return self._values.get(_key(guid))

    def set(self, guid: GUID, value: bytes | IUnknown) -> None:
        self._values[_key(guid)] = value

    def remove(self, guid: GUID) -> bool:
        """Remove the stored data. Returns whether there was any."""
        return self._values.pop(_key(guid), None) is not None


def _key(guid: Any) -> bytes:
    if not isinstance(guid, GUID):
        raise TypeError(f"guid must be a GUID, not {type(guid).__name__}")
    return bytes(guid)


class PrivateDataObject(IUnknown):
    """Base class of ID3D12Object and IDMLObject: private data and debug names.

    The pages name no error codes of GetPrivateData; an unknown GUID raises ``DXGI_ERROR_NOT_FOUND``, as usual in
    Direct3D.
    """

    private_data_rules: ClassVar[PrivateDataRules | None] = None
    # The result of removing private data that does not exist.
    nothing_removed: ClassVar[int] = S_OK
    _additions_: ClassVar[tuple[str, ...]] = ("name",)

    def __init__(self) -> None:
        self._private_data = PrivateData()

    def GetPrivateData(self, guid: GUID) -> bytes | IUnknown:
        stored = self._private_data.get(guid)
        if stored is not None:
            return stored
        text = f"is {guid}, which has no private data"
        if self.private_data_rules is None:
            raise DMLError(DXGI_ERROR_NOT_FOUND, f"guid {text}")
        raise violation(self.private_data_rules.guid, "guid", text, DXGI_ERROR_NOT_FOUND)

    def SetPrivateData(self, guid: GUID, dataSize: Any, data: Any = None) -> int:
        """``(guid, size, bytes)`` as in C, or ``(guid, bytes)``; null data removes the stored data.

        Returns a success code.
        """
        if isinstance(dataSize, (bytes, bytearray, memoryview)):
            dataSize, data = len(bytes(dataSize)), dataSize
        elif dataSize is None:
            dataSize = 0
        rule = self.private_data_rules and self.private_data_rules.size
        size = uint(dataSize, "dataSize", rule)
        if data is None:
            if size:
                self._report_size_of_nothing(f"is {size}; it must be 0 if data is null")
            return self._remove(guid)
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(f"data must be bytes, not {type(data).__name__}")
        if size > len(bytes(data)):
            raise refusal("dataSize", f"is {size}, but data has {len(bytes(data))} bytes", rule)
        self._private_data.set(guid, bytes(data)[:size])
        return S_OK

    def _report_size_of_nothing(self, text: str) -> None:
        """Raise an error for a nonzero size of null data; subclasses may only report it."""
        raise refusal("dataSize", text, self.private_data_rules and self.private_data_rules.size)

    def SetPrivateDataInterface(self, guid: GUID, data: IUnknown | None) -> int:
        """Store an object, or remove the stored data for None. Returns a success code."""
        if data is None:
            return self._remove(guid)
        if not isinstance(data, IUnknown):
            raise TypeError(f"data must be an interface object or None, not {type(data).__name__}")
        self._private_data.set(guid, data)
        return S_OK

    def _remove(self, guid: GUID) -> int:
        return S_OK if self._private_data.remove(guid) else self.nothing_removed

    def SetName(self, name: str) -> None:
        """Set the name used in messages, stored as UTF-16 private data under ``WKPDID_D3DDebugObjectNameW``."""
        if not isinstance(name, str):
            raise TypeError(f"name must be a str, not {type(name).__name__}")
        self._private_data.set(WKPDID_D3DDebugObjectNameW, name.encode(UTF_16, "surrogatepass"))

    @property
    def name(self) -> str:
        """The name set by ``SetName``, or an empty string."""
        if self._private_data.is_empty():
            return ""
        stored = self._private_data.get(WKPDID_D3DDebugObjectNameW)
        return stored.decode(UTF_16, "replace") if isinstance(stored, bytes) else ""

    def __str__(self) -> str:
        return f"{type(self).__name__} {self.name!r}" if self.name else type(self).__name__
