"""Optimizers for training."""

from __future__ import annotations

import numpy as np

from ..descs.operator_desc import OperatorDesc
from ..kernels.native_arrays import Array, Run
from ..validation.report import Report
from .operator import Compute, ElementWise, Inputs, Kernel, Outputs, Shapes, operator, own_rule

_STEP = own_rule("ADAM_OPTIMIZER", "training-step", "Training steps are counted from 1", debug=True)


@operator("ADAM_OPTIMIZER")
class AdamOptimizer(ElementWise):
    """One step of Adam (ns-directml-dml_adam_optimizer_operator_desc).

    The page lets programs begin with step 0, at which its formula is 0 / 0; Microsoft's library then skips the bias
    correction, and the debug layer warns. TensorFlow's plugin also counts from 1. Parameters are updated from the
    unrounded moments.
    """

    def shapes(self, desc: OperatorDesc) -> Shapes:
        return {"TrainingStepTensor": (1,) * desc.TrainingStepTensor.dimension_count}

    def compute(self, desc: OperatorDesc) -> Compute:
        rate, epsilon = desc.LearningRate, desc.Epsilon
        beta1, beta2 = np.float64(desc.Beta1), np.float64(desc.Beta2)

        def stepped(
            parameters: Array, first: Array, second: Array, gradient: Array, step: Array
        ) -> tuple[Array, Array, Array]:
            count = np.float64(step.flat[0])
            correction = np.sqrt(1 - beta2**count) / (1 - beta1**count) if count else np.float64(1)
            first = beta1 * first + (1 - beta1) * gradient
            second = beta2 * second + (1 - beta2) * np.square(gradient, dtype=np.float64)
            change = rate * correction * first / (np.sqrt(second) + epsilon)
            return parameters - change, first, second

        return stepped

    def kernel(self, desc: OperatorDesc) -> Kernel:
        """The training step may have any dimension count."""
        ones = (1,) * desc.InputParametersTensor.dimension_count
        update = super().kernel(desc)

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            *others, step = inputs
            return update.bind([*others, step.reshape(ones)], outputs, scratch)

        return Kernel(bind)

    def inspect(self, desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
        step = inputs[4].flat[0]
        if step == 0:
            text = "is 0, at which the moments are not bias-corrected; it must be at least 1"
            report.add(_STEP, "TrainingStepTensor", text)
