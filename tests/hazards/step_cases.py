"""A training step at which a formula has no result."""

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
