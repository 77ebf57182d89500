"""Executes programs on debug devices and collects the rules that the debug layers report."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from directml_py.abi.hresult import DMLError
from directml_py.abi.rules import message_id
from directml_py.api import d3d12_enums as d3d
from directml_py.api.d3d12_structs import (
    D3D12_BUFFER_UAV,
    D3D12_COMMAND_QUEUE_DESC,
    D3D12_DESCRIPTOR_HEAP_DESC,
    D3D12_INFO_QUEUE_FILTER,
    D3D12_INFO_QUEUE_FILTER_DESC,
    D3D12_RANGE,
    D3D12_UNORDERED_ACCESS_VIEW_DESC,
)
from directml_py.api.enums import (
    DML_BINDING_TYPE_BUFFER,
    DML_BINDING_TYPE_BUFFER_ARRAY,
    DML_CREATE_DEVICE_FLAG_DEBUG,
)
from directml_py.api.structs import DML_BINDING_DESC, DML_BUFFER_ARRAY_BINDING, DML_BUFFER_BINDING
from directml_py.d3d12 import (
    CD3DX12_HEAP_DESC,
    CD3DX12_HEAP_PROPERTIES,
    CD3DX12_RESOURCE_BARRIER,
    CD3DX12_RESOURCE_DESC,
    D3D12CreateDevice,
    D3D12GetDebugInterface,
    ID3D12GraphicsCommandList,
)
from directml_py.d3d12.debug import debug_layer_enabled
from directml_py.dml import DMLCreateDevice, IDMLCompiledOperator
from directml_py.session import Session

from . import program_values as v
from .step_kinds import DESCS

STUCK = "stuck"
STATES = {
    name: d3d.D3D12_RESOURCE_STATES[f"D3D12_RESOURCE_STATE_{name}"]
    for name in (v.COMMON, v.UNORDERED_ACCESS, v.COPY_SOURCE, v.COPY_DEST)
}
HALVES = {
    "": d3d.D3D12_RESOURCE_BARRIER_FLAG_NONE,
    v.BEGIN: d3d.D3D12_RESOURCE_BARRIER_FLAG_BEGIN_ONLY,
    v.END: d3d.D3D12_RESOURCE_BARRIER_FLAG_END_ONLY,
}
STATES_OF_HEAPS = {
    v.DEFAULT: d3d.D3D12_RESOURCE_STATE_COMMON,
    v.UPLOAD: d3d.D3D12_RESOURCE_STATE_GENERIC_READ,
    v.READBACK: d3d.D3D12_RESOURCE_STATE_COPY_DEST,
}


@contextmanager
def _debug_layer() -> Iterator[None]:
    was_on, switch = debug_layer_enabled(), D3D12GetDebugInterface()
    switch.EnableDebugLayer()
    try:
        yield
    finally:
        if not was_on:
            switch.DisableDebugLayer()


def debug_session() -> Session:
    with _debug_layer():
        session = Session(DMLCreateDevice(D3D12CreateDevice(), DML_CREATE_DEVICE_FLAG_DEBUG))
    assert session.d3d12.info_queue is not None
    session.d3d12.info_queue.SetBreakOnSeverity(d3d.D3D12_MESSAGE_SEVERITY_ERROR, False)
    session.d3d12.info_queue.SetMuteDebugOutput(True)
    # The zeros of new buffers are inputs of the programs.
    deny = D3D12_INFO_QUEUE_FILTER_DESC(pIDList=[message_id("D3D12-Contents-unwritten")])
    session.d3d12.info_queue.PushStorageFilter(D3D12_INFO_QUEUE_FILTER(DenyList=deny))
    return session


class Stage:
    """Devices that programs run on."""

    def __init__(self) -> None:
        self.session = debug_session()
        # Operators that are initialized beforehand.
        self.ops: dict[str, IDMLCompiledOperator] = {}

    def op(self, kind: v.OperatorKind) -> IDMLCompiledOperator:
        if kind.name not in self.ops:
            self.ops[kind.name] = self.compile(kind)
            self.session.initialize(self.ops[kind.name])
        return self.ops[kind.name]

    def compile(self, kind: v.OperatorKind) -> IDMLCompiledOperator:
        return DESCS[kind.name](self.session)

    def play(self, program: v.FuzzProgram) -> set[str]:
        """Run a program; returns the rules that are reported, or the names of Direct3D's own messages."""
        info = self.session.d3d12.info_queue
        assert info is not None
        rules: set[str] = set()
        try:
            play = Play(self, program)
            rules |= play.run()
            # Flush work that is not waited for while its resources are still alive.
            self.session.d3d12.flush()
        except DMLError as error:
            if not info.GetNumStoredMessages():
                rules.add(str(error))
        for index in range(info.GetNumStoredMessages()):
            message = info.GetMessage(index)
            if message.diagnostic is not None:
                rules.add(message.diagnostic.rule)
            else:
                rules.add(d3d.D3D12_MESSAGE_ID(message.ID).name)
        info.ClearStoredMessages()
        # All work has run, so the descriptors can be reused.
        self.session.taken = 0
        return rules


