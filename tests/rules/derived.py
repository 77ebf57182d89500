"""Descs that break catalog-derived rules, and valid descs, which break none."""

from __future__ import annotations

from directml_py.operators import SCHEMAS
from directml_py.testing.invalid_desc_search import InvalidDesc, invalid_desc_of
from directml_py.testing.invalid_descs import derived_rules

__all__ = ["DERIVED", "InvalidDesc", "invalid_desc_of"]

# The operator of every derived rule.
DERIVED = {rule: operator for operator in SCHEMAS for rule in derived_rules(operator)}
