"""Sequence lengths that exceed the input."""

from __future__ import annotations

import numpy as np

import directml_py as dml

from ..operators.helpers import tensor
from .hazard import hazard

# Gates, and activations.
NETWORKS = {"RNN": (1, 1), "GRU": (3, 2), "LSTM": (4, 3)}


def lengths_in(name):
    """A scenario with three sequences of up to two elements."""
    gates, activations = NETWORKS[name]

    def too_long_a_sequence(bench, wrong):
        matrix = tensor("FLOAT32", (1, 1, gates, 1))
        op = bench.ready(
            getattr(dml, f"DML_{name}_OPERATOR_DESC")(
                InputTensor=tensor("FLOAT32", (1, 2, 3, 1)),
                WeightTensor=matrix,
                RecurrenceTensor=matrix,
                SequenceLengthsTensor=tensor("UINT32", (1, 1, 1, 3)),
                OutputSequenceTensor=tensor("FLOAT32", (2, 1, 3, 1)),
                ActivationDescs=[dml.DML_ACTIVATION_TANH_OPERATOR_DESC()] * activations,
                Direction=dml.DML_RECURRENT_NETWORK_DIRECTION_BACKWARD,
            )
        )
        lengths = np.array([0, 3, 2**32 - 1] if wrong else [0, 2, 1], np.uint32)
        inputs = [
            None
            if slot.tensor is None
            else bench.buffer(24, data=lengths if slot.path == "SequenceLengthsTensor" else None)
            for slot in op.inputs
        ]
        outputs = [None if slot.tensor is None else bench.buffer(24) for slot in op.outputs]
        bench.dispatch(op, inputs, outputs)
        bench.execute()

    return too_long_a_sequence


for network in NETWORKS:
    says = "has 3 at {0,0,0,1}; the sequences of InputTensor have 2 elements"
    hazard(f"DML-{network}-sequence-lengths", says, path="SequenceLengthsTensor")(lengths_in(network))
