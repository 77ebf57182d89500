"""Random calls of binding tables, recorders and QueryInterface, and whether they remove the device on both sides.

A dispatch binds all tensors, and the temporary resource, at random places of one buffer, so that most share memory; in
some, one binding is wrong. Operators without owned inputs need no initializer.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, NamedTuple

import directml_py as dml
from directml_py.abi.rules import Diagnostic
from directml_py.api.d3d12_enums import (
    D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE,
    D3D12_HEAP_FLAG_NONE,
    D3D12_HEAP_TYPE_DEFAULT,
    D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS,
    D3D12_RESOURCE_STATE_COMMON,
)
from directml_py.api.d3d12_structs import (
    D3D12_CPU_DESCRIPTOR_HANDLE,
    D3D12_DESCRIPTOR_HEAP_DESC,
    D3D12_GPU_DESCRIPTOR_HANDLE,
)
from directml_py.api.enums import DML_BINDING_TYPE_BUFFER
from directml_py.api.structs import (
    DML_BINDING_DESC,
    DML_BINDING_PROPERTIES,
    DML_BINDING_TABLE_DESC,
    DML_BUFFER_BINDING,
    DML_OPERATOR_DESC,
)
from directml_py.d3d12 import CD3DX12_HEAP_PROPERTIES, CD3DX12_RESOURCE_DESC
from directml_py.descs.encode import encode
from directml_py.descs.operator_desc import OperatorDesc, TensorSlot
from directml_py.hardware.com_calls import Object, iid_of
from directml_py.hardware.real_directml import Library, Verdict
from directml_py.session import DIRECT, VIEWS, Session
from directml_py.testing.decision_source import RandomSource
from directml_py.testing.valid_descs import operators_at, valid_desc

NAME = "RecordDispatch"
LEVEL = dml.DML_FEATURE_LEVEL_6_2
# Those whose descs may crash the library, or that it does not compile without more.
SKIPPED = ("GATHER", "MULTIHEAD_ATTENTION")
OPERATORS = [name for name in operators_at(LEVEL) if name not in SKIPPED]
INTERFACES = (
    "IUnknown",
    "IDMLObject",
    "IDMLDevice",
    "IDMLDevice1",
    "IDMLDebugDevice",
    "IDMLDeviceChild",
    "IDMLPageable",
    "IDMLOperator",
    "IDMLDispatchable",
    "IDMLCompiledOperator",
    "IDMLBindingTable",
    "IDMLCommandRecorder",
    "ID3D12Device",
)
# A range that is too small is not among them: for some operators the library notices it, for others it does not, by a
# rule that is not known.
MISTAKES = ("offset", "none", "count", "beyond")
UNIT = 16
SPACE = 1 << 16


class ApiCalls(NamedTuple):
    """An operator, the offsets of its tensors (None: absent) and of its temporary resource in a buffer, which is large
    enough for each, the binding with a mistake, if any, and the interface to query for on each object."""

    desc: OperatorDesc
    inputs: list[int | None]
    outputs: list[int | None]
    temporary: int
    mistake: tuple[str, str] | None
    interface: str

    @property
    def name(self) -> str:
        return NAME

    def __repr__(self) -> str:
        return (
            f"{self.desc!r}, inputs at {self.inputs}, outputs at {self.outputs}, temporary at {self.temporary}, "
            f"mistake {self.mistake}, {self.interface}"
        )

    def theirs(self, library: Library) -> Verdict:
        objects = TheirObjects(library)
        try:
            return Verdict(objects.answer(self), NAME)
        finally:
            objects.release()

    def ours(self, level: int) -> tuple[int, list[Diagnostic]]:
        session = Session(dml.DMLCreateDevice(dml.D3D12CreateDevice(), feature_level=level))
        device = session.dml
        op = device.CreateOperator(encode(self.desc))
        compiled = device.CompileOperator(op)
        recorder, table = device.CreateCommandRecorder(), session.table(compiled)
        queries = [_has(thing, self.interface) for thing in (device, op, compiled, recorder, table)]
        space = session.buffer(SPACE)

        def bindings(kind: str) -> list[DML_BINDING_DESC]:
            return [_bound(space, one) for one in self.ranges(kind)]

        table.BindInputs(bindings("inputs"))
        table.BindOutputs(bindings("outputs"))
        size = compiled.GetBindingProperties().TemporaryResourceSize
        if size:
            end = self.temporary + -(-size // 4) * 4
            where = space if end <= SPACE else session.buffer(end)
            table.BindTemporaryResource(_bound(where, (self.temporary, end - self.temporary)))
        session.commands.SetDescriptorHeaps([session.heap])
        recorder.RecordDispatch(session.commands, compiled, table)
        try:
            device.GetParentDevice()
        except dml.DMLError as error:
            return answer(queries, True), list(error.diagnostics)
        return answer(queries, False), []

    def ranges(self, kind: str) -> list[tuple[int, int] | None]:
        """Offsets and sizes in bytes, with the mistake."""
        slots, offsets = (
            (self.desc.inputs, self.inputs) if kind == "inputs" else (self.desc.outputs, self.outputs)
        )
        found = [
            None if offset is None or slot.tensor is None else (offset, size_of(slot))
            for slot, offset in zip(slots, offsets)
        ]
        if self.mistake is None or self.mistake[0] != kind:
            return found
        what = self.mistake[1]
        if what == "count":
            return [*found, None]
        index = next((place for place, one in enumerate(found) if one is not None), None)
        if index is not None:
            offset, size = found[index] or (0, 0)
            wrong = {"offset": (offset + 4, size), "beyond": (SPACE - 16, size + 16)}
            found[index] = wrong.get(what)
        return found


def size_of(slot: TensorSlot) -> int:
    assert slot.tensor is not None
    return -(-slot.tensor.total_size // 4) * 4


def calls(source: RandomSource) -> ApiCalls:
    desc = valid_desc(source, source.choice(OPERATORS), LEVEL, 300)
    while any(slot.tensor is not None and slot.tensor.is_owned_by_dml for slot in desc.inputs):
        desc = valid_desc(source, source.choice(OPERATORS), LEVEL, 300)

    def offsets(slots: Sequence[TensorSlot]) -> list[int | None]:
        return [None if slot.tensor is None else _offset(source, slot.tensor.alignment) for slot in slots]

    mistake = None
    if source.chance(15):
        mistake = (source.choice(("inputs", "outputs")), source.choice(MISTAKES))
    return ApiCalls(
        desc,
        offsets(desc.inputs),
        offsets(desc.outputs),
        256 * source.integer(0, 4),
        mistake,
        source.choice(INTERFACES),
    )


def _offset(source: RandomSource, alignment: int) -> int:
    return 0 if alignment > SPACE // 32 else source.integer(0, 12) * max(UNIT, alignment)


def answer(queries: Sequence[bool], removed: bool) -> int:
    """Both answers as one number: which objects have the interface, and whether the device is removed. It is never 0,
    which would stand for a valid desc."""
    number = sum(1 << place for place, has in enumerate(queries) if has)
    return number | (0x80000000 if removed else 0x40000000)


def _bound(buffer: Any, place: tuple[int, int] | None) -> DML_BINDING_DESC:
    """A binding of our side, whose objects are Python's."""
    if place is None:
        return DML_BINDING_DESC()
    return DML_BINDING_DESC(DML_BINDING_TYPE_BUFFER, DML_BUFFER_BINDING(buffer, *place))


