"""The ONNX backend: ``prepare``, ``run_model``, ``run_node``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import onnx
from onnx.backend.base import Backend, BackendRep

from ..dml import IDMLDevice
from .model_file import ModelFile
from .onnx_model import built_for, device_of
from .values import Array


@cache
def _device() -> IDMLDevice:
    return device_of(None)


class DirectMLRep(BackendRep):
    """A model whose graph is built when its inputs are known, since their sizes and contents may determine it."""

    def __init__(self, model: ModelFile) -> None:
        self.model = model

    def run(self, inputs: Sequence[Any], **kwargs: Any) -> tuple[Array, ...]:
        """The outputs, for arrays of the inputs in order, lists of arrays, and None for optionals without elements."""
        names = [item.name for item in self.model.inputs()]
        arrays = {
            name: value if value is None or isinstance(value, list) else np.asarray(value)
            for name, value in zip(names, inputs)
        }
        model, fixed = built_for(self.model, _device(), arrays)
        results = model.run({name: value for name, value in arrays.items() if name not in fixed})
        return tuple(results.values())


class DirectML(Backend):
    """The backend: models run as DirectML graphs."""

    @classmethod
    def prepare(cls, model: Any, device: str = "CPU", **kwargs: Any) -> DirectMLRep:
        return DirectMLRep(ModelFile(model))

    @classmethod
    def run_node(
        cls, node: Any, inputs: Sequence[Any], device: str = "CPU", outputs_info: Any = None, **kwargs: Any
    ) -> tuple[Array, ...]:
        """The outputs of one node of the newest opset."""
        arrays = [np.asarray(value) for value in inputs]
        declared = [
            onnx.helper.make_tensor_value_info(
                name, onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
            )
            for name, array in zip((name for name in node.input if name), arrays)
        ]
        wanted = [onnx.helper.make_empty_tensor_value_info(name) for name in node.output if name]
        graph = onnx.helper.make_graph([node], "node", declared, wanted)
        return cls.prepare(onnx.helper.make_model(graph), device).run(arrays)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        return device == "CPU"


prepare = DirectML.prepare
run = DirectML.run_model
run_model = DirectML.run_model
run_node = DirectML.run_node
supports_device = DirectML.supports_device
