"""Operators that make their output out of nothing but attributes, or a small state."""

from __future__ import annotations

from collections.abc import Sequence

from ..descs.values import OperatorDesc
from .operator import Operator, Shapes, of_sizes, operator

STATE_ELEMENTS = 6


@operator("FILL_VALUE_CONSTANT", "FILL_VALUE_SEQUENCE", "DIAGONAL_MATRIX")
class Fill(Operator):
    """An output of any sizes (ns-directml-dml_fill_value_constant_operator_desc)."""

    has_sizes = False

    def shapes(self, desc: OperatorDesc, *, output_sizes: Sequence[int] | None = None) -> Shapes:
        return of_sizes(output_sizes)


@operator("DIAGONAL_MATRIX1")
class DiagonalMatrix(Operator):
    """A strip along the diagonal, written over the input or over zeros
    (ns-directml-dml_diagonal_matrix1_operator_desc).

    The page's list of constraints leaves out the sizes of the input; its pseudocode reads it at every coordinate of the
    output.
    """

    def shapes(self, desc: OperatorDesc, *, output_sizes: Sequence[int] | None = None) -> Shapes:
        """``output_sizes``: those of an output without an input."""
        if desc.InputTensor is not None:
            return {"OutputTensor": desc.InputTensor.sizes}
        return of_sizes(output_sizes)


@operator("RANDOM_GENERATOR")
class RandomGenerator(Operator):
    """Random bits out of a counter and a key (ns-directml-dml_random_generator_operator_desc)."""

    def shapes(self, desc: OperatorDesc, *, output_sizes: Sequence[int] | None = None) -> Shapes:
        """The state is a row: 4 elements of the counter and 2 of the key."""
        state = (1,) * (desc.InputStateTensor.dimension_count - 1) + (STATE_ELEMENTS,)
        return {"InputStateTensor": state, **of_sizes(output_sizes)}
