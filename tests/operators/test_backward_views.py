"""Kernels read views with negative strides, which graphs create for reversed slices."""

from __future__ import annotations

import numpy as np
import pytest

from directml_py.operators import SCHEMAS, kernel_of
from directml_py.testing.decision_source import RandomSource
from directml_py.testing.valid_descs import valid_desc

from .values import arrays_for

SEEDS = 6


@pytest.mark.parametrize("operator", sorted(SCHEMAS))
def test_inputs_may_lie_backwards(operator):
    """The elements are the same, the last one first in memory."""
    for seed in range(SEEDS):
        desc = valid_desc(RandomSource(seed), operator)
        inputs = [None if x is None else exact(x) for x in arrays_for(desc, seed)]
        backward = [None if x is None else np.flip(np.flip(x).copy()) for x in inputs]
        for one, other in zip(results(desc, inputs), results(desc, backward)):
            np.testing.assert_array_equal(one, other)


def exact(x):
    """Floats whose products have exact sums: BLAS sums in another order where it must copy a matrix."""
    return (np.round(x * 8) / 8).astype(x.dtype) if x.dtype.kind == "f" else x


def results(desc, inputs):
    kernel = kernel_of(desc)
    outputs = [
        None if slot.tensor is None else np.zeros(slot.tensor.sizes, slot.tensor.dtype)
        for slot in desc.outputs
    ]
    kernel.bind(inputs, outputs, np.empty(kernel.scratch, np.uint8))()
    return outputs
