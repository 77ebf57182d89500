"""Devices, graphs that are built and compiled, and what they run on."""

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
# What memory holds that nobody wrote.
GARBAGE = 0xFF


class Binding:
    """Data for a graph input: a copy of what NumPy makes of ``data``, one element behind the other.

    It is FLOAT32 that is bound, as in Microsoft's build, and that build knows nothing else: for a tensor of other
    elements, anything but an array of FLOAT32 becomes such elements where they are of one kind. The array's shape is
    not compared with the tensor's sizes. Raises ``ValueError`` for fewer bytes than the tensor has.
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


def _is_one_kind(one: np.dtype[Any], other: np.dtype[Any]) -> bool:
    return ("f" if one.kind == "f" else "i") == ("f" if other.kind == "f" else "i") and one.kind in "fiub"


def _bytes_of(array: npt.NDArray[Any], dtype: np.dtype[Any]) -> Bytes:
    """The elements in C's order, up to a multiple of 4 bytes."""
    memory = np.frombuffer(array.astype(dtype).tobytes(), np.uint8)
    return np.pad(memory, (0, -memory.size % 4))


class GraphBuilder:
    """Puts operators together for a device."""

    @checked
    def __init__(self, device: Device) -> None:
        self.graph = Graph(device.session.dml)

    @checked
    def build(self, flags: ExecutionFlags, outputs: list[Expression], /) -> Model:
        """Compile the graph of what ``outputs`` need. Raises ``TypeError``, ``ValueError``, or ``DMLError``."""
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
        made = object.__new__(cls)
        made.graph, made.flags = graph, flags
        made.outputs = [one.value for one in outputs]
        made.operator = made.compile()
        made.persistent, made.owned = None, None
        return made

    def compile(self) -> IDMLCompiledOperator:
        return self.graph.compile(self.outputs, self.flags).operator


class Device:
    """An emulated GPU or, with ``use_gpu=False``, the software adapter (WARP); with the debug layers, if asked for."""

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
        """Initialize the model with the inputs that it owns, and dispatch it with the others; copies of the outputs.

        ``inputs[i]`` is graph input i, ``outputs`` are those given to ``build``, in order. Raises ``DMLError``, which
        is a ``RuntimeError`` too, as DirectML does.
        """
        self._initialize(model, inputs)
        return self._dispatch(model, inputs, outputs)

    def _initialize(self, model: Model, inputs: list[Binding | None]) -> None:
        """An operator is initialized only once: with other data than before it is compiled anew."""
        self._check(model, inputs)
        owned = [one if model.operator.is_owned(index) else None for index, one in enumerate(inputs)]
        if model.owned is not None:
            if all(one is other for one, other in zip(owned, model.owned)):
                return
            model.operator = model.compile()
        model.persistent = self.session.initialize(model.operator, [self._upload(one) for one in owned])
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
            raise ValueError("the data of a binding was released, but is needed; bind it again")
        return self.session.upload(binding.memory)

    def _dispatch(
        self, model: Model, inputs: list[Binding | None], outputs: list[Expression | None]
    ) -> list[TensorData]:
        self._check(model, inputs)
        session, operator = self.session, model.operator
        sources = [
            None if operator.is_owned(index) else self._upload(one) for index, one in enumerate(inputs)
        ]
        tensors = [None if one is None else one.value.desc for one in outputs]
        targets = [
            None if one is None else session.upload(np.full(one.total_size, GARBAGE, np.uint8))
            for one in tensors
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
