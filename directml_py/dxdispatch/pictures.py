"""The graph to draw for a file: what DirectML gets from a DxDispatch model or a serialized graph."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..graph import Graph
from .graph_reading import read_graph
from .graph_values import graph_of_operator
from .json_text import parse_json
from .model import Dispatchable, ForeignDispatchable, OperatorDispatchable, parse_dispatchables
from .model_error import ModelError
from .model_files import read_file
from .serialized_graph import SerializedGraph

__all__ = ["ModelError", "graph_in"]


def graph_in(path: Path) -> Graph | None:
    """The graph of a serialized graph, or all dispatchables of a model in one; None if the file is neither.

    Where there are several, inputs and outputs begin with the dispatchable's name (``gemm.ATensor``). Raises
    ``OSError`` for a file that cannot be read, ``ModelError`` for what cannot be drawn.
    """
    content = path.read_bytes()
    # An offset below 16 MiB, which no text begins with.
    if b"\0" in content[:4]:
        return read_graph(content).to_graph()
    try:
        top = parse_json(content)
    except ModelError:
        return None
    if not isinstance(top, dict) or "dispatchables" not in top:
        return None
    return graph_of_model(parse_dispatchables(top, path.parent))


def graph_of_model(dispatchables: Mapping[str, Dispatchable]) -> Graph:
    """Raises ``ModelError`` for what is no DirectML."""
    graph = Graph()
    for name, one in dispatchables.items():
        _content(one).add_to(graph, f"{name}." if len(dispatchables) > 1 else "")
    return graph


def _content(one: Dispatchable) -> SerializedGraph:
    if isinstance(one, ForeignDispatchable):
        raise ModelError(f"'{one.name}' cannot be drawn: {one.needs}")
    if isinstance(one, OperatorDispatchable):
        return graph_of_operator(one.desc, one.name)
    return read_graph(read_file(one.source))
