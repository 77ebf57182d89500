"""Recurrent networks of one layer: RNN, LSTM and GRU."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from ..api.enums import DML_RECURRENT_NETWORK_DIRECTION_BIDIRECTIONAL
from ..descs.values import OperatorDesc
from .operator import Operator, Shapes, Sizes, operator


class Recurrent(NamedTuple):
    """What every size of a recurrent network follows from."""

    sequence: int
    batch: int
    input: int
    hidden: int
    directions: int

    @property
    def state(self) -> Sizes:
        """The sizes of what goes from one step to the next."""
        return (1, self.directions, self.batch, self.hidden)


def recurrent_of(desc: OperatorDesc) -> Recurrent:
    """The sizes as InputTensor, RecurrenceTensor and Direction give them."""
    _, sequence, batch, width = desc.InputTensor.sizes
    directions = 2 if desc.Direction == DML_RECURRENT_NETWORK_DIRECTION_BIDIRECTIONAL else 1
    return Recurrent(sequence, batch, width, desc.RecurrenceTensor.sizes[3], directions)


class RecurrentNetwork(Operator):
    """What the three have in common. ``gates`` is how many matrices stand above one another in the weights."""

    gates: ClassVar[int]

    def shapes(self, desc: OperatorDesc) -> Shapes:
        sizes = recurrent_of(desc)
        height = self.gates * sizes.hidden
        return {
            "WeightTensor": (1, sizes.directions, height, sizes.input),
            "RecurrenceTensor": (1, sizes.directions, height, sizes.hidden),
            "BiasTensor": (1, 1, sizes.directions, 2 * height),
            "HiddenInitTensor": sizes.state,
            "SequenceLengthsTensor": (1, 1, 1, sizes.batch),
            "OutputSequenceTensor": (sizes.sequence, sizes.directions, sizes.batch, sizes.hidden),
            "OutputSingleTensor": sizes.state,
        }


@operator("RNN")
class Rnn(RecurrentNetwork):
    """One gate: ``H = f(X W + Hprevious R + biases)`` (ns-directml-dml_rnn_operator_desc)."""

    gates = 1


@operator("GRU")
class Gru(RecurrentNetwork):
    """The gates z (update), r (reset) and h (hidden) (ns-directml-dml_gru_operator_desc)."""

    gates = 3


@operator("LSTM")
class Lstm(RecurrentNetwork):
    """The gates i (input), o (output), f (forget) and c (cell) (ns-directml-dml_lstm_operator_desc)."""

    gates = 4

    def shapes(self, desc: OperatorDesc) -> Shapes:
        sizes = recurrent_of(desc)
        return {
            **super().shapes(desc),
            "CellMemInitTensor": sizes.state,
            "PeepholeTensor": (1, 1, sizes.directions, 3 * sizes.hidden),
            "OutputCellSingleTensor": sizes.state,
        }