class Play:
    """One run of a program, with the objects that it has not released."""

    def __init__(self, stage: Stage, program: v.FuzzProgram) -> None:
        self._stage, self._program = stage, program
        session = stage.session
        self._device = session.d3d12
        self._types = [
            d3d.D3D12_COMMAND_LIST_TYPE[f"D3D12_COMMAND_LIST_TYPE_{name}"] for name in program.queues
        ]
        self._queues = [
            self._device.CreateCommandQueue(D3D12_COMMAND_QUEUE_DESC(Type=kind)) for kind in self._types
        ]
        self._fences = [self._device.CreateFence(0) for _ in range(program.fences)]
        self._allocators: dict[int, list[Any]] = {}
        # By the number of the submission.
        self._lists: dict[int, Sequence[ID3D12GraphicsCommandList]] = {}
        self._views: list[Any] = []
        # By their names in ``ReleaseStep``.
        self._held: dict[str, Any] = {}
        for buffer in program.buffers.values():
            self._held[buffer.name] = self._resource(buffer)
        used = {
            command.op
            for step in program.steps
            if isinstance(step, v.SubmitStep)
            for commands in step.lists
            for command in commands
            if isinstance(command, (v.DispatchCall, v.InitializeCall))
        }
        for name, kind in program.ops.items():
            if name in used:
                self._held[name] = stage.compile(kind) if kind.owned else stage.op(kind)

    def _resource(self, buffer: v.BufferDecl) -> Any:
        flags = d3d.D3D12_HEAP_FLAG_NONE if buffer.zeroed else d3d.D3D12_HEAP_FLAG_CREATE_NOT_ZEROED
        heap = CD3DX12_HEAP_PROPERTIES(d3d.D3D12_HEAP_TYPE[f"D3D12_HEAP_TYPE_{buffer.heap}"])
        access = d3d.D3D12_RESOURCE_FLAG_NONE
        if buffer.heap == v.DEFAULT:
            access = d3d.D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS
        desc, state = CD3DX12_RESOURCE_DESC.Buffer(buffer.width, access), STATES_OF_HEAPS[buffer.heap]
        if not buffer.placed:
            resource = self._device.CreateCommittedResource(heap, flags, desc, state)
        else:
            name = f"memory {buffer.memory}"
            if name not in self._held:
                self._held[name] = self._device.CreateHeap(CD3DX12_HEAP_DESC(3 * v.GRANULE, heap, 0, flags))
            resource = self._device.CreatePlacedResource(self._held[name], buffer.offset, desc, state)
        resource.SetName(buffer.name)
        return resource

    def run(self) -> set[str]:
        for step in self._program.steps:
            if isinstance(step, v.SubmitStep):
                self._submit(step)
            elif isinstance(step, v.ResubmitStep):
                self._queues[step.queue].ExecuteCommandLists(self._lists[step.of])
            elif isinstance(step, v.SignalStep):
                self._queues[step.queue].Signal(self._fences[step.fence], step.value)
            elif isinstance(step, v.WaitStep):
                self._queues[step.queue].Wait(self._fences[step.fence], step.value)
            elif isinstance(step, v.CpuWaitStep):
                event = threading.Event()
                self._fences[step.fence].SetEventOnCompletion(step.value, event)
                if not event.is_set():
                    return {STUCK}
            elif isinstance(step, v.CpuWriteStep):
                self._bytes(step.part)[:] += 1
            elif isinstance(step, v.CpuReadStep):
                self._bytes(step.part)
            elif isinstance(step, v.ResetStep):
                for allocator in self._allocators[step.number]:
                    allocator.Reset()
            else:
                self._held.pop(step.name, None)
                if step.name in self._program.ops:
                    self._stage.ops.pop(step.name, None)
                    # An initializer holds references to its operators.
                    self._held.pop(f"initializer of {step.name}", None)
        return set()

    def _bytes(self, part: v.BufferPart) -> Any:
        resource, end = self._held[part.buffer], part.start + part.size
        memory = resource.Map(0, D3D12_RANGE(part.start, end))
        resource.Unmap()
        return memory[part.start : end]

    def _submit(self, submit: v.SubmitStep) -> None:
        recordings, kind = [], self._types[submit.queue]
        for commands in submit.lists:
            allocator = self._device.CreateCommandAllocator(kind)
            self._allocators.setdefault(submit.number, []).append(allocator)
            recording = self._device.CreateCommandList(0, kind, allocator)
            for command in commands:
                self._record(recording, command)
            recording.Close()
            recordings.append(recording)
        self._lists[submit.number] = recordings
        self._queues[submit.queue].ExecuteCommandLists(recordings)

    def _record(self, recording: ID3D12GraphicsCommandList, command: v.CommandCall) -> None:
        barrier, held = CD3DX12_RESOURCE_BARRIER, self._held

        def named(name: str | None) -> Any:
            return None if name is None else held[name]

        if isinstance(command, v.CopyCall):
            target, source = command
            recording.CopyBufferRegion(
                held[target.buffer], target.start, held[source.buffer], source.start, source.size
            )
        elif isinstance(command, v.UavBarrierCall):
            recording.ResourceBarrier([barrier.UAV(named(command.buffer))])
        elif isinstance(command, v.AliasingCall):
            recording.ResourceBarrier([barrier.Aliasing(named(command.before), named(command.after))])
        elif isinstance(command, v.TransitionCall):
            before, after = STATES[command.before], STATES[command.after]
            desc = barrier.Transition(held[command.buffer], before, after, flags=HALVES[command.half])
            recording.ResourceBarrier([desc])
        elif isinstance(command, v.ClearCall):
            self._clear(recording, command.target)
        else:
            self._dispatch(recording, command)

    def _clear(self, recording: ID3D12GraphicsCommandList, target: v.BufferPart) -> None:
        buffer, device = self._held[target.buffer], self._device
        desc = D3D12_UNORDERED_ACCESS_VIEW_DESC(d3d.DXGI_FORMAT_R32_UINT, d3d.D3D12_UAV_DIMENSION_BUFFER)
        desc.Buffer = D3D12_BUFFER_UAV(FirstElement=target.start // 4, NumElements=target.size // 4)
        heaps = [
            device.CreateDescriptorHeap(
                D3D12_DESCRIPTOR_HEAP_DESC(d3d.D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 1, flags)
            )
            for flags in (
                d3d.D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE,
                d3d.D3D12_DESCRIPTOR_HEAP_FLAG_NONE,
            )
        ]
        self._views += heaps
        starts = [heap.GetCPUDescriptorHandleForHeapStart() for heap in heaps]
        for start in starts:
            device.CreateUnorderedAccessView(buffer, None, desc, start)
        recording.SetDescriptorHeaps(heaps[:1])
        visible = heaps[0].GetGPUDescriptorHandleForHeapStart()
        recording.ClearUnorderedAccessViewUint(visible, starts[1], buffer, [7, 7, 7, 7])

    def _dispatch(
        self, recording: ID3D12GraphicsCommandList, command: v.DispatchCall | v.InitializeCall
    ) -> None:
        session, kind, op = self._stage.session, self._program.ops[command.op], self._held[command.op]
        temporary = self._binding(command.temporary)
        if isinstance(command, v.InitializeCall):
            name = f"initializer of {command.op}"
            # Initializing twice is a mistake, but possible.
            dispatchable = self._held[name] = session.dml.CreateOperatorInitializer([op])
            spans = [DML_BUFFER_BINDING(None, 0, 0)] * len(kind.inputs)
            spans += [self._span(part) for part in command.inputs]
            inputs = [
                DML_BINDING_DESC(DML_BINDING_TYPE_BUFFER_ARRAY, DML_BUFFER_ARRAY_BINDING(Bindings=spans))
            ]
            table = session.table(dispatchable, inputs, [self._binding(command.persistent)], temporary)
        else:
            dispatchable = op
            inputs = [self._binding(part) for part in command.inputs] + [None] * len(kind.owned)
            outputs = [self._binding(part) for part in command.outputs]
            table = session.table(dispatchable, inputs, outputs, temporary, self._binding(command.persistent))
        recording.SetDescriptorHeaps([session.heap])
        session.record(dispatchable, table, recording)

    def _span(self, part: v.BufferPart) -> DML_BUFFER_BINDING:
        return DML_BUFFER_BINDING(self._held[part.buffer], part.start, part.size)

    def _binding(self, part: v.BufferPart | None) -> Any:
        return None if part is None else DML_BINDING_DESC(DML_BINDING_TYPE_BUFFER, self._span(part))
