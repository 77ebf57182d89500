"""Devices, bindings, the graph builder and compiled models."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..abi.arguments import invalid
from ..api.enums import (
    DML_CREATE_DEVICE_FLAG_DEBUG,
    DML_CREATE_DEVICE_FLAG_NONE,
    DML_TENSOR_DATA_TYPE_UINT8,
)
from ..d3d12 import CreateDXGIFactory1, D3D12CreateDevice, D3D12GetDebugInterface
from ..descs import tensor as values
from ..descs.operator_desc import TensorSlot
from ..dml import DMLCreateDevice, IDMLCompiledOperator
from ..graph.graph import Graph
from ..runner import Runner
from ..text.plural import counted_words
from .enumerations import ExecutionFlags
from .expressions import Expression
from .pybind_arguments import checked
from .tensor_data import TensorData

Bytes = npt.NDArray[np.uint8]
UINT8 = DML_TENSOR_DATA_TYPE_UINT8


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
        self.graph = Graph(device.dml)

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
    owned: list[Binding | None] | None
    runner: Runner

    def __init__(self) -> None:
        raise TypeError("pydirectml.Model: No constructor defined!")

    @classmethod
    def _of(cls, graph: Graph, flags: int, outputs: list[Expression]) -> Model:
        model = object.__new__(cls)
        model.graph, model.flags = graph, flags
        model.outputs = [output.value for output in outputs]
        model.operator = model.compile()
        model.owned = None
        return model

    def compile(self) -> IDMLCompiledOperator:
        return self.graph.compile(self.outputs, self.flags).operator

    def initialize(self, owned: list[Binding | None]) -> None:
        """Take the data of the inputs that DirectML owns. An operator can be initialized only once."""
        if self.owned is not None:
            self.operator = self.compile()
        read, written = self.operator.inputs, self.operator.outputs
        constant = [index for index in range(len(read)) if self.operator.is_owned(index)]
        # Results are handed out as the bytes of their tensors.
        raw = [
            None if slot.tensor is None else values.TensorDesc(UINT8, (slot.tensor.total_size,))
            for slot in written
        ]
        self.runner = Runner(
            self.operator,
            outputs=raw,
            constant=constant,
            contents=lambda: [array_of(read[index], owned[index]) for index in constant],
        )
        self.runner.prepare()
        self.owned = owned


def array_of(slot: TensorSlot, binding: Binding | None) -> npt.NDArray[Any] | None:
    """The data of a binding as the elements of a tensor."""
    if slot.tensor is None:
        return None
    if binding is None:
        raise invalid(f"inputs has no binding for {slot.path}, which the model reads")
    if binding.memory is None:
        raise ValueError("the data of a binding was released, but is still needed; bind it again")
    return slot.tensor.view(binding.memory)


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
        self.dml = DMLCreateDevice(D3D12CreateDevice(adapter), flags)

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
        """Initialize the model, unless it is with the same data."""
        self._check(model, inputs)
        owned = [binding if model.operator.is_owned(index) else None for index, binding in enumerate(inputs)]
        if model.owned is None or any(one is not other for one, other in zip(owned, model.owned)):
            model.initialize(owned)

    def _check(self, model: Model, inputs: list[Binding | None]) -> None:
        if len(inputs) != len(model.operator.inputs):
            raise invalid(
                f"inputs has {counted_words(len(inputs), 'binding')}; the model has "
                f"{counted_words(len(model.operator.inputs), 'input')}"
            )

    def _dispatch(
        self, model: Model, inputs: list[Binding | None], outputs: list[Expression | None]
    ) -> list[TensorData]:
        self._check(model, inputs)
        operator = model.operator
        if len(outputs) != len(operator.outputs):
            raise invalid(
                f"outputs has {counted_words(len(outputs), 'expression')}; the model has {len(operator.outputs)}"
            )
        results = model.runner.run(
            [
                None if operator.is_owned(index) else array_of(slot, binding)
                for index, (slot, binding) in enumerate(zip(operator.inputs, inputs))
            ]
        )
        return [
            self._result(item.value.desc, memory)
            for item, memory in zip(outputs, results)
            if item is not None and memory is not None
        ]

    def _result(self, tensor: values.TensorDesc, memory: Bytes) -> TensorData:
        is_float32_wide = tensor.dtype.itemsize == np.dtype(np.float32).itemsize
        return TensorData.of(tensor, memory, np.dtype(np.float32) if is_float32_wide else tensor.dtype)