def _has(thing: Any, interface: str) -> bool:
    try:
        thing.QueryInterface(getattr(dml, interface))
    except dml.DMLError:
        return False
    return True


class TheirObjects:
    """What a dispatch takes with Microsoft's library. Its device is new, as an error removes it."""

    def __init__(self, library: Library) -> None:
        self._created: list[Object] = []
        self._d3d12, device = library.device()
        self._dml = self._keep(device)

    def release(self) -> None:
        while self._created:
            self._created.pop().release()

    def answer(self, calls: ApiCalls) -> int:
        typed = encode(calls.desc)
        holder = DML_OPERATOR_DESC(calls.desc.schema.value, ctypes.addressof(typed))
        op = self._make("CreateOperator", "IDMLOperator", holder)
        compiled = self._make("CompileOperator", "IDMLCompiledOperator", op, 0)
        recorder = self._make("CreateCommandRecorder", "IDMLCommandRecorder")
        properties = compiled.struct("GetBindingProperties", DML_BINDING_PROPERTIES)
        count = max(1, properties.RequiredDescriptorCount)
        visible = D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE
        heap = self._make_d3d12(
            "CreateDescriptorHeap", "ID3D12DescriptorHeap", D3D12_DESCRIPTOR_HEAP_DESC(VIEWS, count, visible)
        )
        cpu = heap.struct("GetCPUDescriptorHandleForHeapStart", D3D12_CPU_DESCRIPTOR_HANDLE)
        gpu = heap.struct("GetGPUDescriptorHandleForHeapStart", D3D12_GPU_DESCRIPTOR_HANDLE)
        desc = DML_BINDING_TABLE_DESC(compiled.address, cpu, gpu, count)
        table = self._make("CreateBindingTable", "IDMLBindingTable", desc)
        queries = [self._has(thing, calls.interface) for thing in (self._dml, op, compiled, recorder, table)]
        space = self._buffer(SPACE)
        for method, kind in (("BindInputs", "inputs"), ("BindOutputs", "outputs")):
            descs = [_binding(space, one) for one in calls.ranges(kind)]
            table.call(method, len(descs), (DML_BINDING_DESC * max(1, len(descs)))(*descs))
        size = properties.TemporaryResourceSize
        if size:
            # Its temporary resources may be larger than ours.
            fits = calls.temporary + size + 4 <= SPACE
            where = space if fits else self._buffer(calls.temporary + size + 4)
            table.call("BindTemporaryResource", _binding(where, (calls.temporary, -(-size // 4) * 4)))
        if properties.PersistentResourceSize:
            # Some operators keep more there than owned inputs.
            size = -(-properties.PersistentResourceSize // 4) * 4
            table.call("BindPersistentResource", _binding(self._buffer(size), (0, size)))
        allocator = self._make_d3d12("CreateCommandAllocator", "ID3D12CommandAllocator", int(DIRECT))
        commands = self._make_d3d12(
            "CreateCommandList", "ID3D12GraphicsCommandList", 0, int(DIRECT), allocator, None
        )
        commands.call("SetDescriptorHeaps", 1, (ctypes.c_void_p * 1)(heap.address))
        recorder.call("RecordDispatch", commands, compiled, table)
        try:
            self._dml.call("GetDeviceRemovedReason")
        except dml.DMLError:
            return answer(queries, True)
        return answer(queries, False)

    def _keep(self, thing: Object) -> Object:
        self._created.append(thing)
        return thing

    def _make(self, method: str, interface: str, *arguments: Any) -> Object:
        return self._keep(self._dml.create(method, interface, *arguments))

    def _make_d3d12(self, method: str, interface: str, *arguments: Any) -> Object:
        return self._keep(self._d3d12.create(method, interface, *arguments))

    def _buffer(self, size: int) -> Object:
        desc = CD3DX12_RESOURCE_DESC.Buffer(size, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS)
        heap, state = CD3DX12_HEAP_PROPERTIES(D3D12_HEAP_TYPE_DEFAULT), int(D3D12_RESOURCE_STATE_COMMON)
        flags = int(D3D12_HEAP_FLAG_NONE)
        return self._make_d3d12("CreateCommittedResource", "ID3D12Resource", heap, flags, desc, state, None)

    @staticmethod
    def _has(thing: Object, interface: str) -> bool:
        found = ctypes.c_void_p()
        try:
            thing.call("QueryInterface", iid_of(interface), found)
        except dml.DMLError:
            return False
        Object(found.value or 0, "IDMLObject").release()
        return True


def _binding(buffer: Object, place: tuple[int, int] | None) -> DML_BINDING_DESC:
    if place is None:
        return DML_BINDING_DESC()
    return DML_BINDING_DESC(DML_BINDING_TYPE_BUFFER, DML_BUFFER_BINDING(buffer.address, *place))
