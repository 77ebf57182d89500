"""Where descs come from: an endless row of cases, each by its number."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from directml_py.api.enums import DML_FEATURE_LEVEL_6_2
from directml_py.descs.operator_desc import OperatorDesc
from directml_py.descs.tensor import TensorDesc
from directml_py.testing.decision_source import RandomSource
from directml_py.testing.desc_changes import change_tensor, retyped
from directml_py.testing.valid_descs import operators_at, valid_desc

from .graph_descs import GraphOfDescs, graph
from .unfiltered_mutations import TYPES, mutated

LEVEL = DML_FEATURE_LEVEL_6_2
OPERATORS = list(operators_at(LEVEL))
# Of one valid desc, which takes longer to make than to change.
MUTATIONS_EACH = 20
MOST_ELEMENTS = 2000
RANKS = 9


def only(pattern: str) -> None:
    """Leave out operators whose names the regular expression does not match."""
    OPERATORS[:] = [name for name in OPERATORS if re.fullmatch(pattern, name)]


class Judged(NamedTuple):
    """``field`` is what was changed; empty for what our generator calls valid."""

    desc: OperatorDesc | GraphOfDescs
    field: str = ""


def valid(number: int) -> Iterator[Judged]:
    for step in range(MUTATIONS_EACH):
        source = RandomSource(number * MUTATIONS_EACH + step)
        yield Judged(valid_desc(source, source.choice(OPERATORS), LEVEL, MOST_ELEMENTS))


def mutations(number: int) -> Iterator[Judged]:
    source = RandomSource(~number)
    desc = valid_desc(source, source.choice(OPERATORS), LEVEL, MOST_ELEMENTS)
    for _ in range(MUTATIONS_EACH):
        try:
            changed, field = mutated(source, desc)
        except ValueError:
            # Two arrays that one field counts, of different lengths: no memory can hold that.
            continue
        yield Judged(changed, field)


def tables(number: int) -> Iterator[Judged]:
    """Every data type and dimension count of one tensor, or of all tensors, of one operator."""
    source = RandomSource(number)
    desc = valid_desc(source, OPERATORS[number % len(OPERATORS)], LEVEL, MOST_ELEMENTS)
    slots = [slot for slot in (*desc.inputs, *desc.outputs) if slot.tensor is not None]
    some = slots if number // len(OPERATORS) % 2 else [source.choice(slots)]
    for kind in TYPES:
        changed = desc
        for slot in some:
            assert slot.tensor is not None
            changed = change_tensor(changed, slot, retyped(slot.tensor, kind))
        yield Judged(changed, "DataType")
    for rank in range(1, RANKS + 1):
        changed = desc
        for slot in some:
            assert slot.tensor is not None
            changed = change_tensor(changed, slot, _ranked(slot.tensor, rank))
        yield Judged(changed, "DimensionCount")


def of_graphs(number: int) -> Iterator[Judged]:
    yield Judged(graph(RandomSource(number)))


def _ranked(tensor: TensorDesc, rank: int) -> TensorDesc:
    """With leading sizes of 1, or without the leading sizes."""
    sizes = (*(1,) * (rank - len(tensor.sizes)), *tensor.sizes)[-rank:]
    return replace(tensor, sizes=sizes, strides=None, total_size=-1)


STREAMS: dict[str, Callable[[int], Iterator[Judged]]] = {
    "valid": valid,
    "mutations": mutations,
    "tables": tables,
    "graphs": of_graphs,
}
