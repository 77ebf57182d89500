"""``ID3D12InfoQueue``: storage of debug layer messages, storage filters, and breaking on severity."""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from ..abi.arguments import enumerator, flags, integer, invalid, uint, unsigned
from ..abi.hresult import DMLError
from ..abi.interface import IUnknown, same_interface
from ..abi.locks import renew_after_fork
from ..abi.memory import MemoryFault, read
from ..abi.pointers import locate, struct_at
from ..abi.rules import Diagnostic, message_id
from ..api.d3d12_enums import (
    D3D12_MESSAGE_CALLBACK_FLAGS,
    D3D12_MESSAGE_CALLBACK_IGNORE_FILTERS,
    D3D12_MESSAGE_CATEGORY,
    D3D12_MESSAGE_CATEGORY_APPLICATION_DEFINED,
    D3D12_MESSAGE_ID_STRING_FROM_APPLICATION,
    D3D12_MESSAGE_SEVERITY,
    D3D12_MESSAGE_SEVERITY_CORRUPTION,
    D3D12_MESSAGE_SEVERITY_ERROR,
)
from ..api.d3d12_structs import D3D12_INFO_QUEUE_FILTER, D3D12_INFO_QUEUE_FILTER_DESC
from ..api.iids import IID_ID3D12InfoQueue, IID_ID3D12InfoQueue1
from ..runtime.observers import watchers
from .d3d12_constants import UINT64_MAX
from .debug_output import debug_output

if TYPE_CHECKING:
    from .device_child import ParentDevice

DEFAULT_MESSAGE_COUNT_LIMIT = 1024


class Message(NamedTuple):
    """A stored message, with the fields of D3D12_MESSAGE; ``pDescription`` is a str.

    ``ID`` is a plain int if the D3D12_MESSAGE_ID declared here has no name for it.
    """

    Category: D3D12_MESSAGE_CATEGORY
    Severity: D3D12_MESSAGE_SEVERITY
    ID: int
    pDescription: str
    diagnostic: Diagnostic | None = None

    @property
    def rule(self) -> str:
        """The identifier of the violated rule; empty for other messages."""
        return self.diagnostic.rule if self.diagnostic is not None else ""

    @property
    def numbers(self) -> set[int]:
        """The IDs that filters match: ``ID``, and ``message_id(rule)``, as several rules share one of Windows' IDs."""
        return {self.ID, message_id(self.rule)} if self.rule else {self.ID}

    @property
    def DescriptionByteLength(self) -> int:
        """Bytes in UTF-8, with the terminating null."""
        return len(self.pDescription.encode()) + 1


class _Lists:
    """The allow list or deny list of a filter: an empty set does not restrict its property."""

    def __init__(
        self, categories: Iterable[int] = (), severities: Iterable[int] = (), ids: Iterable[int] = ()
    ) -> None:
        self.categories = set(categories)
        self.severities = set(severities)
        self.ids = set(ids)

    def update(self, other: _Lists) -> None:
        self.categories |= other.categories
        self.severities |= other.severities
        self.ids |= other.ids

    def verdicts(self, message: Message) -> list[bool]:
        """For each property that the list restricts, whether it contains the message's value."""
        pairs = (
            (self.categories, {message.Category}),
            (self.severities, {message.Severity}),
            (self.ids, message.numbers),
        )
        return [not values.isdisjoint(actual) for values, actual in pairs if values]


class _Filter:
    def __init__(self, allow: _Lists | None = None, deny: _Lists | None = None) -> None:
        self.allow = _Lists() if allow is None else allow
        self.deny = _Lists() if deny is None else deny

    def passes(self, message: Message) -> bool:
        return all(self.allow.verdicts(message)) and not any(self.deny.verdicts(message))

    def update(self, other: _Filter) -> None:
        self.allow.update(other.allow)
        self.deny.update(other.deny)


def _read_values(count: int, pointer: Any, name: str) -> set[int]:
    address = locate(pointer, name).address
    if not count:
        return set()
    if not address:
        raise invalid(f"{name} is null, but its count is {count}")
    try:
        data = memoryview(read(address, 4 * count)).cast("i")
    except (MemoryFault, MemoryError, OverflowError) as fault:
        raise invalid(f"{name}: {fault}") from None
    return set(data)


