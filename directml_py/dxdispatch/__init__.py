"""DxDispatch models: run them here, or export work as models to run on Windows.

``load(path)`` reads a model, ``Model.run()`` runs it; ``save`` writes an operator desc or a graph as a model.
``load_graph`` and ``save_graph`` are for serialized graphs only, the FlatBuffers that ONNX Runtime's DirectML
execution provider writes.
"""

from .model import Model, load
from .model_export import load_graph, save, save_graph
from .model_files import ModelError
from .model_run import Log, RunOptions

__all__ = ["Log", "Model", "ModelError", "RunOptions", "load", "load_graph", "save", "save_graph"]
