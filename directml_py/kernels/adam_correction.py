"""The factor that corrects the bias of ADAM_OPTIMIZER's moments, in the native kernel."""

from __future__ import annotations

from .backend import backend
from .decisions import ABSENT, Declined
from .launch import NativeRun
from .native_arrays import Array, Run, address


def adam_correction(training_step: Array, parts: Array, beta1: float, beta2: float) -> Run | Declined:
    """The call that stores the FLOAT32 ``parts`` of the factor for a training step, which is UINT32."""
    if backend.native is None:
        return Declined("elementwise", ABSENT)
    task = backend.native.ffi.new("dml_adam_correction *", {"beta1": beta1, "beta2": beta2})
    task.training_step, task.parts = address(training_step), address(parts)
    return NativeRun("dml_adam_correction_run", task, keepalive=(training_step, parts))
