"""Execution of a compiled graph: constants stay in memory, and one recorded dispatch is executed repeatedly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..api.d3d12_enums import (
    D3D12_CPU_PAGE_PROPERTY_WRITE_BACK,
    D3D12_HEAP_FLAG_NONE,
    D3D12_HEAP_TYPE_CUSTOM,
    D3D12_MEMORY_POOL_L0,
    D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS,
    D3D12_RESOURCE_STATE_COMMON,
)
from ..api.d3d12_structs import D3D12_HEAP_PROPERTIES
from ..d3d12 import CD3DX12_RESOURCE_DESC, ID3D12GraphicsCommandList, ID3D12Resource
from ..descs.tensor import TensorDesc
from ..graph.compiled import CompiledGraph
from ..session import DIRECT, Session
from .values import Array

# System memory, which the CPU can access.
HEAP = D3D12_HEAP_PROPERTIES(
    D3D12_HEAP_TYPE_CUSTOM, D3D12_CPU_PAGE_PROPERTY_WRITE_BACK, D3D12_MEMORY_POOL_L0, 1, 1
)


class Executable:
    """``compiled``, initialized with ``constants``, the arrays of its inputs from ``first`` on.

    Its dispatch is recorded once. Bound buffers lie in a heap that the CPU reads and writes, so that no tensor is
    copied to another heap.
    """

    def __init__(self, compiled: CompiledGraph, first: int, constants: Iterable[Array]) -> None:
        self.session = session = Session(compiled.graph.device)
        operator = compiled.operator
        names, tensors = list(compiled.inputs), list(compiled.inputs.values())
        bound: list[ID3D12Resource | None] = [None] * len(tensors)
        for index, array in enumerate(constants, first):
            tensor = tensors[index]
            if tensor is not None:
                bound[index] = buffer = self._buffer(tensor)
                _write(buffer, tensor, array)
        persistent = session.initialize(operator, bound)
        self._inputs: dict[str, tuple[TensorDesc, ID3D12Resource]] = {}
        for index, tensor in enumerate(tensors):
            if tensor is not None and tensor.is_owned_by_dml:
                bound[index] = None
            elif tensor is not None and index < first:
                bound[index] = buffer = self._buffer(tensor)
                self._inputs[names[index]] = tensor, buffer
        self._outputs = {name: (tensor, self._buffer(tensor)) for name, tensor in compiled.outputs.items()}
        targets = [buffer for _, buffer in self._outputs.values()]
        temporary = session.temporary(operator)
        table = session.table(operator, bound, targets, temporary, persistent)
        self._commands: ID3D12GraphicsCommandList = session.d3d12.CreateCommandList(
            0, DIRECT, session.d3d12.CreateCommandAllocator(DIRECT)
        )
        self._commands.SetDescriptorHeaps([session.heap])
        session.record(operator, table, self._commands)
        self._commands.Close()
        self._kept = [compiled, bound, targets, temporary, persistent, table]

    def _buffer(self, tensor: TensorDesc) -> ID3D12Resource:
        return self.session.d3d12.CreateCommittedResource(
            HEAP,
            D3D12_HEAP_FLAG_NONE,
            CD3DX12_RESOURCE_DESC.Buffer(tensor.total_size, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS),
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
