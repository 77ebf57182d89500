"""Recipes for valid descs: recurrent."""

from __future__ import annotations

from ...api.enums import DML_RECURRENT_NETWORK_DIRECTION_BIDIRECTIONAL
from ..desc_generator import DescGenerator, Fields
from ..recipes import recipe

# Operator: gates, and activations of one direction.
GATES = {"RNN": (1, 1), "LSTM": (4, 3), "GRU": (3, 2)}
# Both directions of all gates: as often as the sizes of a matrix the weights have elements.
MATRICES = 2 * 4
LONGEST = 5


@recipe(*GATES)
def recurrent(make: DescGenerator) -> Fields:
    gates, activations = GATES[make.schema.name]
    # The recurrence's tensor has the hidden size twice, and a bias has two numbers for each row of the weights.
    width, *hidden = make.shape(3, MATRICES)
    size, direction = min(hidden), make.enumerator("Direction")
    share = max(width, 2 * size)
    # Along a long sequence, most activations get out of any range.
    sequence = make.source.integer(1, max(1, min(LONGEST, make.max_elements // share)))
    (batch,) = make.shape(1, share * sequence)
    directions = 2 if direction == DML_RECURRENT_NETWORK_DIRECTION_BIDIRECTIONAL else 1
    optional = [entry for entry in make.schema.struct.tensors if entry.optional]
    outputs = [entry.name for entry in optional if entry.role == "output"]
    present = {*make.some(*(entry.name for entry in optional)), make.source.choice(outputs[:2])}
    # What GRU and LSTM have no kernel for.
    uncompiled = () if make.schema.name == "RNN" else ("ACTIVATION_CELU",)
    return {
        "InputTensor": [1, sequence, batch, width],
        "RecurrenceTensor": [1, directions, gates * size, size],
        "Direction": direction,
        "ActivationDescs": [make.activation(*uncompiled) for _ in range(directions * activations)],
        "present": present,
    }
