"""Kernel selection: which kernel runs an operator, and why other kernels decline it."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

from ..abi.hresult import DMLError
from ..d3d12 import D3D12CreateDevice
from ..descs import encode
from ..dml import DMLCreateDevice
from ..dxdispatch.graph_reading import read_graph
from ..dxdispatch.json_values import parse_json
from ..dxdispatch.model import Dispatchable, GraphDispatchable, OperatorDispatchable, parse_dispatchables
from ..dxdispatch.model_files import ModelError, read_file
from ..graph import CompiledGraph
from ..shortcuts import explain
from ..storage import read_regular


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
        return str(explain(encode(dispatchable.desc)))
    if isinstance(dispatchable, GraphDispatchable):
        graph = read_graph(read_file(dispatchable.source)).to_graph(DMLCreateDevice(D3D12CreateDevice()))
        return str(explain(CompiledGraph(graph).operator))
    return "kernel: not a DirectML operator"
