"""Object table: maps Python objects to COM objects, and manages their reference counts and destruction."""

from __future__ import annotations

import threading
import weakref
from typing import Any

from ..abi.arguments import WrongObject
from ..abi.hresult import E_INVALIDARG, E_OUTOFMEMORY, DMLError
from ..abi.interface import IUnknown, forget_handle, register_handle
from ..abi.memory import MemoryFault, read
from ..abi.wintypes import GUID
from .argument_memory import GUID_SIZE, NULL, peek, poke_pointer
from .interfaces import INTERFACES


class Objects:
    """The COM objects of this process. C's references keep an object alive. Its address, also its ``handle`` in
    structs, does not change during its life, which may outlast them: a binding table keeps its dispatchable alive, and
    programs such as tensorflow-directml-plugin pass one that they have released.
    """

    def __init__(self, lib: Any) -> None:
        self._lib = lib
        # Reentrant: an object may be destroyed while its thread holds the lock.
        self._lock = threading.RLock()
        self._held: dict[int, IUnknown] = {}
        self._released: dict[int, weakref.ref[IUnknown]] = {}
        self._addresses: dict[int, int] = {}
        self._tables: dict[type[IUnknown], bytes] = {}
        self._iids: dict[type[IUnknown], frozenset[bytes]] = {}

    def add_reference(self, item: IUnknown) -> int:
        """The address of the COM object for ``item``, with a reference added for the caller."""
        if isinstance(item, ForeignUnknown):
            self._lib.dmlpy_foreign_AddRef(item.address)
            return item.address
        with self._lock:
            address = self._addresses.get(id(item))
            if address is not None:
                self._lib.dmlpy_AddRef(address)
                self._held[address] = item
                self._released.pop(address, None)
                return address
            address = int(self._lib.dmlpy_new(self._table(type(item))))
            if not address:
                raise DMLError(E_OUTOFMEMORY, f"there is no memory for a COM object of {item}")
            self._held[address] = item
            self._addresses[id(item)] = address
        register_handle(address, item)
        return address

    def references(self, item: IUnknown) -> int | None:
        """The number of C's references; None for an object that was never passed to C."""
        with self._lock:
            address = self._addresses.get(id(item))
            return None if address is None else int(self._lib.dmlpy_references(address))

    def _table(self, kind: type[IUnknown]) -> bytes:
        """The name of the most derived interface that ``kind`` implements."""
        if kind not in self._tables:
            name = next(base.__name__ for base in kind.__mro__ if base.__name__ in INTERFACES)
            self._tables[kind] = name.encode()
        return self._tables[kind]

    def released(self, address: int) -> None:
        """C released its last reference; another one may have been added since."""
        with self._lock:
            item = self._held.get(address)
            if item is None or self._lib.dmlpy_references(address):
                return
            key = id(item)
            self._released[address] = weakref.ref(
                item, lambda reference: self._destroyed(address, key, reference)
            )
            del self._held[address]

    def _destroyed(self, address: int, key: int, reference: weakref.ref[IUnknown]) -> None:
        """Python's last reference is gone too."""
        with self._lock:
            if self._released.get(address) is not reference:
                return
            del self._released[address], self._addresses[key]
            forget_handle(address)
            self._lib.dmlpy_free(address)

    def at(self, address: int) -> IUnknown:
        """The object at the address ``this`` of a C call."""
        item = self._living(address)
        if item is None:
            raise DMLError(E_INVALIDARG, f"0x{address:X} is not a live object")
        return item

    def _living(self, address: int) -> IUnknown | None:
        item = self._held.get(address)
        if item is None:
            released = self._released.get(address)
            item = None if released is None else released()
        return item

    def argument(self, address: int, name: str) -> IUnknown | None:
        """The object behind an interface pointer; for a foreign COM object, a proxy that holds a reference.

        None for null. Raises ``WrongObject`` for an address that cannot be an object.
        """
        if not address:
            return None
        held = self._living(address)
        if held is not None:
            return held
        # Only checks that there is a vtable; as always in COM, the caller is responsible for the pointer being valid.
        try:
            table = int.from_bytes(read(address, 8), "little")
            read(table, 24)
        except MemoryFault:
            raise WrongObject(name, f"is 0x{address:X}, which is not a live COM object") from None
        return ForeignUnknown(self._lib, address)

    def query(self, item: IUnknown, riid: int, ppv: int) -> None:
        """QueryInterface: write the interface with the IID at ``riid`` to ``ppv``, or null.

        Raises ``DMLError`` ``E_NOINTERFACE``.
        """
        iid = peek(riid, GUID_SIZE, "riid")
        try:
            own = iid in self._own_iids(type(item))
            answer = item if own else item.QueryInterface(GUID.from_buffer_copy(iid))
        except DMLError:
            poke_pointer(ppv, NULL, "ppv")
            raise
        self.give(answer, ppv, "ppv")

    def give(self, item: IUnknown, address: int, name: str) -> None:
        """Write a pointer to ``item``, with a reference added for the caller, to ``address``.

        Raises ``DMLError`` ``E_POINTER``, without adding a reference, if no pointer can be written there.
        """
        poke_pointer(address, NULL, name)
        poke_pointer(address, self.add_reference(item), name)

    def _own_iids(self, kind: type[IUnknown]) -> frozenset[bytes]:
        """The IIDs for which QueryInterface returns an object of ``kind`` itself, except IUnknown's."""
        if kind not in self._iids:
            bases = (base for base in kind.__mro__ if base is not IUnknown and "IID" in base.__dict__)
            self._iids[kind] = frozenset(bytes(base.__dict__["IID"]) for base in bases)
        return self._iids[kind]


class ForeignUnknown(IUnknown):
    """A proxy for a foreign COM object, such as one that a program stores as private data."""

    def __init__(self, lib: Any, address: int) -> None:
        self._lib = lib
        self.address = address
        lib.dmlpy_foreign_AddRef(address)

    def __del__(self) -> None:
        if "address" in self.__dict__:
            self._lib.dmlpy_foreign_Release(self.address)
