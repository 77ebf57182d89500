"""A desc's kernel against the NumPy reference of its operator."""

from __future__ import annotations

import numpy as np

from directml_py.operators import kernel_of, operator_of
from directml_py.operators.operator import Operator, computing_kernel
from directml_py.testing.tolerances import FUNCTION_TOLERANCES, ulps_apart

from .references.tolerances import tolerance

# Their kernels and references sum in different orders, which shows unless all sums are exact.
ATTENTION = ("MULTIHEAD_ATTENTION", "MULTIHEAD_ATTENTION1")
SUMS_OF_PRODUCTS = ("GEMM", "GRU", "LSTM", "RNN", *ATTENTION)
# The functions of a step differ by some ULPs, and sums in later steps may cancel.
APART = {**dict.fromkeys(("GRU", "LSTM", "RNN"), 64), **dict.fromkeys(ATTENTION, 4)}
# How far they may be apart where terms cancel, in units of the largest element: BATCH_NORMALIZATION's kernel computes
# in FLOAT32 where that is safe, and sums of many steps lose what is small.
CANCELLING = {"BATCH_NORMALIZATION": 2, **dict.fromkeys(("GRU", "LSTM", "RNN"), 128)}


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
    if desc.name in SUMS_OF_PRODUCTS:
        inputs = [
            x if x is None or x.dtype.kind != "f" else np.round(x * 8) / x.dtype.type(8) for x in inputs
        ]
    if desc.name in ATTENTION:
        # Weights are rounded, so that products must not cancel.
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
    fused = desc.FusedActivation if "FusedActivation" in desc.struct.index else None
    functions = {desc.name} if fused is None else {desc.name, fused.name}
    may_differ = functions & FUNCTION_TOLERANCES.keys() or desc.name in SUMS_OF_PRODUCTS
    for one, other in zip(*results):
        allowed = 0
        if one is not None and one.dtype.kind == "f" and may_differ:
            allowed = tolerance(desc, one.dtype)
            allowed = min(allowed, APART.get(desc.name, allowed))
        if cancels and desc.name in CANCELLING and one is not None and one.dtype.kind == "f":
            largest = np.abs(other[np.isfinite(other)]).max(initial=0)
            unit = CANCELLING[desc.name] * np.spacing(largest)
            np.testing.assert_allclose(one, other, rtol=0, atol=unit)
        elif allowed:
            assert ulps_apart(one, other).max(initial=0) <= allowed
        else:
            np.testing.assert_array_equal(one, other)
