"""Two branches between a SPLIT and a JOIN: one graph, in which both are elided, so that nothing is copied.

Each row is split into a left and a right part; the left one is scaled, the right one reduced to its maximum; the
results are joined again.
"""

from __future__ import annotations

import sys

import numpy as np

import directml_py as dml
from directml_py.graph import Graph


def main() -> int:
    graph = Graph()
    rows = graph.input_tensor("rows", dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1, 1, 3, 6])
    left, right = graph.split(rows, axis=3, sizes=[2, 4])
    with graph.name_scope("left"):
        scaled = left * 10 + 1
    with graph.name_scope("right"):
        largest = graph.reduce(right, function=dml.DML_REDUCE_FUNCTION_MAX, axes=[3])
    joined = graph.join([scaled, largest], axis=3)

    compiled = graph.compile({"joined": joined})
    for step in compiled.plan.steps:
        print(f"{step.name:31}  {'folded away' if step.folded else 'runs'}")
    print("temporary memory:", compiled.operator.GetBindingProperties().TemporaryResourceSize, "bytes")

    numbers = np.array([[0, 1, 5, 3, 4, 2], [2, 3, 1, 9, 0, 4], [4, 5, 7, 7, 6, 8]], np.float32)
    print(compiled.run({"rows": numbers.reshape(1, 1, 3, 6)})["joined"].reshape(3, 3))
    return 0


if __name__ == "__main__":
    sys.exit(main())
