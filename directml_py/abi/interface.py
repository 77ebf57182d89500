"""COM objects in Python: plain objects with a handle that fits in a struct's interface pointer."""

from __future__ import annotations

import ctypes
import weakref
from functools import partial
from typing import Any, ClassVar, TypeVar

from .hresult import E_NOINTERFACE, DMLError
from .wintypes import GUID

T = TypeVar("T", bound="IUnknown")

_objects: dict[int, weakref.ref[IUnknown]] = {}


def register_handle(address: int, item: IUnknown) -> None:
    """Let ``from_handle`` find ``item`` by ``address``, that of its COM object, too, until ``forget_handle``."""
    _objects[address] = weakref.ref(item)


def forget_handle(address: int) -> None:
    _objects.pop(address, None)


def _forget(
    address: int, _: object, objects: dict[int, weakref.ref[IUnknown]] = _objects
) -> None:  # fmt: skip
    objects.pop(address, None)


class IUnknown:
    """Base class of every interface.

    ``handle`` is an address that is unique to this object while it lives. Structs store it in place of C's interface
    pointer, and ``from_handle`` maps it back to the object. A handle is never dereferenced, so that a dangling pointer
    is simply not found.
    """

    IID: ClassVar[GUID] = GUID("00000000-0000-0000-c000-000000000046")
    # Public attributes of an interface besides its COM methods, which begin with a capital letter.
    _additions_: ClassVar[tuple[str, ...]] = ("handle", "from_handle")

    def __dir__(self) -> list[str]:
        """The COM methods and Python's additions, without the package's internal attributes."""
        additions = {name for kind in type(self).__mro__ for name in kind.__dict__.get("_additions_", ())}
        return [
            name for name in super().__dir__() if name[0] == "_" or name[0].isupper() or name in additions
        ]

    @property
    def handle(self) -> int:
        block: Any = self.__dict__.get("_handle_block")
        if block is None:
            block = self.__dict__.setdefault("_handle_block", ctypes.c_void_p())
            address = ctypes.addressof(block)
            _objects[address] = weakref.ref(self, partial(_forget, address))
        return ctypes.addressof(block)

    def _about(self) -> str:
        """What ``repr`` shows of the object besides its interface and name."""
        return ""

    def __repr__(self) -> str:
        name = getattr(self, "name", "")
        title = f"{type(self).__name__} {name!r}" if name else type(self).__name__
        try:
            about = self._about()
        except AttributeError:
            # The object is not, or not completely, initialized.
            about = ""
        return f"<{title}: {about}>" if about else f"<{title}>"

    @property
    def identity(self) -> IUnknown:
        """COM identity: the result of QueryInterface for IUnknown, the same for all interfaces of one COM object."""
        return self

    @classmethod
    def from_handle(cls: type[T], handle: int | None) -> T | None:
        """The live object of this interface that owns ``handle``, or None."""
        reference = _objects.get(handle) if handle else None
        owner = None if reference is None else reference()
        return owner if isinstance(owner, cls) else None

    def QueryInterface(self, riid: GUID | type[T]) -> Any:
        """This object, if it implements the interface ``riid`` (a GUID or an interface class).

        Raises ``DMLError`` ``E_NOINTERFACE`` if it does not.
        """
        iid = riid if isinstance(riid, GUID) else getattr(riid, "IID", None)
        if not isinstance(iid, GUID):
            raise TypeError(f"riid must be a GUID or an interface class, not {type(riid).__name__}")
        if iid == IUnknown.IID:
            return self.identity
        for interface in type(self).__mro__:
            if interface.__dict__.get("IID") == iid:
                return self
        raise DMLError(E_NOINTERFACE, f"{type(self).__name__} has no interface {iid}")


def same_interface(riid: Any, kind: type[IUnknown]) -> bool:
    """Whether ``riid`` (a GUID or an interface class) identifies ``kind``."""
    iid = riid if isinstance(riid, GUID) else getattr(riid, "IID", None)
    return isinstance(iid, GUID) and iid == kind.IID
