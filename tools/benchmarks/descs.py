"""The cost of validating, decoding and compiling a desc."""

from __future__ import annotations

from collections.abc import Iterator

import directml_py as dml
from directml_py.descs import decode_operator_desc
from directml_py.operators import check

from .interleaved_timing import interleaved
from .runs import OURS, Row
from .timing_samples import device, join_desc

LEVEL = dml.DML_FEATURE_LEVEL_6_4


def rows() -> Iterator[Row]:
    join, made = join_desc(3, 4), device()

    def create() -> object:
        return made.CompileOperator(made.CreateOperator(join))

    probed = interleaved(
        {
            "decode": lambda: decode_operator_desc(join),
            "validate": lambda: check(join, LEVEL),
            "create": create,
        }
    )
    dml.set_memory_probing(False)
    try:
        bare = interleaved(
            {"decode": lambda: decode_operator_desc(join), "validate": lambda: check(join, LEVEL)}
        )
    finally:
        dml.set_memory_probing(True)
    for name, what in (("validate", "validate a JOIN of three tensors"), ("decode", "decode it")):
        sides = {OURS: probed[name], "without probing": bare[name]}
        yield Row(f"descs {what} with probed memory", sides)
    yield Row("descs CreateOperator + CompileOperator", {OURS: probed["create"]})
