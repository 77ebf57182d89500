"""A bench with both devices, and the descs and bindings that the tests of the object model share."""

from __future__ import annotations

import numpy as np

import directml_py as dml

FLOAT32 = dml.DML_TENSOR_DATA_TYPE_FLOAT32
OWNED = dml.DML_TENSOR_FLAG_OWNED_BY_DML
VOLATILE = dml.DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE
DEBUG = dml.DML_CREATE_DEVICE_FLAG_DEBUG
DIRECT = dml.D3D12_COMMAND_LIST_TYPE_DIRECT
DEFAULT, CUSTOM = dml.D3D12_HEAP_TYPE_DEFAULT, dml.D3D12_HEAP_TYPE_CUSTOM
UPLOAD, READBACK = dml.D3D12_HEAP_TYPE_UPLOAD, dml.D3D12_HEAP_TYPE_READBACK
VIEWS = dml.D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV
VISIBLE = dml.D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE
STATES = {UPLOAD: dml.D3D12_RESOURCE_STATE_GENERIC_READ, READBACK: dml.D3D12_RESOURCE_STATE_COPY_DEST}
DESCRIPTORS = 256


def tensor(*sizes, flags=dml.DML_TENSOR_FLAG_NONE, **rest):
    """A FLOAT32 tensor, with leading ones up to four dimensions."""
    return dml.tensor_desc(FLOAT32, [1] * (4 - len(sizes)) + list(sizes), flags=flags, **rest)


def identity(size=4, scale=None, **rest):
    """ELEMENT_WISE_IDENTITY over ``size`` elements, which works in place."""
    bias = None if scale is None else dml.DML_SCALE_BIAS(scale, 0)
    return dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(tensor(size, **rest), tensor(size), bias)


def join(*sizes, owned=()):
    """JOIN of rows of ``sizes`` elements; those at the positions ``owned`` are OWNED_BY_DML."""
    inputs = [tensor(size, flags=OWNED if i in owned else 0) for i, size in enumerate(sizes)]
    return dml.DML_JOIN_OPERATOR_DESC(InputTensors=inputs, OutputTensor=tensor(sum(sizes)), Axis=3)


def split(*sizes):
    outputs = [tensor(size) for size in sizes]
    return dml.DML_SPLIT_OPERATOR_DESC(InputTensor=tensor(sum(sizes)), OutputTensors=outputs, Axis=3)


def log_sum_exp(size=4, **rest):
    """REDUCE of ``size`` elements to one; needs temporary memory."""
    return dml.DML_REDUCE_OPERATOR_DESC(
        dml.DML_REDUCE_FUNCTION_LOG_SUM_EXP, tensor(size, **rest), tensor(1), Axes=[3]
    )


def binding(buffer, offset=0, size=None):
    """A binding of type BUFFER, to the end of the buffer if no size is given; None binds nothing."""
    if buffer is None:
        return dml.DML_BINDING_DESC(dml.DML_BINDING_TYPE_NONE, None)
    return dml.DML_BINDING_DESC(dml.DML_BINDING_TYPE_BUFFER, span(buffer, offset, size))


def span(buffer=None, offset=0, size=None):
    if buffer is None:
        return dml.DML_BUFFER_BINDING(None, 0, 0)
    return dml.DML_BUFFER_BINDING(buffer, offset, buffer.GetDesc().Width - offset if size is None else size)


def spans(*items):
    """A binding of type BUFFER_ARRAY; None stands for an empty range, a buffer for all of it."""
    found = [item if isinstance(item, dml.DML_BUFFER_BINDING) else span(item) for item in items]
    return dml.DML_BINDING_DESC(
        dml.DML_BINDING_TYPE_BUFFER_ARRAY, dml.DML_BUFFER_ARRAY_BINDING(Bindings=found)
    )


def floats(*values):
    return np.array(values, np.float32)


