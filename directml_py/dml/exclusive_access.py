"""Objects that are not thread safe: what two threads do with one of them at once is undefined."""

from __future__ import annotations

import functools
from collections.abc import Callable
from threading import get_ident
from typing import Any, TypeVar, cast

from ..abi.rules import Rule
from ..validation.report import Report

M = TypeVar("M", bound=Callable[..., Any])


class OneThread:
    """Which thread is inside of an object, if any. It may call in there once more."""

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self._inside: int | None = None

    def __enter__(self) -> None:
        self._inside = get_ident()

    def __exit__(self, *error: object) -> None:
        self._inside = None

    def check(self, path: str, report: Report) -> None:
        """Report that another thread is inside."""
        if self._inside not in (None, get_ident()):
            report.add(self._rule, path, "comes while another thread is in a method of the same object")


def one_thread(method: M) -> M:
    """A method of an object with ``one_thread``, which removes the device, or raises ``DMLError`` ``E_INVALIDARG``
    where it returns an HRESULT, if another thread is inside. The object stays as that one leaves it."""

    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        report = Report()
        self.one_thread.check(method.__name__, report)
        if report.errors:
            fail = self.removal.report if method.__name__ == "Reset" else self.removal.remove
            return fail(f"{method.__name__} failed:", report)
        with self.one_thread:
            return method(self, *args, **kwargs)

    return cast(M, call)
