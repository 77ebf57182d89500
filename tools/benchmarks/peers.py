"""The same operations in NumPy, PyTorch and ONNX Runtime, over the same arrays, into preallocated outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from .sessions import onnx, onnxruntime, session

Call = Callable[[], object]
Array = Any

try:
    torch: Any = import_module("torch")
except ImportError:
    torch = None


def versions() -> dict[str, str]:
    installed = {"NumPy": np.__version__}
    if torch is not None:
        installed["PyTorch"] = torch.__version__
    if onnxruntime is not None:
        installed["ONNX Runtime"] = onnxruntime.__version__
    return installed


def set_threads(count: int) -> None:
    """Set PyTorch's thread count; ONNX Runtime's is set for each session."""
    if torch is not None:
        torch.set_num_threads(count)


def torch_call(call: Callable[..., object], inputs: Sequence[Array], outputs: Sequence[Array]) -> Call | None:
    """``call(*inputs, *outputs)`` over tensors that share the arrays' memory; None where PyTorch is missing or has no
    such operation for these types."""
    if torch is None:
        return None
    try:
        tensors = [torch.from_numpy(array) for array in (*inputs, *outputs)]
        call(*tensors)
    except (RuntimeError, TypeError):
        return None
    return lambda: call(*tensors)


def onnx_call(
    node: str,
    inputs: Sequence[Array],
    outputs: Sequence[Array],
    threads: int,
    attributes: Mapping[str, Any],
    constants: Mapping[str, Array] | None = None,
) -> Call | None:
    """``run`` with IO binding of a model with one node.

    ``constants`` are further inputs, stored in the model. None where ONNX Runtime is missing or has no kernel for these
    types. A ``node`` of a domain other than ONNX's own has the domain and a colon as a prefix.
    """
    domain, _, kind = node.rpartition(":")
    contiguous = all(array.flags.c_contiguous for array in (*inputs, *outputs))
    if onnxruntime is None or not contiguous:
        return None
    names = [f"x{index}" for index in range(len(inputs))]
    results = [f"y{index}" for index in range(len(outputs))]
    held = constants or {}
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node(kind, [*names, *held], results, domain=domain, **attributes)],
        "case",
        [_info(name, array) for name, array in zip(names, inputs)],
        [_info(name, array) for name, array in zip(results, outputs)],
        [
            onnx.helper.make_tensor(name, onnx.TensorProto.INT64, array.shape, array.ravel().tolist())
            for name, array in held.items()
        ],
    )
    versions = {"": 18, **({domain: 1} if domain else {})}
    opsets = [onnx.helper.make_opsetid(name, version) for name, version in versions.items()]
    model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=9)
    try:
        run = session(model.SerializeToString(), threads)
        binding = run.io_binding()
        values = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in (*inputs, *outputs)]
        for name, value in zip(names, values):
            binding.bind_ortvalue_input(name, value)
        for name, value in zip(results, values[len(names) :]):
            binding.bind_ortvalue_output(name, value)
        run.run_with_iobinding(binding)
    except Exception:
        # The exceptions for a type without a kernel have no common base class.
        return None
    return lambda: run.run_with_iobinding(binding)


def _info(name: str, array: Array) -> Any:
    return onnx.helper.make_tensor_value_info(
        name, onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
    )
