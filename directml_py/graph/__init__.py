"""Building, running, saving and drawing graphs, in the vocabulary of DirectMLX."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..late import loading
from .compiled import CompiledGraph
from .expression import Expression
from .graph import Graph
from .json_reader import GraphFileError
from .tensor_policies import TensorPolicy, TensorProperties, interleaved_channel, packed

__all__ = [
    "CompiledGraph",
    "Expression",
    "Graph",
    "GraphFileError",
    "TensorPolicy",
    "TensorProperties",
    "interleaved_channel",
    "load",
    "packed",
    "save",
]

if TYPE_CHECKING:
    from .saving import load, save
else:

    def __getattr__(name: str) -> object:
        # Most programs save and load no graph.
        if name not in ("load", "save"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        with loading:
            from . import saving
        value = globals()[name] = getattr(saving, name)
        return value
