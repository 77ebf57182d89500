"""Devices, bindings, the graph builder and compiled models."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..abi.arguments import invalid
from ..api.enums import DML_CREATE_DEVICE_FLAG_DEBUG, DML_CREATE_DEVICE_FLAG_NONE
from ..d3d12 import CreateDXGIFactory1, D3D12CreateDevice, D3D12GetDebugInterface, ID3D12Resource
from ..descs import tensor as values
from ..dml import DMLCreateDevice, IDMLCompiledOperator
from ..graph.graph import Graph
from ..session import Session
from .enumerations import ExecutionFlags
from .expressions import Expression
from .pybind_arguments import checked
from .tensor_data import TensorData

Bytes = npt.NDArray[np.uint8]
# The contents of memory that was never written.
GARBAGE = 0xFF


class Binding:
    """Data for a graph input: a contiguous copy of ``data`` as a NumPy array.

    As in Microsoft's build, FLOAT32 arrays are bound as they are. For a tensor of another type, other arrays of the
    same kind are converted to that type, which Microsoft's build does not do. The array's shape is not compared with
    the tensor's sizes. Raises ``ValueError`` for fewer bytes than the tensor has.
    """

    @checked
    def __init__(self, expr: Expression, data: Any) -> None:
        self.desc: values.TensorDesc = expr.value.desc
        self.memory: Bytes | None = self._bytes(data)

    def _bytes(self, data: Any) -> Bytes:
        array, dtype = np.asarray(data), self.desc.dtype
        if array.dtype == np.float32 or not _is_one_kind(array.dtype, dtype):
            dtype = np.dtype(np.float32)
        memory = _bytes_of(array, dtype)
        if memory.size < self.desc.total_size:
            raise ValueError(
                f"Binding(): data has {memory.size} bytes; {self.desc} needs {self.desc.total_size}"
            )
        return memory[: self.desc.total_size]


def _is_one_kind(source: np.dtype[Any], target: np.dtype[Any]) -> bool:
    return ("f" if source.kind == "f" else "i") == (
        "f" if target.kind == "f" else "i"
    ) and source.kind in "fiub"


def _bytes_of(array: npt.NDArray[Any], dtype: np.dtype[Any]) -> Bytes:
    """The elements in C order, padded to a multiple of 4 bytes."""
    memory = np.frombuffer(array.astype(dtype).tobytes(), np.uint8)
    return np.pad(memory, (0, -memory.size % 4))


class GraphBuilder:
    """Builds graphs of operators for a device."""

    @checked
    def __init__(self, device: Device) -> None:
        self.graph = Graph(device.session.dml)

    @checked
    def build(self, flags: ExecutionFlags, outputs: list[Expression], /) -> Model:
        """Compile the graph that computes ``outputs``. Raises ``TypeError``, ``ValueError`` or ``DMLError``."""
        return Model._of(self.graph, flags.value, outputs)


class Model:
    """A compiled graph. Opaque."""

    graph: Graph
    flags: int
    outputs: list[Any]
    operator: IDMLCompiledOperator
    persistent: Any
    owned: list[Binding | None] | None

    def __init__(self) -> None:
        raise TypeError("pydirectml.Model: No constructor defined!")

    @classmethod
    def _of(cls, graph: Graph, flags: int, outputs: list[Expression]) -> Model:
        model = object.__new__(cls)
        model.graph, model.flags = graph, flags
        model.outputs = [output.value for output in outputs]
        model.operator = model.compile()
        model.persistent, model.owned = None, None
        return model

    def compile(self) -> IDMLCompiledOperator:
        return self.graph.compile(self.outputs, self.flags).operator


class Device:
    """An emulated GPU or, with ``use_gpu=False``, the software adapter (WARP); optionally with the debug layers."""

    @checked
    def __init__(self, use_gpu: bool = True, use_debug_layer: bool = False) -> None:
        self.use_gpu = use_gpu
        flags = DML_CREATE_DEVICE_FLAG_NONE
        if use_debug_layer:
            D3D12GetDebugInterface().EnableDebugLayer()
            flags = DML_CREATE_DEVICE_FLAG_DEBUG
        factory = CreateDXGIFactory1()
        adapter = factory.EnumAdapters1(0) if self.use_gpu else factory.EnumWarpAdapter()
        self.session = Session(DMLCreateDevice(D3D12CreateDevice(adapter), flags))

    def __repr__(self) -> str:
        return f"dml.Device on {'GPU' if self.use_gpu else 'CPU'}"

    @checked
    def compute(
        self, model: Model, inputs: list[Binding | None], outputs: list[Expression | None], /
    ) -> list[TensorData]:
        """Initialize the model with its owned inputs, dispatch it with the others; returns copies of the outputs.

        ``inputs[i]`` is graph input i, ``outputs`` are those given to ``build``, in order. Raises ``DMLError``, which
        is also a ``RuntimeError``.
        """
        self._initialize(model, inputs)
        return self._dispatch(model, inputs, outputs)

    def _initialize(self, model: Model, inputs: list[Binding | None]) -> None:
        """Initialize the model. An operator can be initialized only once, so new data require recompilation."""
        self._check(model, inputs)
        owned = [binding if model.operator.is_owned(index) else None for index, binding in enumerate(inputs)]
        if model.owned is not None:
            if all(binding is previous for binding, previous in zip(owned, model.owned)):
                return
            model.operator = model.compile()
        model.persistent = self.session.initialize(
            model.operator, [self._upload(binding) for binding in owned]
        )
        self.session.dml.removal.check()
        model.owned = owned

    def _check(self, model: Model, inputs: list[Binding | None]) -> None:
        if len(inputs) != len(model.operator.inputs):
            raise invalid(
                f"inputs has {len(inputs)} bindings; the model has {len(model.operator.inputs)} inputs"
            )

    def _upload(self, binding: Binding | None) -> ID3D12Resource | None:
        if binding is None:
            return None
        if binding.memory is None:
            raise ValueError("the data of a binding was released, but is still needed; bind it again")
        return self.session.upload(binding.memory)

    def _dispatch(
        self, model: Model, inputs: list[Binding | None], outputs: list[Expression | None]
    ) -> list[TensorData]:
        self._check(model, inputs)
        session, operator = self.session, model.operator
        sources = [
            None if operator.is_owned(index) else self._upload(item) for index, item in enumerate(inputs)
        ]
        tensors = [None if item is None else item.value.desc for item in outputs]
        targets = [
            None if item is None else session.upload(np.full(item.total_size, GARBAGE, np.uint8))
            for item in tensors
        ]
        session.dispatch(operator, sources, targets, model.persistent)
        session.execute()
        session.dml.removal.check()
        return [
            self._result(tensor, session.read(target))
            for tensor, target in zip(tensors, targets)
            if tensor is not None and target is not None
        ]

    def _result(self, tensor: values.TensorDesc, memory: Bytes) -> TensorData:
        is_float32_wide = tensor.dtype.itemsize == np.dtype(np.float32).itemsize
        return TensorData.of(tensor, memory, np.dtype(np.float32) if is_float32_wide else tensor.dtype)
