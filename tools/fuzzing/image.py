"""Memory images of descs as in a C program, with a guard page at the end; independent of the package's encoder."""

from __future__ import annotations

import ctypes
import mmap
import struct
from dataclasses import dataclass, field
from typing import Any

from directml_py.abi.schema import StructSchema
from directml_py.descs.operator_desc import OperatorDesc, Record, Scalar
from directml_py.descs.tensor import TensorDesc
from directml_py.descs.types_by_name import ctypes_class

PAGE = mmap.PAGESIZE
POINTER_SIZE = 8
TENSOR_SIZE = OPERATOR_SIZE = 16
BUFFER_TENSOR_SIZE = 48
_FORMATS = {"UINT": "I", "INT": "i", "FLOAT": "f"}


@dataclass
class Image:
    """The bytes of a DML_OPERATOR_DESC, first in ``data``, and of everything it points to.

    Pointers are offsets in ``data`` until they are relocated; the lists have the offsets of fields by kind.
    """

    data: bytearray = field(default_factory=bytearray)
    pointers: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    enums: list[int] = field(default_factory=list)

    def reserve(self, size: int) -> int:
        offset = len(self.data)
        self.data += bytes((size + 7) // 8 * 8)
        return offset

    def put(self, code: str, offset: int, *values: Any) -> None:
        struct.pack_into(f"={code}", self.data, offset, *values)

    def point(self, offset: int, target: int) -> None:
        self.put("Q", offset, target)
        self.pointers.append(offset)

    def operator(self, desc: OperatorDesc) -> int:
        """Append a DML_OPERATOR_DESC and what it points to; returns its offset."""
        top = self.reserve(OPERATOR_SIZE)
        self.operator_at(top, desc)
        return top

    def operator_at(self, offset: int, desc: OperatorDesc) -> None:
        self.put("i", offset, desc.schema.value)
        self.enums.append(offset)
        self.point(offset + 8, self.struct(desc.struct, desc))

    def struct(self, schema: StructSchema, record: Record) -> int:
        base = self.reserve(ctypes.sizeof(ctypes_class(schema.name)))
        self.struct_at(base, schema, record)
        return base

    def struct_at(self, base: int, schema: StructSchema, record: Record) -> None:
        kind = ctypes_class(schema.name)
        counters = {entry.counted_by for entry in schema.fields}
        for entry, (_, value) in zip(schema.fields, record):
            offset = base + getattr(kind, entry.name).offset
            if entry.kind in ("integer", "enum", "bool", "float"):
                self.put(_FORMATS.get(entry.type, "i"), offset, value)
                if entry.kind == "enum":
                    self.enums.append(offset)
                elif entry.name in counters:
                    self.counts.append(offset)
            elif isinstance(value, Scalar):
                self.put("8s", offset, value.raw)
            elif entry.kind == "struct":
                self.struct_at(offset, value.struct, value)
            elif not value and not isinstance(value, TensorDesc | Record):
                self.pointers.append(offset)
            else:
                self.point(offset, self.target(entry.type, value))

    def target(self, type_name: str, value: Any) -> int:
        """Append the target of a pointer; returns its offset."""
        if isinstance(value, TensorDesc):
            return self.array((value,))
        if isinstance(value, OperatorDesc):
            return self.operator(value)
        if isinstance(value, Record):
            return self.struct(value.struct, value)
        return self.numbers(value, _FORMATS[type_name]) if type_name in _FORMATS else self.array(value)

    def array(self, values: tuple[Any, ...]) -> int:
        """Append an array of tensors or operators, whose structs have equal sizes."""
        base = self.reserve(TENSOR_SIZE * len(values))
        for index, value in enumerate(values):
            write_item = self.tensor if isinstance(value, TensorDesc) else self.operator_at
            write_item(base + TENSOR_SIZE * index, value)
        return base

    def numbers(self, values: tuple[Any, ...], code: str = "I") -> int:
        base = self.reserve(4 * len(values))
        self.put(f"{len(values)}{code}", base, *values)
        return base

    def tensor(self, offset: int, tensor: TensorDesc) -> None:
        """Write a DML_TENSOR_DESC at ``offset``, and append its DML_BUFFER_TENSOR_DESC and arrays."""
        body = self.reserve(BUFFER_TENSOR_SIZE)
        self.put("i", offset, 1)
        self.point(offset + 8, body)
        self.put("iII", body, tensor.data_type, tensor.flags, len(tensor.sizes))
        self.enums += [offset, body, body + 4]
        self.counts.append(body + 8)
        self.point(body + 16, self.numbers(tensor.sizes))
        if tensor.strides is None:
            self.pointers.append(body + 24)
        else:
            self.point(body + 24, self.numbers(tensor.strides))
        self.put("QI", body + 32, tensor.total_size, tensor.alignment)


def image_of(desc: OperatorDesc) -> Image:
    image = Image()
    image.operator(desc)
    return image


class GuardedMemory:
    """Memory with a trailing guard page, so that out-of-bounds reads crash."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 4 * PAGE)
        self._bytes = (ctypes.c_char * (4 * PAGE)).from_buffer(self._memory)
        self.start = ctypes.addressof(self._bytes)
        self.end = self.start + 3 * PAGE
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mprotect(ctypes.c_void_p(self.end), ctypes.c_size_t(PAGE), 0):
            raise OSError(ctypes.get_errno(), "mprotect failed")

    def write(self, data: bytes) -> int:
        """Write ``data`` just before the guard page; returns its address."""
        address = self.end - len(data)
        ctypes.memmove(address, data, len(data))
        return address

    def read(self, address: int) -> bytes:
        """The current bytes from ``address`` to the guard page."""
        return ctypes.string_at(address, self.end - address)
