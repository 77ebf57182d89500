"""Past sequence lengths that leave no room for the new keys."""

from __future__ import annotations

import numpy as np

import directml_py as dml

from ..operators.helpers import tensor
from .hazard import hazard


@hazard(
    "DML-MULTIHEAD_ATTENTION1-past-length-range",
    "lengths outside [0, 3], 2 of 4",
    "first is 4 at {1}",
    path="PastSequenceLengthsTensor",
)
def a_past_without_room_for_new_keys(bench, wrong):
    new, present = tensor("FLOAT32", (4, 2, 1)), tensor("FLOAT32", (4, 1, 5, 1))
    desc = dml.DML_MULTIHEAD_ATTENTION1_OPERATOR_DESC(
        **dict.fromkeys(("QueryTensor", "KeyTensor", "ValueTensor", "OutputTensor"), new),
        **dict.fromkeys(("OutputPresentKeyTensor", "OutputPresentValueTensor"), present),
        PastSequenceLengthsTensor=tensor("INT32", (4,)),
        QueryHeadCount=1,
        KeyValueHeadCount=1,
    )
    op = bench.ready(desc)
    lengths = np.array([0, 4, 3, -1] if wrong else [0, 1, 3, 2], np.int32)
    inputs = [
        None
        if slot.tensor is None
        else bench.buffer(32, data=lengths if slot.tensor.dtype == np.int32 else None)
        for slot in op.inputs
    ]
    bench.dispatch(op, inputs, [bench.buffer(32), bench.buffer(80), bench.buffer(80)])
    bench.execute()
