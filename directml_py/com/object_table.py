"""Object table: maps Python objects to COM objects, and manages their reference counts and destruction."""

from __future__ import annotations

import threading
import weakref
from contextlib import suppress
from functools import partial
from sys import getrefcount
from typing import Any

from ..abi.arguments import WrongObject
from ..abi.hresult import E_INVALIDARG, E_OUTOFMEMORY, DMLError
from ..abi.interface import IUnknown, forget_handle, register_handle
from ..abi.locks import renew_after_fork
from ..abi.wintypes import GUID
from ..api.d3d12_enums import D3D12_MESSAGE_SEVERITY_ERROR
from ..d3d12 import ID3D12Fence
from ..d3d12.debug_output import debug_output
from ..text.plural import counted_words
from .argument_memory import GUID_SIZE, NULL, peek, poke_pointer
from .foreign_objects import ForeignUnknown, is_com_object
from .interfaces import INTERFACES
from .program_abi import ProgramAbi
from .released_objects import Quarantine, Released


def _references_of_a_variable() -> int:
    item = object()
    return getrefcount(item)


# What getrefcount says of an object that one variable of a function refers to.
ALONE = _references_of_a_variable()


class Objects:
    """The COM objects of this process. C's references keep an object alive. Its address, also its ``handle`` in
    structs, does not change during its life, which may outlast them: a binding table keeps its dispatchable alive, and
    programs such as tensorflow-directml-plugin pass one that they have released.

    Interface pointers of C are known by their addresses, and no other memory is taken for an object.
    """

    def __init__(self, lib: Any, ffi: Any) -> None:
        self._lib = lib
        self.program = ProgramAbi(lib)
        # Reentrant: an object may be destroyed while its thread holds the lock.
        self._lock = threading.RLock()
        renew_after_fork(self, "_lock")
        self._held: dict[int, IUnknown] = {}
        # The object at an address if C holds references to it, else None: what every call asks first.
        self.held = self._held.get
        self._released: dict[int, tuple[weakref.ref[IUnknown], Released]] = {}
        self._addresses: dict[int, int] = {}
        self._tables: dict[type[IUnknown], int] = {}
        self._iids: dict[type[IUnknown], frozenset[bytes]] = {}
        self._quarantine = Quarantine(lib, ffi)

    def add_reference(self, item: IUnknown) -> int:
        """The address of the COM object for ``item``, with a reference added for the caller."""
        if isinstance(item, ForeignUnknown):
            self._lib.dmlpy_foreign_AddRef(item.address)
            return item.address
        with self._lock:
            address = self._addresses.get(id(item))
            if address is not None:
                self._lib.dmlpy_add_reference(address)
                self._held[address] = item
                self._released.pop(address, None)
                return address
            address = int(self._lib.dmlpy_new(self._table(type(item))))
            if not address:
                raise DMLError(E_OUTOFMEMORY, f"there is no memory for a COM object of {item}")
            self._held[address] = item
            self._addresses[id(item)] = address
        register_handle(address, item)
        if isinstance(item, ID3D12Fence):
            item.publish(partial(self._lib.dmlpy_set_answer, address))
        return address

    def keep_answer(self, address: int, answer: bytes) -> None:
        """Have C answer with a struct that a method of the object at ``address`` has returned."""
        self._lib.dmlpy_keep_answer(address, answer, len(answer))

    def references(self, item: IUnknown) -> int | None:
        """The number of C's references; None for an object that was never passed to C."""
        with self._lock:
            address = self._addresses.get(id(item))
            return None if address is None else int(self._lib.dmlpy_references(address))

    def _table(self, kind: type[IUnknown]) -> int:
        """The address of the vtable of the most derived interface that ``kind`` implements."""
        if kind not in self._tables:
            name = next(base.__name__ for base in kind.__mro__ if base.__name__ in INTERFACES)
            self._tables[kind] = int(self._lib.dmlpy_vtable(name.encode()))
        return self._tables[kind]

    def released(self, address: int) -> None:
        """C released its last reference; another one may have been added since."""
        item = self._held.get(address)
        if item is None:
            return
        record = Released.of(item)
        # ``item`` outlives the lock: with it may go what the program stored in it.
        with self._lock:
            if address not in self._held or self._lib.dmlpy_references(address):
                return
            key = id(item)
            del self._held[address]
            if getrefcount(item) == ALONE:
                self._forget(address, key, record)
                return
            reference = weakref.ref(item, lambda reference: self._destroyed(address, key, reference))
            self._released[address] = (reference, record)

    def _destroyed(self, address: int, key: int, reference: weakref.ref[IUnknown]) -> None:
        """Python's last reference is gone too."""
        with self._lock:
            entry = self._released.get(address)
            if entry is None or entry[0] is not reference:
                return
            del self._released[address]
            self._forget(address, key, entry[1])

    def _forget(self, address: int, key: int, record: Released) -> None:
        """Nobody has the object at an address any more. Called with the lock held."""
        del self._addresses[key]
        forget_handle(address)
        self._quarantine.add(address, record)

    def at(self, address: int, call: str) -> IUnknown:
        """The object at the address ``this`` of a C call. Reports the call if the object has no references; raises
        ``DMLError`` ``E_INVALIDARG`` if it is gone."""
        item = self._held.get(address)
        if item is not None:
            return item
        item = self._living(address)
        if item is None or self.references(item.identity) == 0:
            self._report_use(address, call)
        if item is None:
            raise DMLError(E_INVALIDARG, f"0x{address:X} is not a live object", reported=True)
        return item

    def describe(self, address: int) -> str:
        """What is known of an address, for debuggers: ``repr`` and references; of a released object, where that was.

        Empty for an address that is not an object's.
        """
        item = self._living(address)
        if item is not None:
            return f"{item!r}, {counted_words(int(self._lib.dmlpy_references(address)), 'reference')}"
        gone = self._quarantine.at(address)
        return "" if gone is None else self._quarantine.describe(address, gone)

    def _living(self, address: int) -> IUnknown | None:
        item = self._held.get(address)
        if item is None:
            released = self._released.get(address)
            item = None if released is None else released[0]()
        return item

    def _report_use(self, address: int, call: str) -> None:
        entry = self._released.get(address)
        known = entry[1] if entry is not None else self._quarantine.at(address)
        if known is None:
            debug_output(
                D3D12_MESSAGE_SEVERITY_ERROR, f"{call}: this is 0x{address:X}, which is not a live object"
            )
        else:
            self._quarantine.report(call, address, known)

    def released_again(self, address: int) -> None:
        """C released more references than there were."""
        with suppress(DMLError):
            self._report_use(address, "IUnknown::Release")

    def revived(self, address: int) -> int:
        """C added a reference where none is left. Returns the new count: 0 for an object that is gone."""
        item = self._living(address)
        with suppress(DMLError):
            self._report_use(address, "IUnknown::AddRef")
        if item is None:
            return 0
        self.add_reference(item)
        return int(self._lib.dmlpy_references(address))

    def argument(self, address: int, name: str) -> IUnknown | None:
        """The object behind an interface pointer; None for null. Raises ``WrongObject`` for any other address."""
        if not address:
            return None
        item = self._living(address)
        if item is None:
            raise self._wrong(address, name)
        return item

    def _wrong(self, address: int, name: str) -> WrongObject:
        gone = self._quarantine.at(address)
        what = "which is not a live object" if gone is None else self._quarantine.describe(address, gone)
        return WrongObject(name, f"is 0x{address:X}, {what}")

    def any_argument(self, address: int, name: str) -> IUnknown | None:
        """As ``argument``, where any COM object may be passed: for somebody else's, a proxy that holds a reference."""
        if not address:
            return None
        item = self._living(address)
        if item is not None:
            return item
        if self._quarantine.at(address) is not None or not is_com_object(address):
            raise self._wrong(address, name)
        return ForeignUnknown(self._lib, address)

    def query(self, item: IUnknown, riid: int, ppv: int) -> None:
        """QueryInterface: write the interface with the IID at ``riid`` to ``ppv``, where the caller has written null.

        Raises ``DMLError`` ``E_NOINTERFACE``.
        """
        iid = peek(riid, GUID_SIZE, "riid")
        is_declared = iid in self._declared_iids(type(item))
        answer = item if is_declared else item.QueryInterface(GUID.from_buffer_copy(iid))
        poke_pointer(ppv, self.add_reference(answer), "ppv")

    def give(self, item: IUnknown, address: int, name: str) -> None:
        """Write a pointer to ``item``, with a reference added for the caller, to ``address``.

        Raises ``DMLError`` ``E_POINTER``, without adding a reference, if no pointer can be written there.
        """
        poke_pointer(address, NULL, name)
        poke_pointer(address, self.add_reference(item), name)

    def _declared_iids(self, kind: type[IUnknown]) -> frozenset[bytes]:
        """The IIDs for which QueryInterface returns an object of ``kind`` itself, except IUnknown's."""
        if kind not in self._iids:
            bases = (base for base in kind.__mro__ if base is not IUnknown and "IID" in base.__dict__)
            self._iids[kind] = frozenset(bytes(base.__dict__["IID"]) for base in bases)
        return self._iids[kind]
