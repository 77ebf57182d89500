"""A desc's kernel against the NumPy reference of its operator."""

from __future__ import annotations

import numpy as np

from directml_py.operators import kernel_of, operator_of
from directml_py.operators.operator import Operator, computing_kernel
from directml_py.testing.ulps import ulps_apart

from .records import RECORDS, fused_into, tolerance


def has_twin(operator):
    """Whether there are two ways to compute an operator."""
    kind = type(operator_of(operator))
    return kind.compute is not Operator.compute and kind.kernel is not Operator.kernel


def reads_outputs(desc):
    """Whether previous contents of outputs are inputs: a past that is expected in the tensors of the present."""
    if desc.name != "MULTIHEAD_ATTENTION1":
        return False
    return desc.PastSequenceLengthsTensor is not None and desc.PastKeyTensor is None


def check(desc, inputs, cancels=False):
    """Assert that both give the same bits, functions within their tolerances, whatever the outputs held before.

    ``cancels``: inputs may be such that terms cancel.
    """
    twins = RECORDS[desc.name].twins
    if twins.dyadic:
        inputs = [
            x if x is None or x.dtype.kind != "f" else np.round(x * 8) / x.dtype.type(8) for x in inputs
        ]
    if twins.positive:
        inputs = [None if x is None else np.abs(x) for x in inputs]
    results = []
    # Previous contents must not show, not even through zeros that some operators write. Those that are inputs are 0,
    # as the reference has none.
    differ = not reads_outputs(desc)
    for before, kernel in enumerate(
        (kernel_of(desc), computing_kernel(operator_of(desc.name).compute(desc)))
    ):
        outputs = [
            None
            if slot.tensor is None
            else np.full(slot.tensor.sizes, (1 + before) * differ, slot.tensor.dtype)
            for slot in desc.outputs
        ]
        kernel.bind(inputs, outputs, np.empty(kernel.scratch, np.uint8))()
        results.append(outputs)
    fused = fused_into(desc)
    is_function = any(RECORDS[one.name].is_function for one in (desc, fused) if one is not None)
    for one, other in zip(*results):
        is_float = one is not None and one.dtype.kind == "f"
        allowed = 0
        if is_float and (is_function or twins.dyadic):
            allowed = tolerance(desc, one.dtype)
            allowed = allowed if twins.ulps is None else min(allowed, twins.ulps)
        if is_float and cancels and twins.largest is not None:
            unit = twins.largest * np.spacing(np.abs(other[np.isfinite(other)]).max(initial=0))
            np.testing.assert_allclose(one, other, rtol=0, atol=unit)
        elif allowed:
            assert ulps_apart(one, other).max(initial=0) <= allowed
        else:
            np.testing.assert_array_equal(one, other)
