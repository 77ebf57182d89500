"""Kernel selection: which kernel runs an operator, and why other kernels decline it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..d3d12 import D3D12CreateDevice
from ..dml import DMLCreateDevice
from ..kernels.backend import backend
from ..kernels.decisions import Decisions
from ..session import Session

# Native kernels that the NumPy path also uses, to convert elements.
CONVERSIONS = {"half"}


def kernel_lines(desc: Any) -> str:
    """``kernel: ...``, then one line per native kernel that declined, with its reason.

    ``desc`` is an operator desc as CreateOperator takes it. The operator is compiled and run on zeros. Raises
    ``DMLError`` if that fails.
    """
    session = Session(DMLCreateDevice(D3D12CreateDevice()))
    with Decisions() as decisions:
        compiled = session.compile(desc)
        tensors = [slot.tensor for slot in compiled.inputs]
        session.evaluate(
            compiled, [None if tensor is None else np.zeros(tensor.sizes, tensor.dtype) for tensor in tensors]
        )
    lines = [f"kernel: {title(decisions.kernels)}"]
    lines += [
        f"  not {declined}" for declined in decisions.declined if declined.kernel not in decisions.kernels
    ]
    return "\n".join(lines)


def title(kernels: list[str]) -> str:
    computing = [name for name in kernels if name not in CONVERSIONS]
    if computing:
        return f"{', '.join(computing)}, native ({backend.isa})"
    return f"NumPy, with {', '.join(kernels)}, native ({backend.isa})" if kernels else "NumPy"
