"""Recurrent layers in NumPy: one matrix product for the inputs of many time steps, then the cell step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..im2col import BLOCK_BYTES, matmul
from ..native_arrays import Array

State = tuple[Array, ...]
# The states carried from step to step, in this order; the first is multiplied by the recurrent weights.
STATES = ("hidden", "cell")
Name = int | str


class Phase(NamedTuple):
    """A part of a time step: the value ``by`` times the recurrent weights of ``gates`` is added to the slots ``into``;
    then ``function``, element-wise, computes ``outputs`` from ``inputs``.

    Values have names, slots have numbers. States among the outputs are those after the step.
    """

    gates: range
    into: Sequence[int]
    inputs: Sequence[Name]
    outputs: Sequence[str]
    function: Callable[..., Array | tuple[Array, ...]]
    by: str = STATES[0]


class Cell(NamedTuple):
    """The phases of a time step. Its first ``slots`` are initialized with the gates' products of the inputs."""

    gates: int
    slots: int
    phases: Sequence[Phase]


class Layer(NamedTuple):
    """The tensors of a layer: a batch of sequences ``x`` {S, B, I}, of which the first ``lengths`` {B} elements count;
    ``weights`` {G * H, I}, ``recurrence`` {G * H, H}, both biases ``bias`` {2, G * H}, the initial states {B, H}, and
    other values {H} by name."""

    x: Array
    lengths: Array
    weights: Array
    recurrence: Array
    bias: Array
    states: State
    constants: Mapping[str, Array]

    @property
    def hidden(self) -> int:
        return int(self.recurrence.shape[1])


def run_layer(cell: Cell, layer: Layer, outputs: Array | None = None) -> State:
    """Run the time steps of all sequences.

    The hidden state after each step goes to ``outputs`` {S, B, H}, which is 0 after the end of a sequence. Returns the
    last states of each sequence, 0 for an empty one.
    """
    lengths, state = layer.lengths, layer.states
    shortest, longest = int(lengths.min()), int(lengths.max())
    names = STATES[: len(state)]
    for time_step, inputs in enumerate(projected(layer.x[:longest], layer.weights, layer.bias[0])):
        values: dict[Name, Array] = dict(zip(names, state))
        values.update(layer.constants)
        values.update(enumerate(np.split(inputs, cell.gates, 1)))
        for phase in cell.phases:
            take(phase, layer, values)
        following = tuple(values[name] for name in names)
        output = following[0]
        if time_step >= shortest:
            goes_on = (time_step < lengths)[:, np.newaxis]
            output = np.where(goes_on, output, 0)
            following = tuple(np.where(goes_on, after, before) for before, after in zip(state, following))
        if outputs is not None:
            outputs[time_step] = output
        state = following
    if outputs is not None:
        outputs[longest:] = 0
    if shortest == 0:
        state = tuple(np.where((lengths > 0)[:, np.newaxis], last, 0) for last in state)
    return state


def take(phase: Phase, layer: Layer, values: dict[Name, Array]) -> None:
    """Run one phase of a step over its values."""
    rows = slice(phase.gates.start * layer.hidden, phase.gates.stop * layer.hidden)
    sums = matmul(values[phase.by], layer.recurrence[rows].T) + layer.bias[1, rows]
    for slot, part in zip(phase.into, np.split(sums, len(phase.gates), 1)):
        values[slot] = values[slot] + part if slot in values else part
    results = phase.function(*(values[name] for name in phase.inputs))
    values.update(zip(phase.outputs, results if isinstance(results, tuple) else (results,)))


def projected(x: Array, weights: Array, bias: Array) -> Iterator[Array]:
    """For each step, x {S, B, I} times the transposed weights {G, I}, plus the bias: {B, G}."""
    time_steps, batch, width = x.shape
    together = max(1, BLOCK_BYTES // (batch * weights.shape[0] * weights.itemsize))
    for first in range(0, time_steps, together):
        rows = np.ascontiguousarray(x[first : first + together]).reshape(-1, width)
        yield from (matmul(rows, weights.T) + bias).reshape(-1, batch, weights.shape[0])


def reversed_sequences(x: Array, lengths: Array) -> Array:
    """Sequences {S, B, ...} with their first ``lengths`` {B} elements reversed; its own inverse.

    Elements after the end of a sequence stay in place.
    """
    time_steps, batch = x.shape[:2]
    backward: Array = x[::-1]
    if (lengths < time_steps).any():
        backward = x[(lengths - 1 - np.arange(time_steps)[:, np.newaxis]) % time_steps, np.arange(batch)]
    return backward
