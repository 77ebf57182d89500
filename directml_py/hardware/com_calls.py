"""COM client: objects of real libraries, called by vtable index.

They have the methods of the emulator's classes, by the catalog's signatures: what is written for those, such as a
``Session``, runs on a GPU too.
"""

from __future__ import annotations

import contextlib
import ctypes
import sys
from collections.abc import Sequence
from functools import cache, cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ..abi.hresult import DMLError
from ..abi.interface import IUnknown
from ..abi.wintypes import GUID
from ..api import d3d12_structs, structs
from ..api.structs import DML_BINDING_PROPERTIES
from ..com.interfaces import INTERFACES
from ..com.signatures import MethodSignature
from ..descs.encode import encode
from ..descs.operator_desc import Record, TensorSlot

SCALARS: dict[str, Any] = {
    "HRESULT": ctypes.c_int32,
    "INT": ctypes.c_int32,
    "BOOL": ctypes.c_int32,
    "UINT": ctypes.c_uint32,
    "ULONG": ctypes.c_uint32,
    "UINT8": ctypes.c_uint8,
    "UINT64": ctypes.c_uint64,
    "SIZE_T": ctypes.c_uint64,
    "D3D12_GPU_VIRTUAL_ADDRESS": ctypes.c_uint64,
    "D3D12_CPU_DESCRIPTOR_HANDLE": ctypes.c_uint64,
    "D3D12_GPU_DESCRIPTOR_HANDLE": ctypes.c_uint64,
    "FLOAT": ctypes.c_float,
    "void": None,
    "HANDLE": ctypes.c_void_p,
    "REFIID": ctypes.c_void_p,
    "REFGUID": ctypes.c_void_p,
    "LPCWSTR": ctypes.c_void_p,
}
# What methods create whose names do not tell.
CREATED = {
    "CompileOperator": "IDMLCompiledOperator",
    "CreateCommandList": "ID3D12GraphicsCommandList",
    "CreateCommittedResource": "ID3D12Resource",
}
# cdecl and stdcall are the same on 64-bit Windows.
CALL = ctypes.CFUNCTYPE


def iid_of(interface: str) -> GUID:
    return GUID.from_buffer_copy(_iid_bytes(interface))


@cache
def _iid_bytes(interface: str) -> bytes:
    from uuid import UUID

    return UUID(INTERFACES[interface].iid).bytes_le


@cache
def table_of(interface: str) -> dict[str, tuple[int, MethodSignature]]:
    """The methods of an interface and its bases, each with its vtable index."""
    chain = []
    name = interface
    while name:
        chain.append(INTERFACES[name])
        name = INTERFACES[name].base
    methods = [method for signature in reversed(chain) for method in signature.methods]
    return {method.name: (position, method) for position, method in enumerate(methods)}


def c_type(name: str) -> Any:
    """The ctypes type of a parameter; enumerations are int."""
    if name.endswith("*"):
        return ctypes.c_void_p
    return SCALARS.get(name, ctypes.c_int32)


def struct_returned(method: MethodSignature) -> type[ctypes.Structure] | None:
    """The struct that a method returns by value, or None."""
    for module in (structs, d3d12_structs):
        kind = getattr(module, method.returns, None)
        if isinstance(kind, type) and issubclass(kind, ctypes.Structure):
            return kind
    return None


