"""Rules with names: every normative sentence of the documents that is checked."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Severity(str, Enum):
    """How bad it is to break a rule: an error fails the call, a warning is only reported."""

    ERROR = "error"
    WARNING = "warning"


class Rule(NamedTuple):
    """``id`` is stable; ``text`` says the rule in one line; ``source`` is the page that it comes from."""

    id: str
    text: str
    source: str
    severity: Severity = Severity.ERROR


RULES: dict[str, Rule] = {}


def rule(id: str, text: str, source: str, severity: Severity = Severity.ERROR) -> Rule:
    """Declare a rule. Raises ``ValueError`` if the identifier is taken."""
    if id in RULES:
        raise ValueError(f"the rule {id} exists already")
    RULES[id] = declared = Rule(id, text, source, severity)
    return declared
