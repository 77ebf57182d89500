"""Support for test suites: assertions about descs, expected debug messages, a pytest plugin, Hypothesis strategies.

This package can be imported without pytest and Hypothesis; ``directml_py.testing.strategies`` needs Hypothesis.
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
