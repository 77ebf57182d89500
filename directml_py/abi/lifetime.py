"""Whether an object is still held by the program, for those who remember it longer than the program does."""

from __future__ import annotations

from .private_data import PrivateDataObject


class Lifetime:
    """Shared by an object and by recorded work that names it; ``released`` turns true when the object goes.

    ``residency`` counts as Direct3D 12 does: 1 from creation on, one more for each MakeResident, one less for each
    Evict.
    """

    __slots__ = ("__weakref__", "kind", "name", "released", "residency")

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.name = ""
        self.released = False
        self.residency = 1

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
    """An object with a ``life`` that carries its name and learns of its end.

    It stands first among the bases, so that a name is taken only once the interface's own SetName has taken it.
    """

    life: Lifetime

    def SetName(self, name: str) -> None:
        super().SetName(name)
        self.life.name = name

    def __del__(self) -> None:
        life = self.__dict__.get("life")
        if life is not None:
            life.released = True
