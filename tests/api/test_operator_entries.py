"""What an entry of the catalog lacks is said in a sentence: which operator, which file, what to add."""

from __future__ import annotations

import pytest
from generators.incomplete import Incomplete
from generators.operator_entries import Entry, check

TYPES = ("UINT", "DML_AXIS_DIRECTION")
WHOLE = {
    "about": "Running maxima.",
    "value": 1,
    "since": "0x6400",
    "level": "6_4",
    "fields": ["input InputTensor", "output OutputTensor", "UINT AxisCount", "UINT* Axes[AxisCount]"],
    "same": ["InputTensor OutputTensor: DataType", "InputTensor OutputTensor if AxisCount = 1: Sizes"],
    "support": ["6_4: 1-8 F16-32"],
}
FILE = "tools/api/operators/reduction.toml"


def entry(name="RUNNING_MAX", family="reduction", **changes):
    values = {**WHOLE, **changes}
    return Entry(name, family, {key: value for key, value in values.items() if value is not None})


def test_whole_entries_pass():
    check([entry(), entry("RUNNING_MIN", value=2)], TYPES)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"level": None}, "has no level: add it, as its neighbours have it"),
        ({"supports": []}, "has supports, which no entry has; there are about, value, since,"),
        (
            {"fields": ["input InputTensor", "Axis"], "same": []},
            "has the field 'Axis'; a field is a type and a",
        ),
        (
            {"fields": ["UNIT Axis"], "same": []},
            "has a field of the type UNIT: add the type to tools/api/enums.toml",
        ),
        (
            {"fields": ["UINT* Axes[AxisCount]"], "same": []},
            "has a field Axes that depends on AxisCount: add the field AxisCount",
        ),
        (
            {"same": ["InputTensor ResultTensor if AxisCount = 1: Sizes"]},
            "says what is the same as in ResultTensor: add that field, or name another",
        ),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_what_one_lacks(changes, message):
    with pytest.raises(Incomplete) as raised:
        check([entry(**changes)], TYPES)
    (line,) = str(raised.value).splitlines()
    assert line.startswith(f"{FILE}: RUNNING_MAX {message}")


def test_no_two_operators_share_a_name_or_a_value():
    other = entry(family="movement")
    with pytest.raises(Incomplete) as raised:
        check([entry(), other], TYPES)
    assert str(raised.value).splitlines() == [
        f"tools/api/operators/movement.toml: RUNNING_MAX has the name RUNNING_MAX, as RUNNING_MAX in {FILE}: "
        "give it another",
        f"tools/api/operators/movement.toml: RUNNING_MAX has the value 1, as RUNNING_MAX in {FILE}: give it another",
    ]


def test_all_is_said_at_once():
    with pytest.raises(Incomplete) as raised:
        check([entry(level=None, about=""), entry("OTHER", value=3, since=None)], TYPES)
    assert len(str(raised.value).splitlines()) == 3
