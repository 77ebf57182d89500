"""Outputs in place of inputs of the same layout in memory or ranges of another size."""

from __future__ import annotations

import directml_py as dml

from ..dml.helpers import tensor
from .hazard import binding, hazard


@hazard("DML-Binding-in-place-total-size", "FLOAT32 {1,1,1,4} in 32 bytes", "total size", path="outputs[0]")
def more_bytes_than_the_output(bench, wrong):
    x = tensor(4, total_size=32)
    out = tensor(4, total_size=16 if wrong else 32)
    op = bench.ready(dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(x, out))
    buffer = bench.buffer(32)
    bench.dispatch(op, [buffer], [buffer])
    bench.execute()


@hazard("DML-Binding-in-place-total-size", "both must be the same bytes", path="outputs[0]")
def more_bytes_bound_than_to_the_output(bench, wrong):
    op, buffer = (
        bench.ready(dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(tensor(4), tensor(4))),
        bench.buffer(32),
    )
    bench.dispatch(op, [binding(buffer, 0, 32 if wrong else 16)], [binding(buffer, 0, 16)])
    bench.execute()
