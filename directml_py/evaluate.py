"""Shortcuts: check a desc, or run it on arrays, without writing the object model out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .abi.arguments import enumerator
from .api.d3d12_enums import (
    D3D12_COMMAND_LIST_TYPE_DIRECT,
    D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE,
    D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV,
    D3D12_HEAP_TYPE,
    D3D12_HEAP_TYPE_DEFAULT,
    D3D12_HEAP_TYPE_READBACK,
    D3D12_HEAP_TYPE_UPLOAD,
    D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS,
    D3D12_RESOURCE_FLAG_NONE,
    D3D12_RESOURCE_STATE_COPY_DEST,
    D3D12_RESOURCE_STATE_COPY_SOURCE,
    D3D12_RESOURCE_STATE_GENERIC_READ,
    D3D12_RESOURCE_STATE_UNORDERED_ACCESS,
    D3D12_RESOURCE_STATES,
)
from .api.d3d12_structs import (
    D3D12_COMMAND_QUEUE_DESC,
    D3D12_DESCRIPTOR_HEAP_DESC,
    D3D12_RESOURCE_BARRIER,
)
from .api.enums import (
    DML_BINDING_TYPE_BUFFER,
    DML_BINDING_TYPE_BUFFER_ARRAY,
    DML_FEATURE_LEVEL,
)
from .api.structs import (
    DML_BINDING_DESC,
    DML_BINDING_TABLE_DESC,
    DML_BUFFER_ARRAY_BINDING,
    DML_BUFFER_BINDING,
)
from .d3d12 import (
    CD3DX12_HEAP_PROPERTIES,
    CD3DX12_RESOURCE_BARRIER,
    CD3DX12_RESOURCE_DESC,
    D3D12CreateDevice,
    ID3D12Device,
    ID3D12Resource,
)
from .d3d12.allocation import Allocation, Bytes
from .descs.format import braces
from .descs.tensor import TensorDesc
from .descs.values import TensorSlot
from .dml import DMLCreateDevice, IDMLCompiledOperator, IDMLDispatchable
from .dml.device import HIGHEST_FEATURE_LEVEL
from .operators import check
from .validation import Diagnostic

DEFAULT = D3D12_HEAP_TYPE_DEFAULT
UPLOAD = D3D12_HEAP_TYPE_UPLOAD
READBACK = D3D12_HEAP_TYPE_READBACK
COPY_DEST = D3D12_RESOURCE_STATE_COPY_DEST
COPY_SOURCE = D3D12_RESOURCE_STATE_COPY_SOURCE
UNORDERED_ACCESS = D3D12_RESOURCE_STATE_UNORDERED_ACCESS
GENERIC_READ = D3D12_RESOURCE_STATE_GENERIC_READ
BUFFER = DML_BINDING_TYPE_BUFFER
BUFFER_ARRAY = DML_BINDING_TYPE_BUFFER_ARRAY

Array = npt.NDArray[Any]


def validate(desc: Any, *, feature_level: int = HIGHEST_FEATURE_LEVEL) -> list[Diagnostic]:
    """Everything that is wrong with an operator desc at ``feature_level``; empty if CreateOperator would take it.

    ``desc`` is anything that stands for a DML_OPERATOR_DESC. Raises ``TypeError`` for what is no desc.
    """
    level = enumerator(feature_level, DML_FEATURE_LEVEL, "feature_level")
    return check(desc, level)[1].diagnostics


def evaluate(desc: Any, inputs: Sequence[Any], *, feature_level: int | None = None) -> list[Any]:
    """Run one operator on arrays: device, compile, initialize, bind, dispatch, read back.

    ``inputs`` has one array per input tensor in desc order (None for an absent optional one), of the tensor's
    sizes and data type; each is laid out as the tensor's strides say. Returns one array per output tensor in its
    sizes, None for an absent one.

    Raises ``DMLError`` as CreateOperator and CompileOperator do, ``TypeError`` and ``ValueError`` for inputs that
    do not fit their tensors; both name the tensor.
    """
    d3d12 = D3D12CreateDevice()
    level = HIGHEST_FEATURE_LEVEL if feature_level is None else feature_level
    device = DMLCreateDevice(d3d12, feature_level=level)
    compiled = device.CompileOperator(device.CreateOperator(desc))
    arrays = _input_arrays(compiled.inputs, inputs)
    if d3d12.monitor is None:
        return _run(compiled, arrays)
    # The debug layer is to see every step.
    return Session(d3d12, device, compiled, compiled.inputs, compiled.outputs).run(arrays)


def _run(compiled: IDMLCompiledOperator, arrays: Sequence[Array | None]) -> list[Array | None]:
    """What a dispatch comes to where nobody watches buffers, bindings and barriers."""
    program = compiled.program
    inputs = [
        None if array is None or slot.tensor is None else _laid_out(slot.tensor, array)
        for slot, array in zip(compiled.inputs, arrays)
    ]
    outputs = [
        None if slot.tensor is None else Allocation(slot.tensor.total_size).bytes for slot in compiled.outputs
    ]
    temporary = Allocation(program.temporary_size).bytes if program.temporary_size else None
    program.bind(inputs, outputs, temporary)()
    return [
        None if slot.tensor is None or memory is None else np.ascontiguousarray(slot.tensor.view(memory))
        for slot, memory in zip(compiled.outputs, outputs)
    ]


def _laid_out(tensor: TensorDesc, array: Array) -> Bytes:
    """The bytes of ``array`` as the tensor's strides ask for them: its own where they are that already."""
    if tensor.is_packed and array.flags.c_contiguous:
        return array.reshape(-1).view(np.uint8)
    memory = Allocation(tensor.total_size).bytes
    np.copyto(tensor.view(memory), array)
    return memory


