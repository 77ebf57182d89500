"""Values for which a formula is undefined."""

from __future__ import annotations

import numpy as np

import directml_py as dml

from ..operators.helpers import tensor
from .hazard import hazard


@hazard("DML-ADAM_OPTIMIZER-training-step", "is 0", path="TrainingStepTensor")
def counting_steps_from_0(bench, wrong):
    fields = [field for field, _ in dml.DML_ADAM_OPTIMIZER_OPERATOR_DESC._fields_ if field.endswith("Tensor")]
    tensors = {name: tensor("FLOAT32", [1, 1, 1, 4]) for name in fields}
    tensors["TrainingStepTensor"] = tensor("UINT32", [1, 1, 1, 1])
    attributes = {"LearningRate": 0.01, "Beta1": 0.9, "Beta2": 0.999, "Epsilon": 1e-8}
    op = bench.ready(dml.DML_ADAM_OPTIMIZER_OPERATOR_DESC(**tensors, **attributes))
    step = bench.buffer(4, data=np.array([0 if wrong else 1], np.uint32))
    zeros = [bench.buffer(16, data=np.zeros(4, np.float32)) for _ in range(4)]
    bench.dispatch(op, [*zeros, step], [bench.buffer(16) for _ in range(3)])
    bench.execute()


@hazard(
    "DML-ELEMENT_WISE_ATAN_YX-origin",
    "1 pair of elements that are 0 in BTensor too; the first is at {0,0,0,3}",
    path="ATensor",
)
def the_angle_of_the_origin(bench, wrong):
    """A point on an axis has an angle, for zeros of either sign."""
    four = tensor("FLOAT32", [1, 1, 1, 4])
    op = bench.ready(dml.DML_ELEMENT_WISE_ATAN_YX_OPERATOR_DESC(four, four, four))
    y, x = [1, 0, -0.0, 0], [0, 2, -2, -0.0 if wrong else 1]
    points = [bench.buffer(16, data=np.array(axis, np.float32)) for axis in (y, x)]
    bench.dispatch(op, points, [bench.buffer(16)])
    bench.execute()
