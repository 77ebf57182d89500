"""Building, running and drawing graphs, in the vocabulary of DirectMLX."""

from __future__ import annotations

from .compiled import CompiledGraph
from .expression import Expression
from .graph import Graph
from .inference import TensorPolicy, TensorProperties, interleaved_channel, packed

__all__ = [
    "CompiledGraph",
    "Expression",
    "Graph",
    "TensorPolicy",
    "TensorProperties",
    "interleaved_channel",
    "packed",
]
