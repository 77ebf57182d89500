"""Decodes DML_BINDING_DESCs and checks the rules common to all bindings."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias, cast

from ..abi.arguments import integer, is_series
from ..abi.interface import IUnknown
from ..abi.pointers import locate
from ..abi.rules import Severity, rule
from ..api.d3d12_enums import (
    D3D12_HEAP_TYPE,
    D3D12_HEAP_TYPE_CUSTOM,
    D3D12_HEAP_TYPE_DEFAULT,
    D3D12_HEAP_TYPE_UPLOAD,
    D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS,
)
from ..api.enums import (
    DML_BINDING_TYPE,
    DML_BINDING_TYPE_BUFFER,
    DML_BINDING_TYPE_BUFFER_ARRAY,
    DML_BINDING_TYPE_NONE,
    DML_FEATURE_LEVEL_2_0,
)
from ..api.structs import DML_BINDING_DESC
from ..d3d12 import ID3D12Device, ID3D12Resource
from ..d3d12.resource import ResourceBuffer
from ..descs.decode import decode_struct
from ..descs.operator_desc import Record
from ..runtime.buffer import BufferRange
from ..validation.decode_rules import FAULT_RULES, check_faults
from ..validation.report import Report

NONE = DML_BINDING_TYPE_NONE
BUFFER = DML_BINDING_TYPE_BUFFER
BUFFER_ARRAY = DML_BINDING_TYPE_BUFFER_ARRAY
DEFAULT = D3D12_HEAP_TYPE_DEFAULT
CUSTOM = D3D12_HEAP_TYPE_CUSTOM
UPLOAD = D3D12_HEAP_TYPE_UPLOAD
ALLOW_UNORDERED_ACCESS = D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS

PAGE = "ns-directml-dml_buffer_binding"
RANGE = rule("DML-BufferBinding-range", "The bound range lies inside the buffer", PAGE)
ALIGNMENT = rule(
    "DML-BufferBinding-alignment",
    "Offset is a multiple of 16, of the tensor's GuaranteedBaseOffsetAlignment, or of 256 for temporary and "
    "persistent resources",
    PAGE,
)
SIZE = rule(
    "DML-BufferBinding-size",
    "The bound range is at least as large as the tensor's TotalTensorSizeInBytes, or as the binding properties"
    " require",
    "ns-directml-dml_buffer_tensor_desc",
)
# The pages disagree: BindInputs says DEFAULT (and UPLOAD for owned tensors of an initializer), the page "Binding in
# DirectML" says DEFAULT or CUSTOM. A CUSTOM heap can have a DEFAULT heap's properties, so both are accepted, but CUSTOM
# only from feature level 2_0, whose history allows it, naming an initializer's inputs.
HEAP_TYPE = rule(
    "DML-BufferBinding-heap-type",
    "Bound buffers lie in DEFAULT or, from 2_0, CUSTOM heaps; what an initializer copies may lie in UPLOAD heaps",
    "nf-directml-idmlbindingtable-bindinputs",
)
# The page requires buffer sizes to be multiples of 4; to a dispatch, a binding is the buffer.
DWORDS = rule(
    "DML-BufferBinding-dwords", "SizeInBytes is a multiple of 4", "dml-helper-functions", Severity.WARNING
)
# An example on the page "Binding in DirectML" creates its temporary buffer without the flag. But the page also requires
# bound resources to be in the state UNORDERED_ACCESS, which needs the flag, and every sample sets it.
UNORDERED_ACCESS = rule(
    "DML-BufferBinding-unordered-access",
    "Bound buffers have D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS, except those in UPLOAD heaps, which cannot"
    " have it",
    "dml-binding",
)
DEVICE = rule(
    "DML-BufferBinding-device",
    "The buffer belongs to the device's Direct3D 12 device",
    "nn-directml-idmldevice",
)
TYPE = rule(
    "DML-Binding-type",
    "A binding has the type that its binding point requires: BUFFER for a tensor, BUFFER_ARRAY for initializer inputs",
    "ns-directml-dml_binding_desc",
)
COUNT = rule(
    "DML-Binding-count",
    "bindingCount is the number of bindings given",
    "ns-directml-dml_binding_desc",
)


class BufferBinding(NamedTuple):
    """A DML_BUFFER_BINDING of a live object, or of none."""

    Buffer: IUnknown | None
    Offset: int
    SizeInBytes: int


class PlainBinding(NamedTuple):
    """A DML_BINDING_DESC of type NONE or BUFFER without a fault, in the form of its record, which takes longer to
    make."""

    Type: DML_BINDING_TYPE
    Desc: Any


Binding: TypeAlias = Record | PlainBinding
UNBOUND = PlainBinding(NONE, None)

# What bindings in C's memory name, in order: None, or a buffer's handle, the offset and the size.
Names: TypeAlias = tuple[tuple[int, int, int] | None, ...]
# Reads an array of DML_BINDING_DESCs in C; None where that does not tell everything.
_peek_bindings: Callable[[Any, Any], Names | None] = lambda address, count: None  # noqa: E731


def read_bindings_with(peek: Callable[[Any, Any], Names | None]) -> None:
    """Let ``peek``, which takes an address and a count, read bindings from C's memory."""
    global _peek_bindings
    _peek_bindings = peek


