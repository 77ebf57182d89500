"""A place in a binding table, and the memory bound there."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from ..d3d12.resource import BufferRange


class BindingPoint(NamedTuple):
    """Which kind of memory, and which one of them.

    ``kind`` is ``input``, ``output``, ``temporary`` or ``persistent``. ``position`` counts tensors; for an initializer
    it counts operators, and ``part`` the inputs of one.
    """

    kind: str
    position: int = 0
    part: int = 0

    @property
    def is_tensor(self) -> bool:
        return self.kind in ("input", "output")

    @property
    def name(self) -> str:
        """As the Bind methods count: ``inputs[1]``, ``the temporary resource``."""
        if not self.is_tensor:
            return f"the {self.kind} resource"
        part = f".Bindings[{self.part}]" if self.part else ""
        return f"{self.kind}s[{self.position}]{part}"


TEMPORARY = BindingPoint("temporary")
PERSISTENT = BindingPoint("persistent")


class Bound(NamedTuple):
    """A slot together with the range that is bound there."""

    slot: BindingPoint
    view: BufferRange


Views: TypeAlias = Mapping[BindingPoint, BufferRange | None]
NO_VIEWS: Views = MappingProxyType({})
