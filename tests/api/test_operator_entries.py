"""What an entry of the catalog lacks is said in a sentence: which operator, which file, what to add."""

from __future__ import annotations

import pytest
from generators.operator_entries import Entry, Incomplete, check

TYPES = ("UINT", "DML_AXIS_DIRECTION")
TENSORS = ["input InputTensor", "output OutputTensor"]
LEVELS = ("DML_FEATURE_LEVEL_6_3", "DML_FEATURE_LEVEL_6_4")
WHOLE = {
    "about": "Running maxima.",
    "value": 1,
    "since": "0x6400",
    "level": "6_4",
    "fields": [*TENSORS, "UINT AxisCount", "UINT* Axes[AxisCount]"],
    "same": ["InputTensor OutputTensor: DataType", "InputTensor OutputTensor if AxisCount = 1: Sizes"],
    "support": ["6_4: 1-8 F16-32"],
}
FILE = "tools/api/operators/reduction.toml"


def entry(name="RUNNING_MAX", family="reduction", **changes):
    values = {**WHOLE, **changes}
    return Entry(name, family, {key: value for key, value in values.items() if value is not None})


def test_whole_entries_pass():
    check([entry(), entry("RUNNING_MIN", value=2)], TYPES, LEVELS)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"level": None}, "has no level: add it, as its neighbours have it"),
        ({"supports": []}, "has supports, which no entry has; there are about, value, since,"),
        (
            {"fields": [*TENSORS, "Axis"]},
            "has the field 'Axis'; a field is a type and a",
        ),
        (
            {"fields": [*TENSORS, "UNIT Axis"]},
            "has a field of the type UNIT: add the type to tools/api/enums.toml",
        ),
        (
            {"fields": [*TENSORS, "UINT* Axes[AxisCount]"]},
            "has a field Axes that depends on AxisCount: add the field AxisCount",
        ),
        ({"since": "6.4"}, "has the since '6.4'; it is a DML_TARGET_VERSION as '0x6400'"),
        (
            {"level": "6_5"},
            "has the level '6_5': add DML_FEATURE_LEVEL_6_5 to tools/api/enums.toml, or name another",
        ),
        (
            {"support": ["6_4: F16-32 1-8"]},
            "has the support '6_4: F16-32 1-8'; it is a level, then dimension counts",
        ),
        (
            {"support": ["6_3 if Axis = 1: InputTensor 1-8 F16-32"]},
            "has the support '6_3 if Axis = 1: InputTensor 1-8 F16-32', which leaves out OutputTensor: add its",
        ),
        (
            {"support": ["6_4: 1-8 F32; Output 4 U8"]},
            "has the support '6_4: 1-8 F32; Output 4 U8' of Output, which is no tensor of it: name a field",
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
        check([entry(**changes)], TYPES, LEVELS)
    (line,) = str(raised.value).splitlines()
    assert line.startswith(f"{FILE}: RUNNING_MAX {message}")


def test_no_two_operators_share_a_name_or_a_value():
    other = entry(family="movement")
    with pytest.raises(Incomplete) as raised:
        check([entry(), other], TYPES, LEVELS)
    assert str(raised.value).splitlines() == [
        f"tools/api/operators/movement.toml: RUNNING_MAX has the name RUNNING_MAX, as RUNNING_MAX in {FILE}: "
        "give it another",
        f"tools/api/operators/movement.toml: RUNNING_MAX has the value 1, as RUNNING_MAX in {FILE}: give it another",
    ]


def test_all_is_said_at_once():
    with pytest.raises(Incomplete) as raised:
        check([entry(level=None, about=""), entry("OTHER", value=3, since=None)], TYPES, LEVELS)
    assert len(str(raised.value).splitlines()) == 3
