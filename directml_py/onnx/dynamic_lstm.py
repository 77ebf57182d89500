"""DynamicQuantizeLSTM, of the domain com.microsoft: an LSTM whose products are those of integers.

The inputs are quantized by their range, all together; so is the hidden state, in each step. DirectML's LSTM does not do
that, so that each step is operators of its own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..graph import Expression
from .errors import Refusal
from .movement import sliced
from .node import OnnxNode
from .translators import MICROSOFT, Results, Rows, operator, outputs
from .values import Sizes

DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
ACTIVATIONS = ["Sigmoid", "Tanh", "Tanh"]


class LstmSizes(NamedTuple):
    time_steps: int
    batch: int
    hidden: int


class Weights(NamedTuple):
    """A quantized matrix, with a scale and a zero point per column or one of each."""

    matrix: Expression
    scale: Expression
    zero: Expression


def _sizes(node: OnnxNode) -> LstmSizes:
    time_steps, batch, _ = node.shape(0)
    return LstmSizes(time_steps, batch, node.shape(2)[1])


@outputs("DynamicQuantizeLSTM", domain=MICROSOFT)
def states(node: OnnxNode) -> Rows:
    if len(node.shape(0)) != 3 or len(node.shape(2)) != 3:
        raise Refusal("has other than 3 dimensions", "input X" if len(node.shape(0)) != 3 else "input R")
    (time_steps, batch, hidden), dtype = _sizes(node), np.dtype(np.float32)
    count = len(node.choice("direction", "forward", DIRECTIONS))
    last = (dtype, (count, batch, hidden))
    return [(dtype, (time_steps, count, batch, hidden)), last, last]


@operator("DynamicQuantizeLSTM", domain=MICROSOFT)
def dynamic_lstm(node: OnnxNode) -> Results:
    _check(node)
    sizes = _sizes(node)
    runs = [
        _run(node, sizes, number, backward)
        for number, backward in enumerate(node.choice("direction", "forward", DIRECTIONS))
    ]
    sequences, hidden, cells = zip(*runs)
    return [
        _joined(node, parts, axis) if node.wants(index) else None
        for index, (parts, axis) in enumerate(((sequences, 1), (hidden, 0), (cells, 0)))
    ]


def _check(node: OnnxNode) -> None:
    directions = node.choice("direction", "forward", DIRECTIONS)
    if node.get("activations", ACTIVATIONS * len(directions)) != ACTIVATIONS * len(directions):
        raise Refusal(
            f"is {node.get('activations')}; others than the defaults are not translated", "activations"
        )
    if node.has(7):
        raise Refusal("peepholes are not translated", "input P")
    if node.has(4) and (node.known(4, "sequence_lens") != node.shape(0)[0]).any():
        raise Refusal("sequences of different lengths are not translated", "input sequence_lens")


def _joined(node: OnnxNode, parts: Any, axis: int) -> Expression:
    return node.graph.join(list(parts), axis=axis) if len(parts) > 1 else parts[0]


def _part(node: OnnxNode, index: int, number: int, sizes: Sizes) -> Expression:
    """The part of an input for a direction."""
    x = node.tensor(index)
    if node.shape(index)[0] > 1:
        x = sliced(node, x, 0, number, 1)
    return node.graph.reinterpret(x, sizes=sizes)


def _weights(node: OnnxNode, index: int, scale: int, number: int) -> Weights:
    matrix = _part(node, index, number, node.shape(index)[1:])
    columns = 1 if len(node.shape(scale)) == 1 else node.shape(scale)[1]
    factor, zero = (_part(node, which, number, (1, columns)) for which in (scale, scale + 1))
    return Weights(matrix, factor, zero)


def _product(node: OnnxNode, x: Expression, weights: Weights) -> Expression:
    """The product of ``x``, quantized by its range, and a quantized matrix."""
    quantized, scale, zero = node.graph.dynamic_quantize_linear(x, output_data_type=np.uint8)
    return node.graph.matrix_multiply_integer_to_float(
        quantized, scale, weights.matrix, weights.scale, zero, weights.zero, output_data_type=np.float32
    )


def _gates_of_inputs(node: OnnxNode, sizes: LstmSizes, number: int) -> Expression:
    """The inputs' share of all gates in all steps, and the biases."""
    rows, columns = sizes.time_steps * sizes.batch, 4 * sizes.hidden
    x = node.tensor(0, (rows, node.shape(0)[2]))
    gates = _product(node, x, _weights(node, 1, 8, number))
    if not node.has(3):
        return gates
    both = _part(node, 3, number, (2, columns))
    bias = node.graph.add(*(sliced(node, both, 0, half, 1) for half in (0, 1)))
    return node.graph.add(gates, node.spread(bias, (1, columns), (rows, columns)))


def _initial(node: OnnxNode, index: int, sizes: LstmSizes, number: int) -> Expression | None:
    """The state before the first step; None for zeros."""
    if not node.has(index):
        return None
    array = node.input(index).array
    if array is not None and not array.any():
        return None
    return _part(node, index, number, (sizes.batch, sizes.hidden))


def _run(
    node: OnnxNode, sizes: LstmSizes, number: int, backward: bool
) -> tuple[Expression, Expression, Expression]:
    """The hidden states of a direction, and the last hidden and cell state."""
    graph, (time_steps, batch, width) = node.graph, sizes
    gates_of_inputs = _gates_of_inputs(node, sizes, number)
    weights = _weights(node, 2, 10, number)
    hidden, cell = (_initial(node, index, sizes, number) for index in (5, 6))
    clip = float(node.get("clip", 0.0))
    found: list[Expression] = []
    for time_step in reversed(range(time_steps)) if backward else range(time_steps):
        gates = sliced(node, gates_of_inputs, 0, time_step * batch, batch)
        if hidden is not None:
            gates = graph.add(gates, _product(node, hidden, weights))
        if clip:
            gates = graph.clip(gates, min=-clip, max=clip)
        # ONNX's order: input, output, forget, and cell.
        taken, shown, kept, new = (sliced(node, gates, 1, part * width, width) for part in range(4))
        share = graph.activation_sigmoid(taken)
        added = graph.multiply(share, graph.activation_tanh(new))
        if cell is not None:
            left = (
                graph.identity(share, scale_bias=(-1.0, 1.0))
                if node.get("input_forget", 0)
                else graph.activation_sigmoid(kept)
            )
            added = graph.add(added, graph.multiply(left, cell))
        cell = added
        hidden = graph.multiply(graph.activation_sigmoid(shown), graph.activation_tanh(cell))
        found.append(graph.reinterpret(hidden, sizes=(1, 1, batch, width)))
    assert hidden is not None
    assert cell is not None
    sequence = _joined(node, found[::-1] if backward else found, 0)
    last, last_cell = (graph.reinterpret(state, sizes=(1, batch, width)) for state in (hidden, cell))
    return sequence, last, last_cell
