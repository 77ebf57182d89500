"""``expect``: asserts that a block of code breaks a rule."""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import Any

from ..abi.hresult import DMLError
from ..abi.rules import Diagnostic
from ..d3d12.info_queue import Message
from .known_rules import check_rule
from .message_watch import Watch, describe, is_about, rule_of, watch


class Expectation:
    """The context manager behind ``expect``.

    Afterwards ``diagnostics`` and ``messages`` have what was reported for the rule.
    """

    def __init__(self, rule: str, path: str | None, watches: Iterable[Watch]) -> None:
        check_rule(rule)
        self.rule = rule
        self.path = path
        self.diagnostics: list[Diagnostic] = []
        self.messages: list[Message] = []
        self._watches = list(watches)
        self._earlier: list[Message] = []

    def __enter__(self) -> Expectation:
        self._earlier = [message for each_watch in self._watches for message in each_watch.pending()]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        __tracebackhide__ = True
        if error is not None and not isinstance(error, DMLError):
            return False
        raised = error.diagnostics if isinstance(error, DMLError) else []
        earlier = {id(message) for message in self._earlier}
        unexpected = [
            str(diagnostic) for diagnostic in raised if not self._is_meant(diagnostic.rule, diagnostic.path)
        ]
        self.diagnostics = [
            diagnostic for diagnostic in raised if self._is_meant(diagnostic.rule, diagnostic.path)
        ]
        for each_watch in self._watches:
            new = [message for message in each_watch.pending() if id(message) not in earlier]
            matching = [message for message in new if self._matches(message)]
            each_watch.excuse(matching)
            self.messages += matching
            unexpected += [describe(message) for message in new if not self._matches(message)]
        if self.diagnostics or (self.messages and error is None):
            return True
        if isinstance(error, DMLError) and not raised:
            unexpected.append(str(error))
        expected = self.rule if self.path is None else f"{self.rule} at {self.path}"
        if not unexpected:
            raise AssertionError(f"expected {expected}, but nothing was broken")
        lines = "".join(f"\n  {text}" for text in dict.fromkeys(unexpected))
        raise AssertionError(f"expected {expected}, but got:{lines}") from error

    def _is_meant(self, rule: str, path: str) -> bool:
        return rule == self.rule and self.path in (None, path)

    def _matches(self, message: Message) -> bool:
        return rule_of(message) == self.rule and (self.path is None or is_about(message, self.path))


def expect(rule: str, path: str | None = None, *, device: Any = None) -> Expectation:
    """``with expect("DML-JOIN-sizes", path="InputTensors[1].Sizes"):`` around code that breaks the rule.

    Suppresses a ``DMLError`` whose diagnostics contain the rule (at ``path``, if given). With a ``device``
    (ID3D12Device or IDMLDevice, or several) that has a debug layer, a message of the rule counts as well, and the
    plugin does not fail the test for it. Raises ``AssertionError`` if the rule was not broken, with what was reported
    instead; other exceptions propagate. Raises ``ValueError`` at once for an unknown rule.
    """
    devices = device if isinstance(device, (list, tuple)) else [] if device is None else [device]
    watches = [each_watch for each_watch in map(watch, devices) if each_watch is not None]
    return Expectation(rule, path, watches)
