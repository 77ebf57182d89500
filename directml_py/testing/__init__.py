"""For test suites: assertions about descs, expected debug messages, a pytest plugin, Hypothesis strategies.

Neither pytest nor Hypothesis is needed to import this package; ``directml_py.testing.strategies`` needs the latter.
"""

from .assertions import assert_invalid, assert_same_desc, assert_valid
from .expectation import expect
from .levels import FeatureLevels, feature_levels, parse_level

__all__ = [
    "FeatureLevels",
    "assert_invalid",
    "assert_same_desc",
    "assert_valid",
    "expect",
    "feature_levels",
    "parse_level",
]
