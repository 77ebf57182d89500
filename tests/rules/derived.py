"""Descs that break the rules which the catalog implies, and their twins, which break none."""

from __future__ import annotations

from directml_py.operators import SCHEMAS
from directml_py.testing.breaches import derived_rules
from directml_py.testing.search import Breach, breach_of

__all__ = ["DERIVED", "Breach", "breach_of"]

# The operator of every derived rule.
DERIVED = {rule: operator for operator in SCHEMAS for rule in derived_rules(operator)}
