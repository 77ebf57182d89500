"""DxDispatch's models: run here, and written so that they run on Windows.

``load(path)`` reads a model, ``Model.run()`` runs it; ``save`` writes an operator desc or a graph as one.
``load_graph`` and ``save_graph`` are for serialized graphs alone, the FlatBuffers that ONNX Runtime's DirectML
provider writes.
"""

from .errors import ModelError
from .execution import Log, RunOptions
from .export import load_graph, save, save_graph
from .model import Model, load

__all__ = ["Log", "Model", "ModelError", "RunOptions", "load", "load_graph", "save", "save_graph"]
