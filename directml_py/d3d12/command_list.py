"""``ID3D12CommandList``, and ``ID3D12GraphicsCommandList`` to ``4``: command recording.

Texture, graphics pipeline and ray tracing methods are not emulated.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from ..abi.arguments import child, counted, enumerator, invalid, uint, unsigned
from ..abi.counted_structs import structs_at
from ..abi.hresult import E_FAIL, E_NOTIMPL, DMLError
from ..abi.lifetime import Lifetime
from ..abi.memory import MemoryFault, read_argument
from ..abi.pointers import struct_at
from ..api.d3d12_enums import (
    D3D12_COMMAND_LIST_TYPE,
    D3D12_COMMAND_LIST_TYPE_COPY,
    D3D12_HEAP_TYPE_READBACK,
    D3D12_HEAP_TYPE_UPLOAD,
    D3D12_MESSAGE_CATEGORY_EXECUTION,
    D3D12_MESSAGE_CATEGORY_RESOURCE_MANIPULATION,
    D3D12_MESSAGE_ID,
    D3D12_MESSAGE_ID_COMMAND_LIST_CLOSED,
    D3D12_MESSAGE_ID_COMMAND_LIST_DISPATCH_ROOT_SIGNATURE_NOT_SET,
    D3D12_MESSAGE_ID_COMMAND_LIST_PIPELINE_STATE_NOT_SET,
    D3D12_MESSAGE_ID_COPY_ON_SAME_SUBRESOURCE,
    D3D12_MESSAGE_ID_SET_DESCRIPTOR_HEAP_INVALID,
    D3D12_MESSAGE_ID_SET_DESCRIPTOR_TABLE_INVALID,
    D3D12_MESSAGE_ID_SET_ROOT_CONSTANT_INVALID,
    D3D12_MESSAGE_ID_UNKNOWN,
    D3D12_MESSAGE_SEVERITY_ERROR,
    D3D12_MESSAGE_SEVERITY_WARNING,
    D3D12_QUERY_HEAP_TYPE_COPY_QUEUE_TIMESTAMP,
    D3D12_QUERY_TYPE,
    D3D12_QUERY_TYPE_TIMESTAMP,
    D3D12_RESOURCE_BARRIER_FLAG_NONE,
    D3D12_RESOURCE_BARRIER_TYPE_UAV,
    D3D12_RESOURCE_STATE_COPY_DEST,
    D3D12_RESOURCE_STATE_COPY_SOURCE,
    D3D12_ROOT_PARAMETER_TYPE,
    D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS,
    D3D12_ROOT_PARAMETER_TYPE_DESCRIPTOR_TABLE,
)
from ..api.d3d12_structs import D3D12_RESOURCE_BARRIER, D3D12_WRITEBUFFERIMMEDIATE_PARAMETER
from ..api.descriptor_handles import D3D12_GPU_DESCRIPTOR_HANDLE
from ..api.iids import (
    IID_ID3D12CommandList,
    IID_ID3D12GraphicsCommandList,
    IID_ID3D12GraphicsCommandList1,
    IID_ID3D12GraphicsCommandList2,
    IID_ID3D12GraphicsCommandList3,
    IID_ID3D12GraphicsCommandList4,
)
from ..late import loading
from ..runtime.buffer import BufferRange
from ..runtime.execution import CommandMemory, Recording, Validator, program_of
from ..runtime.observers import watchers
from ..runtime.recording import Access, AccessKind, Barrier, Barriers, Command, UAVBarrier
from ..text.plural import counted_words
from .barriers import Problem, decode, transitioned_twice
from .command_allocator import ID3D12CommandAllocator, check_allocator
from .compute_state import (
    CBV,
    REASON,
    SRV,
    UAV,
    WORD,
    ComputeArguments,
    ID3D12PipelineState,
    ID3D12RootSignature,
    View,
    index_problem,
    words_at,
)
from .descriptors import ID3D12DescriptorHeap
from .device_child import ID3D12DeviceChild, ParentDevice, short
from .immediate import WriteImmediate, check_modes, destination
from .markers import Marked, Marker
from .queries import RESULT_SIZE, EndQuery, ID3D12QueryHeap, ResolveQueries, query_range_problem
from .resource import ID3D12Resource, ResourceBuffer
from .untracked import Tracking, untrack, without_methods

if TYPE_CHECKING:
    import numpy.typing as npt

COPY: Final = D3D12_COMMAND_LIST_TYPE_COPY
COPY_DEST: Final = D3D12_RESOURCE_STATE_COPY_DEST
COPY_SOURCE: Final = D3D12_RESOURCE_STATE_COPY_SOURCE

QUERY_PARAMETERS: Final = D3D12_MESSAGE_ID.D3D12_MESSAGE_ID_BEGIN_END_QUERY_INVALID_PARAMETERS
RESOLVE_PARAMETERS: Final = D3D12_MESSAGE_ID.D3D12_MESSAGE_ID_RESOLVE_QUERY_DATA_INVALID_PARAMETERS
ERROR: Final = D3D12_MESSAGE_SEVERITY_ERROR
EXECUTION: Final = D3D12_MESSAGE_CATEGORY_EXECUTION
MANIPULATION: Final = D3D12_MESSAGE_CATEGORY_RESOURCE_MANIPULATION
WARNING: Final = D3D12_MESSAGE_SEVERITY_WARNING

# A barrier of all unordered accesses: the first members of its D3D12_RESOURCE_BARRIER, and the command.
UAV_OF_ALL: Final = struct.pack("=iiQ", D3D12_RESOURCE_BARRIER_TYPE_UAV, D3D12_RESOURCE_BARRIER_FLAG_NONE, 0)
ALL_BEFORE: Final = Barriers((UAVBarrier(None),))


class Copy(Command):
    """CopyBufferRegion or CopyResource: a copy between disjoint ranges of equal size."""

    title = "the copy"

    def __init__(self, destination: BufferRange, source: BufferRange) -> None:
        self.destination = destination
        self.source = source

    def execute(self) -> None:
        self.destination.bytes[:] = self.source.bytes

    def accesses(self) -> Iterable[Access]:
        return (
            Access(self.source, AccessKind.READ, COPY_SOURCE, "the copy's source"),
            Access(self.destination, AccessKind.WRITE, COPY_DEST, "the copy's destination"),
        )

    def copied(self) -> tuple[BufferRange, BufferRange]:
        return self.destination, self.source

    def lives(self) -> Iterable[Lifetime]:
        return (self.source.buffer, self.destination.buffer)


class DescriptorHeaps(Command):
    """SetDescriptorHeaps: the heaps that the following commands may take descriptors from."""

    title = "SetDescriptorHeaps"
    keeps_order = takes_step = False

    def __init__(self, heaps: tuple[Lifetime, ...]) -> None:
        self.heaps = heaps

    def lives(self) -> Iterable[Lifetime]:
        return self.heaps


class ID3D12CommandList(ID3D12DeviceChild):
    IID = IID_ID3D12CommandList

    def __init__(self, device: ParentDevice, type: D3D12_COMMAND_LIST_TYPE) -> None:
        super().__init__(device)
        self.type = type

    def _about(self) -> str:
        return short(self.type)

    def GetType(self) -> D3D12_COMMAND_LIST_TYPE:
        return self.type


class ID3D12GraphicsCommandList(Marked, ID3D12CommandList):
    """Records commands from its creation or ``Reset`` to ``Close``.

    Recording methods cannot fail. An invalid call makes the list invalid: the call records nothing, ``Close`` and
    ``Reset`` raise ``E_INVALIDARG`` with every problem, and executing the list removes the device. Under the debug
    layer each problem is also a message, which is raised at the call if ``ID3D12InfoQueue`` breaks on errors. An object
    of the wrong type or of another device always raises and leaves the list unchanged; for C callers, which no
    exception reaches, it makes the list invalid, as does every method that is not emulated. On a removed device nothing
    is recorded.
    """

    IID = IID_ID3D12GraphicsCommandList

    def __init__(
        self,
        device: ParentDevice,
        type: D3D12_COMMAND_LIST_TYPE,
        allocator: ID3D12CommandAllocator | None = None,
    ) -> None:
        """Without an allocator the list is closed, and must be reset before it can record or run."""
        super().__init__(device, type)
        self._start(CommandMemory("ID3D12CommandAllocator") if allocator is None else allocator.memory)
        if allocator is None:
            self.open = False
            self.recording.memory.generation += 1
        else:
            allocator.attach(self)

    def _about(self) -> str:
        count = len(self._recorded) if self.open else len(self.recording.commands)
        problems = f", {counted_words(len(self.errors), 'problem')}" if self.errors else ""
        state = "open" if self.open else "closed"
        return f"{super()._about()}, {state}, {counted_words(count, 'command')}{problems}"

    def _start(self, memory: CommandMemory) -> None:
        self.open = True
        self.errors: list[str] = []
        self.recording = Recording(self.device.scheduler, memory)
        self.descriptor_heaps: tuple[ID3D12DescriptorHeap, ...] = ()
        self.compute: ComputeArguments | None = None
        self._recorded: list[Command] = []
        validator = self.device.sync_validator
        self._append = (
            self._recorded.append if validator is None else _append_watched(self._recorded, validator)
        )
        if not Tracking.commands:
            self._append = _append_untracked(self._append)

    def Reset(self, allocator: ID3D12CommandAllocator, initialState: None = None) -> None:
        """Start a new recording; the previous one may still be in flight.

        Raises ``E_FAIL`` if the list is open, ``E_INVALIDARG`` if it is invalid or the allocator cannot be used.
        """
        self.device.check_alive()
        check_initial_state(initialState)
        child(allocator, ID3D12CommandAllocator, "allocator", self.device)
        if self.open:
            raise DMLError(E_FAIL, f"{self} cannot be reset before it is closed")
        if self.errors:
            self._raise_errors()
        check_allocator(allocator, self.type)
        self._start(allocator.memory)
        allocator.attach(self)

    def Close(self) -> None:
        """End recording. Raises ``E_FAIL`` if the list is closed, ``E_INVALIDARG`` if it is invalid."""
        self.device.check_alive()
        if not self.open:
            raise DMLError(E_FAIL, f"{self} is closed already")
        self.open = False
        self.recording.commands = tuple(self._recorded)
        self.recording.program = program_of(self._recorded, self.device.reorders)
        if not Tracking.commands:
            self.recording.program = without_methods(self.recording.program)
            untrack(self.recording.commands)
            untrack(self.recording.program)
        self._recorded.clear()
        if self.errors:
            self._raise_errors()
        for observer in watchers.all:
            observer.closed(self)

    def _raise_errors(self) -> NoReturn:
        raise invalid(f"{self} is invalid: {'; '.join(self.errors)}")

    def fail(self, id: D3D12_MESSAGE_ID, text: str) -> None:
        """Make the list invalid; ``text`` names the call and its error."""
        self.errors.append(text)
        self.device.report(ERROR, EXECUTION, id, text)

    def fail_call(self, call: str, text: str) -> bool:
        """Make the list invalid because ``call`` recorded nothing, for C callers, which no exception reaches.

        Returns whether the debug layer has reported it.
        """
        if self.device.scheduler.removed:
            return False
        problem = f"{call}: {text}"
        if problem not in self.errors:
            self.fail(D3D12_MESSAGE_ID_UNKNOWN, problem)
        return self.device.info_queue is not None

    def _ready(self, call: str) -> bool:
        """Whether ``call`` may record now."""
        if self.device.scheduler.removed:
            return False
        if not self.open:
            self.fail(D3D12_MESSAGE_ID_COMMAND_LIST_CLOSED, f"{call}: the command list is closed")
            return False
        return True

    def record(self, command: Command) -> None:
        """Append a command of any kind, for APIs built on Direct3D 12."""
        if self._ready(command.title):
            self._append(command)

    def ClearState(self, pipelineState: None = None) -> None:
        """Restore the state of a newly opened list: no descriptor heaps and no root signature are set."""
        check_initial_state(pipelineState, "pipelineState")
        if self._ready("ClearState"):
            self.descriptor_heaps = ()
            self.compute = None

    def _mark(self, marker: Marker) -> None:
        self.record(marker)

    def ResourceBarrier(self, numBarriers: Any, barriers: Any = None) -> None:
        """``(count, barriers)`` as in C, or a sequence of D3D12_RESOURCE_BARRIER, or a single one."""
        if numBarriers == 1 and type(barriers) is int and self._waits_for_all(barriers):
            return
        descs = structs_at(numBarriers, barriers, D3D12_RESOURCE_BARRIER, "numBarriers", "barriers")
        decoded = [
            decode(desc, f"barriers[{index}]", self.device, self.type) for index, desc in enumerate(descs)
        ]
        if not self._ready("ResourceBarrier"):
            return
        problems = [problem for problem in decoded if isinstance(problem, Problem)]
        if not problems:
            valid = tuple([barrier for barrier in decoded if not isinstance(barrier, Problem)])
            self._append(Barriers(valid))
            self._question(valid)
            return
        text = "; ".join(f"ResourceBarrier: {problem.text}" for problem in problems)
        self.fail(problems[0].id, text)

    def _waits_for_all(self, address: int) -> bool:
        """Record the barrier in C if it is the one that most programs have between two dispatches, which no check can
        refuse; False if it is another, if the list cannot record it, or if the debug layer looks on."""
        if not self.open or self.type is COPY or self.device.info_queue is not None:
            return False
        try:
            is_plain = read_argument(address, ctypes.sizeof(D3D12_RESOURCE_BARRIER)).startswith(UAV_OF_ALL)
        except MemoryFault:
            return False
        if is_plain and not self.device.scheduler.removed:
            self._append(ALL_BEFORE)
            return True
        return False

    def _question(self, barriers: tuple[Barrier, ...]) -> None:
        """Report valid but pointless barriers to the info queue."""
        if self.device.info_queue is None:
            return
        ids, problem = D3D12_MESSAGE_ID, transitioned_twice(barriers)
        if not barriers:
            id, problem = ids.D3D12_MESSAGE_ID_RESOURCE_BARRIER_ZERO_BARRIERS, "numBarriers is 0"
        else:
            id = ids.D3D12_MESSAGE_ID_RESOURCE_BARRIER_DUPLICATE_SUBRESOURCE_TRANSITIONS
        if problem:
            self.device.report(WARNING, MANIPULATION, id, f"ResourceBarrier: {problem}")

    def CopyBufferRegion(
        self,
        dstBuffer: ID3D12Resource,
        dstOffset: int,
        srcBuffer: ID3D12Resource,
        srcOffset: int,
        numBytes: int,
    ) -> None:
        ids = D3D12_MESSAGE_ID
        child(dstBuffer, ID3D12Resource, "dstBuffer", self.device)
        child(srcBuffer, ID3D12Resource, "srcBuffer", self.device)
        size = unsigned(numBytes, "numBytes")
        destination = BufferRange(dstBuffer.buffer, unsigned(dstOffset, "dstOffset"), size)
        source = BufferRange(srcBuffer.buffer, unsigned(srcOffset, "srcOffset"), size)
        if not self._ready("CopyBufferRegion"):
            return
        for name, part, id in (
            ("dstBuffer", destination, ids.D3D12_MESSAGE_ID_COPYBUFFERREGION_DSTRANGEOUTOFBOUNDS),
            ("srcBuffer", source, ids.D3D12_MESSAGE_ID_COPYBUFFERREGION_SRCRANGEOUTOFBOUNDS),
        ):
            problem = part.buffer.range_problem(part.offset, part.size)
            if problem:
                self.fail(id, f"CopyBufferRegion: {name} {problem}")
                return
        self._copy(
            "CopyBufferRegion",
            Copy(destination, source),
            ("dstBuffer", ids.D3D12_MESSAGE_ID_COPYBUFFERREGION_INVALID_DST_RESOURCE),
            ("srcBuffer", ids.D3D12_MESSAGE_ID_COPYBUFFERREGION_INVALID_SRC_RESOURCE),
        )

    def CopyResource(self, dstResource: ID3D12Resource, srcResource: ID3D12Resource) -> None:
        """Copy a whole buffer to another one of the same width."""
        ids = D3D12_MESSAGE_ID
        child(dstResource, ID3D12Resource, "dstResource", self.device)
        child(srcResource, ID3D12Resource, "srcResource", self.device)
        if not self._ready("CopyResource"):
            return
        if dstResource is srcResource:
            self.fail(
                ids.D3D12_MESSAGE_ID_COPY_ON_SAME_SUBRESOURCE,
                "CopyResource: dstResource and srcResource must be different resources",
            )
            return
        if dstResource.width != srcResource.width:
            self.fail(
                ids.D3D12_MESSAGE_ID_COPYRESOURCE_INVALIDSRCRESOURCE,
                f"CopyResource: dstResource has {dstResource.width} bytes, but srcResource has "
                f"{srcResource.width}; they must have the same size",
            )
            return
        self._copy(
            "CopyResource",
            Copy(dstResource.range(), srcResource.range()),
            ("dstResource", ids.D3D12_MESSAGE_ID_COPYRESOURCE_INVALIDDSTRESOURCE),
            ("srcResource", ids.D3D12_MESSAGE_ID_COPYRESOURCE_INVALIDSRCRESOURCE),
        )

    def _copy(
        self,
        call: str,
        copy: Copy,
        destination: tuple[str, D3D12_MESSAGE_ID],
        source: tuple[str, D3D12_MESSAGE_ID],
    ) -> None:
        """Record ``copy`` unless a heap type or an overlap makes it invalid."""
        for (name, id), part, forbidden in (
            (destination, copy.destination, D3D12_HEAP_TYPE_UPLOAD),
            (source, copy.source, D3D12_HEAP_TYPE_READBACK),
        ):
            assert isinstance(part.buffer, ResourceBuffer)
            if part.buffer.heap_type == forbidden:
                self.fail(id, f"{call}: {name} must not be in a heap of type {forbidden.name}")
                return
        if copy.destination.overlaps(copy.source):
            self.fail(
                D3D12_MESSAGE_ID_COPY_ON_SAME_SUBRESOURCE,
                f"{call}: the bytes of {destination[0]} and {source[0]} overlap",
            )
            return
        self._append(copy)

    def ClearUnorderedAccessViewUint(
        self,
        viewGPUHandleInCurrentHeap: Any,
        viewCPUHandle: Any,
        resource: ID3D12Resource,
        values: Any,
        numRects: int = 0,
        rects: None = None,
    ) -> None:
        """Set every element of a raw or typed buffer view to four UINTs, each truncated to the low bits of its channel;
        a raw view uses the first value only (nf-d3d12-id3d12graphicscommandlist-clearunorderedaccessviewuint, and
        nf-d3d11-id3d11devicecontext-clearunorderedaccessviewuint for the bits)."""
        handles = viewGPUHandleInCurrentHeap, viewCPUHandle
        self._clear("ClearUnorderedAccessViewUint", *handles, resource, values, numRects, rects)

    def ClearUnorderedAccessViewFloat(
        self,
        viewGPUHandleInCurrentHeap: Any,
        viewCPUHandle: Any,
        resource: ID3D12Resource,
        values: Any,
        numRects: int = 0,
        rects: None = None,
    ) -> None:
        """As ClearUnorderedAccessViewUint, for FLOAT, UNORM and SNORM formats, to which the values are converted."""
        handles = viewGPUHandleInCurrentHeap, viewCPUHandle
        self._clear("ClearUnorderedAccessViewFloat", *handles, resource, values, numRects, rects)

    def _clear(self, call: str, *arguments: Any) -> None:
        with loading:
            from .clears import Refused, clear
        try:
            command = clear(self, call, *arguments)
        except Refused as refused:
            if self._ready(call):
                self.fail(refused.id, f"{call}: {refused}")
            return
        self.record(command)

    def BeginQuery(self, queryHeap: ID3D12QueryHeap, type: int, index: int) -> None:
        """Makes the list invalid: timestamp queries have an EndQuery only."""
        self._check_query("BeginQuery", queryHeap, type, index)
        if self._ready("BeginQuery"):
            self.fail(
                QUERY_PARAMETERS,
                "BeginQuery: a timestamp query has no beginning; EndQuery takes the timestamp",
            )

    def EndQuery(self, queryHeap: ID3D12QueryHeap, type: int, index: int) -> None:
        """Record a timestamp, taken when the preceding commands have run."""
        problem = self._check_query("EndQuery", queryHeap, type, index)
        if not self._ready("EndQuery"):
            return
        if problem:
            self.fail(QUERY_PARAMETERS, f"EndQuery: {problem}")
        else:
            self._append(EndQuery(queryHeap.queries, index))

    def _check_query(self, call: str, heap: Any, type: Any, start: Any, count: int = 1) -> str | None:
        child(heap, ID3D12QueryHeap, "queryHeap", self.device)
        kind = enumerator(type, D3D12_QUERY_TYPE, "type")
        first = uint(start, "startIndex" if call == "ResolveQueryData" else "index")
        if kind != D3D12_QUERY_TYPE_TIMESTAMP:
            return f"type is {kind.name}; {heap} holds timestamps"
        if (self.type == COPY) != (heap.type == D3D12_QUERY_HEAP_TYPE_COPY_QUEUE_TIMESTAMP):
            return f"queryHeap is of type {heap.type.name}, which a list of type {self.type.name} cannot use"
        return query_range_problem(heap, first, count)

    def ResolveQueryData(
        self,
        queryHeap: ID3D12QueryHeap,
        type: int,
        startIndex: int,
        numQueries: int,
        destinationBuffer: ID3D12Resource,
        alignedDestinationBufferOffset: int,
    ) -> None:
        """Write ``numQueries`` results of 8 bytes each to a buffer in a DEFAULT or READBACK heap."""
        count = uint(numQueries, "numQueries")
        problem = self._check_query("ResolveQueryData", queryHeap, type, startIndex, count)
        child(destinationBuffer, ID3D12Resource, "destinationBuffer", self.device)
        offset = unsigned(alignedDestinationBufferOffset, "alignedDestinationBufferOffset")
        if not self._ready("ResolveQueryData"):
            return
        buffer, size = destinationBuffer.buffer, count * RESULT_SIZE
        if problem is None and offset % RESULT_SIZE:
            problem = f"alignedDestinationBufferOffset must be a multiple of {RESULT_SIZE}, not {offset}"
        if problem is None and buffer.heap_type == D3D12_HEAP_TYPE_UPLOAD:
            problem = f"destinationBuffer must not be in a heap of type {buffer.heap_type.name}"
        if problem is None and buffer.range_problem(offset, size):
            problem = f"destinationBuffer {buffer.range_problem(offset, size)}"
        if problem:
            self.fail(RESOLVE_PARAMETERS, f"ResolveQueryData: {problem}")
        else:
            destination = BufferRange(buffer, offset, size)
            self._append(ResolveQueries(queryHeap.queries, startIndex, destination))

    def SetDescriptorHeaps(self, numDescriptorHeaps: Any, descriptorHeaps: Any = None) -> None:
        """``(count, heaps)`` as in C, or a sequence: at most one heap of each shader-visible type."""
        heaps = tuple(counted(numDescriptorHeaps, descriptorHeaps, "numDescriptorHeaps", "descriptorHeaps"))
        for index, heap in enumerate(heaps):
            child(heap, ID3D12DescriptorHeap, f"descriptorHeaps[{index}]", self.device)
        if not self._ready("SetDescriptorHeaps"):
            return
        problem = self._heaps_problem(heaps)
        if problem:
            self.fail(
                D3D12_MESSAGE_ID_SET_DESCRIPTOR_HEAP_INVALID,
                f"SetDescriptorHeaps: {problem}",
            )
            return
        self.descriptor_heaps = heaps
        self._append(DescriptorHeaps(tuple([heap.life for heap in heaps])))

    def _heaps_problem(self, heaps: tuple[ID3D12DescriptorHeap, ...]) -> str | None:
        if self.type == COPY:
            return "a copy command list cannot use descriptor heaps"
        for index, heap in enumerate(heaps):
            if not heap.shader_visible:
                return f"descriptorHeaps[{index}] is not shader visible"
        if len(heaps) > 1 and len({heap.type for heap in heaps}) < len(heaps):
            return "descriptorHeaps has two heaps of the same type"
        return None

    def SetComputeRootSignature(self, rootSignature: ID3D12RootSignature) -> None:
        """Arguments for another root signature are forgotten; those for the same one stay (using-a-root-signature)."""
        signature = child(rootSignature, ID3D12RootSignature, "rootSignature", self.device)
        if self._computes("SetComputeRootSignature", D3D12_MESSAGE_ID_UNKNOWN) and (
            self.compute is None or self.compute.layout is not signature.layout
        ):
            self.compute = ComputeArguments(signature.layout)

    def SetPipelineState(self, pipelineState: ID3D12PipelineState) -> None:
        """Raises ``TypeError`` for whatever there is, since no pipeline state is ever created."""
        child(pipelineState, ID3D12PipelineState, "pipelineState", self.device)

    def Dispatch(self, threadGroupCountX: int, threadGroupCountY: int, threadGroupCountZ: int) -> None:
        """Makes the list invalid, as there are no pipeline states, without which nothing is dispatched."""
        for axis, count in zip("XYZ", (threadGroupCountX, threadGroupCountY, threadGroupCountZ)):
            uint(count, f"threadGroupCount{axis}")
        if not self._computes("Dispatch", D3D12_MESSAGE_ID_UNKNOWN):
            return
        if self.compute is None:
            self.fail(
                D3D12_MESSAGE_ID_COMMAND_LIST_DISPATCH_ROOT_SIGNATURE_NOT_SET,
                "Dispatch: no compute root signature is set",
            )
        self.fail(
            D3D12_MESSAGE_ID_COMMAND_LIST_PIPELINE_STATE_NOT_SET,
            f"Dispatch: no pipeline state is set; {REASON}",
        )

    def SetComputeRootDescriptorTable(self, rootParameterIndex: int, baseDescriptor: Any) -> None:
        """``baseDescriptor`` is a GPU handle in a heap that SetDescriptorHeaps has set."""
        handle = struct_at(baseDescriptor, D3D12_GPU_DESCRIPTOR_HANDLE, "baseDescriptor").ptr
        call, message = "SetComputeRootDescriptorTable", D3D12_MESSAGE_ID_SET_DESCRIPTOR_TABLE_INVALID
        kind = D3D12_ROOT_PARAMETER_TYPE_DESCRIPTOR_TABLE
        arguments = self._arguments(call, message, rootParameterIndex, kind)
        if arguments is None:
            return
        found = self.device.find_descriptors(handle)
        if found is None or found[0].has_cpu_handle(handle):
            self.fail(
                message, f"{call}: baseDescriptor is 0x{handle:X}, which is no GPU handle of a live heap"
            )
        elif found[0] not in self.descriptor_heaps:
            self.fail(
                message, f"{call}: baseDescriptor is in {found[0]}, which SetDescriptorHeaps has not set"
            )
        else:
            arguments.values[rootParameterIndex] = handle

    def SetComputeRoot32BitConstant(
        self, rootParameterIndex: int, srcData: int, destOffsetIn32BitValues: int
    ) -> None:
        value = uint(srcData, "srcData")
        self._set_constants(
            "SetComputeRoot32BitConstant",
            rootParameterIndex,
            destOffsetIn32BitValues,
            np.array([value], np.uint32),
        )

    def SetComputeRoot32BitConstants(
        self, rootParameterIndex: int, num32BitValuesToSet: int, srcData: Any, destOffsetIn32BitValues: int
    ) -> None:
        """``srcData`` is a sequence of unsigned numbers, an array or bytes, or the address of so many values."""
        count = uint(num32BitValuesToSet, "num32BitValuesToSet")
        values = words_at(count, srcData)
        self._set_constants(
            "SetComputeRoot32BitConstants", rootParameterIndex, destOffsetIn32BitValues, values
        )

    def SetComputeRootConstantBufferView(self, rootParameterIndex: int, bufferLocation: int) -> None:
        self._set_view("SetComputeRootConstantBufferView", CBV, rootParameterIndex, bufferLocation)

    def SetComputeRootShaderResourceView(self, rootParameterIndex: int, bufferLocation: int) -> None:
        self._set_view("SetComputeRootShaderResourceView", SRV, rootParameterIndex, bufferLocation)

    def SetComputeRootUnorderedAccessView(self, rootParameterIndex: int, bufferLocation: int) -> None:
        self._set_view("SetComputeRootUnorderedAccessView", UAV, rootParameterIndex, bufferLocation)

    def _computes(self, call: str, message: D3D12_MESSAGE_ID) -> bool:
        if not self._ready(call):
            return False
        if self.type == D3D12_COMMAND_LIST_TYPE_COPY:
            self.fail(message, f"{call}: a copy command list has no compute state")
            return False
        return True

    def _arguments(
        self, call: str, message: D3D12_MESSAGE_ID, index: Any, kind: D3D12_ROOT_PARAMETER_TYPE
    ) -> ComputeArguments | None:
        """Where to keep the argument at ``index``; None if the root signature has no such parameter there."""
        number = uint(index, "rootParameterIndex")
        if not self._computes(call, message):
            return None
        if self.compute is None:
            self.fail(message, f"{call}: no compute root signature is set")
            return None
        problem = index_problem(self.compute.layout.parameters, number, kind)
        if problem:
            self.fail(message, f"{call}: rootParameterIndex {problem}")
            return None
        return self.compute

    def _set_constants(self, call: str, index: Any, offset: Any, values: npt.NDArray[np.uint32]) -> None:
        first = uint(offset, "destOffsetIn32BitValues")
        message = D3D12_MESSAGE_ID_SET_ROOT_CONSTANT_INVALID
        arguments = self._arguments(call, message, index, D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS)
        if arguments is None:
            return
        words = arguments.constants(index)
        if first + len(values) > len(words):
            self.fail(
                message,
                f"{call}: values {first} to {first + len(values)} are set, but parameter {index} has {len(words)}",
            )
        else:
            words[first : first + len(values)] = values

    def _set_view(self, call: str, view: View, index: Any, location: Any) -> None:
        address = unsigned(location, "bufferLocation")
        arguments = self._arguments(call, view.message, index, view.type)
        if arguments is None:
            return
        if address % view.alignment:
            self.fail(
                view.message,
                f"{call}: bufferLocation is 0x{address:X}; it must be a multiple of {view.alignment}",
            )
        elif self.device.buffers.at(address, WORD) is None:
            self.fail(
                view.message,
                f"{call}: bufferLocation is 0x{address:X}, where no buffer of this device is",
            )
        else:
            arguments.values[index] = address


def _append_watched(recorded: list[Command], validator: Validator) -> Callable[[Command], None]:
    """An ``append`` that also tells the validator."""

    def append(command: Command) -> None:
        validator.recorded(command)
        recorded.append(command)

    return append


def _append_untracked(append: Callable[[Command], None]) -> Callable[[Command], None]:
    """An ``append`` that also hides the command from the garbage collector."""

    def append_untracked(command: Command) -> None:
        append(command)
        untrack(command)

    return append_untracked


def check_initial_state(value: Any, name: str = "initialState") -> None:
    if value is not None:
        raise DMLError(E_NOTIMPL, f"{name} must be None: {REASON}")


class ID3D12GraphicsCommandList1(ID3D12GraphicsCommandList):
    IID = IID_ID3D12GraphicsCommandList1


class ID3D12GraphicsCommandList2(ID3D12GraphicsCommandList1):
    IID = IID_ID3D12GraphicsCommandList2

    def WriteBufferImmediate(self, count: Any, params: Any = None, modes: Any = None) -> None:
        """``(count, params, modes)`` as in C, or ``params`` alone: write 32-bit values to GPU virtual addresses of
        buffers in state COPY_DEST (nf-d3d12-id3d12graphicscommandlist2-writebufferimmediate)."""
        writes = structs_at(count, params, D3D12_WRITEBUFFERIMMEDIATE_PARAMETER, "count", "params")
        check_modes(len(writes), modes)
        if not self._ready("WriteBufferImmediate"):
            return
        parts = [destination(self.device, write, f"params[{index}]") for index, write in enumerate(writes)]
        valid = [part for part in parts if isinstance(part, BufferRange)]
        if len(valid) < len(parts):
            problems = [part for part in parts if not isinstance(part, BufferRange)]
            text = "; ".join(f"WriteBufferImmediate: {problem}" for _, problem in problems)
            self.fail(problems[0][0], text)
            return
        self._append(WriteImmediate(tuple(zip(valid, [write.Value for write in writes]))))


class ID3D12GraphicsCommandList3(ID3D12GraphicsCommandList2):
    IID = IID_ID3D12GraphicsCommandList3


class ID3D12GraphicsCommandList4(ID3D12GraphicsCommandList3):
    IID = IID_ID3D12GraphicsCommandList4
