"""Object lifetimes: whether a program still holds an object, for code that refers to it longer."""

from __future__ import annotations

from .private_data import PrivateDataObject


class Lifetime:
    """Shared by an object and the recorded work that refers to it; ``released`` becomes true when the object is
    destroyed.

    ``residency`` is Direct3D 12's residency count: 1 at creation, incremented by MakeResident, decremented by Evict.
    """

    __slots__ = ("__weakref__", "kind", "name", "released", "residency")

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.name = ""
        self.released = False
        self.residency = 1

    def release(self) -> None:
        """The object is destroyed."""
        self.released = True

    def make_resident(self) -> None:
        self.residency += 1

    def evict(self) -> None:
        self.residency = max(0, self.residency - 1)

    @property
    def is_resident(self) -> bool:
        return self.residency > 0

    def __str__(self) -> str:
        return f"{self.kind} {self.name!r}" if self.name else self.kind


class LivingObject(PrivateDataObject):
    """Base class of objects with a ``life``, which it updates with the object's name and destruction.

    It must be the first base class, so that a name is stored only after the interface's own SetName has accepted it.
    """

    life: Lifetime

    def SetName(self, name: str) -> None:
        super().SetName(name)
        self.life.name = name

    def __del__(self) -> None:
        life = self.__dict__.get("life")
        if life is not None:
            life.release()
