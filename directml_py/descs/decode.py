"""Decodes descs from raw memory: the only module that follows a desc's pointers."""

from __future__ import annotations

import ctypes
import struct as _struct
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from ..abi.counted_structs import MAX_ELEMENTS
from ..abi.interface import IUnknown
from ..abi.keepalive import extent_at
from ..abi.memory import PAGE, PAGE_BITS, MemoryFault, is_probing, read, read_string
from ..abi.pointers import check_type, locate
from ..abi.schema import FieldSchema, OperatorSchema, StructSchema
from ..abi.structure import TypedOperatorDesc
from ..api.enums import (
    DML_TENSOR_DATA_TYPE,
    DML_TENSOR_FLAG_NONE,
    DML_TENSOR_FLAGS,
    DML_TENSOR_TYPE_BUFFER,
)
from ..api.schema_data import OPERATORS, STRUCTS
from .operator_desc import OperatorDesc, Record, Scalar
from .repeated import Trace, recall, remember
from .tensor import TensorDesc, shared_tensor
from .types_by_name import (
    FORMATS,
    OPERATOR_SCHEMAS,
    array_layout,
    ctypes_class,
    enum_class,
    members,
    struct_layout,
    struct_schema,
    value_name,
)

# The documents do not bound these; a larger count is treated as garbage and not followed.
MAX_TOTAL = 1 << 18
MAX_DIMENSIONS = 64
MAX_BYTES = 1 << 32
MAX_DEPTH = 8

# Plain numbers, as enumeration lookups cost more than their uses here.
NO_FLAGS = DML_TENSOR_FLAG_NONE
BUFFER = int(DML_TENSOR_TYPE_BUFFER)
DATA_TYPES: Any = DML_TENSOR_DATA_TYPE._value2member_map_
MAX_NESTED = 1 << 12

# The raw values of a struct's fields or an array's elements.
Raw: TypeAlias = tuple[Any, ...]
# From this number, Microsoft's library reports unknown DML_OPERATOR_TYPEs as not supported.
RESERVED_TYPES = 0xC0000000
# Kinds of fields whose raw value is stored in a record unchanged.
RAW_KINDS = frozenset({"integer", "float", "address"})


class Fault(NamedTuple):
    """A decoding fault. ``kind`` is "null", "unreadable", "type", "reserved", "count" or "interface"; ``text`` is the
    message."""

    path: str
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.path} {self.text}"


class Decoded(NamedTuple):
    """A desc (None if its outermost struct is unreadable) and its faults.

    Fields with faults are None in the desc."""

    desc: Any
    faults: tuple[Fault, ...]


