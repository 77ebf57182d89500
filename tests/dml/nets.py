"""Graphs of the builder that are run on arrays made on the way."""

from __future__ import annotations

import numpy as np

import directml_py as dml
from directml_py.graph import Graph

FLOAT16, FLOAT32 = dml.DML_TENSOR_DATA_TYPE_FLOAT16, dml.DML_TENSOR_DATA_TYPE_FLOAT32


def normal(*sizes, seed=1, dtype=np.float32):
    return np.random.default_rng(seed).standard_normal(sizes).astype(dtype)


def operators(op):
    """What each step of a compiled graph runs."""
    return [step.operator for step in op.program.plan.steps]


class Net:
    """A graph, with the arrays that are passed to it in turn."""

    def __init__(self):
        self.graph, self.arrays = Graph(), []

    def input(self, array):
        self.arrays.append(array)
        element = FLOAT16 if array.itemsize == 2 else FLOAT32
        return self.graph.input_tensor(len(self.arrays) - 1, element, array.shape)
