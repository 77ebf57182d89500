"""WebNN's recurrent operators, as graphs of DirectML's: gates change their order, biases are joined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import directml_py as dml
from directml_py.graph.expression import Expression

from .lowering import Lowered, Lowering, NotLowered, operator

# The order of gates in DirectML's weights.
GATES = {"gru": "zrn", "lstm": "iofg"}
DIRECTIONS = {
    "forward": dml.DML_RECURRENT_NETWORK_DIRECTION_FORWARD,
    "backward": dml.DML_RECURRENT_NETWORK_DIRECTION_BACKWARD,
    "both": dml.DML_RECURRENT_NETWORK_DIRECTION_BIDIRECTIONAL,
}
ACTIVATIONS = {
    "relu": dml.DML_ACTIVATION_RELU_OPERATOR_DESC,
    "sigmoid": dml.DML_ACTIVATION_SIGMOID_OPERATOR_DESC,
    "tanh": dml.DML_ACTIVATION_TANH_OPERATOR_DESC,
}


def _activations(names: Sequence[str], directions: int) -> list[Any]:
    if unknown := set(names) - ACTIVATIONS.keys():
        raise NotLowered(f"no lowering of the activations {', '.join(sorted(unknown))}")
    return [ACTIVATIONS[name]() for name in names] * directions


def _gates(into: Lowering, weight: Lowered, layout: str, order: str, rest: int) -> Lowered:
    """A weight of ``[directions, gates * hidden, ...]`` as ``[1, directions, gates * hidden, rest]``, its gates in
    DirectML's order."""
    directions, count = weight.shape[0], weight.shape[1]
    parts = into.view(weight, (directions, len(order), count // len(order), rest))
    if layout != order:
        single = into.graph.split(parts.x, axis=1, sizes=[1] * len(order))
        parts = Lowered(into.graph.join([single[layout.index(gate)] for gate in order], axis=1), parts.shape)
    return into.view(parts, (1, directions, count, rest))


def _biases(
    into: Lowering,
    like: Lowered,
    bias: Lowered | None,
    recurrent: Lowered | None,
    layout: str,
    order: str,
    count: int,
) -> Expression | None:
    if bias is None and recurrent is None:
        return None
    directions = like.shape[0]
    parts = []
    for one in (bias, recurrent):
        summand = into.filled(like, (directions, count), 0) if one is None else one
        ordered = _gates(into, into.view(summand, (directions, count)), layout, order, 1)
        parts.append(into.view(ordered, (1, 1, directions, count)).x)
    return into.graph.join(parts, axis=3)


def _state(into: Lowering, state: Lowered | None) -> Expression | None:
    return None if state is None else into.view(state, (1, *(1,) * (3 - len(state.shape)), *state.shape)).x


@operator("gru")
def gru(
    into: Lowering,
    x: Lowered,
    weight: Lowered,
    recurrent_weight: Lowered,
    steps: int,
    hidden_size: int,
    bias: Lowered | None = None,
    recurrent_bias: Lowered | None = None,
    initial_hidden_state: Lowered | None = None,
    reset_after: bool = True,
    return_sequence: bool = False,
    direction: str = "forward",
    layout: str = "zrn",
    activations: Sequence[str] = ("sigmoid", "tanh"),
) -> list[Lowered]:
    order, directions = GATES["gru"], weight.shape[0]
    made = into.graph.gru(
        into.view(x, (1, *x.shape)).x,
        _gates(into, weight, layout, order, x.shape[2]).x,
        _gates(into, recurrent_weight, layout, order, hidden_size).x,
        _biases(into, weight, bias, recurrent_bias, layout, order, 3 * hidden_size),
        _state(into, initial_hidden_state),
        activation_descs=_activations(activations, directions),
        direction=DIRECTIONS[direction],
        linear_before_reset=reset_after,
        output_sequence=return_sequence,
        output_single=True,
    )
    return _results(into, made, x, hidden_size, directions, ("output_single",), return_sequence)


@operator("lstm")
def lstm(
    into: Lowering,
    x: Lowered,
    weight: Lowered,
    recurrent_weight: Lowered,
    steps: int,
    hidden_size: int,
    bias: Lowered | None = None,
    recurrent_bias: Lowered | None = None,
    peephole_weight: Lowered | None = None,
    initial_hidden_state: Lowered | None = None,
    initial_cell_state: Lowered | None = None,
    return_sequence: bool = False,
    direction: str = "forward",
    layout: str = "iofg",
    activations: Sequence[str] = ("sigmoid", "tanh", "tanh"),
) -> list[Lowered]:
    order, directions = GATES["lstm"], weight.shape[0]
    peepholes = None
    if peephole_weight is not None:
        peepholes = into.view(peephole_weight, (1, 1, directions, 3 * hidden_size)).x
    made = into.graph.lstm(
        into.view(x, (1, *x.shape)).x,
        _gates(into, weight, layout, order, x.shape[2]).x,
        _gates(into, recurrent_weight, layout, order, hidden_size).x,
        _biases(into, weight, bias, recurrent_bias, layout, order, 4 * hidden_size),
        _state(into, initial_hidden_state),
        _state(into, initial_cell_state),
        peephole=peepholes,
        activation_descs=_activations(activations, directions),
        direction=DIRECTIONS[direction],
        clip_threshold=0.0,
        use_clip_threshold=False,
        couple_input_forget=False,
        output_sequence=return_sequence,
        output_single=True,
        output_cell_single=True,
    )
    return _results(
        into, made, x, hidden_size, directions, ("output_single", "output_cell_single"), return_sequence
    )


def _results(
    into: Lowering,
    made: Any,
    x: Lowered,
    hidden_size: int,
    directions: int,
    states: Sequence[str],
    with_sequence: bool,
) -> list[Lowered]:
    """WebNN returns the last states and then the sequence."""
    steps, batch, _ = x.shape
    shape = (directions, batch, hidden_size)
    results = [into.view(Lowered(getattr(made, name), ()), shape) for name in states]
    if with_sequence:
        results.append(into.view(Lowered(made.output_sequence, ()), (steps, *shape)))
    return results


def _cell_of(network: Callable[..., list[Lowered]]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A cell has the options of the network of one step."""

    def mark(cell: Callable[..., Any]) -> Callable[..., Any]:
        cell.__wrapped__ = network  # type: ignore[attr-defined]
        return cell

    return mark


@operator("gruCell")
@_cell_of(gru)
def gru_cell(
    into: Lowering,
    x: Lowered,
    weight: Lowered,
    recurrent: Lowered,
    hidden: Lowered,
    hidden_size: int,
    **options: Any,
) -> Lowered:
    (state,) = gru(
        into,
        *_with_sequence_dimension(into, x, weight, recurrent),
        1,
        hidden_size,
        initial_hidden_state=hidden,
        **_stacked(into, options),
    )
    return into.view(state, hidden.shape)


@operator("lstmCell")
@_cell_of(lstm)
def lstm_cell(
    into: Lowering,
    x: Lowered,
    weight: Lowered,
    recurrent: Lowered,
    hidden: Lowered,
    cell: Lowered,
    hidden_size: int,
    **options: Any,
) -> list[Lowered]:
    states = lstm(
        into,
        *_with_sequence_dimension(into, x, weight, recurrent),
        1,
        hidden_size,
        initial_hidden_state=hidden,
        initial_cell_state=cell,
        **_stacked(into, options),
    )
    return [into.view(state, hidden.shape) for state in states]


def _with_sequence_dimension(into: Lowering, *values: Lowered) -> list[Lowered]:
    return [into.view(value, (1, *value.shape)) for value in values]


def _stacked(into: Lowering, options: dict[str, Any]) -> dict[str, Any]:
    """The options of a cell as those of a network of one direction."""
    return {
        name: into.view(value, (1, *value.shape)) if isinstance(value, Lowered) else value
        for name, value in options.items()
    }
