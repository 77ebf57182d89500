"""Kernel selection: which kernel runs an operator, and why other kernels decline it."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent
from typing import Any

import numpy as np

from ..abi.hresult import DMLError
from ..d3d12 import D3D12CreateDevice
from ..descs import encode
from ..dml import DMLCreateDevice
from ..dxdispatch.json_values import parse_json
from ..dxdispatch.model import OperatorDispatchable, parse_dispatchables
from ..dxdispatch.model_files import ModelError
from ..kernels.backend import backend
from ..kernels.decisions import Decisions
from ..session import Session
from ..storage import read_regular

# Native kernels that the NumPy path also uses, to convert elements.
CONVERSIONS = {"half"}


def kernels_of(model: Path) -> str:
    """The kernels of each operator of a DxDispatch model. Raises ``OSError`` for an unreadable file, ``ValueError`` for
    an invalid model or one that cannot be run."""
    try:
        top = parse_json(read_regular(model))
        if not isinstance(top, dict) or "dispatchables" not in top:
            raise ModelError("no dispatchables")
        dispatchables = parse_dispatchables(top, model.parent)
    except ModelError as error:
        raise ValueError(f"{model} is not a model: {error}") from None
    paragraphs = []
    for name, dispatchable in dispatchables.items():
        lines = "kernel: not a DirectML operator"
        if isinstance(dispatchable, OperatorDispatchable):
            try:
                lines = kernel_lines(encode(dispatchable.desc))
            except DMLError as error:
                raise ValueError(f"{name} cannot be run: {error}") from None
        paragraphs.append(f"{name}\n{indent(lines, '  ')}")
    return "\n\n".join(paragraphs)


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