def _input_arrays(slots: Sequence[TensorSlot], inputs: Sequence[Any]) -> list[Array | None]:
    if len(inputs) != len(slots):
        names = ", ".join(slot.path for slot in slots)
        raise ValueError(
            f"inputs has {len(inputs)} arrays; the operator has {len(slots)} input tensors: {names}"
        )
    return [input_array(slot, value) for slot, value in zip(slots, inputs)]


def input_array(slot: TensorSlot, value: Any) -> Array | None:
    tensor = slot.tensor
    if tensor is None or value is None:
        if (tensor is None) != (value is None):
            state = "absent from" if tensor is None else "present in"
            raise ValueError(f"{slot.path} is {state} the desc; its input must agree")
        return None
    array = value if isinstance(value, (np.ndarray, np.generic)) else _from_python(slot.path, value, tensor)
    array = np.asarray(array)
    if array.dtype != tensor.dtype:
        raise TypeError(f"{slot.path} holds {tensor.dtype} elements, not {array.dtype}")
    if array.shape != tensor.sizes:
        raise ValueError(f"{slot.path} has the sizes {braces(tensor.sizes)}, not {braces(array.shape)}")
    if tensor.overlaps and not _repeats(array, tensor):
        raise ValueError(
            f"{slot.path} has strides that make elements share memory, but the array has different values there"
        )
    return array


def _from_python(path: str, value: Any, tensor: TensorDesc) -> Array:
    """Numbers and nested lists of them, which have no data type of their own, as the tensor's elements."""
    try:
        found = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    kind = tensor.dtype.kind
    if found.dtype.kind not in ("biuf" if kind == "f" else "biu"):
        raise TypeError(f"{path} holds {tensor.dtype} elements, not {found.dtype}")
    if kind != "f" and found.size:
        limits = np.iinfo(tensor.dtype)
        if int(found.min()) < limits.min or int(found.max()) > limits.max:
            raise ValueError(f"{path} holds {tensor.dtype} elements, from {limits.min} to {limits.max}")
    with np.errstate(over="ignore"):
        return found.astype(tensor.dtype)


def _repeats(array: Array, tensor: TensorDesc) -> bool:
    """Whether ``array`` has one value wherever the tensor's elements share an address."""
    memory = np.zeros(tensor.total_size, np.uint8)
    view = tensor.view(memory)
    np.copyto(view, array)
    return view.tobytes() == array.tobytes()


