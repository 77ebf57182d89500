"""Feature levels: parsing, and the levels at which a desc is valid."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..abi.rules import Diagnostic
from ..api.enums import DML_FEATURE_LEVEL
from ..operators import check
from .differences import show, value_at

LEVELS = tuple(sorted(DML_FEATURE_LEVEL))
_WRITTEN = re.compile(r"(?:DML_FEATURE_LEVEL_)?(\d+)[_.](\d+)", re.IGNORECASE)


def parse_level(value: object) -> DML_FEATURE_LEVEL:
    """Parse a level, given as ``4_1``, ``4.1``, ``DML_FEATURE_LEVEL_4_1``, 0x4100 or the member.

    Raises ``ValueError`` that lists all levels for anything else.
    """
    match = _WRITTEN.fullmatch(value) if isinstance(value, str) else None
    number = int(match[1]) << 12 | int(match[2]) << 8 if match else value
    if isinstance(number, int) and number in DML_FEATURE_LEVEL._value2member_map_:
        return DML_FEATURE_LEVEL(number)
    known = ", ".join(level.name.removeprefix("DML_FEATURE_LEVEL_") for level in LEVELS)
    raise ValueError(f"{value!r} is not a DirectML feature level; there are {known}")


@dataclass(frozen=True)
class FeatureLevels:
    """``valid``: the levels at which a desc is valid, ascending. ``stopped``: the violations at the others.

    As text it states the requirement: ``needs DML_FEATURE_LEVEL_4_1 because of InputTensors[0].DataType INT64
    [DML-JOIN-data-type]``.
    """

    valid: tuple[DML_FEATURE_LEVEL, ...]
    stopped: Mapping[DML_FEATURE_LEVEL, tuple[Diagnostic, ...]]
    _reasons: Mapping[DML_FEATURE_LEVEL, str] = field(repr=False)

    @property
    def lowest(self) -> DML_FEATURE_LEVEL | None:
        """The lowest level at which the desc is valid; None if there is none."""
        return self.valid[0] if self.valid else None

    def __str__(self) -> str:
        if self.lowest is None:
            return f"is valid at no feature level because of {self._reasons[LEVELS[-1]]}"
        if self.lowest == LEVELS[0]:
            text = f"needs {self.lowest.name} alone"
        else:
            before = LEVELS[LEVELS.index(self.lowest) - 1]
            text = f"needs {self.lowest.name} because of {self._reasons[before]}"
        later = [level for level in self.stopped if level > self.lowest]
        if later:
            text += f"; {later[0].name} stops it because of {self._reasons[later[0]]}"
        return text


def feature_levels(desc: Any) -> FeatureLevels:
    """The feature levels at which an operator desc is valid, and the violations at the others.

    ``desc`` is anything convertible to a DML_OPERATOR_DESC. Raises ``TypeError`` for anything else.
    """
    stopped, reasons = {}, {}
    for level in LEVELS:
        decoded, report = check(desc, level)
        if report.errors:
            stopped[level] = tuple(report.errors)
            reasons[level] = _reason(decoded, report.errors)
    return FeatureLevels(tuple(level for level in LEVELS if level not in stopped), stopped, reasons)


def _reason(desc: Any, diagnostics: list[Diagnostic]) -> str:
    """``InputTensor.DataType, OutputTensor.DataType INT64 [DML-JOIN-data-type]``: one entry per rule and value."""
    paths: dict[tuple[str, str], list[str]] = {}
    for diagnostic in diagnostics:
        value = value_at(desc, diagnostic.path)
        paths.setdefault((diagnostic.rule, "" if value is None else f" {show(value)}"), []).append(
            diagnostic.path
        )
    return " and ".join(f"{', '.join(fields)}{value} [{rule}]" for (rule, value), fields in paths.items())
