"""ONNX models as DirectML graphs, with each node mapped as ONNX Runtime's DirectML execution provider maps it.

``load`` returns a ``Model``, which runs on arrays and whose ``graph`` can be inspected, saved and compiled elsewhere.
Needs the package ``onnx``.
"""

from __future__ import annotations

try:
    import onnx as _onnx  # noqa: F401
except ImportError as _error:
    raise ImportError("directml_py.onnx needs the package onnx: pip install 'directml-py[onnx]'") from _error

from .budget import Limits
from .errors import OnnxError
from .onnx_model import Model, load

__all__ = ["Limits", "Model", "OnnxError", "load"]
