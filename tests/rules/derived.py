"""Descs that break the rules which the catalog implies."""

from __future__ import annotations

from directml_py.operators import SCHEMAS
from directml_py.testing.breaches import derived_breach, derived_rules
from directml_py.testing.levels import LEVELS
from directml_py.testing.source import RandomSource
from directml_py.testing.valid import valid_desc

# The operator of every derived rule.
DERIVED = {rule: operator for operator in SCHEMAS for rule in derived_rules(operator)}
SEEDS = 12


def breach_of(rule):
    """The first change to a sample that breaks ``rule`` alone, and the feature level at which it does."""
    operator = DERIVED[rule]
    first = SCHEMAS[operator].level
    # What older tables alone refuse most often shows at the first level.
    levels = [LEVELS[-1], first, *(level for level in LEVELS if first < level < LEVELS[-1])]
    for seed in range(SEEDS):
        for level in levels:
            change = derived_breach(valid_desc(RandomSource(seed), operator, level), rule, level)
            if change is not None:
                return change, level
    raise AssertionError(f"no change of a sample breaks {rule} alone")
