"""Search for a desc that breaks a catalog-derived rule, together with the valid desc it differs from."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import NamedTuple

from ..descs.operator_desc import OperatorDesc
from ..operators import SCHEMAS, check
from ..validation import Diagnostic
from .decision_source import RandomSource
from .desc_changes import with_packed_tensors
from .invalid_descs import derived_change
from .levels import LEVELS
from .valid_descs import valid_desc

# Samples tried for the shortest invalid desc, and for any at all: some rules are rarely broken alone.
SEEDS, TRIES = 12, 48
# Properties that may have to change in several tensors at once, by their names in messages.
PROPERTIES = {"DataType": "data_type", "DimensionCount": "dimension_count"}
# Rules that report all tensors of a group of which one is superfluous or missing.
OF_SEVERAL = {
    "DML-MULTIHEAD_ATTENTION-key-and-value",
    "DML-MULTIHEAD_ATTENTION1-key-and-value",
}


class InvalidDesc(NamedTuple):
    """``valid_desc`` is valid at ``level``; ``desc`` has one change, which breaks the rule at ``path``."""

    desc: OperatorDesc
    valid_desc: OperatorDesc
    path: str
    level: int
    diagnostics: list[Diagnostic]

    @property
    def is_at_one_path(self) -> bool:
        """Whether one path is reported, or one property of several tensors that changed in each of them."""
        paths = {diagnostic.path for diagnostic in self.diagnostics}
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
    """The first change to a sample that breaks the derived ``rule`` alone, at one path."""
    operator = rule.split("-")[1]
    first = SCHEMAS[operator].level
    # Violations that only older tables have mostly occur at the first level, and what needs a rare sample at any.
    levels = [LEVELS[-1], first, *(level for level in LEVELS if first < level < LEVELS[-1])]
    for seed in range(TRIES):
        for level in levels[: 2 if seed else None]:
            invalid = _invalid_desc_in(_sample(seed, operator, level), rule, level)
            if invalid is not None:
                return invalid
    raise AssertionError(f"no change of a sample breaks {rule} alone, at one path")


@cache
def shortest_invalid_desc_of(rule: str) -> InvalidDesc:
    """As ``invalid_desc_of``, but readable: the shortest of several, with packed tensors without flags if possible."""
    invalid = invalid_desc_of(rule)
    samples = (_sample(seed, invalid.desc.name, invalid.level) for seed in range(SEEDS))
    packed = (with_packed_tensors(sample) for sample in (invalid.valid_desc, *samples))
    valid = (sample for sample in packed if not check(sample, invalid.level)[1].diagnostics)
    candidates = [_invalid_desc_in(sample, rule, invalid.level) for sample in valid]
    return min(
        (candidate for candidate in candidates if candidate is not None),
        key=lambda candidate: len(repr(candidate.desc)),
        default=invalid,
    )


# The rules of an operator are broken one after another.
@lru_cache(maxsize=1024)
def _sample(seed: int, operator: str, level: int) -> OperatorDesc:
    return valid_desc(RandomSource(seed), operator, level)


def _invalid_desc_in(valid: OperatorDesc, rule: str, level: int) -> InvalidDesc | None:
    change = derived_change(valid, rule, level)
    if change is None:
        return None
    diagnostics = check(change.desc, level)[1].diagnostics
    invalid = InvalidDesc(change.desc, valid, change.path, level, diagnostics)
    return invalid if invalid.is_at_one_path or rule in OF_SEVERAL else None