class Bench:
    """Both devices, a queue, an open command list, a recorder, and one heap that tables take ranges of."""

    def __init__(self, flags=dml.DML_CREATE_DEVICE_FLAG_NONE, *, d3d12=None, **options):
        self.d3d12 = d3d12 or dml.D3D12CreateDevice()
        self.allocators = []
        self.dml = dml.DMLCreateDevice(self.d3d12, flags, **options)
        self.queue = self.d3d12.CreateCommandQueue(dml.D3D12_COMMAND_QUEUE_DESC(Type=DIRECT))
        self.list = self.new_list()
        self.recorder = self.dml.CreateCommandRecorder()
        self.heap = self.descriptors(DESCRIPTORS)
        self.list.SetDescriptorHeaps([self.heap])
        self.taken = 0

    def new_list(self, kind=DIRECT):
        return self.d3d12.CreateCommandList(0, kind, self.new_allocator(kind), None)

    def new_allocator(self, kind=DIRECT):
        """An allocator, which has to live until its commands have run."""
        self.allocators.append(self.d3d12.CreateCommandAllocator(kind))
        return self.allocators[-1]

    def descriptors(self, count, kind=VIEWS, flags=VISIBLE):
        return self.d3d12.CreateDescriptorHeap(dml.D3D12_DESCRIPTOR_HEAP_DESC(kind, count, flags))

    def buffer(self, size, heap=DEFAULT, data=None):
        """A buffer of ``size`` bytes, those of ``data`` first."""
        default = heap in (DEFAULT, CUSTOM)
        flags = dml.D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS if default else dml.D3D12_RESOURCE_FLAG_NONE
        properties = dml.CD3DX12_HEAP_PROPERTIES(heap)
        if heap == CUSTOM:
            properties = self.d3d12.GetCustomHeapProperties(0, DEFAULT)
        made = self.d3d12.CreateCommittedResource(
            properties,
            dml.D3D12_HEAP_FLAG_NONE,
            dml.CD3DX12_RESOURCE_DESC.Buffer(size, flags),
            STATES.get(heap, dml.D3D12_RESOURCE_STATE_COMMON),
        )
        if data is not None:
            self.fill(made, data)
        return made

    def holding(self, *values, heap=DEFAULT):
        """A buffer with FLOAT32 ``values``."""
        return self.buffer(4 * len(values), heap, floats(*values))

    def fill(self, buffer, data, offset=0):
        raw = np.frombuffer(np.ascontiguousarray(data).tobytes(), np.uint8)
        if buffer.cpu_accessible:
            buffer.Map()[offset : offset + raw.size] = raw
            buffer.Unmap()
            return
        staging = self.buffer(raw.size, UPLOAD, raw)
        self.run(lambda commands: commands.CopyBufferRegion(buffer, offset, staging, 0, raw.size))

    def read(self, buffer, dtype=np.float32):
        """All bytes of a buffer, through a READBACK buffer."""
        readback = self.buffer(buffer.GetDesc().Width, READBACK)
        self.run(lambda commands: commands.CopyResource(readback, buffer))
        return readback.Map().view(dtype).copy()

    def run(self, record):
        """Run commands in a list of their own, and wait for them."""
        commands = self.new_list()
        record(commands)
        commands.Close()
        self.queue.ExecuteCommandLists([commands])
        self.wait()

    def wait(self):
        fence = self.d3d12.CreateFence(0)
        self.queue.Signal(fence, 1)
        fence.SetEventOnCompletion(1, None)

    def execute(self):
        """Close and run the bench's list, and open it again."""
        self.list.Close()
        self.queue.ExecuteCommandLists([self.list])
        self.wait()
        self.list.Reset(self.new_allocator(), None)
        self.list.SetDescriptorHeaps([self.heap])

    def compile(self, desc, flags=0):
        return self.dml.CompileOperator(self.dml.CreateOperator(desc), flags)

    def table_desc(self, dispatchable, extra=0):
        """A DML_BINDING_TABLE_DESC over descriptors of the heap that no other table has."""
        step = self.d3d12.GetDescriptorHandleIncrementSize(VIEWS)
        count = dispatchable.GetBindingProperties().RequiredDescriptorCount + extra
        start = self.taken
        self.taken += count
        return dml.DML_BINDING_TABLE_DESC(
            dispatchable,
            dml.CD3DX12_CPU_DESCRIPTOR_HANDLE(self.heap.GetCPUDescriptorHandleForHeapStart(), start, step),
            dml.CD3DX12_GPU_DESCRIPTOR_HANDLE(self.heap.GetGPUDescriptorHandleForHeapStart(), start, step),
            count,
        )

    def table(self, dispatchable, inputs=None, outputs=None, temporary=None, persistent=None):
        """A table with these bindings (DML_BINDING_DESCs, or buffers for all of them)."""
        table = self.dml.CreateBindingTable(self.table_desc(dispatchable))
        if inputs is not None:
            table.BindInputs([as_binding(item) for item in inputs])
        if outputs is not None:
            table.BindOutputs([as_binding(item) for item in outputs])
        if temporary is not None:
            table.BindTemporaryResource(as_binding(temporary))
        if persistent is not None:
            table.BindPersistentResource(as_binding(persistent))
        return table

    def record(self, dispatchable, table, commands=None):
        self.recorder.RecordDispatch(commands or self.list, dispatchable, table)

    def initialize(self, op, inputs=(), persistent=None):
        """Run an initializer for one operator, whose owned inputs are ``inputs`` (None elsewhere)."""
        initializer = self.dml.CreateOperatorInitializer([op])
        bound = {} if persistent is None else {"inputs": [spans(*inputs)], "outputs": [persistent]}
        table = self.table(initializer, **bound)
        self.record(initializer, table)
        self.execute()

    def barrier(self, buffer=None):
        self.list.ResourceBarrier([dml.CD3DX12_RESOURCE_BARRIER.UAV(buffer)])

    def slots(self):
        """What the descriptors of the bench's heap hold."""
        return [self.heap.read(index) for index in range(DESCRIPTORS)]

    @property
    def removed(self):
        return self.dml.GetDeviceRemovedReason() != dml.S_OK


def as_binding(item):
    return item if isinstance(item, dml.DML_BINDING_DESC) else binding(item)