def names_at(address: Any, count: Any) -> Names | None:
    """What the bindings at an address name, if they are plain and more than none."""
    return _peek_bindings(address, count) or None


def _plain_bindings(names: Names | None) -> list[Binding] | None:
    """The bindings if there is nothing to report about them."""
    if names is None:
        return None
    bindings: list[Binding] = []
    for name in names:
        if name is None:
            bindings.append(UNBOUND)
            continue
        handle, offset, size = name
        buffer = IUnknown.from_handle(handle)
        if buffer is None and handle:
            return None
        bindings.append(PlainBinding(BUFFER, BufferBinding(buffer, offset, size)))
    return bindings


class Need(NamedTuple):
    """The requirements on a binding: size in bytes, alignment of the offset, and allowed heap types."""

    size: int
    alignment: int
    heap_types: tuple[D3D12_HEAP_TYPE, ...]


def bindable_heaps(level: int) -> tuple[D3D12_HEAP_TYPE, ...]:
    """The heap types that bound buffers may have at a feature level."""
    return (DEFAULT, CUSTOM) if level >= DML_FEATURE_LEVEL_2_0 else (DEFAULT,)


def read_bindings(
    first: Any, second: Any, report: Report, names: Names | None = None
) -> list[Binding] | None:
    """The DML_BINDING_DESCs of ``(count, bindings)`` or of ``(bindings)`` alone; None to unbind, which in Microsoft's
    library a count of 0 does with or without an array, and where a wrong count is reported.

    ``bindings`` is a sequence, one struct, or a pointer to the first of ``count`` structs; ``names`` are what
    ``names_at`` says of it.
    """
    plain = _plain_bindings(names)
    if plain is not None:
        return plain
    if second is None and (is_series(first) or isinstance(first, ctypes.Structure)):
        items = list(first) if is_series(first) else [first]
        return [_read(item, f"bindings[{index}]", report) for index, item in enumerate(items)] or None
    count = 0 if first is None else integer(first, "bindingCount")
    if not 0 <= count < 1 << 32:
        report.add(COUNT, "bindingCount", f"is {count}; it must be an unsigned 32-bit number")
        return None
    if second is None:
        if count:
            report.add(COUNT, "bindings", f"is null, but bindingCount is {count}")
        return None
    if not count:
        return None
    if is_series(second):
        if count > len(second):
            report.add(COUNT, "bindingCount", f"is {count}, but bindings holds {len(second)}")
            return None
        return [_read(second[index], f"bindings[{index}]", report) for index in range(count)]
    if count > 1 and isinstance(second, ctypes.Structure):
        report.add(COUNT, "bindingCount", f"is {count}, but bindings is a single struct")
        return None
    start = locate(second, "bindings")
    stride = ctypes.sizeof(DML_BINDING_DESC)
    if count > 1 << 16:
        report.add(COUNT, "bindingCount", f"is {count}, more than any dispatchable has")
        return None
    return [_read(start.address + index * stride, f"bindings[{index}]", report) for index in range(count)]


def read_binding(value: Any, report: Report, names: Names | None = None) -> Binding:
    """Decode one DML_BINDING_DESC, of which ``names_at`` says ``names``; null gives an empty binding."""
    plain = _plain_bindings(names)
    if plain is not None:
        return plain[0]
    if isinstance(value, Record):
        return value
    if value is None or locate(value, "binding").address == 0:
        value = DML_BINDING_DESC()
    return _read(value, "binding", report)


