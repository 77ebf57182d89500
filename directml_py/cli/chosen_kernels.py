"""Which kernel runs an operator, and why others do not."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..d3d12 import D3D12CreateDevice
from ..dml import DMLCreateDevice
from ..kernels.backend import backend
from ..kernels.decisions import Decisions
from ..session import Session

# What converts elements for NumPy, too.
CONVERSIONS = {"half"}


def kernel_lines(desc: Any) -> str:
    """``kernel: ...``, and a line for each native kernel that declined, with its reason.

    ``desc`` is what CreateOperator takes. The operator is compiled and run, on zeros. Raises ``DMLError`` for one that
    cannot be.
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
