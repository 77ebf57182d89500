"""``docs/_static/graph.svg``: the compiled graph that README.md shows."""

from __future__ import annotations

from pathlib import Path

import directml_py as dml
from directml_py.graph import Graph
from directml_py.kernels.backend import backend

TARGET = "docs/_static/graph.svg"


def generate(root: Path) -> dict[str, str]:
    """A split that costs nothing, and four operators that run in one pass. Only native kernels fuse operators: without
    them the picture stays as it is."""
    if backend.native is None:
        return {TARGET: (root / TARGET).read_text(encoding="utf-8")}
    graph = Graph()
    x = graph.input_tensor("x", dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1, 1, 4, 8])
    left, right = graph.split(x, axis=3, sizes=[4, 4])
    graph.compile({"length": graph.element_wise_sqrt(left * left + right * right)})
    return {TARGET: graph.to_svg()}
