"""Kernel selection: which kernel runs an operator, and why other kernels decline it."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent
from typing import Any

import numpy as np

from ..abi.hresult import DMLError
from ..d3d12 import D3D12CreateDevice
from ..descs import encode
from ..dml import DMLCreateDevice, IDMLCompiledOperator
from ..dxdispatch.graph_reading import read_graph
from ..dxdispatch.json_values import parse_json
from ..dxdispatch.model import Dispatchable, GraphDispatchable, OperatorDispatchable, parse_dispatchables
from ..dxdispatch.model_files import ModelError, read_file
from ..graph import CompiledGraph
from ..kernels.backend import backend
from ..kernels.decisions import Decisions
from ..session import Session
from ..storage import read_regular

# Native kernels that the NumPy path also uses, to convert elements.
CONVERSIONS = {"half"}


def kernels_of(model: Path) -> str:
    """The kernels of each operator and graph of a DxDispatch model.

    Raises ``OSError`` for an unreadable file, ``ValueError`` for an invalid model or one that cannot be run.
    """
    try:
        top = parse_json(read_regular(model))
        if not isinstance(top, dict) or "dispatchables" not in top:
            raise ModelError("no dispatchables")
        dispatchables = parse_dispatchables(top, model.parent)
    except ModelError as error:
        raise ValueError(f"{model} is not a model: {error}") from None
    paragraphs = []
    for name, dispatchable in dispatchables.items():
        try:
            lines = _lines(dispatchable)
        except (DMLError, ModelError) as error:
            raise ValueError(f"{name} cannot be run: {error}") from None
        paragraphs.append(f"{name}\n{indent(lines, '  ')}")
    return "\n\n".join(paragraphs)


def _lines(dispatchable: Dispatchable) -> str:
    if isinstance(dispatchable, OperatorDispatchable):
        return kernel_lines(encode(dispatchable.desc))
    if isinstance(dispatchable, GraphDispatchable):
        session = _session()
        graph = read_graph(read_file(dispatchable.source)).to_graph(session.dml)
        return _decided(session, CompiledGraph(graph).operator)
    return "kernel: not a DirectML operator"


def kernel_lines(desc: Any) -> str:
    """``kernel: ...``, then one line per native kernel that declined, with its reason.

    ``desc`` is an operator desc as CreateOperator takes it. The operator is compiled and run on zeros. Raises
    ``DMLError`` if that fails.
    """
    session = _session()
    return _decided(session, session.compile(desc))


def _session() -> Session:
    return Session(DMLCreateDevice(D3D12CreateDevice()))


def _decided(session: Session, compiled: IDMLCompiledOperator) -> str:
    tensors = [slot.tensor for slot in compiled.inputs]
    with Decisions() as decisions:
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
