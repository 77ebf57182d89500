"""The registry of all rules, by which misspelt identifiers are detected."""

from __future__ import annotations

from .. import d3d12, dml, operators
from ..abi.rules import RULES, Rule
from ..dml.compiler import graph_rules
from ..text.similar import similar_names

# Rules that belong to no operator are registered when modules of these packages are imported.
DECLARING = (d3d12, dml, graph_rules)
PREFIXES = ("DML-", "D3D12-")


def every_rule() -> list[Rule]:
    """Every rule, by identifier."""
    return operators.every_rule()


def check_rule(identifier: str) -> None:
    """Raise ``ValueError`` for an unknown identifier with one of our prefixes; applications may report rules of their
    own."""
    if identifier in RULES:
        return
    every_rule()
    if identifier in RULES:
        return
    close = similar_names(identifier, RULES)
    if close or identifier.startswith(PREFIXES):
        hint = f"; there is {', '.join(close)}" if close else "; python -m directml_py show rules lists them"
        raise ValueError(f"there is no rule {identifier}{hint}")
