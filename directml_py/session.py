"""A session over the object model: devices, buffers, binding tables, and a command list executed on request."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .api.d3d12_enums import (
    D3D12_COMMAND_LIST_TYPE_DIRECT,
    D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE,
    D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV,
    D3D12_HEAP_FLAG_CREATE_NOT_ZEROED,
    D3D12_HEAP_FLAG_NONE,
    D3D12_HEAP_FLAGS,
    D3D12_HEAP_TYPE,
    D3D12_HEAP_TYPE_DEFAULT,
    D3D12_HEAP_TYPE_READBACK,
    D3D12_HEAP_TYPE_UPLOAD,
    D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS,
    D3D12_RESOURCE_FLAG_NONE,
    D3D12_RESOURCE_STATE_COMMON,
    D3D12_RESOURCE_STATE_COPY_DEST,
    D3D12_RESOURCE_STATE_COPY_SOURCE,
    D3D12_RESOURCE_STATE_GENERIC_READ,
    D3D12_RESOURCE_STATE_UNORDERED_ACCESS,
    D3D12_RESOURCE_STATES,
)
from .api.d3d12_structs import D3D12_COMMAND_QUEUE_DESC, D3D12_DESCRIPTOR_HEAP_DESC
from .api.enums import DML_BINDING_TYPE_BUFFER, DML_BINDING_TYPE_BUFFER_ARRAY, DML_BINDING_TYPE_NONE
from .api.schema_data import STRUCTS
from .api.structs import DML_BINDING_DESC, DML_BINDING_TABLE_DESC, DML_BUFFER_BINDING
from .d3d12 import (
    CD3DX12_CPU_DESCRIPTOR_HANDLE,
    CD3DX12_GPU_DESCRIPTOR_HANDLE,
    CD3DX12_HEAP_PROPERTIES,
    CD3DX12_RESOURCE_BARRIER,
    CD3DX12_RESOURCE_DESC,
    D3D12CreateDevice,
    ID3D12DescriptorHeap,
    ID3D12GraphicsCommandList,
    ID3D12Resource,
)
from .descs.decode import decode_struct
from .descs.operator_desc import Record, TensorSlot
from .descs.tensor import TensorDesc
from .dml import DMLCreateDevice, IDMLBindingTable, IDMLCompiledOperator, IDMLDevice, IDMLDispatchable

if TYPE_CHECKING:
    import numpy.typing as npt

DEFAULT = D3D12_HEAP_TYPE_DEFAULT
UPLOAD = D3D12_HEAP_TYPE_UPLOAD
READBACK = D3D12_HEAP_TYPE_READBACK
DIRECT = D3D12_COMMAND_LIST_TYPE_DIRECT
VIEWS = D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV
# Buffers in DEFAULT heaps begin in COMMON, from which they are implicitly promoted at first use.
STATES = {
    DEFAULT: D3D12_RESOURCE_STATE_COMMON,
    UPLOAD: D3D12_RESOURCE_STATE_GENERIC_READ,
    READBACK: D3D12_RESOURCE_STATE_COPY_DEST,
}
UNORDERED_ACCESS = D3D12_RESOURCE_STATE_UNORDERED_ACCESS
PROPERTIES = {heap: CD3DX12_HEAP_PROPERTIES(heap) for heap in STATES}
DESCRIPTORS = 256
# The distance of tensors in one buffer, at which views and vector loads are aligned.
APART = 256

Array: TypeAlias = "npt.NDArray[Any]"
# What a tensor may be bound to: a whole buffer, a range of one, what a desc says, or nothing.
Range: TypeAlias = ID3D12Resource | DML_BUFFER_BINDING | Record | None
Bindable: TypeAlias = Range | DML_BINDING_DESC
BINDING, PART, PARTS = (
    STRUCTS[name] for name in ("DML_BINDING_DESC", "DML_BUFFER_BINDING", "DML_BUFFER_ARRAY_BINDING")
)
NOTHING, NO_PART = Record(BINDING, (DML_BINDING_TYPE_NONE, None)), Record(PART, (None, 0, 0))


class Session:
    """Both devices, a queue, an open command list, a recorder, and a descriptor heap for binding tables.

    ``dispatch`` and ``barrier`` record into ``commands``, which ``execute`` runs; ``upload``, ``initialize`` and
    ``read`` execute commands of their own immediately and wait for them.
    """

    def __init__(self, device: IDMLDevice | None = None) -> None:
        self.dml = DMLCreateDevice(D3D12CreateDevice()) if device is None else device
        self.d3d12 = self.dml.d3d12_device
        self.queue = self.d3d12.CreateCommandQueue(D3D12_COMMAND_QUEUE_DESC(Type=DIRECT))
        self.allocator = self.d3d12.CreateCommandAllocator(DIRECT)
        self.commands = self.d3d12.CreateCommandList(0, DIRECT, self.allocator)
        self.recorder = self.dml.CreateCommandRecorder()
        self._open_heap(DESCRIPTORS)
        # Keepalives of objects that recorded commands refer to.
        self._recorded: list[object] = []

    def _open_heap(self, count: int) -> None:
        self.heap: ID3D12DescriptorHeap = self.d3d12.CreateDescriptorHeap(
            D3D12_DESCRIPTOR_HEAP_DESC(VIEWS, count, D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE)
        )
        self.taken = 0
        self.commands.SetDescriptorHeaps([self.heap])

    def compile(self, desc: Any, flags: int = 0) -> IDMLCompiledOperator:
        return self.dml.CompileOperator(self.dml.CreateOperator(desc), flags)

    def buffer(
        self, size: int, heap: D3D12_HEAP_TYPE = DEFAULT, heap_flags: D3D12_HEAP_FLAGS = D3D12_HEAP_FLAG_NONE
    ) -> ID3D12Resource:
        """A buffer of ``size`` bytes."""
        flags = D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS if heap == DEFAULT else D3D12_RESOURCE_FLAG_NONE
        return self.d3d12.CreateCommittedResource(
            PROPERTIES[heap],
            heap_flags,
            CD3DX12_RESOURCE_DESC.Buffer(size, flags),
            STATES[heap],
        )

    def upload(self, array: Array, tensor: TensorDesc | None = None) -> ID3D12Resource:
        """A buffer with ``array`` in the layout of ``tensor``; without ``tensor``, its bytes in C order."""
        size = (array.nbytes + 3) // 4 * 4 if tensor is None else tensor.total_size
        staging = self.buffer(size, UPLOAD)
        memory = staging.Map()
        if tensor is None:
            memory[: array.nbytes] = np.frombuffer(array.tobytes(), np.uint8)
        else:
            tensor.store(memory, array)
        staging.Unmap()
        target = self.buffer(size)
        self.run(lambda commands: commands.CopyResource(target, staging))
        return target

    def stage(self, arrays: Iterable[Array | None], tensors: Sequence[TensorDesc | None]) -> list[Range]:
        """Ranges of one buffer in an UPLOAD heap with ``arrays`` in the layouts of ``tensors``: what an initializer
        reads need not be copied to a DEFAULT heap first. Each array is stored as soon as it is taken. Tensors that are
        aligned to more than ``APART`` bytes have buffers of their own, at whose beginning every alignment is given."""
        shared = [tensor if tensor is not None and tensor.alignment <= APART else None for tensor in tensors]
        sizes = [0 if tensor is None else tensor.total_size for tensor in shared]
        starts = list(accumulate((-(-size // APART) * APART for size in sizes), initial=0))
        end = max((start + size for start, size in zip(starts, sizes) if size), default=0)
        together = self._staging(end) if end else None
        ranges: list[Range] = [None] * len(tensors)
        for index, (array, tensor) in enumerate(zip(arrays, tensors)):
            if tensor is not None and array is not None:
                is_alone = together is None or shared[index] is None
                buffer = self._staging(tensor.total_size) if is_alone else together
                assert buffer is not None
                start = 0 if is_alone else starts[index]
                tensor.store(buffer.Map()[start : start + tensor.total_size], array)
                buffer.Unmap()
                ranges[index] = part(buffer, start, tensor.total_size)
        return ranges

    def _staging(self, size: int) -> ID3D12Resource:
        return self.buffer(size, UPLOAD, D3D12_HEAP_FLAG_CREATE_NOT_ZEROED)

    def read(self, buffer: ID3D12Resource, dtype: npt.DTypeLike = np.uint8) -> Array:
        """All bytes of a buffer as elements of ``dtype``."""
        elements: Array = self._read_back(buffer).Map().view(dtype).copy()
        return elements

    def load(self, buffer: ID3D12Resource, tensor: TensorDesc) -> Array:
        """Read a tensor from a buffer."""
        return tensor.load(self._read_back(buffer).Map())

    def _read_back(self, buffer: ID3D12Resource) -> ID3D12Resource:
        readback = self.buffer(buffer.GetDesc().Width, READBACK)
        self.run(lambda commands: commands.CopyResource(readback, buffer))
        return readback

    def run(self, record: Callable[[ID3D12GraphicsCommandList], object]) -> None:
        """Record and execute commands in a list of their own, and wait for them."""
        allocator = self.d3d12.CreateCommandAllocator(DIRECT)
        commands = self.d3d12.CreateCommandList(0, DIRECT, allocator)
        record(commands)
        commands.Close()
        self.queue.ExecuteCommandLists([commands])
        self.wait()

    def wait(self) -> None:
        """Wait for all work submitted to the queue."""
        fence = self.d3d12.CreateFence(0)
        self.queue.Signal(fence, 1)
        fence.SetEventOnCompletion(1, None)

    def execute(self) -> None:
        """Execute the recorded commands, wait for them, and reopen the list."""
        self.commands.Close()
        self.queue.ExecuteCommandLists([self.commands])
        self.wait()
        self._recorded.clear()
        self.allocator.Reset()
        self.commands.Reset(self.allocator)
        self.commands.SetDescriptorHeaps([self.heap])

    def barrier(self, buffer: ID3D12Resource | None = None) -> None:
        """Record a UAV barrier for ``buffer``, or for all resources."""
        self.commands.ResourceBarrier([CD3DX12_RESOURCE_BARRIER.UAV(buffer)])

    def table_desc(self, dispatchable: IDMLDispatchable, extra: int = 0) -> DML_BINDING_TABLE_DESC:
        """Unused descriptors for a table, plus ``extra`` ones after them."""
        # Handles must point to a descriptor, even for a dispatchable that needs none.
        count = max(1, dispatchable.descriptor_count + extra)
        if self.taken + count > self.heap.size:
            self._recorded.append(self.heap)
            self._open_heap(max(count, DESCRIPTORS))
        start, increment = self.taken, self.d3d12.GetDescriptorHandleIncrementSize(VIEWS)
        self.taken += count
        return DML_BINDING_TABLE_DESC(
            dispatchable,
            CD3DX12_CPU_DESCRIPTOR_HANDLE(self.heap.GetCPUDescriptorHandleForHeapStart(), start, increment),
            CD3DX12_GPU_DESCRIPTOR_HANDLE(self.heap.GetGPUDescriptorHandleForHeapStart(), start, increment),
            count,
        )

    def table(
        self,
        dispatchable: IDMLDispatchable,
        inputs: Sequence[Bindable] | None = None,
        outputs: Sequence[Bindable] | None = None,
        temporary: Bindable = None,
        persistent: Bindable = None,
    ) -> IDMLBindingTable:
        """A table with these bindings.

        If the heap is full the list switches to a new one: earlier tables must have been recorded by then.
        """
        table = self.dml.CreateBindingTable(self.table_desc(dispatchable))
        if inputs is not None:
            table.BindInputs([binding(item) for item in inputs])
        if outputs is not None:
            table.BindOutputs([binding(item) for item in outputs])
        if temporary is not None:
            table.BindTemporaryResource(binding(temporary))
        if persistent is not None:
            table.BindPersistentResource(binding(persistent))
        return table

    def temporary(self, dispatchable: IDMLDispatchable) -> ID3D12Resource | None:
        """A temporary resource, if one is needed."""
        size = dispatchable.temporary_size
        return self.buffer(size) if size else None

    def record(
        self,
        dispatchable: IDMLDispatchable,
        table: IDMLBindingTable,
        commands: ID3D12GraphicsCommandList | None = None,
    ) -> None:
        self.recorder.RecordDispatch(self.commands if commands is None else commands, dispatchable, table)

    def initialize(
        self,
        op: IDMLCompiledOperator,
        inputs: Sequence[Range] = (),
        persistent: Bindable = None,
    ) -> Bindable:
        """Initialize an operator; returns its persistent resource, created if none is passed, None if it needs none.

        ``inputs`` are the buffers of all inputs, of which the owned ones are read.
        """
        if persistent is None and op.persistent_size:
            # Large, and written as a whole.
            persistent = self.buffer(op.persistent_size, heap_flags=D3D12_HEAP_FLAG_CREATE_NOT_ZEROED)
        initializer = self.dml.CreateOperatorInitializer([op])
        temporary = self.temporary(initializer)
        heap, first = self.heap, self.taken
        if persistent is None:
            table = self.table(initializer, temporary=temporary)
        else:
            owned: list[Range] = [None] * len(op.inputs)
            for index, item in enumerate(inputs):
                owned[index] = item if op.is_owned(index) else None
            table = self.table(initializer, [bindings(owned)], [persistent], temporary)

        def record(commands: ID3D12GraphicsCommandList) -> None:
            commands.SetDescriptorHeaps([self.heap])
            self.record(initializer, table, commands)

        self.run(record)
        # The initialization is complete: its descriptors are cleared for reuse, and references to its buffers dropped.
        start = first if self.heap is heap else 0
        for index in range(start, self.taken):
            self.heap.write(index, None)
        self.taken = start
        return persistent

    def dispatch(
        self,
        op: IDMLCompiledOperator,
        inputs: Sequence[Bindable],
        outputs: Sequence[Bindable],
        persistent: Bindable = None,
    ) -> None:
        """Record a dispatch; ``inputs`` may include the buffers of owned inputs. Allocates the temporary resource."""
        bound = [None if op.is_owned(index) else item for index, item in enumerate(inputs)]
        temporary = self.temporary(op)
        self.record(op, self.table(op, bound, outputs, temporary, persistent))
        self._recorded += [op, bound, outputs, temporary, persistent]

    def evaluate(
        self,
        op: IDMLCompiledOperator,
        arrays: Sequence[Array | None],
        inputs: Sequence[TensorSlot] | None = None,
        outputs: Sequence[TensorSlot] | None = None,
    ) -> list[Array | None]:
        """Upload ``arrays``, initialize, dispatch, and read back.

        An operator that is already initialized, and has no persistent resource, is not initialized again.
        ``inputs`` and ``outputs`` give the layouts of the arrays in memory, if other than the operator's own tensors.
        Raises ``DMLError`` ``DXGI_ERROR_DEVICE_REMOVED`` if that removes the device.
        """
        read = [slot.tensor for slot, _ in zip(op.inputs if inputs is None else inputs, arrays)]
        written = [slot.tensor for slot in (op.outputs if outputs is None else outputs)]
        owned = owned_positions(read)
        return RecordedRun(self, op, read, written, owned, [arrays[index] for index in owned]).run(arrays)


def owned_positions(inputs: Sequence[TensorDesc | None]) -> list[int]:
    """The positions of the tensors that DirectML owns."""
    return [index for index, tensor in enumerate(inputs) if tensor is not None and tensor.is_owned_by_dml]


class RecordedRun:
    """A compiled operator, initialized, whose dispatch is recorded once, with copies from and to buffers that the CPU
    maps.

    ``inputs`` and ``outputs`` are the tensors that arrays are stored to and loaded from, None for absent ones. The
    inputs at the positions ``constant`` are, among them all that DirectML owns; ``contents`` are their arrays, each of
    which is stored as soon as it is taken.

    An operator that is already initialized, and has no persistent resource, is not initialized again.
    """

    def __init__(
        self,
        session: Session,
        op: IDMLCompiledOperator,
        inputs: Sequence[TensorDesc | None],
        outputs: Sequence[TensorDesc | None],
        constant: Sequence[int],
        contents: Iterable[Array | None],
    ) -> None:
        self._session = session
        staged = session.stage(contents, [inputs[index] for index in constant])
        bound: list[Range] = [None] * len(inputs)
        for index, view in zip(constant, staged):
            bound[index] = view
        needs_initialization = not op.initialized or op.persistent_size
        persistent = session.initialize(op, bound) if needs_initialization else None
        # What arrays are stored to and loaded from, and what is copied before and after the dispatch.
        self._stores: list[tuple[TensorDesc, ID3D12Resource] | None] = []
        copies: list[tuple[ID3D12Resource, Record]] = []
        for index, (tensor, source) in enumerate(zip(inputs, bound)):
            self._stores.append(None)
            if tensor is None or tensor.is_owned_by_dml:
                bound[index] = None
                continue
            if source is None:
                source = session.buffer(tensor.total_size, UPLOAD)
                self._stores[index] = tensor, source
            bound[index] = target = session.buffer(tensor.total_size)
            copies.append((target, whole(source)))
        results = [None if tensor is None else session.buffer(tensor.total_size) for tensor in outputs]
        self._loads = [
            None if tensor is None else (tensor, session.buffer(tensor.total_size, READBACK))
            for tensor in outputs
        ]
        temporary = session.temporary(op)
        table = session.table(op, bound, results, temporary, persistent)
        allocator = session.d3d12.CreateCommandAllocator(DIRECT)
        self._commands = commands = session.d3d12.CreateCommandList(0, DIRECT, allocator)
        self._kept = [op, copies, results, temporary, persistent, table, allocator]
        commands.SetDescriptorHeaps([session.heap])
        for target, source in copies:
            commands.CopyBufferRegion(target, 0, source.Buffer, source.Offset, source.SizeInBytes)
        _transition(
            commands, [target for target, _ in copies], D3D12_RESOURCE_STATE_COPY_DEST, UNORDERED_ACCESS
        )
        session.record(op, table, commands)
        written = [
            (target, load)
            for target, load in zip(results, self._loads)
            if target is not None and load is not None
        ]
        _transition(
            commands, [target for target, _ in written], UNORDERED_ACCESS, D3D12_RESOURCE_STATE_COPY_SOURCE
        )
        for target, (_, readback) in written:
            commands.CopyResource(readback, target)
        commands.Close()

    def run(self, arrays: Sequence[Array | None]) -> list[Array | None]:
        """The outputs, in new arrays; ``arrays`` of constant inputs are ignored.

        Raises ``DMLError`` ``DXGI_ERROR_DEVICE_REMOVED`` if the device is removed.
        """
        session = self._session
        for store, array in zip(self._stores, arrays):
            if store is not None and array is not None:
                tensor, buffer = store
                tensor.store(buffer.Map(), array)
                buffer.Unmap()
        session.queue.ExecuteCommandLists([self._commands])
        session.wait()
        session.dml.removal.check()
        return [None if load is None else load[0].load(load[1].Map()) for load in self._loads]


def _transition(
    commands: ID3D12GraphicsCommandList,
    buffers: Sequence[ID3D12Resource],
    before: D3D12_RESOURCE_STATES,
    after: D3D12_RESOURCE_STATES,
) -> None:
    if buffers:
        commands.ResourceBarrier(
            [CD3DX12_RESOURCE_BARRIER.Transition(buffer, before, after) for buffer in buffers]
        )


def part(buffer: ID3D12Resource, offset: int, size: int) -> Record:
    """A range of a buffer, as a value: encoding a DML_BUFFER_BINDING for each weight of a network takes long."""
    return Record(PART, (buffer, offset, size))


def whole(buffer: Range) -> Record:
    """The whole of a buffer, or an empty range for None; a range as it is."""
    if isinstance(buffer, Record):
        return buffer
    if isinstance(buffer, DML_BUFFER_BINDING):
        record, faults = decode_struct(buffer, PART.name, "binding")
        if faults or not isinstance(record, Record):
            raise ValueError("; ".join(map(str, faults)))
        return record
    return NO_PART if buffer is None else part(buffer, 0, buffer.width)


def binding(item: Bindable) -> DML_BINDING_DESC | Record:
    """A binding of type BUFFER, or NONE for None."""
    if isinstance(item, DML_BINDING_DESC) or (isinstance(item, Record) and item.struct is BINDING):
        return item
    return NOTHING if item is None else Record(BINDING, (DML_BINDING_TYPE_BUFFER, whole(item)))


def bindings(buffers: Sequence[Range]) -> Record:
    """A binding of type BUFFER_ARRAY."""
    array = Record(PARTS, (len(buffers), tuple(whole(buffer) for buffer in buffers)))
    return Record(BINDING, (DML_BINDING_TYPE_BUFFER_ARRAY, array))