def _read(value: Any, name: str, report: Report) -> Record:
    """The binding in memory, or as a session passes it, decoded."""
    if isinstance(value, Record):
        return value
    record, faults = decode_struct(value, "DML_BINDING_DESC", name)
    check_faults([fault._replace(path=_join(name, fault.path)) for fault in faults], report)
    if record is None:
        record, _ = decode_struct(DML_BINDING_DESC(), "DML_BINDING_DESC", name)
    assert isinstance(record, Record)
    return record


def _join(name: str, path: str) -> str:
    return path if path.startswith(name) else f"{name}.{path}"


def binds_nothing(record: Binding, path: str, report: Report) -> bool:
    """Whether a readable binding names no buffer."""
    if record.Type == BUFFER_ARRAY or (
        record.Type == BUFFER and record.Desc and record.Desc.Buffer is not None
    ):
        return False
    return not any(diagnostic.path.startswith(path) for diagnostic in report.diagnostics)


def buffer_view(
    record: Record | BufferBinding | None, need: Need, path: str, device: ID3D12Device, report: Report
) -> BufferRange | None:
    """The range that a DML_BUFFER_BINDING names, after checking it; None for a null Buffer."""
    if record is None or record.Buffer is None:
        return None
    resource, offset, size = record.Buffer, record.Offset, record.SizeInBytes
    if not isinstance(resource, ID3D12Resource):
        report.add(
            FAULT_RULES["interface"],
            f"{path}.Buffer",
            f"is an {type(resource).__name__}, not an ID3D12Resource",
        )
        return None
    if resource.device is not device:
        report.add(DEVICE, f"{path}.Buffer", "belongs to another Direct3D 12 device")
        return None
    if size == 0 or offset + size > resource.width:
        report.add(
            RANGE, path, f"has Offset {offset} and SizeInBytes {size}; the buffer has {resource.width} bytes"
        )
        return None
    view = BufferRange(resource.buffer, offset, size)
    check_view(view, need, path, report)
    return view


def plain_view(name: tuple[int, int, int], need: Need, device: ID3D12Device) -> BufferRange | None:
    """The range that a handle, an offset and a size name; None if there is anything to report about it."""
    handle, offset, size = name
    resource = ID3D12Resource.from_handle(handle)
    if resource is None or resource.device is not device or not 0 < size <= resource.width - offset:
        return None
    view = BufferRange(resource.buffer, offset, size)
    return view if satisfies(view, need) else None


def satisfies(view: BufferRange, need: Need) -> bool:
    """Whether ``check_view`` has nothing to report."""
    buffer = cast(ResourceBuffer, view.buffer)
    return (
        view.offset % need.alignment == 0
        and view.size >= need.size
        and view.size % 4 == 0
        and buffer.heap_type in need.heap_types
        and (buffer.heap_type == UPLOAD or buffer.allows_unordered_access)
    )


def check_view(view: BufferRange, need: Need, path: str, report: Report) -> None:
    """Report violations of ``need`` by a range inside a buffer."""
    if view.offset % need.alignment:
        report.add(
            ALIGNMENT, f"{path}.Offset", f"is {view.offset}; it must be a multiple of {need.alignment}"
        )
    if view.size < need.size:
        report.add(SIZE, f"{path}.SizeInBytes", f"is {view.size}; at least {need.size} bytes are needed")
    if view.size % 4:
        report.add(DWORDS, f"{path}.SizeInBytes", f"is {view.size}; it must be a multiple of 4")
    buffer = cast(ResourceBuffer, view.buffer)
    heap_type = buffer.heap_type
    if heap_type not in need.heap_types:
        *others, last = (kind.name for kind in need.heap_types)
        names = f"{', '.join(others)} or {last}" if others else last
        report.add(HEAP_TYPE, f"{path}.Buffer", f"lies in a heap of {heap_type.name}; it must be {names}")
    elif heap_type != UPLOAD and not buffer.allows_unordered_access:
        report.add(UNORDERED_ACCESS, f"{path}.Buffer", f"was made without {ALLOW_UNORDERED_ACCESS.name}")


def single_view(
    record: Binding, need: Need, path: str, device: ID3D12Device, report: Report
) -> BufferRange | None:
    """The range of a binding of type BUFFER; None for NONE."""
    if record.Type == BUFFER:
        return buffer_view(record.Desc, need, path, device, report)
    if record.Type == BUFFER_ARRAY:
        report.add(
            TYPE, f"{path}.Type", "is DML_BINDING_TYPE_BUFFER_ARRAY; DML_BINDING_TYPE_BUFFER is expected"
        )
    return None
