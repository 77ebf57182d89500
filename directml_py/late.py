"""Lazy attributes, names and enumerations, the lock of lazy imports, and what lower rooms are given by higher ones."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Mapping
from importlib import import_module
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


def imported_when_named(namespace: dict[str, Any], modules: Mapping[str, str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package with this ``namespace``: its names are in ``modules``, relative to it."""

    def names_of(module: str) -> dict[str, Any]:
        with loading:
            home = import_module(module, namespace["__name__"])
        return {name: getattr(home, name) for name, owner in modules.items() if owner == module}

    return made_when_named(namespace, modules, names_of)


def made_when_named(
    namespace: dict[str, Any], owners: Mapping[str, str], make: Callable[[str], Mapping[str, Any]]
) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module with this ``namespace``: the first time that one of the names ``owners`` is asked
    for, ``make(owners[name])`` makes its value, with those of all names of that owner."""

    def attribute(name: str) -> Any:
        if name not in owners:
            raise AttributeError(f"module {namespace['__name__']!r} has no attribute {name!r}")
        # Two threads must not make two classes of one name.
        with loading:
            if name not in namespace:
                namespace.update(make(owners[name]))
        return namespace[name]

    return attribute


def enumerations(
    namespace: dict[str, Any],
    members: Mapping[str, Mapping[str, int]],
    flags: Collection[str],
    scoped: Collection[str],
) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module of enumerations, each made with its ``members`` when it, or one of these, is
    first named. Those in ``flags`` are of flags; the members of those in ``scoped`` are not at module level."""
    owners = dict(zip(members, members))
    for enumeration, numbers in members.items():
        if enumeration not in scoped:
            owners.update(dict.fromkeys(numbers, enumeration))

    def make(name: str) -> dict[str, Any]:
        with loading:
            from enum import IntEnum, IntFlag

        kind: Any = IntFlag if name in flags else IntEnum
        made = kind(name, members[name], module=namespace["__name__"])
        return {name: made} if name in scoped else {name: made, **made.__members__}

    return made_when_named(namespace, owners, make)


_providers: dict[str, Callable[[], Any]] = {}


def provide(name: str, load: Callable[[], Any]) -> None:
    """Say how ``provided(name)`` loads. The package itself does: it knows all rooms."""
    _providers[name] = load


def provided(name: str) -> Any:
    """What a lower room asks of a higher one, which it may not import, loaded when it is first needed."""
    with loading:
        return _providers[name]()
