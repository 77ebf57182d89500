"""Rules with names: every normative sentence of the documents that is checked."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

from ..text.html import table
from .hresult import E_INVALIDARG, DMLError

# The source of a rule that no page writes down; a comment beside it says why it holds.
OWN = "directml-py"
# The source of a rule that no page states and Microsoft's library enforces: the version that was asked.
LIBRARY = "DirectML 1.13"


class Severity(str, Enum):
    """How bad it is to break a rule: an error fails the call, a warning is only reported."""

    ERROR = "error"
    WARNING = "warning"


class Rule(NamedTuple):
    """``id`` is stable; ``text`` says the rule in one line; ``source`` is the page that it comes from.

    ``debug`` marks what the debug layers alone check: what programs get away with until they meet the wrong GPU.
    """

    id: str
    text: str
    source: str
    severity: Severity = Severity.ERROR
    debug: bool = False

    @property
    def page_only(self) -> bool:
        """Whether the page forbids what Microsoft's library accepts and executes: an error in strict mode alone."""
        return self.severity is Severity.WARNING and not self.debug


class Diagnostic(NamedTuple):
    """One broken rule: its identifier, where (``InputTensors[1].Sizes[2]``), and a sentence for a person.

    ``origin`` says which lines of the program a hazard comes from that shows only when commands execute; empty for
    programs in C, and for what is raised at the call that is wrong.
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
    """A list of diagnostics that reads well: a line for each, ``[]`` if there is none; a table in notebooks."""

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or "[]"

    def _repr_html_(self) -> str:
        rows = [(found.severity.value, found.path, found.message, found.rule) for found in self]
        return table("", rows, ("Severity", "Path", "Message", "Rule")) if rows else "nothing is wrong"


def message_id(rule: str) -> int:
    """The number of a rule among D3D12_MESSAGE_IDs: ID3D12InfoQueue's filters know each rule by it, also those whose
    messages carry a number of Direct3D's own.

    It follows from the identifier alone and lies far above Direct3D's numbers.
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
    """The rule ``id``, declared if it is not yet: several threads may work out what follows from the catalog."""
    return RULES.setdefault(id, Rule(id, text, source, severity))


def made_strict(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """``diagnostics`` with what only the page forbids as errors."""
    return [
        found._replace(severity=Severity.ERROR)
        if found.severity is Severity.WARNING and RULES[found.rule].page_only
        else found
        for found in diagnostics
    ]


def violation(broken: Rule, path: str, text: str, hresult: int = E_INVALIDARG) -> DMLError:
    """The exception for one argument that breaks a rule; ``text`` goes on where the path ends."""
    diagnostic = Diagnostic(broken.severity, broken.id, path, f"{path} {text}")
    return DMLError(hresult, str(diagnostic), [diagnostic])
