"""Hypothesis strategies for operator descs (extra ``testing``)."""

from __future__ import annotations

from typing import Any

try:
    from hypothesis import strategies as st
except ImportError as _error:
    raise ImportError("directml_py.testing.strategies needs Hypothesis: pip install hypothesis") from _error

from ..abi.structure import Structure
from ..api.enums import DML_FEATURE_LEVEL
from ..descs.encode import encode
from .decision_source import DecisionSource
from .desc_generator import MAX_ELEMENTS
from .memory_mutations import Broken
from .mutations import broken_desc
from .valid_descs import HIGHEST, known_operator, operators_at, valid_desc

__all__ = ["Broken", "broken_descs", "feature_levels", "operators", "valid_descs"]


class _HypothesisSource(DecisionSource):
    def __init__(self, draw: Any) -> None:
        self._draw = draw

    def integer(self, low: int, high: int) -> int:
        number: int = self._draw(st.integers(low, high))
        return number


def feature_levels() -> st.SearchStrategy[DML_FEATURE_LEVEL]:
    """Any feature level; shrinks to the lowest."""
    return st.sampled_from(sorted(DML_FEATURE_LEVEL))


def operators(feature_level: int = HIGHEST) -> st.SearchStrategy[str]:
    """The name (``JOIN``) of any operator that the level has."""
    return st.sampled_from(operators_at(feature_level))


def valid_descs(
    operator: str | int | None = None, feature_level: int = HIGHEST, max_elements: int = MAX_ELEMENTS
) -> st.SearchStrategy[Structure]:
    """Typed operator desc structs, such as DML_JOIN_OPERATOR_DESC, that are valid at ``feature_level``.

    They are of ``operator`` (``JOIN``) or of any, with strided, padded and broadcast tensors, OWNED_BY_DML inputs and
    everything else that the support tables allow. No tensor has more than ``max_elements`` elements. Raises
    ``ValueError`` for an operator that the level lacks.
    """
    name = known_operator(operator, feature_level)

    @st.composite
    def descs(draw: Any) -> Structure:
        return encode(valid_desc(_HypothesisSource(draw), name, feature_level, max_elements))

    return descs()


def broken_descs(
    operator: str | int | None = None, feature_level: int = HIGHEST, max_elements: int = MAX_ELEMENTS
) -> st.SearchStrategy[Broken]:
    """``(desc, rule, path)``: descs as from ``valid_descs``, mutated to break exactly one rule.

    ``path`` is the first path that is reported. All memory that the desc points to is readable.
    """
    name = known_operator(operator, feature_level)

    @st.composite
    def descs(draw: Any) -> Broken:
        return broken_desc(_HypothesisSource(draw), name, feature_level, max_elements)

    return descs()
