"""Activations that the page does not list among the fused ones, which Microsoft's library fuses all the same."""

from __future__ import annotations

import numpy as np
import pytest

import directml_py as dml

from ..operators.helpers import tensor

ROWS = np.array([[-2.0, -0.5], [0.25, 3.0]], np.float32)
ALL = (1, 1, 2, 2)


@pytest.mark.parametrize(
    ("activation", "function"),
    [
        (dml.DML_ACTIVATION_SWISH_OPERATOR_DESC(SigmoidInputScale=2.0), lambda x: x / (1 + np.exp(-2 * x))),
        (
            dml.DML_ACTIVATION_HARD_SWISH_OPERATOR_DESC(Alpha=0.5, Beta=0.25),
            lambda x: x * np.clip(0.5 * x + 0.25, 0, 1),
        ),
    ],
)
def test_fused_into_a_product(activation, function):
    desc = dml.DML_GEMM_OPERATOR_DESC(
        ATensor=tensor("FLOAT32", ALL),
        BTensor=tensor("FLOAT32", ALL),
        OutputTensor=tensor("FLOAT32", ALL),
        Alpha=1.0,
        FusedActivation=activation,
    )
    (found,) = dml.evaluate(desc, [ROWS.reshape(ALL), np.eye(2, dtype=np.float32).reshape(ALL), None])
    np.testing.assert_allclose(found, function(ROWS.astype(np.float64)).reshape(ALL), rtol=1e-6)
