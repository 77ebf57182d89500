"""Collects diagnostics, so that one call reports all violations."""

from __future__ import annotations

from ..abi.hresult import E_INVALIDARG, DMLError
from ..abi.rules import RULES, Diagnostic, Rule, Severity, made_strict


class Report:
    """Collects diagnostics about one desc. Their paths begin with ``where``, the path of that desc in another.

    ``errors`` are those that fail the call. Violations of rules that only a page states, and of those that only the
    debug layers check, are among them where the report is strict.
    """

    def __init__(self, where: str = "") -> None:
        self.where = where
        self.diagnostics: list[Diagnostic] = []
        self._is_strict = False

    def add(self, rule: Rule, path: str, text: str) -> None:
        """Report that the field at ``path`` violates ``rule``; ``text`` continues a sentence begun by the path."""
        path = self.where + path
        severity = Severity.ERROR if self._is_strict and rule.page_only else rule.severity
        self.diagnostics.append(Diagnostic(severity, rule.id, path, f"{path} {text}"))

    @property
    def errors(self) -> list[Diagnostic]:
        if not self.diagnostics:
            return []
        return [
            diagnostic
            for diagnostic in self.diagnostics
            if diagnostic.severity is Severity.ERROR and (self._is_strict or not RULES[diagnostic.rule].debug)
        ]

    def make_strict(self) -> None:
        """Turn violations of rules that only a page states, or only the debug layers check, into errors; also of those
        that are still to be reported."""
        self._is_strict = True
        if self.diagnostics:
            self.diagnostics = made_strict(self.diagnostics)

    def raise_errors(self, what: str, hresult: int = E_INVALIDARG) -> None:
        """Raise ``DMLError`` with every diagnostic if there is an error among them."""
        if self.errors:
            raise failure(what, self.diagnostics, hresult)


def failure(
    what: str, diagnostics: list[Diagnostic], hresult: int = E_INVALIDARG, reported: bool = False
) -> DMLError:
    """The exception that states ``what`` failed and why."""
    lines = "\n".join(f"  {diagnostic}" for diagnostic in diagnostics)
    return DMLError(hresult, f"{what}\n{lines}", diagnostics, reported)
