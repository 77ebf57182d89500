"""Kernel decisions: which native kernels accept their tensors, and why others decline.

A function that binds a native kernel returns its call, or ``Declined`` with a reason. Reasons are normally dropped,
since blocked NumPy or the reference can always take over; ``Decisions`` collects them while a dispatch is bound and
run.
"""

from __future__ import annotations

from typing import Literal

ABSENT = "the native kernels are not in use"
UNREADABLE = "a tensor is not aligned or not in the byte order of this machine"
OVERLAPPING = "the output shares memory with an input"


class Decisions:
    """Context manager: ``kernels`` are those that accept their tensors while it is active, in any thread, ``declined``
    the others, each once."""

    _current: Decisions | None = None

    def __init__(self) -> None:
        self.kernels: list[str] = []
        self.declined: list[Declined] = []

    def __enter__(self) -> Decisions:
        Decisions._current = self
        return self

    def __exit__(self, *_: object) -> None:
        Decisions._current = None


class Declined:
    """The reason why a native ``kernel`` does not accept its tensors. It is falsy, so that ``run or fallback`` chooses
    what runs."""

    __slots__ = ("kernel", "reason")

    def __init__(self, kernel: str, reason: str) -> None:
        self.kernel, self.reason = kernel, reason
        decisions = Decisions._current
        if decisions is not None and str(self) not in map(str, decisions.declined):
            decisions.declined.append(self)

    def __bool__(self) -> Literal[False]:
        return False

    def __str__(self) -> str:
        return f"{self.kernel}: {self.reason}"


def take(kernel: str) -> None:
    """Record that a native kernel accepts its tensors."""
    decisions = Decisions._current
    if decisions is not None and kernel not in decisions.kernels:
        decisions.kernels.append(kernel)
