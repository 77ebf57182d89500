"""Execution of a compiled operator on a real Direct3D 12 device: buffers, initialization, dispatch, readback."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..api.d3d12_enums import (
    D3D12_COMMAND_LIST_TYPE_DIRECT,
    D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE,
    D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV,
    D3D12_HEAP_FLAG_NONE,
    D3D12_HEAP_TYPE,
    D3D12_HEAP_TYPE_DEFAULT,
    D3D12_HEAP_TYPE_READBACK,
    D3D12_HEAP_TYPE_UPLOAD,
    D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS,
    D3D12_RESOURCE_FLAG_NONE,
    D3D12_RESOURCE_STATE_COMMON,
    D3D12_RESOURCE_STATE_COPY_DEST,
    D3D12_RESOURCE_STATE_GENERIC_READ,
)
from ..api.d3d12_structs import (
    D3D12_COMMAND_QUEUE_DESC,
    D3D12_CPU_DESCRIPTOR_HANDLE,
    D3D12_DESCRIPTOR_HEAP_DESC,
    D3D12_GPU_DESCRIPTOR_HANDLE,
)
from ..api.enums import DML_BINDING_TYPE_BUFFER, DML_BINDING_TYPE_BUFFER_ARRAY
from ..api.structs import (
    DML_BINDING_DESC,
    DML_BINDING_PROPERTIES,
    DML_BINDING_TABLE_DESC,
    DML_BUFFER_ARRAY_BINDING,
    DML_BUFFER_BINDING,
)
from ..d3d12 import CD3DX12_HEAP_PROPERTIES, CD3DX12_RESOURCE_DESC
from ..descs.operator_desc import TensorSlot
from .com_calls import Object

Array: TypeAlias = npt.NDArray[Any]
DIRECT = D3D12_COMMAND_LIST_TYPE_DIRECT
VIEWS = D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV


class GpuExecution:
    """Runs one operator once. ``release`` releases everything that it creates."""

    def __init__(self, d3d12: Object, dml: Object) -> None:
        self._d3d12 = d3d12
        self._dml = dml
        self._owned: list[Object] = []
        self._queue = self._created(
            "CreateCommandQueue", "ID3D12CommandQueue", D3D12_COMMAND_QUEUE_DESC(Type=DIRECT)
        )
        self._recorder = self._own(dml.create("CreateCommandRecorder", "IDMLCommandRecorder"))

    def release(self) -> None:
        while self._owned:
            self._owned.pop().release()

    def run(
        self,
        compiled: Object,
        inputs: Sequence[TensorSlot],
        outputs: Sequence[TensorSlot],
        arrays: Sequence[Array | None],
    ) -> list[Array | None]:
        """The outputs of ``compiled`` for ``arrays``, one for each input, stored in its tensor's layout.

        Raises ``DMLError`` if a call fails.
        """
        sources = [
            None if slot.tensor is None or array is None else self._upload(self._bytes(slot, array))
            for slot, array in zip(inputs, arrays)
        ]
        targets = [
            None
            if slot.tensor is None
            else self._buffer(_align4(slot.tensor.total_size), D3D12_HEAP_TYPE_DEFAULT)
            for slot in outputs
        ]
        persistent = self._initialize(compiled, inputs, sources)
        bound = [
            None if slot.tensor is None or slot.tensor.is_owned_by_dml else source
            for slot, source in zip(inputs, sources)
        ]
        self._dispatch(
            compiled, [_whole(source) for source in bound], [_whole(target) for target in targets], persistent
        )
        return [
            None if slot.tensor is None or target is None else slot.tensor.load(self._read(*target))
            for slot, target in zip(outputs, targets)
        ]

    @staticmethod
    def _bytes(slot: TensorSlot, array: Array) -> npt.NDArray[np.uint8]:
        assert slot.tensor is not None
        memory = np.zeros(_align4(slot.tensor.total_size), np.uint8)
        slot.tensor.store(memory, array)
        return memory

    def _own(self, created: Object) -> Object:
        self._owned.append(created)
        return created

    def _created(self, method: str, interface: str, *arguments: Any) -> Object:
        return self._own(self._d3d12.create(method, interface, *arguments))

    def _buffer(self, size: int, heap: D3D12_HEAP_TYPE) -> tuple[Object, int]:
        is_default = heap == D3D12_HEAP_TYPE_DEFAULT
        flags = D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS if is_default else D3D12_RESOURCE_FLAG_NONE
        states = {
            D3D12_HEAP_TYPE_DEFAULT: D3D12_RESOURCE_STATE_COMMON,
            D3D12_HEAP_TYPE_UPLOAD: D3D12_RESOURCE_STATE_GENERIC_READ,
            D3D12_HEAP_TYPE_READBACK: D3D12_RESOURCE_STATE_COPY_DEST,
        }
        arguments = (
            CD3DX12_HEAP_PROPERTIES(heap),
            int(D3D12_HEAP_FLAG_NONE),
            CD3DX12_RESOURCE_DESC.Buffer(size, flags),
            int(states[heap]),
            None,
        )
        return self._created("CreateCommittedResource", "ID3D12Resource", *arguments), size

    def _mapped(self, buffer: Object, size: int) -> Any:
        address = ctypes.c_void_p()
        buffer.call("Map", 0, None, address)
        assert address.value is not None
        return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address.value))

    def _upload(self, content: npt.NDArray[np.uint8]) -> tuple[Object, int]:
        staging, size = self._buffer(content.nbytes, D3D12_HEAP_TYPE_UPLOAD)
        self._mapped(staging, size)[:] = content
        staging.call("Unmap", 0, None)
        target, _ = self._buffer(size, D3D12_HEAP_TYPE_DEFAULT)
        self._commands(lambda commands: commands.call("CopyBufferRegion", target, 0, staging, 0, size))
        return target, size

    def _read(self, buffer: Object, size: int) -> npt.NDArray[np.uint8]:
        staging, _ = self._buffer(size, D3D12_HEAP_TYPE_READBACK)
        self._commands(lambda commands: commands.call("CopyBufferRegion", staging, 0, buffer, 0, size))
        content: npt.NDArray[np.uint8] = self._mapped(staging, size).copy()
        staging.call("Unmap", 0, None)
        return content

    def _initialize(
        self, compiled: Object, inputs: Sequence[TensorSlot], sources: Sequence[tuple[Object, int] | None]
    ) -> DML_BUFFER_BINDING | None:
        """The persistent resource, if the operator has one."""
        size = compiled.struct("GetBindingProperties", DML_BINDING_PROPERTIES).PersistentResourceSize
        persistent = _whole(self._buffer(_align4(size), D3D12_HEAP_TYPE_DEFAULT)) if size else None
        operators = (ctypes.c_void_p * 1)(compiled.address)
        initializer = self._own(
            self._dml.create("CreateOperatorInitializer", "IDMLOperatorInitializer", 1, operators)
        )
        owned = [
            _whole(source if slot.tensor is not None and slot.tensor.is_owned_by_dml else None)
            for slot, source in zip(inputs, sources)
        ]
        array = (DML_BUFFER_BINDING * len(owned))(*owned)
        holder = DML_BUFFER_ARRAY_BINDING(len(owned), ctypes.addressof(array))
        has_owned = any(slot.tensor is not None and slot.tensor.is_owned_by_dml for slot in inputs)
        owned_binding = DML_BINDING_DESC(DML_BINDING_TYPE_BUFFER_ARRAY, ctypes.addressof(holder))
        self._record(
            initializer,
            [owned_binding if has_owned else DML_BINDING_DESC()],
            [DML_BINDING_DESC() if persistent is None else _desc(persistent)],
            None,
        )
        return persistent

    def _dispatch(
        self,
        compiled: Object,
        inputs: Sequence[DML_BUFFER_BINDING],
        outputs: Sequence[DML_BUFFER_BINDING],
        persistent: DML_BUFFER_BINDING | None,
    ) -> None:
        self._record(
            compiled,
            [_desc(binding) for binding in inputs],
            [_desc(binding) for binding in outputs],
            persistent,
        )

    def _record(
        self,
        dispatchable: Object,
        inputs: Sequence[DML_BINDING_DESC],
        outputs: Sequence[DML_BINDING_DESC],
        persistent: DML_BUFFER_BINDING | None,
    ) -> None:
        properties = dispatchable.struct("GetBindingProperties", DML_BINDING_PROPERTIES)
        count = max(1, properties.RequiredDescriptorCount)
        heap = self._created(
            "CreateDescriptorHeap",
            "ID3D12DescriptorHeap",
            D3D12_DESCRIPTOR_HEAP_DESC(VIEWS, count, D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE),
        )
        desc = DML_BINDING_TABLE_DESC(
            dispatchable.address,
            heap.struct("GetCPUDescriptorHandleForHeapStart", D3D12_CPU_DESCRIPTOR_HANDLE),
            heap.struct("GetGPUDescriptorHandleForHeapStart", D3D12_GPU_DESCRIPTOR_HANDLE),
            count,
        )
        table = self._own(self._dml.create("CreateBindingTable", "IDMLBindingTable", desc))
        table.call("BindInputs", len(inputs), (DML_BINDING_DESC * len(inputs))(*inputs))
        table.call("BindOutputs", len(outputs), (DML_BINDING_DESC * len(outputs))(*outputs))
        if properties.TemporaryResourceSize:
            size = _align4(properties.TemporaryResourceSize)
            table.call("BindTemporaryResource", _desc(_whole(self._buffer(size, D3D12_HEAP_TYPE_DEFAULT))))
        if persistent is not None and dispatchable.interface == "IDMLCompiledOperator":
            table.call("BindPersistentResource", _desc(persistent))

        def record(commands: Object) -> None:
            commands.call("SetDescriptorHeaps", 1, (ctypes.c_void_p * 1)(heap.address))
            self._recorder.call("RecordDispatch", commands, dispatchable, table)

        self._commands(record)

    def _commands(self, record: Any) -> None:
        """Execute the commands that ``record`` records, and wait for them."""
        allocator = self._created("CreateCommandAllocator", "ID3D12CommandAllocator", int(DIRECT))
        commands = self._created(
            "CreateCommandList", "ID3D12GraphicsCommandList", 0, int(DIRECT), allocator, None
        )
        record(commands)
        commands.call("Close")
        self._queue.call("ExecuteCommandLists", 1, (ctypes.c_void_p * 1)(commands.address))
        fence = self._created("CreateFence", "ID3D12Fence", 0, 0)
        self._queue.call("Signal", fence, 1)
        fence.call("SetEventOnCompletion", 1, None)
        self._dml.call("GetDeviceRemovedReason")
        self._d3d12.call("GetDeviceRemovedReason")


def _align4(size: int) -> int:
    return max(4, (size + 3) // 4 * 4)


def _whole(buffer: tuple[Object, int] | None) -> DML_BUFFER_BINDING:
    return DML_BUFFER_BINDING() if buffer is None else DML_BUFFER_BINDING(buffer[0].address, 0, buffer[1])


def _desc(binding: DML_BUFFER_BINDING) -> DML_BINDING_DESC:
    """A binding desc of type BUFFER, or NONE for an empty binding."""
    if not binding.SizeInBytes:
        return DML_BINDING_DESC()
    return DML_BINDING_DESC(DML_BINDING_TYPE_BUFFER, binding)
