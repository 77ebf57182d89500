"""A compiled graph with its constants in memory, dispatched again and again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..api.d3d12_enums import D3D12_HEAP_TYPE_READBACK, D3D12_HEAP_TYPE_UPLOAD
from ..d3d12 import ID3D12GraphicsCommandList, ID3D12Resource
from ..descs.tensor import TensorDesc
from ..graph.compiled import CompiledGraph
from ..session import DIRECT, Session
from .values import Array


class Executable:
    """``compiled``, initialized with ``constants``, the arrays of its inputs from ``first`` on.

    Three command lists are recorded once: copies of the inputs to the buffers that are bound, the dispatch, and
    copies of the outputs. Between their executions all buffers decay to COMMON.
    """

    def __init__(self, compiled: CompiledGraph, first: int, constants: Iterable[Array]) -> None:
        self.compiled = compiled
        self.session = session = Session(compiled.graph.device)
        operator = compiled.operator
        tensors = list(compiled.inputs.values())
        bound: list[ID3D12Resource | None] = [None] * len(tensors)
        for index, array in enumerate(constants, first):
            tensor = tensors[index]
            if tensor is not None:
                bound[index] = session.upload(array, tensor)
        persistent = session.initialize(operator, bound)
        for index, tensor in enumerate(tensors):
            if tensor is not None and tensor.is_owned_by_dml:
                bound[index] = None
        self._inputs: dict[str, tuple[TensorDesc, ID3D12Resource]] = {}
        copies = []
        for index, (name, desc) in enumerate(list(compiled.inputs.items())[:first]):
            if desc is not None:
                staging = session.buffer(desc.total_size, D3D12_HEAP_TYPE_UPLOAD)
                bound[index] = target = session.buffer(desc.total_size)
                self._inputs[name] = desc, staging
                copies.append((target, staging))
        targets = {name: session.buffer(desc.total_size) for name, desc in compiled.outputs.items()}
        self._outputs = {
            name: (desc, session.buffer(desc.total_size, D3D12_HEAP_TYPE_READBACK))
            for name, desc in compiled.outputs.items()
        }
        temporary = session.temporary(operator)
        table = session.table(operator, bound, list(targets.values()), temporary, persistent)
        self._kept: list[Any] = [bound, targets, temporary, persistent, table]
        self._lists = [
            self._recorded(copies),
            self._dispatch(table),
            self._recorded([(readback, targets[name]) for name, (_, readback) in self._outputs.items()]),
        ]

    def _recorded(self, copies: Sequence[tuple[ID3D12Resource, ID3D12Resource]]) -> ID3D12GraphicsCommandList:
        commands = self._open()
        for target, source in copies:
            commands.CopyResource(target, source)
        commands.Close()
        return commands

    def _dispatch(self, table: Any) -> ID3D12GraphicsCommandList:
        commands = self._open()
        commands.SetDescriptorHeaps([self.session.heap])
        self.session.record(self.compiled.operator, table, commands)
        commands.Close()
        return commands

    def _open(self) -> ID3D12GraphicsCommandList:
        allocator = self.session.d3d12.CreateCommandAllocator(DIRECT)
        commands: ID3D12GraphicsCommandList = self.session.d3d12.CreateCommandList(0, DIRECT, allocator)
        return commands

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Arrays with the tensors' sizes and types in, and out."""
        for name, (desc, staging) in self._inputs.items():
            desc.store(staging.Map(), inputs[name])
            staging.Unmap()
        for commands in self._lists:
            self.session.queue.ExecuteCommandLists([commands])
        self.session.wait()
        self.session.dml.removal.check()
        return {name: desc.load(readback.Map()) for name, (desc, readback) in self._outputs.items()}