class Session:
    """The object model for one dispatch; ``inputs`` and ``outputs`` say how the arrays lie in memory."""

    def __init__(
        self,
        d3d12: ID3D12Device,
        device: Any,
        compiled: IDMLCompiledOperator,
        inputs: Sequence[TensorSlot],
        outputs: Sequence[TensorSlot],
    ) -> None:
        self.d3d12 = d3d12
        self.device = device
        self.compiled = compiled
        self.inputs = inputs
        self.outputs = outputs
        direct = D3D12_COMMAND_LIST_TYPE_DIRECT
        self.queue = d3d12.CreateCommandQueue(D3D12_COMMAND_QUEUE_DESC(Type=direct))
        self.allocator = d3d12.CreateCommandAllocator(direct)
        self.commands = d3d12.CreateCommandList(0, direct, self.allocator)
        self.recorder = device.CreateCommandRecorder()
        self.keep: list[Any] = []

    def buffer(self, size: int, heap_type: D3D12_HEAP_TYPE, state: D3D12_RESOURCE_STATES) -> ID3D12Resource:
        allow = D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS
        flags = allow if heap_type == DEFAULT else D3D12_RESOURCE_FLAG_NONE
        resource = self.d3d12.CreateCommittedResource(
            CD3DX12_HEAP_PROPERTIES(heap_type), 0, CD3DX12_RESOURCE_DESC.Buffer(size, flags), state
        )
        self.keep.append(resource)
        return resource

    def barrier(
        self, resource: ID3D12Resource, before: D3D12_RESOURCE_STATES, after: D3D12_RESOURCE_STATES
    ) -> D3D12_RESOURCE_BARRIER:
        return CD3DX12_RESOURCE_BARRIER.Transition(resource, before, after)

    def run(self, arrays: Sequence[Array | None]) -> list[Array | None]:
        inputs = [
            None if array is None or slot.tensor is None else self.upload(slot.tensor, array)
            for slot, array in zip(self.inputs, arrays)
        ]
        outputs = [
            None if slot.tensor is None else self.buffer(slot.tensor.total_size, DEFAULT, UNORDERED_ACCESS)
            for slot in self.outputs
        ]
        persistent = self.initialize(inputs)
        self.dispatch(inputs, outputs, persistent)
        readbacks = [None if output is None else self.read_back(output) for output in outputs]
        self.execute()
        return [
            None if slot.tensor is None or readback is None else slot.tensor.view(readback.memory).copy()
            for slot, readback in zip(self.outputs, readbacks)
        ]

    def upload(self, tensor: TensorDesc, array: Array) -> ID3D12Resource:
        staging = self.buffer(tensor.total_size, UPLOAD, GENERIC_READ)
        np.copyto(tensor.view(staging.Map()), array)
        staging.Unmap()
        resource = self.buffer(tensor.total_size, DEFAULT, COPY_DEST)
        self.commands.CopyResource(resource, staging)
        self.commands.ResourceBarrier([self.barrier(resource, COPY_DEST, UNORDERED_ACCESS)])
        return resource

    def read_back(self, resource: ID3D12Resource) -> ID3D12Resource:
        readback = self.buffer(resource.width, READBACK, COPY_DEST)
        self.commands.ResourceBarrier([self.barrier(resource, UNORDERED_ACCESS, COPY_SOURCE)])
        self.commands.CopyResource(readback, resource)
        return readback

    def initialize(self, inputs: Sequence[ID3D12Resource | None]) -> ID3D12Resource | None:
        size = self.compiled.GetBindingProperties().PersistentResourceSize
        initializer = self.device.CreateOperatorInitializer([self.compiled])
        self.keep.append(initializer)
        table = self.table(initializer)
        persistent = None
        if size:
            persistent = self.buffer(size, DEFAULT, UNORDERED_ACCESS)
            ranges = [
                whole(resource) if self.compiled.is_owned(index) else DML_BUFFER_BINDING()
                for index, resource in enumerate(inputs)
            ]
            array = DML_BUFFER_ARRAY_BINDING(Bindings=ranges)
            table.BindInputs([DML_BINDING_DESC(BUFFER_ARRAY, array)])
            table.BindOutputs([binding(persistent)])
        self.recorder.RecordDispatch(self.commands, initializer, table)
        if persistent is not None:
            self.commands.ResourceBarrier([CD3DX12_RESOURCE_BARRIER.UAV(persistent)])
        return persistent

    def dispatch(
        self,
        inputs: Sequence[ID3D12Resource | None],
        outputs: Sequence[ID3D12Resource | None],
        persistent: ID3D12Resource | None,
    ) -> None:
        table = self.table(self.compiled)
        table.BindInputs(
            [
                binding(None if self.compiled.is_owned(index) else resource)
                for index, resource in enumerate(inputs)
            ]
        )
        table.BindOutputs([binding(resource) for resource in outputs])
        temporary_size = self.compiled.GetBindingProperties().TemporaryResourceSize
        if temporary_size:
            table.BindTemporaryResource(binding(self.buffer(temporary_size, DEFAULT, UNORDERED_ACCESS)))
        if persistent is not None:
            table.BindPersistentResource(binding(persistent))
        self.recorder.RecordDispatch(self.commands, self.compiled, table)

    def table(self, dispatchable: IDMLDispatchable) -> Any:
        count = dispatchable.GetBindingProperties().RequiredDescriptorCount
        heap = self.d3d12.CreateDescriptorHeap(
            D3D12_DESCRIPTOR_HEAP_DESC(
                Type=D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV,
                NumDescriptors=count,
                Flags=D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE,
            )
        )
        self.keep.append(heap)
        self.commands.SetDescriptorHeaps([heap])
        return self.device.CreateBindingTable(
            DML_BINDING_TABLE_DESC(
                dispatchable,
                heap.GetCPUDescriptorHandleForHeapStart(),
                heap.GetGPUDescriptorHandleForHeapStart(),
                count,
            )
        )

    def execute(self) -> None:
        self.commands.Close()
        self.queue.ExecuteCommandLists([self.commands])
        fence = self.d3d12.CreateFence(0)
        self.queue.Signal(fence, 1)
        fence.SetEventOnCompletion(1, None)
        self.device.removal.check()


def whole(resource: ID3D12Resource | None) -> DML_BUFFER_BINDING:
    """A binding of all bytes of a buffer."""
    return DML_BUFFER_BINDING() if resource is None else DML_BUFFER_BINDING(resource, 0, resource.width)


def binding(resource: ID3D12Resource | None) -> DML_BINDING_DESC:
    """A binding of a whole buffer, or of nothing."""
    return DML_BINDING_DESC() if resource is None else DML_BINDING_DESC(BUFFER, whole(resource))