class Decoder:
    """Follows the pointers of one desc and collects faults."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.depth = 0
        # Copies of the memory pages read so far, from which later reads are served: the memory may have been freed or
        # changed in the meantime.
        self.pages: dict[int, bytes] = {}
        self.probing = is_probing()
        self.nested = self.total = 0
        self.trace: Trace | None = None

    def fault(self, path: str, kind: str, text: str) -> None:
        self.faults.append(Fault(path, kind, text))

    def read(self, address: int, size: int, path: str) -> bytes | None:
        try:
            data = self._read(address, size)
            if self.trace is not None:
                self.trace.blocks.append((address, data))
            return data
        except MemoryFault as fault:
            self.fault(path, "unreadable", f"points to memory that cannot be read ({fault})")
            return None

    def _read(self, address: int, size: int) -> bytes:
        if not 0 < size <= PAGE or not self.probing:
            return read(address, size)
        first, last = address >> PAGE_BITS, (address + size - 1) >> PAGE_BITS
        try:
            data = self._page(first) if first == last else self._page(first) + self._page(last)
        except MemoryFault:
            raise MemoryFault(address, size) from None
        start = address & (PAGE - 1)
        return data[start : start + size]

    def _page(self, number: int) -> bytes:
        page = self.pages.get(number)
        if page is None:
            page = self.pages[number] = read(number << PAGE_BITS, PAGE)
        return page

    def unpack(self, layout: _struct.Struct, address: int, path: str, field: str = "") -> Raw | None:
        """The values at ``address``; None, and a fault at ``path`` + ``field``, if the memory is unreadable."""
        page, start = self.pages.get(address >> PAGE_BITS), address & (PAGE - 1)
        if page is not None and start + layout.size <= PAGE:
            if self.trace is not None:
                self.trace.blocks.append((address, page[start : start + layout.size]))
            return layout.unpack_from(page, start)
        data = self.read(address, layout.size, path + field)
        return None if data is None else layout.unpack(data)

    def record(self, schema: StructSchema, raw: Raw, prefix: str) -> Raw:
        values = list(raw)
        for index, entry, convert in _conversions(schema.name):
            values[index] = convert(self, schema, entry, raw[index], raw, prefix + entry.name)
        return tuple(values)

    def struct(self, name: str, raw: Raw, path: str) -> Record:
        schema = STRUCTS[name]
        return Record(schema, self.record(schema, raw, f"{path}." if path else ""))

    def operator(self, schema: OperatorSchema, raw: Raw, path: str) -> OperatorDesc:
        prefix = f"{path}." if path else ""
        return OperatorDesc(schema, self.record(schema.struct, raw, prefix))

    def any_operator(self, raw: Raw, path: str) -> OperatorDesc | None:
        """A DML_OPERATOR_DESC."""
        prefix = f"{path}." if path else ""
        kind, address = raw
        schema = OPERATORS.get(kind)
        if schema is None:
            name = value_name("DML_OPERATOR_TYPE", kind)
            if not path and address and kind & 0xFFFFFFFF >= RESERVED_TYPES:
                self.fault("Type", "reserved", f"is {name}, which is not a DML_OPERATOR_TYPE of any version")
                return None
            self.fault(
                f"{prefix}Type", "type", f"is {name}, which is not the DML_OPERATOR_TYPE of an operator"
            )
            return None
        if not address:
            self.fault(f"{prefix}Desc", "null", f"is null; {schema.struct.name} is required")
            return None
        if self.depth >= MAX_DEPTH:
            self.fault(f"{prefix}Desc", "count", f"nests operators more than {MAX_DEPTH} deep")
            return None
        body = self.unpack(struct_layout(schema.struct.name), address, prefix, "Desc")
        return None if body is None else self.operator(schema, body, path)

    def tensor(self, raw: Raw, path: str) -> TensorDesc | None:
        """A DML_TENSOR_DESC."""
        kind, address = raw
        if kind != BUFFER:
            name = value_name("DML_TENSOR_TYPE", kind)
            self.fault(f"{path}.Type", "type", f"is {name}; the only tensor type is DML_TENSOR_TYPE_BUFFER")
            return None
        if not address:
            self.fault(f"{path}.Desc", "null", "is null; DML_BUFFER_TENSOR_DESC is required")
            return None
        body = self.unpack(struct_layout("DML_BUFFER_TENSOR_DESC"), address, path, ".Desc")
        return None if body is None else self.buffer_tensor(body, path)

    def buffer_tensor(self, raw: Raw, path: str) -> TensorDesc | None:
        data_type, flags, count, sizes_at, strides_at, total, alignment = raw
        if count > MAX_DIMENSIONS:
            self.fault(f"{path}.DimensionCount", "count", f"is {count}; a tensor has 1 to 8 dimensions")
            return None
        sizes = self._numbers(sizes_at, count, "I", path, ".Sizes", False, "DimensionCount")
        strides = self._numbers(strides_at, count, "I", path, ".Strides", True, "DimensionCount")
        if sizes is None or (strides is None and strides_at and count):
            return None
        kind = DATA_TYPES.get(data_type, data_type)
        typed_flags = NO_FLAGS if not flags else DML_TENSOR_FLAGS(flags)
        return shared_tensor(kind, sizes, strides, typed_flags, total, alignment)

    def _numbers(
        self, address: int, count: int, code: str, path: str, field: str, optional: bool, counter: str
    ) -> Raw | None:
        if not address or not count:
            if count and not optional:
                self.fault(path + field, "null", f"is null; an array of {count} is required")
                return None
            return None if optional else ()
        layout = array_layout(count, code)
        if self._is_beyond(address, count, layout.size, path, field, counter):
            return None
        return self.unpack(layout, address, path, field)

    def _is_beyond(self, address: int, count: int, size: int, path: str, field: str, counter: str) -> bool:
        """Whether ``count`` elements, ``size`` bytes, exceed the array, if its length is known."""
        extent = extent_at(address)
        if self.trace is not None:
            self.trace.arrays.append(address)
            self.trace.extents.append(extent)
        if extent is None or size <= extent:
            return False
        owner, dot, field = (path + field).rpartition(".")
        length = extent * count // size
        self.fault(f"{owner}{dot}{counter}", "count", f"is {count}, but {field} was given a list of {length}")
        return True

    def _text(self, address: int) -> bytes:
        """The null-terminated string at ``address``. Those of one desc often lie in the same pages."""
        if self.probing:
            try:
                page, start = self._page(address >> PAGE_BITS), address & (PAGE - 1)
            except MemoryFault:
                return read_string(address)
            end = page.find(b"\0", start)
            if end >= 0:
                return page[start:end]
        return read_string(address)

    # One converter per kind of field whose raw value must be converted; each takes the struct's schema, the field's,
    # the raw value, all raw values of the struct, and the path.

    def _bool(self, schema: StructSchema, entry: FieldSchema, item: int, raw: Any, path: str) -> bool:
        return bool(item)

    def _enum(self, schema: StructSchema, entry: FieldSchema, item: int, raw: Any, path: str) -> int:
        member: int = members(entry.type).get(item, item)
        return member

    def _flags(self, schema: StructSchema, entry: FieldSchema, item: int, raw: Any, path: str) -> int:
        bits: int = enum_class(entry.type)(item)
        return bits

    def _struct(self, schema: StructSchema, entry: FieldSchema, item: bytes, raw: Any, path: str) -> Any:
        return self.struct(entry.type, struct_layout(entry.type).unpack(item), path)

    def _union(self, schema: StructSchema, entry: FieldSchema, item: bytes, raw: Any, path: str) -> Any:
        if not entry.governed_by:
            return item
        governor = raw[schema.index[entry.governed_by]]
        union = STRUCTS.get(entry.type)
        if union is None or not union.variants:
            return Scalar(DATA_TYPES.get(governor, governor), item)
        member = union.selected(governor)
        if member is None:
            return item
        # A member of an anonymous union is a field like others.
        layout = struct_layout(member.type)
        member_path = path[: len(path) - len(entry.name)] + member.name
        return self.struct(member.type, layout.unpack_from(item), member_path)

    def _interface(self, schema: StructSchema, entry: FieldSchema, item: int, raw: Any, path: str) -> Any:
        # Callers that know the classes check the object's interface.
        if self.trace is not None:
            self.trace.complete = False
        live_object = IUnknown.from_handle(item)
        if live_object is None and item:
            self.fault(path, "interface", f"is 0x{item:X}, which is not a live {entry.type}")
        elif live_object is None and not entry.optional:
            self.fault(path, "null", f"is null; {entry.type} is required")
        return live_object

    def _string(self, schema: StructSchema, entry: FieldSchema, item: int, raw: Any, path: str) -> Any:
        if not item:
            return None
        if self.trace is not None:
            self.trace.complete = False
        try:
            return self._text(item).decode(errors="replace")
        except MemoryFault as fault:
            self.fault(path, "unreadable", f"points to memory that cannot be read ({fault})")
            return None

    def _bytes(self, schema: StructSchema, entry: FieldSchema, item: int, raw: Any, path: str) -> Any:
        size = raw[schema.index[entry.counted_by]]
        if not item:
            if size and not entry.optional:
                self.fault(path, "null", f"is null; {size} bytes are required")
            return None
        if size > MAX_BYTES:
            self.fault(path, "count", f"has {entry.counted_by} {size}; more than {MAX_BYTES} are not read")
            return None
        if self._is_beyond(item, size, size, path, "", entry.counted_by):
            return None
        return self.read(item, size, path)

    def _pointer(self, schema: StructSchema, entry: FieldSchema, item: int, raw: Any, path: str) -> Any:
        if not item:
            # A fused activation has null tensors: the operator that it is fused into supplies them.
            if not (entry.optional or (entry.is_tensor and self.depth)):
                self.fault(path, "null", f"is null; {entry.type} is required")
            return None
        body = self.unpack(struct_layout(entry.type), item, path)
        return None if body is None else self._element(entry.type, body, path)

    def _array(self, schema: StructSchema, entry: FieldSchema, item: int, raw: Any, path: str) -> Any:
        count = raw[schema.index[entry.counted_by]]
        if count > MAX_ELEMENTS:
            self.fault(
                path, "count", f"has {entry.counted_by} {count}; more than {MAX_ELEMENTS} are not read"
            )
            return None
        code = FORMATS.get(entry.type) or ("i" if struct_schema(entry.type) is None else None)
        if code:
            return self._numbers(item, count, code, path, "", entry.optional, entry.counted_by)
        if not item or not count:
            if count and not entry.optional:
                self.fault(path, "null", f"is null; an array of {count} {entry.type} is required")
                return None
            return None if entry.optional else ()
        if not self.may_follow(entry.type, count, path):
            return None
        layout = struct_layout(entry.type)
        if self._is_beyond(item, count, layout.size * count, path, "", entry.counted_by):
            return None
        data = self.read(item, layout.size * count, path)
        if data is None:
            return None
        elements = layout.iter_unpack(data)
        return tuple([self._element(entry.type, raw, f"{path}[{i}]") for i, raw in enumerate(elements)])

    def _element(self, type_name: str, raw: Raw, path: str) -> Any:
        if type_name == "DML_TENSOR_DESC":
            return self.tensor(raw, path)
        if type_name == "DML_OPERATOR_DESC":
            # A DML_OPERATOR_DESC is nested only here: at the top level it is the operator itself.
            self.depth += 1
            desc = self.any_operator(raw, path)
            self.depth -= 1
            return desc
        return self.struct(type_name, raw, path)

    def may_follow(self, type_name: str, count: int, path: str) -> bool:
        """Whether ``count`` more structs are within the limits: arrays may nest, even over the same memory."""
        self.total += count
        if self.total > MAX_TOTAL:
            self.fault(path, "count", f"makes more than {MAX_TOTAL} structs in one desc")
            return False
        # A separate limit for nested operators and their contents.
        if self.depth or type_name == "DML_OPERATOR_DESC":
            self.nested += count
        if self.nested > MAX_NESTED:
            self.fault(path, "count", f"makes more than {MAX_NESTED} nested operators and tensors")
            return False
        return True

    def _variant(self, schema: StructSchema, entry: FieldSchema, item: int, raw: Any, path: str) -> Any:
        kind = raw[schema.index["Type"]]
        target = schema.variants.get(kind)
        if target is None:
            owner = path.rpartition(".")[0]
            name = value_name(schema.fields[schema.index["Type"]].type, kind)
            text = f"is {name}, which no {schema.name} can have"
            self.fault(f"{owner}.Type" if owner else "Type", "type", text)
            return None
        if not target:
            return None
        if not item:
            self.fault(path, "null", f"is null; {target} is required")
            return None
        body = self.unpack(struct_layout(target), item, path)
        if body is None:
            return None
        operator = OPERATOR_SCHEMAS.get(target)
        if operator is not None:
            return self.operator(operator, body, path)
        # As in the documents, paths omit the Desc pointer.
        return self.struct(target, body, path[:-4].removesuffix("."))


@cache
def _conversions(name: str) -> tuple[tuple[int, FieldSchema, Callable[..., Any]], ...]:
    """The fields of a struct that need conversion, with their indices and the decoder's methods."""
    schema = struct_schema(name)
    assert schema is not None, name
    positions = enumerate(schema.fields)
    return tuple(
        (i, entry, getattr(Decoder, f"_{entry.kind}"))
        for i, entry in positions
        if entry.kind not in RAW_KINDS
    )


