"""Building, running, keeping and drawing graphs, in the vocabulary of DirectMLX."""

from .compiled import CompiledGraph
from .expression import Expression
from .files import GraphFileError, load, save
from .graph import Graph
from .policies import TensorPolicy, TensorProperties, interleaved_channel, packed

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
