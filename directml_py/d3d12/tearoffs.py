"""Tear-off interfaces: COM interfaces of an object whose vtables are not prefixes of its own."""

from __future__ import annotations

from typing import Any

from ..abi.hresult import DMLError
from ..abi.interface import IUnknown, same_interface


class Tearoff(IUnknown):
    """A Python object of its own with the identity of the COM object ``main``."""

    def __init__(self, main: IUnknown) -> None:
        self._main = main

    @property
    def identity(self) -> IUnknown:
        return self._main

    @classmethod
    def is_asked_for(cls, riid: Any) -> bool:
        """Whether ``riid`` names this interface or one of its bases."""
        kinds = [kind for kind in cls.__mro__ if issubclass(kind, Tearoff) and "IID" in kind.__dict__]
        return any(same_interface(riid, kind) for kind in kinds)

    def QueryInterface(self, riid: Any) -> Any:
        """This interface and its bases, else what the main object returns."""
        try:
            return super().QueryInterface(riid)
        except DMLError:
            return self._main.QueryInterface(riid)
