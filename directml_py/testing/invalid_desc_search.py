"""The search for a desc that breaks a rule which the catalog implies, and for a valid desc beside it."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from ..descs.operator_desc import OperatorDesc
from ..operators import SCHEMAS, check
from ..validation import Diagnostic
from .decision_source import RandomSource
from .desc_changes import with_packed_tensors
from .invalid_descs import derived_change
from .levels import LEVELS
from .valid_descs import valid_desc

# How many samples are looked at for the shortest invalid desc, and for any at all: some tensors rarely come alone.
SEEDS, TRIES = 12, 48
# What tensors may have to be changed in together, by the name that messages have for it.
PROPERTIES = {"DataType": "data_type", "DimensionCount": "dimension_count"}
# Rules that name all tensors of which one is too much, or missing, however few they are.
OF_SEVERAL = {
    "DML-MULTIHEAD_ATTENTION-key-and-value",
    "DML-MULTIHEAD_ATTENTION1-key-and-value",
}


class InvalidDesc(NamedTuple):
    """``valid_desc`` is valid at ``level``; ``desc`` is that with one change, which breaks the rule at ``path``."""

    desc: OperatorDesc
    valid_desc: OperatorDesc
    path: str
    level: int
    diagnostics: list[Diagnostic]

    @property
    def is_at_one_path(self) -> bool:
        """Whether one place is named, or one property of several tensors that was changed in each of them."""
        paths = {found.path for found in self.diagnostics}
        if len(paths) == 1:
            return paths == {self.path}
        names = {path.rpartition(".")[2] for path in paths}
        return len(names) == 1 and names <= set(PROPERTIES) and all(map(self._was_changed, paths))

    def _was_changed(self, path: str) -> bool:
        where, _, name = path.rpartition(".")
        before, after = (
            {slot.path: slot.tensor for slot in (*desc.inputs, *desc.outputs)}.get(where)
            for desc in (self.valid_desc, self.desc)
        )
        return before is None or getattr(before, PROPERTIES[name]) != getattr(after, PROPERTIES[name])


@cache
def invalid_desc_of(rule: str) -> InvalidDesc:
    """The first change to a sample that breaks the derived ``rule`` alone, at one place."""
    operator = rule.split("-")[1]
    first = SCHEMAS[operator].level
    # What older tables alone refuse most often shows at the first level.
    levels = [LEVELS[-1], first, *(level for level in LEVELS if first < level < LEVELS[-1])]
    for seed in range(TRIES):
        for level in levels:
            invalid = _invalid_desc_in(valid_desc(RandomSource(seed), operator, level), rule, level)
            if invalid is not None:
                return invalid
    raise AssertionError(f"no change of a sample breaks {rule} alone, at one place")


@cache
def shortest_invalid_desc_of(rule: str) -> InvalidDesc:
    """As ``invalid_desc_of``, for people: packed tensors without flags if these do, and the shortest of several."""
    invalid = invalid_desc_of(rule)
    samples = (valid_desc(RandomSource(seed), invalid.desc.name, invalid.level) for seed in range(SEEDS))
    packed = (with_packed_tensors(sample) for sample in (invalid.valid_desc, *samples))
    valid = (sample for sample in packed if not check(sample, invalid.level)[1].diagnostics)
    found = [_invalid_desc_in(sample, rule, invalid.level) for sample in valid]
    return min(
        (one for one in found if one is not None), key=lambda one: len(repr(one.desc)), default=invalid
    )


def _invalid_desc_in(valid: OperatorDesc, rule: str, level: int) -> InvalidDesc | None:
    change = derived_change(valid, rule, level)
    if change is None:
        return None
    found = check(change.desc, level)[1].diagnostics
    invalid = InvalidDesc(change.desc, valid, change.path, level, found)
    return invalid if invalid.is_at_one_path or rule in OF_SEVERAL else None
