"""Lazy attributes, the lock of lazy imports, and what lower rooms are given by higher ones."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")

# Held by whoever imports a module when it is needed, and by a thread that forks. The child of a fork has no other
# threads: a module that one of them was importing would stay half imported there, and locked for ever.
loading = threading.RLock()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=loading.acquire, after_in_parent=loading.release, after_in_child=loading.release
    )


class lazy(Generic[T]):
    """A cached attribute, computed on first access: ``functools.cached_property`` without the lock that it takes before
    Python 3.12, which costs several times more than the computations here and which a fork may leave locked. Two
    threads may both compute a value; the results are equal."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type[Any]) -> lazy[T]: ...

    @overload
    def __get__(self, instance: object, owner: type[Any]) -> T: ...

    def __get__(self, instance: object | None, owner: type[Any]) -> lazy[T] | T:
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._compute(instance)
        return value


_providers: dict[str, Callable[[], Any]] = {}


def provide(name: str, load: Callable[[], Any]) -> None:
    """Say how ``provided(name)`` loads. The package itself does: it knows all rooms."""
    _providers[name] = load


def provided(name: str) -> Any:
    """What a lower room asks of a higher one, which it may not import, loaded when it is first needed."""
    with loading:
        return _providers[name]()
