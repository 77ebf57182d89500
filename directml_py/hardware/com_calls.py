"""COM client: objects of real libraries, with the methods of the emulator's classes, called by vtable index."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ..abi.hresult import DMLError
from ..abi.interface import IUnknown
from ..abi.wintypes import GUID
from ..api import d3d12_structs, structs
from ..com.interfaces import INTERFACES
from ..com.signatures import MethodSignature, Parameter
from ..descs.encode import encode
from ..descs.operator_desc import Record

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
# What a method creates: Python's callers leave out the IID and the pointer to the result.
CREATED = {
    "CompileGraph": "IDMLCompiledOperator",
    "CompileOperator": "IDMLCompiledOperator",
    "CreateBindingTable": "IDMLBindingTable",
    "CreateCommandAllocator": "ID3D12CommandAllocator",
    "CreateCommandList": "ID3D12GraphicsCommandList",
    "CreateCommandQueue": "ID3D12CommandQueue",
    "CreateCommandRecorder": "IDMLCommandRecorder",
    "CreateCommittedResource": "ID3D12Resource",
    "CreateDescriptorHeap": "ID3D12DescriptorHeap",
    "CreateFence": "ID3D12Fence",
    "CreateOperator": "IDMLOperator",
    "CreateOperatorInitializer": "IDMLOperatorInitializer",
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


class Object(IUnknown):
    """A COM object, with one reference that is held until ``release``; what it creates belongs to it.

    Its methods can be called as those of the emulator's classes: without ``riid`` and ``ppv``, with lists in place of
    counts and arrays, and without trailing arguments that are null or 0.
    """

    # What a session asks of an operator, and a library does not tell.
    initialized = False

    def __init__(self, address: int, interface: str) -> None:
        self.address = address
        self.interface = interface
        self._created: list[Object] = []

    @property
    def handle(self) -> int:
        """The interface pointer, which structs store."""
        return self.address

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in table_of(self.interface):
            raise AttributeError(f"{self.interface} has no {name}")
        return partial(self._invoke, name)

    def _invoke(self, name: str, *arguments: Any) -> Any:
        _, method = table_of(self.interface)[name]
        if name in CREATED:
            values = _c_arguments(method.params[:-2], iter(arguments))
            self._created.append(self.create(name, CREATED[name], *values))
            return self._created[-1]
        struct = struct_named(method.returns)
        if struct is not None:
            return self.struct(name, struct)
        return self.call(name, *_c_arguments(method.params, iter(arguments)))

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
        kind = LibraryBuffer if interface == "ID3D12Resource" else Object
        return kind(created.value or 0, interface)

    def release_created(self) -> None:
        """Release what ``self`` has created through its methods, the latest first."""
        while self._created:
            self._created.pop().release()

    def release(self) -> None:
        self.release_created()
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


class LibraryBuffer(Object):
    """A buffer, whose bytes are an array."""

    @property
    def width(self) -> int:
        """The size in bytes."""
        return int(self.GetDesc().Width)

    def Map(self) -> npt.NDArray[np.uint8]:
        address = ctypes.c_void_p()
        self.call("Map", 0, None, address)
        assert address.value is not None
        return np.ctypeslib.as_array((ctypes.c_uint8 * self.width).from_address(address.value))


def _c_arguments(params: Sequence[Parameter], arguments: Iterator[Any]) -> Iterator[Any]:
    """The arguments of C for those of Python."""
    waiting = list(params)
    while waiting:
        kind, _ = waiting.pop(0)
        value = next(arguments, None)
        if isinstance(value, (list, tuple)):
            yield len(value)
            yield _array(value, waiting.pop(0)[0])
        elif isinstance(value, Record):
            yield encode(value)
        else:
            yield 0 if value is None and not kind.endswith("*") else value


def _array(values: Sequence[Any], kind: str) -> Any:
    """An array for a parameter of type ``kind``, which keeps alive what its elements point to."""
    if kind.endswith("* const*"):
        return (ctypes.c_void_p * len(values))(*(value.address for value in values))
    items = [encode(value) if isinstance(value, Record) else value for value in values]
    array = (struct_named(kind.removeprefix("const ").removesuffix("*")) * len(items))(*items)
    array.items = items
    return array


def struct_named(name: str) -> Any:
    """The struct of DirectML or Direct3D 12 of this name; None if there is none."""
    return getattr(structs, name, None) or getattr(d3d12_structs, name, None)


def _argument(value: Any) -> Any:
    if isinstance(value, Object):
        return value.address
    if isinstance(value, (ctypes.Structure, ctypes.Array, ctypes.c_void_p, ctypes.c_uint32)):
        return ctypes.addressof(value)
    return value