class Object(IUnknown):
    """A COM object, with one reference that is held until ``release``, or as long as there is a Python object.

    Its methods take what those of the emulator's class take, sequences in place of a count and an array among it, and
    return the object that they create. ``call``, ``struct`` and ``create`` take C's arguments.
    """

    def __init__(self, address: int, interface: str) -> None:
        self.address = address
        self.interface = interface

    def __del__(self) -> None:
        # The library may be gone at the end of the program, with all that it has created.
        if not sys.is_finalizing():
            with contextlib.suppress(DMLError):
                self.release()

    @property
    def handle(self) -> int:
        """The address, which structs store."""
        return self.address

    def QueryInterface(self, riid: GUID | type[IUnknown]) -> Object:
        """Another object with the same address, typed as IUnknown. Raises ``DMLError`` ``E_NOINTERFACE``."""
        found = ctypes.c_void_p()
        self.call("QueryInterface", riid if isinstance(riid, GUID) else riid.IID, found)
        return Object(found.value or 0, "IUnknown")

    def __getattr__(self, name: str) -> Any:
        if name not in table_of(self.interface):
            raise AttributeError(f"{self.interface} has no {name}")
        return partial(self._invoke, name)

    def _invoke(self, name: str, *arguments: Any) -> Any:
        _, method = table_of(self.interface)[name]
        returned = struct_returned(method)
        if returned is not None:
            return self.struct(name, returned)
        encoded, values = list(map(_encoded, arguments)), list[Any]()
        for kind, _ in method.params:
            if kind == "REFIID":
                return self.create(name, self._created_by(name), *values)
            value = encoded.pop(0) if encoded else None
            if isinstance(value, list):
                values.append(len(value))
                encoded.insert(0, _array(value))
            else:
                values.append(0 if value is None and not kind.endswith("*") else value)
        return self.call(name, *values)

    def _created_by(self, name: str) -> str:
        prefix = "IDML" if self.interface.startswith("IDML") else "ID3D12"
        return CREATED.get(name) or prefix + name.removeprefix("Create")

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a method and return its result. Pointer arguments are addresses, objects, or ctypes structs, which are
        passed by reference.

        Raises ``DMLError`` for a failing HRESULT.
        """
        position, method = table_of(self.interface)[name]
        result = self._function(position, method)(self.address, *map(_argument, arguments))
        if method.returns == "HRESULT" and result < 0:
            raise DMLError(result, f"{self.interface}::{name} failed")
        return result

    def struct(self, name: str, kind: type[ctypes.Structure]) -> Any:
        """Call a method that returns a struct.

        Windows compilers pass the struct's address after ``this``; on other systems the convention is that of ctypes.
        """
        position, _ = table_of(self.interface)[name]
        entry = self._entry(position)
        if sys.platform == "win32":
            value = kind()
            CALL(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(entry)(
                self.address, ctypes.addressof(value)
            )
            return value
        return CALL(kind, ctypes.c_void_p)(entry)(self.address)

    def create(self, name: str, interface: str, *arguments: Any) -> Object:
        """Call a method that returns an object through its last two parameters, ``riid`` and ``ppv``."""
        created = ctypes.c_void_p()
        iid = iid_of(interface)
        self.call(name, *arguments, iid, created)
        return KINDS.get(interface, Object)(created.value or 0, interface)

    def release(self) -> None:
        if self.address:
            self.call("Release")
            self.address = 0

    def _entry(self, position: int) -> int:
        if not self.address:
            raise ValueError(f"the {self.interface} is released")
        table = ctypes.c_void_p.from_address(self.address).value
        assert table is not None
        entry = ctypes.c_void_p.from_address(table + position * ctypes.sizeof(ctypes.c_void_p)).value
        assert entry is not None
        return entry

    def _function(self, position: int, method: MethodSignature) -> Any:
        types = [c_type(kind) for kind, _ in method.params]
        return CALL(c_type(method.returns), ctypes.c_void_p, *types)(self._entry(position))


class RealBuffer(Object):
    @property
    def width(self) -> int:
        width: int = self.GetDesc().Width
        return width

    def Map(self, subresource: int = 0, readRange: Any = None) -> npt.NDArray[np.uint8]:
        address = ctypes.c_void_p()
        self.call("Map", subresource, readRange, address)
        assert address.value is not None
        return np.ctypeslib.as_array((ctypes.c_uint8 * self.width).from_address(address.value))


class RealDescriptorHeap(Object):
    @property
    def size(self) -> int:
        size: int = self.GetDesc().NumDescriptors
        return size

    def write(self, index: int, view: None) -> None:
        """Nothing: a descriptor that no dispatch reads any more is overwritten by the next table."""


class RealDispatchable(Object):
    """Sizes are those of buffers to bind, which are multiples of 4 bytes."""

    @cached_property
    def _properties(self) -> DML_BINDING_PROPERTIES:
        properties: DML_BINDING_PROPERTIES = self.GetBindingProperties()
        return properties

    @property
    def descriptor_count(self) -> int:
        return self._properties.RequiredDescriptorCount

    @property
    def temporary_size(self) -> int:
        return -(-self._properties.TemporaryResourceSize // 4) * 4

    @property
    def persistent_size(self) -> int:
        return -(-self._properties.PersistentResourceSize // 4) * 4


class RealOperator(RealDispatchable):
    """With what a ``Runner`` asks for, which only the caller of CompileOperator knows."""

    initialized = False
    program = None
    device: RealDevice
    inputs: Sequence[TensorSlot]
    outputs: Sequence[TensorSlot]

    def is_owned(self, index: int) -> bool:
        tensor = self.inputs[index].tensor
        return tensor is not None and tensor.is_owned_by_dml


class RealDevice(Object):
    """A DirectML device; ``d3d12_device`` is the device that it was created on."""

    d3d12_device: Object
    # Its operators run nowhere but in command lists.
    is_observed = True

    @property
    def removal(self) -> RealDevice:
        return self

    def check(self) -> None:
        """Raises ``DMLError`` if either device is removed."""
        self.call("GetDeviceRemovedReason")
        self.d3d12_device.call("GetDeviceRemovedReason")


KINDS: dict[str, type[Object]] = {
    "ID3D12DescriptorHeap": RealDescriptorHeap,
    "ID3D12Resource": RealBuffer,
    "IDMLCompiledOperator": RealOperator,
    "IDMLOperatorInitializer": RealDispatchable,
}


def _encoded(value: Any) -> Any:
    if isinstance(value, (list, tuple)) and not isinstance(value, Record):
        return list(map(_encoded, value))
    return encode(value) if isinstance(value, Record) else value


def _array(items: list[Any]) -> Any:
    """The C array of objects' addresses or of structs, which point to what ``items`` own; None without items."""
    if not items:
        return None
    if isinstance(items[0], Object):
        return (ctypes.c_void_p * len(items))(*(item.address for item in items))
    return (type(items[0]) * len(items))(*items)


def _argument(value: Any) -> Any:
    if isinstance(value, Object):
        return value.address
    if isinstance(value, (ctypes.Structure, ctypes.Array, ctypes.c_void_p, ctypes.c_uint32)):
        return ctypes.addressof(value)
    return value