def _top(address: int, layout: _struct.Struct, name: str, decoder: Decoder) -> Raw | None:
    if not address:
        decoder.fault(name, "null", "is null")
        return None
    return decoder.unpack(layout, address, name)


def decode_struct(value: object, type_name: str, name: str = "desc") -> Decoded:
    """Decode the struct named ``type_name`` that ``value`` is or points to.

    ``value`` is anything that ``directml_py.abi.pointers.locate`` takes. Raises ``TypeError``, which names ``name``,
    for other values; errors in memory become faults.
    """
    location = locate(value, name)
    check_type(location, ctypes_class(type_name), name)
    return _decode(location.address, location.owner, type_name, name)


def _decode(address: int, owner: object, type_name: str, name: str, depth: int = 0) -> Decoded:
    key = address, type_name, depth
    known, trace = recall(key)
    if known is not None:
        decoded: Decoded = known
        return decoded
    decoder = Decoder()
    decoder.trace = trace
    decoder.depth = depth
    raw = _top(address, struct_layout(type_name), name, decoder)
    if raw is None:
        return Decoded(None, tuple(decoder.faults))
    record: Any
    if type_name in OPERATOR_SCHEMAS:
        record = decoder.operator(OPERATOR_SCHEMAS[type_name], raw, "")
    elif type_name == "DML_TENSOR_DESC":
        record = decoder.tensor(raw, name)
    elif type_name == "DML_OPERATOR_DESC":
        record = decoder.any_operator(raw, "")
    else:
        record = decoder.struct(type_name, raw, "")
    decoded = Decoded(record, tuple(decoder.faults))
    if trace is not None and not decoder.faults:
        remember(key, trace, decoded, owner)
    return decoded


def decode_operator_desc(value: object, name: str = "desc", *, nested: bool = False) -> Decoded:
    """Decode a DML_OPERATOR_DESC or typed operator desc in any form; an ``OperatorDesc`` is returned unchanged.

    The tensors of a ``nested`` desc, a fused activation, may be null. Raises ``TypeError``, which names ``name``, if
    ``value`` is not a desc.
    """
    if isinstance(value, OperatorDesc):
        return Decoded(value, ())
    # The usual case: the type and the address are known.
    if isinstance(value, TypedOperatorDesc) and type(value).__name__ in OPERATOR_SCHEMAS:
        return _decode(ctypes.addressof(value), value, type(value).__name__, name, int(nested))
    location = locate(value, name)
    claimed = location.type_name
    type_name = claimed if claimed in OPERATOR_SCHEMAS else "DML_OPERATOR_DESC"
    check_type(location, ctypes_class(type_name), name)
    return _decode(location.address, location.owner, type_name, name, int(nested))
