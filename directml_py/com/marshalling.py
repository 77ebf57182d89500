"""Marshalling: converts C arguments to Python and Python results to C, based on the C types of the parameters."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..abi.hresult import E_POINTER, DMLError
from ..abi.interface import IUnknown
from ..descs.types_by_name import ctypes_class
from .argument_memory import peek_guid, peek_pointers, poke, poke_number, poke_pointer
from .object_table import Objects
from .program_abi import read_narrow
from .signatures import Parameter

Values = Sequence[Any]
Input = Callable[[Values], Any]
Output = Callable[[Values, Any], None]

NARROW = frozenset({"LPCSTR", "PCSTR", "const char*"})
WIDE = frozenset({"LPCWSTR", "PCWSTR"})
# Sizes in bytes of scalar outputs; all others, such as enumerations, have four.
SCALARS = {"BYTE": 1, "UINT16": 2, "UINT64": 8, "SIZE_T": 8, "INT64": 8, "LARGE_INTEGER": 8, "HANDLE": 8}
MAX_OBJECTS = 1 << 20
# Inputs that the API declares without const.
INPUTS = frozenset({"D3D12_INFO_QUEUE_FILTER", "D3D12_RECT", "D3D12_SAMPLE_POSITION", "DXGI_SWAP_CHAIN_DESC"})
# An object of any interface, also of one that the catalog does not have: COM passes objects by one pointer, and takes
# them by two.
OBJECT = re.compile(r"(?:const )?I(?:Unknown|D3D|DML|DX)\w*\*")


def struct_type(name: str) -> type[ctypes.Structure] | None:
    """The ctypes struct with a C name; None if it is not a struct."""
    try:
        kind = ctypes_class(name)
    except KeyError:
        return None
    return kind if isinstance(kind, type) and issubclass(kind, ctypes.Structure) else None


class ArgumentPlan(NamedTuple):
    """The marshalling of one method's arguments.

    ``result`` holds the indices of the ``REFIID`` and ``void**`` parameters through which a created object is returned;
    ``outputs`` write the other results, one each.
    """

    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    result: tuple[int, int] | None


def plan(params: Sequence[Parameter], objects: Objects, ffi: Any) -> ArgumentPlan:
    inputs: list[Input] = []
    outputs: list[Output] = []
    result = None
    indices = iter(range(len(params)))
    for index in indices:
        c_type, name = params[index]
        if c_type == "REFIID" and index + 1 < len(params) and params[index + 1][0] == "void**":
            result = (index, next(indices))
            continue
        output = _output(c_type, name, index, objects)
        if output is None:
            inputs.append(_input(c_type, name, index, objects, ffi))
        else:
            outputs.append(output)
    return ArgumentPlan(tuple(inputs), tuple(outputs), result)


def _input(c_type: str, name: str, index: int, objects: Objects, ffi: Any) -> Input:
    if c_type.endswith("* const*"):
        return lambda values: object_list(values[index - 1], values[index], name, objects)
    if OBJECT.fullmatch(c_type):
        held, argument = objects.held, objects.argument
        return lambda values: held(values[index]) or argument(values[index], name)
    if c_type in ("REFGUID", "REFIID"):
        return lambda values: peek_guid(values[index], name)
    if c_type in WIDE:
        read_wide = objects.program.read_wide
        return lambda values: read_wide(values[index], name)
    if c_type in NARROW:
        return lambda values: read_narrow(values[index], name)
    if c_type == "HANDLE":
        event = objects.program.event
        return lambda values: event(values[index], name)
    if c_type.endswith("*"):
        return lambda values: values[index] or None
    if c_type == "BOOL":
        return lambda values: bool(values[index])
    kind = struct_type(c_type)
    if kind is not None:
        by_value = kind
        return lambda values: by_value.from_buffer_copy(ffi.buffer(ffi.addressof(values[index])))
    return lambda values: values[index]


def _output(c_type: str, name: str, index: int, objects: Objects) -> Output | None:
    """The function that writes a result through an output parameter; None if the parameter is not an output."""
    pointee = c_type[:-1]
    if pointee.endswith("*"):
        return lambda values, value: _write_pointer(value, values[index], name, objects)
    is_pointer = c_type.endswith("*") and not OBJECT.fullmatch(c_type)
    if not is_pointer or "const" in c_type or pointee in INPUTS or pointee == "void":
        return None
    if struct_type(pointee) is not None:
        layout = objects.program.layout
        return lambda values, value: poke(values[index], layout(value), name)
    size = SCALARS.get(pointee, 4)
    return lambda values, value: poke_number(values[index], int(value), size, name)


def address_of(value: Any) -> int:
    """The address of memory that an object or this process owns: an array, or a struct."""
    return int(value.ctypes.data) if isinstance(value, np.ndarray) else ctypes.addressof(value)


def _write_pointer(value: Any, address: int, name: str, objects: Objects) -> None:
    """Write an address of memory, or a COM object, through a pointer to a pointer."""
    if isinstance(value, IUnknown):
        objects.give(value, address, name)
    else:
        poke_pointer(address, address_of(value), name)


def object_list(count: int, address: int, name: str, objects: Objects) -> list[Any] | None:
    """The objects of a C array; None for a null pointer, which methods distinguish from an empty list."""
    if not address:
        return None
    if count > MAX_OBJECTS:
        raise DMLError(E_POINTER, f"{name} cannot hold {count} objects")
    items, held = peek_pointers(address, count, name), objects.held
    if count == 1:
        return [held(items[0]) or objects.argument(items[0], f"{name}[0]")]
    return [held(item) or objects.argument(item, f"{name}[{index}]") for index, item in enumerate(items)]
