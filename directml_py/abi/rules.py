"""Validation rules with identifiers, one for each normative statement that is checked."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

from ..late import loading
from .hresult import E_INVALIDARG, DMLError

# The source of a rule that no page states; a comment beside the rule gives the reason.
THIS_PACKAGE = "directml-py"
# The source of a rule that no page states but Microsoft's library enforces: the version that was tested.
LIBRARY = "DirectML 1.13"


class Severity(str, Enum):
    """The effect of a violation: an error fails the call, a warning is only reported."""

    ERROR = "error"
    WARNING = "warning"


class Rule(NamedTuple):
    """A rule: ``id`` is stable, ``text`` states it in one line, ``source`` is the page that it comes from.

    ``debug`` marks rules that only the debug layers check: a violation may go unnoticed until a program runs on a GPU
    where it matters.
    """

    id: str
    text: str
    source: str
    severity: Severity = Severity.ERROR
    debug: bool = False

    @property
    def page_only(self) -> bool:
        """Whether the page forbids what Microsoft's library accepts and executes: an error in strict mode only."""
        return self.severity is Severity.WARNING and not self.debug

    def violated(self, text: str, path: str = "") -> Diagnostic:
        """The violation of this rule that ``text`` states."""
        return Diagnostic(self.severity, self.id, path, text)


class Diagnostic(NamedTuple):
    """A violation: the rule's identifier, the path (``InputTensors[1].Sizes[2]``), and a human-readable message.

    ``origin`` is the call sites of a hazard that is found only when commands execute; it is empty for C programs, and
    for errors raised at the invalid call itself.
    """

    severity: Severity
    rule: str
    path: str
    message: str
    origin: str = ""

    def __str__(self) -> str:
        return f"{self.message} [{self.rule}]" + (f" ({self.origin})" if self.origin else "")

    def _repr_html_(self) -> str:
        return Diagnostics([self])._repr_html_()


class Diagnostics(list[Diagnostic]):
    """A list of diagnostics that prints one per line, ``[]`` if empty, and as a table in notebooks."""

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or "[]"

    def _repr_html_(self) -> str:
        with loading:
            from ..text.html import table
        rows = [
            (diagnostic.severity.value, diagnostic.path, diagnostic.message, diagnostic.rule)
            for diagnostic in self
        ]
        return table("", rows, ("Severity", "Path", "Message", "Rule")) if rows else "nothing is wrong"


def message_id(rule: str) -> int:
    """The D3D12_MESSAGE_ID by which ID3D12InfoQueue's filters match a rule, including rules whose messages carry one of
    Direct3D's own IDs.

    It is derived from the identifier only, and far above Direct3D's IDs.
    """
    return 0x40000000 | zlib.crc32(rule.encode()) & 0x3FFFFFFF


RULES: dict[str, Rule] = {}


def rule(
    id: str, text: str, source: str, severity: Severity = Severity.ERROR, *, debug: bool = False
) -> Rule:
    """Declare a rule. Raises ``ValueError`` if the identifier is taken."""
    if id in RULES:
        raise ValueError(f"the rule {id} exists already")
    RULES[id] = declared = Rule(id, text, source, severity, debug)
    return declared


def derived_rule(id: str, text: str, source: str, severity: Severity = Severity.ERROR) -> Rule:
    """The rule ``id``, declared on first use: several threads may derive the same rule from the catalog."""
    return RULES.setdefault(id, Rule(id, text, source, severity))


def made_strict(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """``diagnostics`` with violations of page-only rules turned into errors."""
    return [
        diagnostic._replace(severity=Severity.ERROR)
        if diagnostic.severity is Severity.WARNING and RULES[diagnostic.rule].page_only
        else diagnostic
        for diagnostic in diagnostics
    ]


def violation(broken: Rule, path: str, text: str, hresult: int = E_INVALIDARG) -> DMLError:
    """The exception for an argument that violates a rule; ``text`` continues the sentence that the path begins."""
    diagnostic = broken.violated(f"{path} {text}", path)
    return DMLError(hresult, str(diagnostic), [diagnostic])
