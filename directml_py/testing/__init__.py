"""Support for test suites: assertions about descs, expected debug messages, a pytest plugin, Hypothesis strategies.

This package can be imported without pytest and Hypothesis; ``directml_py.testing.strategies`` needs Hypothesis. Every
run of pytest imports the plugin, and with it this module, so that names are loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..late import imported_when_named as _imported_when_named

_MODULES = {
    "FeatureLevels": ".levels",
    "assert_invalid": ".assertions",
    "assert_same_desc": ".assertions",
    "assert_valid": ".assertions",
    "expect": ".expectation",
    "feature_levels": ".levels",
    "parse_level": ".levels",
}

__all__ = [
    "FeatureLevels",
    "assert_invalid",
    "assert_same_desc",
    "assert_valid",
    "expect",
    "feature_levels",
    "parse_level",
]

if TYPE_CHECKING:
    from .assertions import assert_invalid, assert_same_desc, assert_valid
    from .expectation import expect
    from .levels import FeatureLevels, feature_levels, parse_level
else:
    __getattr__ = _imported_when_named(globals(), _MODULES)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
