"""Outputs in place of inputs of the same layout in memory of another size."""

from __future__ import annotations

import directml_py as dml

from ..dml.helpers import tensor
from .hazard import hazard


@hazard("DML-Binding-in-place-total-size", "FLOAT32 {1,1,1,4} in 32 bytes", "total size", path="outputs[0]")
def more_bytes_than_the_output(bench, wrong):
    x = tensor(4, total_size=32)
    out = tensor(4, total_size=16 if wrong else 32)
    op = bench.ready(dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(x, out))
    buffer = bench.buffer(32)
    bench.dispatch(op, [buffer], [buffer])
    bench.execute()
