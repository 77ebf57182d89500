"""A bench with both devices, and the descs and bindings that the tests of the object model share."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

import directml_py as dml
from directml_py.session import DESCRIPTORS, Session

FLOAT32 = dml.DML_TENSOR_DATA_TYPE_FLOAT32
OWNED = dml.DML_TENSOR_FLAG_OWNED_BY_DML
VOLATILE = dml.DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE
DEBUG = dml.DML_CREATE_DEVICE_FLAG_DEBUG
DIRECT = dml.D3D12_COMMAND_LIST_TYPE_DIRECT
DEFAULT, CUSTOM = dml.D3D12_HEAP_TYPE_DEFAULT, dml.D3D12_HEAP_TYPE_CUSTOM
UPLOAD, READBACK = dml.D3D12_HEAP_TYPE_UPLOAD, dml.D3D12_HEAP_TYPE_READBACK
VIEWS = dml.D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV
VISIBLE = dml.D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE
# A resource of the size that GetBindingProperties says, if it says any.
NEEDED = object()


def tensor(*sizes, flags=dml.DML_TENSOR_FLAG_NONE, **rest):
    """A FLOAT32 tensor, with leading ones up to four dimensions."""
    return dml.tensor_desc(FLOAT32, [1] * (4 - len(sizes)) + list(sizes), flags=flags, **rest)


def identity(size=4, scale=None, **rest):
    """ELEMENT_WISE_IDENTITY over ``size`` elements, which works in place."""
    bias = None if scale is None else dml.DML_SCALE_BIAS(scale, 0)
    return dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(tensor(size, **rest), tensor(size), bias)


def power(size=4):
    """ELEMENT_WISE_POW over ``size`` elements, which works in place of its base, not of its exponent."""
    return dml.DML_ELEMENT_WISE_POW_OPERATOR_DESC(*[tensor(size)] * 3)


def join(*sizes, owned=()):
    """JOIN of rows of ``sizes`` elements; those at the positions ``owned`` are OWNED_BY_DML."""
    inputs = [tensor(size, flags=OWNED if i in owned else 0) for i, size in enumerate(sizes)]
    return dml.DML_JOIN_OPERATOR_DESC(InputTensors=inputs, OutputTensor=tensor(sum(sizes)), Axis=3)


def split(*sizes):
    outputs = [tensor(size) for size in sizes]
    return dml.DML_SPLIT_OPERATOR_DESC(InputTensor=tensor(sum(sizes)), OutputTensors=outputs, Axis=3)


def log_sum_exp(size=4, **rest):
    """REDUCE of ``size`` elements to one, which needs temporary memory."""
    return dml.DML_REDUCE_OPERATOR_DESC(
        dml.DML_REDUCE_FUNCTION_LOG_SUM_EXP, tensor(size, **rest), tensor(1), Axes=[3]
    )


def binding(buffer, offset=0, size=None):
    """A binding of type BUFFER, to the end of the buffer if no size is given; None binds nothing."""
    if isinstance(buffer, dml.DML_BINDING_DESC):
        return buffer
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


class Bench(Session):
    """A session with shorthands for tests, which keep objects alive themselves.

    They take the zeros of new buffers as inputs, of which the debug layer says nothing until ``minds_zeros``.
    """

    def __init__(self, flags=dml.DML_CREATE_DEVICE_FLAG_NONE, *, d3d12=None, **options):
        super().__init__(dml.DMLCreateDevice(d3d12 or dml.D3D12CreateDevice(), flags, **options))
        if self.d3d12.sync_validator is not None:
            self.d3d12.sync_validator.report_unwritten = lambda *message: None
        self.allocators = []
        self.kept = []
        self.persistents = WeakKeyDictionary()

    def minds_zeros(self):
        del self.d3d12.sync_validator.report_unwritten

    def persistent(self, op):
        """The persistent resource of an operator, created on first use; None if it needs none."""
        if op not in self.persistents:
            size = op.GetBindingProperties().PersistentResourceSize
            self.persistents[op] = self.buffer(size) if size else None
        return self.persistents[op]

    def initialize(self, op, inputs=(), persistent=NEEDED):
        return super().initialize(op, inputs, self.persistent(op) if persistent is NEEDED else persistent)

    def table(self, dispatchable, inputs=None, outputs=None, temporary=NEEDED, persistent=NEEDED):
        """A table with these bindings and the required temporary and persistent resources; None binds none."""
        table = super().table(dispatchable, inputs, outputs)
        self.bind_resources(table, temporary, persistent)
        return table

    def bind_resources(self, table, temporary=NEEDED, persistent=NEEDED):
        dispatchable = table.dispatchable
        if temporary is NEEDED:
            temporary = self.temporary(dispatchable)
            self.kept.append(temporary)
        if persistent is NEEDED:
            is_operator = isinstance(dispatchable, dml.IDMLCompiledOperator)
            persistent = self.persistent(dispatchable) if is_operator else None
        if temporary is not None:
            table.BindTemporaryResource(binding(temporary))
        if persistent is not None:
            table.BindPersistentResource(binding(persistent))

    def dispatch(self, op, inputs, outputs, persistent=NEEDED):
        super().dispatch(op, inputs, outputs, self.persistent(op) if persistent is NEEDED else persistent)

    def new_list(self, kind=DIRECT):
        return self.d3d12.CreateCommandList(0, kind, self.new_allocator(kind), None)

    def new_allocator(self, kind=DIRECT):
        """An allocator, which must live until its commands have executed."""
        self.allocators.append(self.d3d12.CreateCommandAllocator(kind))
        return self.allocators[-1]

    def descriptors(self, count, kind=VIEWS, flags=VISIBLE):
        return self.d3d12.CreateDescriptorHeap(dml.D3D12_DESCRIPTOR_HEAP_DESC(kind, count, flags))

    def buffer(self, size, heap=DEFAULT, data=None, heap_flags=dml.D3D12_HEAP_FLAG_NONE):
        """A buffer of ``size`` bytes, those of ``data`` first."""
        buffer = self.custom_buffer(size) if heap == CUSTOM else super().buffer(size, heap, heap_flags)
        if data is not None:
            self.fill(buffer, data)
        return buffer

    def custom_buffer(self, size):
        """A buffer in a heap of type CUSTOM with the properties of DEFAULT."""
        return self.d3d12.CreateCommittedResource(
            self.d3d12.GetCustomHeapProperties(0, DEFAULT),
            dml.D3D12_HEAP_FLAG_NONE,
            dml.CD3DX12_RESOURCE_DESC.Buffer(size, dml.D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS),
            dml.D3D12_RESOURCE_STATE_COMMON,
        )

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
        return super().read(buffer, dtype)

    def slots(self):
        """The contents of the descriptors in the bench's heap."""
        return [self.heap.read(index) for index in range(DESCRIPTORS)]

    @property
    def removed(self):
        return self.dml.GetDeviceRemovedReason() != dml.S_OK


def initialized_and_moved(bench, op, inputs):
    """A buffer, and a binding in it of an operator's persistent resource, which was initialized elsewhere.

    What it was initialized with and where are zeros by then. A strict device refuses that.
    """
    size = op.GetBindingProperties().PersistentResourceSize
    first, second = bench.buffer(size), bench.buffer(size + 256)
    bench.initialize(op, inputs, first)
    bench.run(lambda commands: commands.CopyBufferRegion(second, 256, first, 0, size))
    for buffer in (first, *inputs):
        if buffer is not None:
            bench.fill(buffer, np.zeros(buffer.GetDesc().Width, np.uint8))
    return second, binding(second, 256, size)
