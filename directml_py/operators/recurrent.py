"""Recurrent networks of one layer: RNN, LSTM and GRU.

The pages print their equations as pictures alone. ONNX Runtime hands the tensors of ONNX's RNN, LSTM and GRU over as
they are, so where the text is silent ONNX decides, and behind it what ONNX Runtime computes:

- z, r and h of GRU: ``H = (1 - z) h + z Hprevious``.
- The output gate's peephole of LSTM sees the cell that the step has made, those of the other two gates the one before
  it. The page, as WebNN, can be read to have the one before for all three; but the node test of ONNX that tells the two
  readings apart is none of those that ONNX Runtime leaves out with DirectML.
- CoupleInputForget: the forget gate is what the input gate leaves, 1 - i; its own weights are not used.
- Behind the end of a sequence OutputSequenceTensor is 0. A sequence without any element has no last step: it has 0 in
  all outputs, even where there is an initial state.
- BACKWARD begins with the last element of each sequence, and outputs lie where their inputs do. OutputSingleTensor is
  then what the first element gave.

The text says that LSTM clips the input of activations, and h's is the cell: it is clipped for h, but goes on to the
next step, the peephole and OutputCellSingleTensor as it is. (ONNX has these words too; ONNX Runtime does not clip for h
on processors, a known mistake.)

All is computed in FLOAT32, states of FLOAT16 too, and rounded when outputs are stored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from ..api.enums import (
    DML_RECURRENT_NETWORK_DIRECTION_BACKWARD,
    DML_RECURRENT_NETWORK_DIRECTION_BIDIRECTIONAL,
)
from ..descs.format import braces
from ..descs.values import OperatorDesc
from ..kernels.binding import Array
from ..kernels.contract import matmul
from ..kernels.steps import Cell, State, run_steps, turned
from ..validation.report import Report
from .fused import activated
from .operator import Compute, Inputs, Operator, Shapes, Sizes, operator, own_rule

Function = Callable[[Array], Array]
# The input tensors that are there, by field.
Given = Mapping[str, Array]

LENGTHS = {
    name: own_rule(name, "sequence-lengths", "No sequence is longer than InputTensor.Sizes[1]", debug=True)
    for name in ("RNN", "LSTM", "GRU")
}


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


class Gates(NamedTuple):
    """What one direction's gates add to the inputs: matrices {G * H, H} above one another, and as many biases.

    ``peepholes`` are {3, H}, if there are any.
    """

    recurrence: Array
    bias: Array
    peepholes: Array | None

    def part(self, first: int, last: int) -> Gates:
        """Some of the gates."""
        rows = slice(first * self.recurrence.shape[1], last * self.recurrence.shape[1])
        return self._replace(recurrence=self.recurrence[rows], bias=self.bias[rows])

    def of(self, hidden: Array) -> Array:
        return matmul(hidden, self.recurrence.T) + self.bias

    def peephole(self, index: int, cell: Array) -> Array | int:
        return 0 if self.peepholes is None else self.peepholes[index] * cell


class RecurrentNetwork(Operator):
    """What the three have in common. ``gates`` is how many matrices stand above one another in the weights, ``states``
    names the tensors of what goes from one step to the next."""

    gates: ClassVar[int]
    states: ClassVar[tuple[str, ...]] = ("HiddenInitTensor",)

    def cell(self, desc: OperatorDesc, gates: Gates, functions: Sequence[Function]) -> Cell:
        """One step: from what the weights made of its inputs, {B, G * H}, and the state to the next state."""
        raise NotImplementedError

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

    def inspect(self, desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
        """Too long a sequence ends with the input."""
        field, most = "SequenceLengthsTensor", desc.InputTensor.sizes[1]
        (lengths,) = (values for slot, values in zip(desc.inputs, inputs) if slot.field == field)
        if lengths is not None and (lengths > most).any():
            first = np.argwhere(lengths > most)[0]
            text = f"has {lengths[tuple(first)]} at {braces(first)}; the sequences of InputTensor have {most} elements"
            report.add(LENGTHS[desc.name], field, text)

    def compute(self, desc: OperatorDesc) -> Compute:
        sizes, fields = recurrent_of(desc), [slot.field for slot in desc.inputs]

        def network(*arrays: Array | None) -> tuple[Array | None, ...]:
            given = {name: array for name, array in zip(fields, arrays) if array is not None}
            outputs = None
            if desc.OutputSequenceTensor is not None:
                outputs = np.empty(desc.OutputSequenceTensor.sizes, np.float32)
            last = [
                self.directed(desc, given, direction, None if outputs is None else outputs[:, direction])
                for direction in range(sizes.directions)
            ]
            return outputs, *(np.stack(states)[np.newaxis] for states in zip(*last))

        return network

    def directed(self, desc: OperatorDesc, given: Given, direction: int, outputs: Array | None) -> State:
        """Take the steps of one direction, fill in its outputs, {S, B, H}, and give the last state."""
        sizes = recurrent_of(desc)
        each = len(desc.ActivationDescs) // sizes.directions
        activations = desc.ActivationDescs[direction * each : (direction + 1) * each]
        backward = direction == 1 or desc.Direction == DML_RECURRENT_NETWORK_DIRECTION_BACKWARD
        weights, recurrence = (
            np.ascontiguousarray(given[field][0, direction]) for field in ("WeightTensor", "RecurrenceTensor")
        )
        bias, recurrence_bias = part_of(given, "BiasTensor", direction, (2, self.gates * sizes.hidden))
        peepholes = None
        if "PeepholeTensor" in given:
            peepholes = part_of(given, "PeepholeTensor", direction, (3, sizes.hidden))
        gates = Gates(recurrence, recurrence_bias, peepholes)
        x, lengths = given["InputTensor"][0], lengths_of(sizes, given.get("SequenceLengthsTensor"))
        last = run_steps(
            self.cell(desc, gates, [of_step(activated(one)) for one in activations]),
            turned(x, lengths) if backward else x,
            weights,
            bias,
            tuple(part_of(given, field, direction, sizes.state[2:]) for field in self.states),
            lengths,
            outputs,
        )
        if backward and outputs is not None:
            outputs[...] = turned(outputs, lengths)
        return last


def of_step(function: Function) -> Function:
    """An activation of a gate's values, {B, H}, which come to it as { 1, 1, B, H } and go on as they came, in FLOAT32.

    That is what the Axes of an activation count in.
    """
    return lambda x: np.asarray(function(x[np.newaxis, np.newaxis]), x.dtype)[0, 0]


def lengths_of(sizes: Recurrent, lengths: Array | None) -> Array:
    """The length of each sequence, {B}."""
    if lengths is None:
        return np.full(sizes.batch, sizes.sequence)
    return np.minimum(lengths.reshape(-1), sizes.sequence).astype(np.intp)


def part_of(given: Given, field: str, direction: int, sizes: Sizes) -> Array:
    """The part of a tensor that is one direction's; zeros if the tensor is absent.

    Directions are the second dimension of a state, and the third of a bias and of peepholes, whose second is 1.
    """
    part: Array = (
        given[field].reshape(-1, *sizes)[direction] if field in given else np.zeros(sizes, np.float32)
    )
    return part


@operator("RNN")
class Rnn(RecurrentNetwork):
    """One gate: ``H = f(X W + Hprevious R + biases)`` (ns-directml-dml_rnn_operator_desc)."""

    gates = 1

    def cell(self, desc: OperatorDesc, gates: Gates, functions: Sequence[Function]) -> Cell:
        (f,) = functions
        return lambda inputs, hidden: (f(inputs + gates.of(hidden)),)


@operator("GRU")
class Gru(RecurrentNetwork):
    """The gates z (update), r (reset) and h (hidden) (ns-directml-dml_gru_operator_desc)."""

    gates = 3

    def cell(self, desc: OperatorDesc, gates: Gates, functions: Sequence[Function]) -> Cell:
        f, g = functions
        linear = bool(desc.LinearBeforeReset)
        first, last = gates if linear else gates.part(0, 2), gates.part(2, 3)

        def step(inputs: Array, hidden: Array) -> tuple[Array]:
            z, r, h = np.split(inputs, 3, 1)
            before = np.split(first.of(hidden), 3 if linear else 2, 1)
            update, reset = f(z + before[0]), f(r + before[1])
            candidate = g(h + (reset * before[2] if linear else last.of(reset * hidden)))
            return ((1 - update) * candidate + update * hidden,)

        return step


@operator("LSTM")
class Lstm(RecurrentNetwork):
    """The gates i (input), o (output), f (forget) and c (cell) (ns-directml-dml_lstm_operator_desc)."""

    gates = 4
    states = ("HiddenInitTensor", "CellMemInitTensor")

    def shapes(self, desc: OperatorDesc) -> Shapes:
        sizes = recurrent_of(desc)
        return {
            **super().shapes(desc),
            "CellMemInitTensor": sizes.state,
            "PeepholeTensor": (1, 1, sizes.directions, 3 * sizes.hidden),
            "OutputCellSingleTensor": sizes.state,
        }

    def cell(self, desc: OperatorDesc, gates: Gates, functions: Sequence[Function]) -> Cell:
        if desc.UseClipThreshold:
            functions = [clipped(one, desc.ClipThreshold) for one in functions]
        f, g, h = functions

        def step(inputs: Array, hidden: Array, cell: Array) -> tuple[Array, Array]:
            i, o, forget, c = np.split(inputs + gates.of(hidden), 4, 1)
            let_in = f(i + gates.peephole(0, cell))
            kept = 1 - let_in if desc.CoupleInputForget else f(forget + gates.peephole(2, cell))
            cell = kept * cell + let_in * g(c)
            return f(o + gates.peephole(1, cell)) * h(cell), cell

        return step


def clipped(function: Function, threshold: float) -> Function:
    """``function`` of what is clipped, NaN to the threshold as in ELEMENT_WISE_CLIP."""
    return lambda x: function(np.fmax(-threshold, np.fmin(x, threshold)))
