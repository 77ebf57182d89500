"""ONNX Runtime sessions, where it and the package ``onnx`` are installed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

try:
    onnx: Any = import_module("onnx")
    onnxruntime: Any = import_module("onnxruntime")
except ImportError:
    onnx = onnxruntime = None


def session(model: bytes, threads: int) -> Any:
    """Create a session. Raises ONNX Runtime's exceptions, which have no common base, for unsupported models."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
