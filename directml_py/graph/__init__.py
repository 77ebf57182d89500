"""Building, running, saving and drawing graphs, in the vocabulary of DirectMLX."""

from .compiled import CompiledGraph
from .expression import Expression
from .graph import Graph
from .saving import GraphFileError, load, save
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
