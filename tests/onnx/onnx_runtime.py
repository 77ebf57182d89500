"""ONNX Runtime's CPU provider, which models are compared with."""

from __future__ import annotations

from toolchain import need_package


def session_of(model, **choices):
    """A session for a model, its bytes or its path; ``choices`` are attributes of the session's options."""
    onnxruntime = need_package("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    for name, value in choices.items():
        setattr(options, name, value)
    content = model if isinstance(model, (str, bytes)) else model.SerializeToString()
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def results_of(model, feeds):
    return session_of(model).run(None, feeds)


def results_if_accepted(model, feeds):
    """The outputs of a small model; None for what ONNX Runtime refuses."""
    try:
        return session_of(model, intra_op_num_threads=1).run(None, feeds)
    except Exception:
        return None