def _read_lists(desc: D3D12_INFO_QUEUE_FILTER_DESC, name: str) -> _Lists:
    return _Lists(
        _read_values(desc.NumCategories, desc.pCategoryList, f"{name}.pCategoryList"),
        _read_values(desc.NumSeverities, desc.pSeverityList, f"{name}.pSeverityList"),
        _read_values(desc.NumIDs, desc.pIDList, f"{name}.pIDList"),
    )


def _read_filter(value: Any) -> _Filter:
    desc = struct_at(value, D3D12_INFO_QUEUE_FILTER, "filter")
    return _Filter(
        _read_lists(desc.AllowList, "filter.AllowList"), _read_lists(desc.DenyList, "filter.DenyList")
    )


class _Callback(NamedTuple):
    function: Callable[[D3D12_MESSAGE_CATEGORY, D3D12_MESSAGE_SEVERITY, int, str, Any], Any]
    flags: D3D12_MESSAGE_CALLBACK_FLAGS
    context: Any

    def takes(self, denied: bool) -> bool:
        return not denied or bool(self.flags & D3D12_MESSAGE_CALLBACK_IGNORE_FILTERS)

    def call(self, message: Message) -> None:
        self.function(message.Category, message.Severity, message.ID, message.pDescription, self.context)


class ID3D12InfoQueue(IUnknown):
    """The message queue of a device, from ``device.QueryInterface(ID3D12InfoQueue)`` under the debug layer.

    A message that passes the storage filter on top of the stack is stored, sent to the logger ``directml_py``, and
    raised as a ``DMLError`` if breaking on its severity is enabled. Unlike on Windows, it is enabled by default for
    CORRUPTION and ERROR.
    """

    IID = IID_ID3D12InfoQueue

    def __init__(self, device: ParentDevice) -> None:
        self._device = device
        self._lock = threading.RLock()
        renew_after_fork(self, "_lock")
        self._messages: deque[Message] = deque()
        self._limit = DEFAULT_MESSAGE_COUNT_LIMIT
        self._filters: list[_Filter] = []
        self._break = {
            D3D12_MESSAGE_SEVERITY_CORRUPTION,
            D3D12_MESSAGE_SEVERITY_ERROR,
        }
        self._callbacks: dict[int, _Callback] = {}
        self._cookies = itertools.count(1)
        self._muted = False
        self._denied = 0
        self._discarded = 0

    @property
    def identity(self) -> IUnknown:
        return self._device

    def QueryInterface(self, riid: Any) -> Any:
        """Also returns the device's interfaces: both belong to one COM object."""
        is_supported = any(same_interface(riid, kind) for kind in (ID3D12InfoQueue, ID3D12InfoQueue1))
        return self if is_supported else self._device.QueryInterface(riid)

    def put(self, message: Message, hresult: int, raised: bool = False) -> bool:
        """Store, log and possibly raise ``message``, in this order; ``hresult`` is the code of the exception. Returns
        whether it passed the filter. With ``raised`` the caller raises it."""
        with self._lock:
            denied = bool(self._filters) and not self._filters[-1].passes(message)
            callbacks = [each for each in self._callbacks.values() if each.takes(denied)]
            if denied:
                self._denied += 1
            else:
                self._messages.append(message)
                self._trim()
            muted = self._muted
            breaks = message.Severity in self._break
        for callback in callbacks:
            callback.call(message)
        if denied:
            return False
        for observer in watchers.all:
            observer.reported(message)
        if not muted:
            debug_output(message.Severity, message.pDescription, raised=raised or breaks)
        if breaks:
            diagnostics = () if message.diagnostic is None else (message.diagnostic,)
            raise DMLError(hresult, message.pDescription, diagnostics, reported=True)
        return True

    def _trim(self) -> None:
        while self._limit >= 0 and len(self._messages) > self._limit:
            self._messages.popleft()
            self._discarded += 1

    def GetNumStoredMessages(self) -> int:
        return len(self._messages)

    def GetMessage(self, messageIndex: int) -> Message:
        index = unsigned(messageIndex, "messageIndex")
        with self._lock:
            if index >= len(self._messages):
                raise invalid(f"messageIndex is {index}, but {len(self._messages)} messages are stored")
            return self._messages[index]

    def ClearStoredMessages(self) -> None:
        with self._lock:
            self._messages.clear()

    def SetMessageCountLimit(self, messageCountLimit: int) -> None:
        """Limit the stored messages, discarding the oldest; -1 (or UINT64_MAX, as in C) means no limit."""
        limit = integer(messageCountLimit, "messageCountLimit")
        limit = -1 if limit in (-1, UINT64_MAX) else unsigned(limit, "messageCountLimit")
        with self._lock:
            self._limit = limit
            self._trim()

    def GetMessageCountLimit(self) -> int:
        return self._limit & UINT64_MAX

    def GetNumMessagesDiscardedByMessageCountLimit(self) -> int:
        return self._discarded

    def GetNumMessagesDeniedByStorageFilter(self) -> int:
        return self._denied

    def SetBreakOnSeverity(self, severity: int, enable: bool) -> None:
        kind = enumerator(severity, D3D12_MESSAGE_SEVERITY, "severity")
        with self._lock:
            (self._break.add if enable else self._break.discard)(kind)

    def GetBreakOnSeverity(self, severity: int) -> bool:
        return enumerator(severity, D3D12_MESSAGE_SEVERITY, "severity") in self._break

    def SetMuteDebugOutput(self, mute: bool) -> None:
        """Whether messages are kept out of the logger; they are still stored and raised."""
        self._muted = bool(mute)

    def GetMuteDebugOutput(self) -> bool:
        return self._muted

    def AddApplicationMessage(self, severity: int, description: str) -> None:
        kind = enumerator(severity, D3D12_MESSAGE_SEVERITY, "severity")
        if not isinstance(description, str):
            raise TypeError(f"description must be a str, not {type(description).__name__}")
        self._device.report(
            kind,
            D3D12_MESSAGE_CATEGORY_APPLICATION_DEFINED,
            D3D12_MESSAGE_ID_STRING_FROM_APPLICATION,
            description,
        )

    def AddStorageFilterEntries(self, filter: Any) -> None:
        """Add to the filter on top of the stack, pushing one if the stack is empty."""
        entries = _read_filter(filter)
        with self._lock:
            if not self._filters:
                self._filters.append(_Filter())
            self._filters[-1].update(entries)

    def PushStorageFilter(self, filter: Any) -> None:
        entries = _read_filter(filter)
        with self._lock:
            self._filters.append(entries)

    def PushEmptyStorageFilter(self) -> None:
        """Push a filter that every message passes."""
        with self._lock:
            self._filters.append(_Filter())

    def PopStorageFilter(self) -> None:
        with self._lock:
            if self._filters:
                self._filters.pop()

    def ClearStorageFilter(self) -> None:
        """Empty the filter on top of the stack."""
        with self._lock:
            if self._filters:
                self._filters[-1] = _Filter()

    def GetStorageFilterStackSize(self) -> int:
        return len(self._filters)


