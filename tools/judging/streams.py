"""Streams of descs: infinite sequences of cases, each reproducible by its number."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

from directml_py.abi.rules import Diagnostic
from directml_py.api.enums import DML_FEATURE_LEVEL_6_2
from directml_py.descs.operator_desc import OperatorDesc
from directml_py.descs.tensor import TensorDesc
from directml_py.hardware.real_directml import Library, Verdict
from directml_py.testing.decision_source import RandomSource
from directml_py.testing.desc_changes import change_tensor, retyped
from directml_py.testing.valid_descs import operators_at, valid_desc

from . import api_calls, graph_descs
from .unfiltered_mutations import TYPES, mutated

LEVEL = DML_FEATURE_LEVEL_6_2
OPERATORS = list(operators_at(LEVEL))
# Mutations per valid desc, which takes longer to generate than to mutate.
MUTATIONS_EACH = 20
MOST_ELEMENTS = 2000
RANKS = 9


def only(pattern: str) -> None:
    """Restrict the streams to operators whose names match the regular expression."""
    OPERATORS[:] = [name for name in OPERATORS if re.fullmatch(pattern, name)]


class Judgeable(Protocol):
    """What is judged besides operator descs; its ``name`` is one of ``NAMES``."""

    @property
    def name(self) -> str: ...

    def theirs(self, library: Library) -> Verdict:
        """The library's verdict."""

    def ours(self, level: int) -> tuple[int, list[Diagnostic]]:
        """Our HRESULT, and errors."""


NAMES = (graph_descs.NAME, api_calls.NAME)


class Judged(NamedTuple):
    """``field`` is the mutated field; empty for descs that our generator considers valid."""

    desc: OperatorDesc | Judgeable
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
            # Arrays with a shared count but different lengths cannot be represented in memory.
            continue
        yield Judged(changed, field)


def tables(number: int) -> Iterator[Judged]:
    """Every data type and dimension count for one tensor, or for all tensors, of an operator."""
    source = RandomSource(number)
    desc = valid_desc(source, OPERATORS[number % len(OPERATORS)], LEVEL, MOST_ELEMENTS)
    slots = [slot for slot in (*desc.inputs, *desc.outputs) if slot.tensor is not None]
    chosen = slots if number // len(OPERATORS) % 2 else [source.choice(slots)]
    for kind in TYPES:
        changed = desc
        for slot in chosen:
            assert slot.tensor is not None
            changed = change_tensor(changed, slot, retyped(slot.tensor, kind))
        yield Judged(changed, "DataType")
    for rank in range(1, RANKS + 1):
        changed = desc
        for slot in chosen:
            assert slot.tensor is not None
            changed = change_tensor(changed, slot, _ranked(slot.tensor, rank))
        yield Judged(changed, "DimensionCount")


def of_graphs(number: int) -> Iterator[Judged]:
    yield Judged(graph_descs.graph(RandomSource(number)))


def of_calls(number: int) -> Iterator[Judged]:
    yield Judged(api_calls.calls(RandomSource(number)))


def _ranked(tensor: TensorDesc, rank: int) -> TensorDesc:
    """The tensor with another rank: with leading ones, or without its leading sizes."""
    sizes = (*(1,) * (rank - len(tensor.sizes)), *tensor.sizes)[-rank:]
    return tensor.replace(sizes=sizes, strides=None, total_size=-1)


STREAMS: dict[str, Callable[[int], Iterator[Judged]]] = {
    "valid": valid,
    "mutations": mutations,
    "tables": tables,
    "graphs": of_graphs,
    "calls": of_calls,
}
