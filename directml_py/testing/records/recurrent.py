"""Recipes for valid descs: recurrent."""

from __future__ import annotations

from ...api.enums import DML_RECURRENT_NETWORK_DIRECTION_BIDIRECTIONAL
from ..maker import Fields, Maker
from ..recipes import recipe

# Operator: gates, and activations of one direction.
GATES = {"RNN": (1, 1), "LSTM": (4, 3), "GRU": (3, 2)}
# The largest tensor for its hidden size is the bias: two numbers for each gate of each direction.
GROWTH = 2 * 4 * 2


@recipe(*GATES)
def recurrent(make: Maker) -> Fields:
    gates, activations = GATES[make.schema.name]
    sequence, batch, width, *hidden = make.shape(5, GROWTH)
    # The recurrence's tensor has the hidden size twice.
    size, direction = min(hidden), make.enumerator("Direction")
    directions = 2 if direction == DML_RECURRENT_NETWORK_DIRECTION_BIDIRECTIONAL else 1
    optional = [entry for entry in make.schema.struct.tensors if entry.optional]
    outputs = [entry.name for entry in optional if entry.role == "output"]
    present = {*make.some(*(entry.name for entry in optional)), make.source.choice(outputs)}
    return {
        "InputTensor": [1, sequence, batch, width],
        "RecurrenceTensor": [1, directions, gates * size, size],
        "Direction": direction,
        "ActivationDescs": [make.activation() for _ in range(directions * activations)],
        "present": present,
    }
