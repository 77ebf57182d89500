"""Optimizers for training."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from ..descs.operator_desc import OperatorDesc
from ..kernels.adam_correction import adam_correction
from ..kernels.launch import launch_in_order
from ..kernels.native_arrays import Array, Run
from ..validation.report import Report
from .operator import (
    Compute,
    Inputs,
    Kernel,
    Operator,
    Outputs,
    Shapes,
    mapping_kernel,
    operator,
    operator_rule,
)

_TRAINING_STEP = operator_rule(
    "ADAM_OPTIMIZER", "training-step", "Training steps are counted from 1", debug=True
)


# A FLOAT64 is the sum of so many FLOAT32 numbers.
PARTS = 3


def split(number: float) -> list[np.float32]:
    """``PARTS`` FLOAT32 numbers whose sum is ``number`` exactly, the largest first."""
    parts = []
    for _ in range(PARTS):
        parts.append(np.float32(number))
        number = number - float(parts[-1]) if isfinite(number) else 0.0
    return parts


@operator("ADAM_OPTIMIZER")
class AdamOptimizer(Operator):
    """One step of Adam (ns-directml-dml_adam_optimizer_operator_desc).

    The page lets programs begin with step 0, at which its formula is 0 / 0; Microsoft's library then skips the bias
    correction, and the debug layer warns. TensorFlow's plugin also counts from 1. Parameters are updated from the
    unrounded moments.
    """

    def shapes(self, desc: OperatorDesc) -> Shapes:
        return {"TrainingStepTensor": (1,) * desc.TrainingStepTensor.dimension_count}

    def compute(self, desc: OperatorDesc) -> Compute:
        update = self.update(desc)

        def stepped(*tensors: Array) -> tuple[Array, Array, Array]:
            *others, training_step = tensors
            updated: tuple[Array, Array, Array] = update(*others, self.correction(desc, training_step))
            return updated

        return stepped

    def correction(self, desc: OperatorDesc, training_step: Array) -> float:
        """The factor that corrects the bias of both moments."""
        count = np.float64(training_step.flat[0])
        if count == 0:
            return 1.0
        with np.errstate(all="ignore"):
            return float(np.sqrt(1 - np.float64(desc.Beta2) ** count) / (1 - np.float64(desc.Beta1) ** count))

    def update(self, desc: OperatorDesc) -> Compute:
        """The new parameters and moments, as an element-wise function of four tensors and the correction."""
        rate, epsilon = desc.LearningRate, desc.Epsilon
        beta1, beta2 = np.float64(desc.Beta1), np.float64(desc.Beta2)

        def updated(
            parameters: Array, first: Array, second: Array, gradient: Array, correction: Any
        ) -> tuple[Array, Array, Array]:
            first = beta1 * first + (1 - beta1) * gradient
            second = beta2 * second + (1 - beta2) * np.square(gradient, dtype=np.float64)
            change = rate * correction * first / (np.sqrt(second) + epsilon)
            return parameters - change, first, second

        return updated

    def kernel(self, desc: OperatorDesc) -> Kernel:
        """The correction, which is a power of the training step, is handed over ``split``: element-wise programs
        compute in FLOAT64, but do not load it."""
        update = self.update(desc)

        def updated(*tensors: Array) -> tuple[Array, Array, Array]:
            *others, high, middle, low = tensors
            correction = high.astype(np.float64) + middle.astype(np.float64) + low.astype(np.float64)
            results: tuple[Array, Array, Array] = update(*others, correction)
            return results

        maps = mapping_kernel(updated)
        ones = (1,) * desc.InputParametersTensor.dimension_count

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            *others, training_step = inputs
            parts = np.empty((PARTS, *ones), np.float32)

            def correct() -> None:
                parts.reshape(-1)[:] = split(self.correction(desc, training_step))

            native = adam_correction(training_step, parts, desc.Beta1, desc.Beta2)
            return launch_in_order([native or correct, maps.bind([*others, *parts], outputs, scratch)])

        return Kernel(bind)

    def inspect(self, desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
        training_step = inputs[4].flat[0]
        if training_step == 0:
            text = "is 0, at which the moments are not bias-corrected; it must be at least 1"
            report.add(_TRAINING_STEP, "TrainingStepTensor", text)
