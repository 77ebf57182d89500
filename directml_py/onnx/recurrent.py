"""Recurrent networks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..api.enums import (
    DML_RECURRENT_NETWORK_DIRECTION_BACKWARD,
    DML_RECURRENT_NETWORK_DIRECTION_BIDIRECTIONAL,
    DML_RECURRENT_NETWORK_DIRECTION_FORWARD,
)
from ..api.operator_descs import (
    DML_ACTIVATION_IDENTITY_OPERATOR_DESC,
    DML_ACTIVATION_LINEAR_OPERATOR_DESC,
    DML_ACTIVATION_SCALED_TANH_OPERATOR_DESC,
)
from ..graph import Expression
from .errors import Refusal
from .fusing import ACTIVATIONS, activation_desc
from .node import OnnxNode
from .translators import Results, operator

DIRECTIONS = {
    "forward": DML_RECURRENT_NETWORK_DIRECTION_FORWARD,
    "reverse": DML_RECURRENT_NETWORK_DIRECTION_BACKWARD,
    "bidirectional": DML_RECURRENT_NETWORK_DIRECTION_BIDIRECTIONAL,
}
# Activations whose attributes come from the lists activation_alpha and activation_beta.
OTHERS = {
    "Affine": (DML_ACTIVATION_LINEAR_OPERATOR_DESC, ("Alpha", "Beta")),
    "ScaledTanh": (DML_ACTIVATION_SCALED_TANH_OPERATOR_DESC, ("Alpha", "Beta")),
    "Identity": (DML_ACTIVATION_IDENTITY_OPERATOR_DESC, ()),
}
DEFAULTS = {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}


def activations(node: OnnxNode) -> list[Any]:
    """The activations of all directions, in order."""
    directions = 2 if node.get("direction", "forward") == "bidirectional" else 1
    names = node.get("activations") or DEFAULTS[node.kind] * directions
    known = {name.lower(): name for name in (*ACTIVATIONS, *OTHERS)}
    alphas, betas = iter(node.get("activation_alpha", [])), iter(node.get("activation_beta", []))
    made = []
    for word in names:
        name = known.get(word.lower())
        if name is None:
            raise Refusal(f"has {word!r}, which DirectML does not have", "attribute activations")
        fields = OTHERS[name][1] if name in OTHERS else tuple(ACTIVATIONS.get(name, (None, {}))[1])
        parameters = {
            field: next(values, None)
            for field, values in (("Alpha", alphas), ("Beta", betas))
            if field in fields
        }
        parameters = {field: value for field, value in parameters.items() if value is not None}
        if name in OTHERS:
            made.append(OTHERS[name][0](**parameters))
        else:
            made.append(activation_desc(name, {field.lower(): value for field, value in parameters.items()}))
    return made


class Sequences:
    """The tensors that the three networks share, in DirectML's four dimensions."""

    def __init__(self, node: OnnxNode, initial: Mapping[str, int]) -> None:
        self.node = node
        # Microsoft's library accepts no OWNED_BY_DML tensors for these operators.
        node.owned = False
        self.batch_first = bool(node.get("layout", 0))
        clip = node.get("clip")
        if clip is not None and (node.kind != "LSTM" or clip <= 0):
            raise Refusal(f"is {clip}; in DirectML only LSTM clips, at more than 0", "attribute clip")
        shape = node.shape()
        x = node.transposed(node.tensor(), shape, (1, 0, 2)) if self.batch_first else node.tensor()
        sizes = (shape[1], shape[0], shape[2]) if self.batch_first else shape
        self.tensors: dict[str, Any] = {
            "input": node.graph.reinterpret(x, sizes=(1, *sizes)),
            "weight": node.tensor(1, (1, *node.shape(1))),
            "recurrence": node.tensor(2, (1, *node.shape(2))),
            "bias": node.tensor(3, (1, 1, *node.shape(3))) if node.has(3) else None,
            "sequence_lengths": node.cast(node.tensor(4, (1, 1, 1, *node.shape(4))), np.uint32)
            if node.has(4)
            else None,
            **{name: self._state(index) for name, index in initial.items()},
        }
        self.settings: dict[str, Any] = {
            "activation_descs": activations(node),
            "direction": node.choice("direction", "forward", DIRECTIONS),
        }

    def _state(self, index: int) -> Expression | None:
        if not self.node.has(index):
            return None
        shape = self.node.shape(index)
        if self.batch_first:
            transposed = self.node.transposed(self.node.tensor(index), shape, (1, 0, 2))
            return self.node.graph.reinterpret(transposed, sizes=(1, shape[1], shape[0], shape[2]))
        return self.node.tensor(index, (1, *shape))

    def results(self, sequence: Expression | None, *states: Expression | None) -> list[Expression | None]:
        """The outputs, batches first if the inputs are."""
        if not self.batch_first:
            return [sequence, *states]
        transposed: list[Expression | None] = []
        for value, order in ((sequence, (2, 0, 1, 3)), *((state, (0, 2, 1, 3)) for state in states)):
            transposed.append(None if value is None else self.node.transposed(value, value.desc.sizes, order))
        return transposed


@operator("RNN")
def rnn(node: OnnxNode) -> Results:
    of = Sequences(node, {"hidden_init": 5})
    y, single = node.graph.rnn(
        **of.tensors,
        output_sequence=node.wants(0),
        output_single=node.wants(1),
        **of.settings,
    )
    return of.results(y, single)


@operator("GRU")
def gru(node: OnnxNode) -> Results:
    of = Sequences(node, {"hidden_init": 5})
    y, single = node.graph.gru(
        **of.tensors,
        linear_before_reset=bool(node.get("linear_before_reset", 0)),
        output_sequence=node.wants(0),
        output_single=node.wants(1),
        **of.settings,
    )
    return of.results(y, single)


@operator("LSTM")
def lstm(node: OnnxNode) -> Results:
    of = Sequences(node, {"hidden_init": 5, "cell_mem_init": 6})
    clip = node.get("clip", 0.0)
    results = node.graph.lstm(
        **of.tensors,
        peephole=node.tensor(7, (1, 1, *node.shape(7))) if node.has(7) else None,
        clip_threshold=clip,
        use_clip_threshold=bool(clip),
        couple_input_forget=bool(node.get("input_forget", 0)),
        output_sequence=node.wants(0),
        output_single=node.wants(1),
        output_cell_single=node.wants(2),
        **of.settings,
    )
    return of.results(*results)
