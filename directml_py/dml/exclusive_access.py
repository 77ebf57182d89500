"""Detects concurrent use of objects that are not thread safe."""

from __future__ import annotations

import functools
from collections.abc import Callable
from threading import get_ident
from typing import Any, TypeVar, cast

from ..abi.rules import Rule
from ..validation.report import Report

M = TypeVar("M", bound=Callable[..., Any])


class OneThread:
    """Tracks the thread that is inside a method of an object. Reentrant calls are allowed."""

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self.inside: int | None = None

    def __enter__(self) -> None:
        self.inside = get_ident()

    def __exit__(self, *error: object) -> None:
        self.inside = None

    def is_free(self) -> bool:
        """Whether no other thread is inside."""
        inside = self.inside
        return inside is None or inside == get_ident()

    def report(self, path: str, report: Report) -> None:
        """Report that another thread is inside."""
        report.add(self._rule, path, "is called while another thread is in a method of the same object")


def one_thread(method: M) -> M:
    """Method decorator for objects with a ``one_thread``: if another thread is inside, the call has no effect but to
    remove the device, or to raise ``DMLError`` ``E_INVALIDARG`` where it returns an HRESULT."""

    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        guard = self.one_thread
        thread, inside = get_ident(), guard.inside
        if inside is None or inside == thread:
            # As ``with`` does it, in half the time.
            guard.inside = thread
            try:
                return method(self, *args, **kwargs)
            finally:
                guard.inside = None
        report = Report()
        guard.report(method.__name__, report)
        consequence = self.removal.fail if method.__name__ == "Reset" else self.removal.remove
        return consequence(f"{method.__name__} failed:", report)

    return cast(M, call)
