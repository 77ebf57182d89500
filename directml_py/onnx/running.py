"""Execution of a compiled graph whose constants stay in memory: bound to arrays directly, or as one recorded dispatch
that is executed repeatedly, for observers to see."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..api.d3d12_enums import (
    D3D12_CPU_PAGE_PROPERTY_WRITE_BACK,
    D3D12_HEAP_FLAG_CREATE_NOT_ZEROED,
    D3D12_HEAP_FLAG_NONE,
    D3D12_HEAP_FLAGS,
    D3D12_HEAP_TYPE_CUSTOM,
    D3D12_MEMORY_POOL_L0,
    D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS,
    D3D12_RESOURCE_STATE_COMMON,
)
from ..api.d3d12_structs import D3D12_HEAP_PROPERTIES
from ..d3d12 import CD3DX12_RESOURCE_DESC, ID3D12GraphicsCommandList, ID3D12Resource
from ..d3d12.observers import watchers
from ..descs.tensor import TensorDesc
from ..dml import IDMLDevice
from ..dml.profiles import KIND
from ..evaluation import BoundProgram
from ..graph.compiled import CompiledGraph
from ..session import APART, DIRECT, Range, Session, part
from .values import Array

# System memory, which the CPU can access.
HEAP = D3D12_HEAP_PROPERTIES(
    D3D12_HEAP_TYPE_CUSTOM, D3D12_CPU_PAGE_PROPERTY_WRITE_BACK, D3D12_MEMORY_POOL_L0, 1, 1
)


def is_observed(device: IDMLDevice) -> bool:
    """Whether calls have effects beyond their results: on a debug layer, in a capture, with a demanding profile.

    So have those on a removed device, which fail.
    """
    return bool(
        watchers.all
        or device.removal.debug
        or device.d3d12_device.sync_validator is not None
        or device.profile != KIND
        or not device.removal.alive()
    )


class DirectExecution:
    """The program of ``compiled``, bound to ``constants``, the arrays of its inputs from ``first`` on."""

    def __init__(self, compiled: CompiledGraph, first: int, constants: Iterable[Array]) -> None:
        inputs, outputs = [*compiled.inputs.values()], [*compiled.outputs.values()]
        self._inputs = [*compiled.inputs][:first]
        self._outputs = [*compiled.outputs]
        self._program = BoundProgram(compiled.operator.program, inputs, outputs, first, constants)

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Takes and returns arrays with the tensors' sizes and types."""
        results = self._program.run([inputs.get(name) for name in self._inputs])
        return {name: array for name, array in zip(self._outputs, results) if array is not None}


class RecordedExecution:
    """``compiled``, initialized with ``constants``, the arrays of its inputs from ``first`` on.

    Its dispatch is recorded once. Bound buffers lie in a heap that the CPU reads and writes, so that no tensor is
    copied to another heap.
    """

    def __init__(self, compiled: CompiledGraph, first: int, constants: Iterable[Array]) -> None:
        self.session = session = Session(compiled.graph.device)
        operator = compiled.operator
        names, tensors = list(compiled.inputs), list(compiled.inputs.values())
        bound = self._uploaded(tensors, first, constants)
        persistent = session.initialize(operator, bound)
        self._inputs: dict[str, tuple[TensorDesc, ID3D12Resource]] = {}
        for index, tensor in enumerate(tensors):
            if tensor is not None and tensor.is_owned_by_dml:
                bound[index] = None
            elif tensor is not None and index < first:
                bound[index] = buffer = self._buffer(tensor.total_size)
                self._inputs[names[index]] = tensor, buffer
        self._outputs = {
            name: (tensor, self._buffer(tensor.total_size)) for name, tensor in compiled.outputs.items()
        }
        targets = [buffer for _, buffer in self._outputs.values()]
        temporary = session.temporary(operator)
        table = session.table(operator, bound, targets, temporary, persistent)
        allocator = session.d3d12.CreateCommandAllocator(DIRECT)
        self._commands: ID3D12GraphicsCommandList = session.d3d12.CreateCommandList(0, DIRECT, allocator)
        self._commands.SetDescriptorHeaps([session.heap])
        session.record(operator, table, self._commands)
        self._commands.Close()
        self._kept = [compiled, bound, targets, temporary, persistent, table, allocator]

    def _uploaded(
        self, tensors: Sequence[TensorDesc | None], first: int, constants: Iterable[Array]
    ) -> list[Range]:
        """What inputs are bound to: for constants, ranges of two buffers, as the initializer alone reads those that are
        OWNED_BY_DML."""
        places: dict[int, int] = {}
        sizes = {True: 0, False: 0}
        for index, tensor in enumerate(tensors[first:], first):
            if tensor is not None:
                places[index] = sizes[tensor.is_owned_by_dml]
                sizes[tensor.is_owned_by_dml] += -(-tensor.total_size // APART) * APART
        buffers = {
            owned: self._buffer(size, D3D12_HEAP_FLAG_CREATE_NOT_ZEROED)
            for owned, size in sizes.items()
            if size
        }
        memory = {owned: buffer.Map() for owned, buffer in buffers.items()}
        bound: list[Range] = [None] * len(tensors)
        for index, array in enumerate(constants, first):
            tensor = tensors[index]
            if tensor is not None:
                owned, start, size = tensor.is_owned_by_dml, places[index], tensor.total_size
                tensor.store(memory[owned][start : start + size], array)
                bound[index] = part(buffers[owned], start, size)
        for buffer in buffers.values():
            buffer.Unmap()
        return bound

    def _buffer(self, size: int, flags: D3D12_HEAP_FLAGS = D3D12_HEAP_FLAG_NONE) -> ID3D12Resource:
        return self.session.d3d12.CreateCommittedResource(
            HEAP,
            flags,
            CD3DX12_RESOURCE_DESC.Buffer(size, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS),
            D3D12_RESOURCE_STATE_COMMON,
        )

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Takes and returns arrays with the tensors' sizes and types."""
        for name, (tensor, buffer) in self._inputs.items():
            _write(buffer, tensor, inputs[name])
        self.session.queue.ExecuteCommandLists([self._commands])
        self.session.wait()
        self.session.dml.removal.check()
        return {name: _read(buffer, tensor) for name, (tensor, buffer) in self._outputs.items()}


def _write(buffer: ID3D12Resource, tensor: TensorDesc, array: Array) -> None:
    tensor.store(buffer.Map(), array)
    buffer.Unmap()


def _read(buffer: ID3D12Resource, tensor: TensorDesc) -> Array:
    array = tensor.load(buffer.Map())
    buffer.Unmap()
    return array
