"""The graph to draw for a file: the DirectML graph of a DxDispatch model or a serialized graph."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..graph import Graph
from ..storage import read_regular
from .graph_reading import read_graph
from .graph_values import graph_of_operator
from .json_values import parse_json
from .model import Dispatchable, ForeignDispatchable, OperatorDispatchable, parse_dispatchables
from .model_error import ModelError
from .model_files import read_file
from .serialized_graph import SerializedGraph

__all__ = ["ModelError", "graph_in"]


def graph_in(path: Path) -> Graph:
    """The graph of a serialized graph, or of all dispatchables of a model.

    With several dispatchables, names of inputs and outputs begin with the dispatchable's (``gemm.ATensor``). Raises
    ``OSError`` for a file that cannot be read, ``ModelError`` for one that is neither and for what cannot be drawn.
    """
    content = read_regular(path)
    # A FlatBuffer begins with an offset below 16 MiB, so with a zero byte that text does not have.
    if b"\0" in content[:4]:
        return read_graph(content).to_graph()
    try:
        top = parse_json(content)
        if not isinstance(top, dict) or "dispatchables" not in top:
            raise ModelError("it has no dispatchables")
    except ModelError as error:
        raise ModelError(f"neither a serialized graph nor a model: {error}") from None
    return graph_of_model(parse_dispatchables(top, path.parent))


def graph_of_model(dispatchables: Mapping[str, Dispatchable]) -> Graph:
    """All dispatchables in one graph. Raises ``ModelError`` for those that are not DirectML's."""
    graph = Graph()
    for name, dispatchable in dispatchables.items():
        _content(dispatchable).add_to(graph, f"{name}." if len(dispatchables) > 1 else "")
    return graph


def _content(dispatchable: Dispatchable) -> SerializedGraph:
    if isinstance(dispatchable, ForeignDispatchable):
        raise ModelError(f"'{dispatchable.name}' cannot be drawn: {dispatchable.needs}")
    if isinstance(dispatchable, OperatorDispatchable):
        return graph_of_operator(dispatchable.desc, dispatchable.name)
    return read_graph(read_file(dispatchable.source))
