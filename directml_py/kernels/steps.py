"""Steps along a sequence: one product for the inputs of many steps, then a cell's function step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from .binding import Array
from .contract import BLOCK_BYTES, matmul

State = tuple[Array, ...]
Cell = Callable[..., State]


def run_steps(
    cell: Cell,
    x: Array,
    weights: Array,
    bias: Array,
    state: State,
    lengths: Array,
    outputs: Array | None = None,
) -> State:
    """Take the steps of sequences that lie side by side, x {S, B, I}; the first ``lengths`` {B} elements are theirs.

    ``cell(inputs, *state)`` gives the next state, arrays {B, H}, from a step's part of x times the transposed
    ``weights`` {G, I}, and ``bias`` {G}. The first array of each state goes to ``outputs`` {S, B, H}, 0 behind the end
    of a sequence. Gives the last state of each, 0 of one that has no element.
    """
    shortest, longest = int(lengths.min()), int(lengths.max())
    for step, inputs in enumerate(projected(x[:longest], weights, bias)):
        following = cell(inputs, *state)
        output = following[0]
        if step >= shortest:
            goes_on = (step < lengths)[:, np.newaxis]
            output = np.where(goes_on, output, 0)
            following = tuple(np.where(goes_on, after, before) for before, after in zip(state, following))
        if outputs is not None:
            outputs[step] = output
        state = following
    if outputs is not None:
        outputs[longest:] = 0
    if shortest == 0:
        state = tuple(np.where((lengths > 0)[:, np.newaxis], last, 0) for last in state)
    return state


def projected(x: Array, weights: Array, bias: Array) -> Iterator[Array]:
    """Step by step, x {S, B, I} times the transposed weights {G, I}, and the bias: {B, G}."""
    steps, batch, width = x.shape
    together = max(1, BLOCK_BYTES // (batch * weights.shape[0] * weights.itemsize))
    for first in range(0, steps, together):
        rows = np.ascontiguousarray(x[first : first + together]).reshape(-1, width)
        yield from (matmul(rows, weights.T) + bias).reshape(-1, batch, weights.shape[0])


def turned(x: Array, lengths: Array) -> Array:
    """Sequences {S, B, ...} from the last of their ``lengths`` {B} elements to the first; its own inverse.

    What lies behind the end of a sequence stays behind it.
    """
    steps, batch = x.shape[:2]
    backward: Array = x[::-1]
    if (lengths < steps).any():
        backward = x[(lengths - 1 - np.arange(steps)[:, np.newaxis]) % steps, np.arange(batch)]
    return backward
