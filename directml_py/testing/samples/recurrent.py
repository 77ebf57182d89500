"""Recipes for valid descs: recurrent."""

from __future__ import annotations

from ...api.enums import DML_RECURRENT_NETWORK_DIRECTION_BIDIRECTIONAL
from ..desc_generator import DescGenerator, Fields
from ..recipes import recipe

# By operator: the counts of gates and of activations, for one direction.
GATES = {"RNN": (1, 1), "LSTM": (4, 3), "GRU": (3, 2)}
# Elements of the weights per element of one matrix: both directions of up to four gates.
MATRICES = 2 * 4
LONGEST = 5


@recipe(*GATES)
def recurrent(make: DescGenerator) -> Fields:
    gates, activations = GATES[make.schema.name]
    # The recurrence has the hidden size squared, and a bias has two numbers for each row of the weights.
    width, *hidden = make.shape(3, MATRICES)
    size, direction = min(hidden), make.enumerator("Direction")
    share = max(width, 2 * size)
    # Over a long sequence, most activations overflow.
    sequence = make.source.integer(1, max(1, min(LONGEST, make.max_elements // share)))
    (batch,) = make.shape(1, share * sequence)
    directions = 2 if direction == DML_RECURRENT_NETWORK_DIRECTION_BIDIRECTIONAL else 1
    optional = [entry for entry in make.schema.struct.tensors if entry.optional]
    outputs = [entry.name for entry in optional if entry.role == "output"]
    present = {*make.some(*(entry.name for entry in optional)), make.source.choice(outputs[:2])}
    # Activations for which Microsoft's library has no GRU and LSTM kernels.
    uncompiled = () if make.schema.name == "RNN" else ("ACTIVATION_CELU",)
    return {
        "InputTensor": [1, sequence, batch, width],
        "RecurrenceTensor": [1, directions, gates * size, size],
        "Direction": direction,
        "ActivationDescs": [make.activation(*uncompiled) for _ in range(directions * activations)],
        "present": present,
    }
