"""Whether an object is still held by the program, for those who remember it longer than the program does."""

from __future__ import annotations


class Life:
    """Shared by an object and by recorded work that names it; ``released`` turns true when the object goes."""

    __slots__ = ("kind", "name", "released")

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.name = ""
        self.released = False

    def __str__(self) -> str:
        return f"{self.kind} {self.name!r}" if self.name else self.kind
