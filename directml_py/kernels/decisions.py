"""Which native kernels take their tensors, and why others do not.

A function that binds a native kernel gives its call, or ``Declined``, a reason. Nobody keeps these, as there is always
NumPy instead; ``Decisions`` collects them while a dispatch is bound and run.
"""

from __future__ import annotations

from typing import Literal

ABSENT = "the native kernels are not in use"
UNREADABLE = "a tensor is not aligned or not in the byte order of this machine"
OVERLAPPING = "the output shares memory with an input"


class Decisions:
    """Context manager: ``kernels`` are those that take tensors meanwhile, in whichever thread, ``declined`` the others,
    each once."""

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
    """Why a native ``kernel`` does not take its tensors. It is false: ``run or fallback`` is what runs."""

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
    """Say that a native kernel takes its tensors."""
    decisions = Decisions._current
    if decisions is not None and kernel not in decisions.kernels:
        decisions.kernels.append(kernel)