class ID3D12InfoQueue1(ID3D12InfoQueue):
    IID = IID_ID3D12InfoQueue1

    def RegisterMessageCallback(
        self,
        callbackFunc: Callable[[D3D12_MESSAGE_CATEGORY, D3D12_MESSAGE_SEVERITY, int, str, Any], Any],
        callbackFilterFlags: int = 0,
        context: Any = None,
    ) -> int:
        """Call ``callbackFunc(category, severity, id, description, context)`` for every message, in the thread that
        reports it. Returns the cookie to unregister it (nf-d3d12sdklayers-id3d12infoqueue1-registermessagecallback)."""
        if not callable(callbackFunc):
            raise TypeError(f"callbackFunc must be a function, not {type(callbackFunc).__name__}")
        kind = flags(callbackFilterFlags, D3D12_MESSAGE_CALLBACK_FLAGS, "callbackFilterFlags")
        with self._lock:
            cookie = next(self._cookies)
            self._callbacks[cookie] = _Callback(callbackFunc, kind, context)
        return cookie

    def UnregisterMessageCallback(self, callbackCookie: int) -> None:
        """Raises ``E_INVALIDARG`` for an unknown cookie."""
        cookie = uint(callbackCookie, "callbackCookie")
        # Released without the lock: the function and its context are the program's.
        with self._lock:
            callback = self._callbacks.pop(cookie, None)
        if callback is None:
            raise invalid(f"callbackCookie is {callbackCookie}, which no callback has")
