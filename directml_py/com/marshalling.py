"""How C arguments become Python arguments, and Python results what C gets: by the C type alone."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..abi.hresult import E_POINTER, DMLError
from ..descs.decode import ctypes_class
from .argument_memory import POINTER_SIZE, peek, peek_guid, poke, poke_number, poke_pointer
from .event_handles import EventHandle
from .interfaces import INTERFACES
from .object_table import Objects
from .signatures import Parameter
from .wide_strings import read_narrow, read_wide

Values = Sequence[Any]
Input = Callable[[Values], Any]
Output = Callable[[Values, Any], None]

NARROW = frozenset({"LPCSTR", "PCSTR", "const char*"})
WIDE = frozenset({"LPCWSTR", "PCWSTR"})
# Bytes of what a pointer to a scalar receives; an enumeration has four.
SCALARS = {"BYTE": 1, "UINT16": 2, "UINT64": 8, "SIZE_T": 8, "INT64": 8, "LARGE_INTEGER": 8}
MAX_OBJECTS = 1 << 20
# Declared without const, though the methods that take them only read them.
INPUTS = frozenset({"D3D12_INFO_QUEUE_FILTER"})


def struct_type(name: str) -> type[ctypes.Structure] | None:
    """The ctypes struct of that C name; None for what is no struct."""
    try:
        kind = ctypes_class(name)
    except KeyError:
        return None
    return kind if isinstance(kind, type) and issubclass(kind, ctypes.Structure) else None


class ArgumentPlan(NamedTuple):
    """What to do with the arguments of one call.

    ``result`` holds the places of a ``REFIID`` and a ``void**`` that receive the object that Python returns;
    ``outputs`` receive its other results, one each.
    """

    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    result: tuple[int, int] | None


def plan(params: Sequence[Parameter], objects: Objects, ffi: Any) -> ArgumentPlan:
    inputs: list[Input] = []
    outputs: list[Output] = []
    result = None
    places = iter(range(len(params)))
    for place in places:
        c_type, name = params[place]
        if c_type == "REFIID" and place + 1 < len(params) and params[place + 1][0] == "void**":
            result = (place, next(places))
            continue
        output = _output(c_type, name, place, objects)
        if output is None:
            inputs.append(_input(c_type, name, place, objects, ffi))
        else:
            outputs.append(output)
    return ArgumentPlan(tuple(inputs), tuple(outputs), result)


def _input(c_type: str, name: str, place: int, objects: Objects, ffi: Any) -> Input:
    pointee = _pointee(c_type)
    if c_type.endswith("* const*"):
        return lambda values: object_list(values[place - 1], values[place], name, objects)
    if pointee in INTERFACES:
        return lambda values: objects.argument(values[place], name)
    if c_type in ("REFGUID", "REFIID"):
        return lambda values: peek_guid(values[place], name)
    if c_type in WIDE:
        return lambda values: read_wide(values[place], name)
    if c_type in NARROW:
        return lambda values: read_narrow(values[place], name)
    if c_type == "HANDLE":
        return lambda values: EventHandle(values[place], name) if values[place] else None
    if c_type.endswith("*"):
        return lambda values: values[place] or None
    if c_type == "BOOL":
        return lambda values: bool(values[place])
    kind = struct_type(c_type)
    if kind is not None:
        by_value = kind
        return lambda values: by_value.from_buffer_copy(ffi.buffer(ffi.addressof(values[place])))
    return lambda values: values[place]


def _output(c_type: str, name: str, place: int, objects: Objects) -> Output | None:
    """How a result goes where an argument points to; None for what is no place for a result."""
    pointee = c_type[:-1]
    is_input = "const" in c_type or not c_type.endswith("*") or pointee in INTERFACES or pointee in INPUTS
    if is_input or pointee == "void":
        return None
    if pointee.endswith("*"):
        return lambda values, value: _give(value, values[place], name, objects)
    if struct_type(pointee) is not None:
        return lambda values, value: poke(values[place], bytes(value), name)
    size = SCALARS.get(pointee, 4)
    return lambda values, value: poke_number(values[place], int(value), size, name)


def _pointee(c_type: str) -> str:
    match = re.fullmatch(r"(?:const )?(\w+)\*", c_type)
    return match[1] if match else ""


def _give(value: Any, address: int, name: str, objects: Objects) -> None:
    """What a pointer to a pointer receives: the beginning of memory, or a COM object."""
    if isinstance(value, np.ndarray):
        poke_pointer(address, int(value.ctypes.data), name)
    else:
        objects.give(value, address, name)


def object_list(count: int, address: int, name: str, objects: Objects) -> list[Any] | None:
    """None, which the methods tell from an empty list, for a null pointer."""
    if not address:
        return None
    if count > MAX_OBJECTS:
        raise DMLError(E_POINTER, f"{name} cannot hold {count} objects")
    items = memoryview(peek(address, POINTER_SIZE * count, name)).cast("Q")
    return [objects.argument(item, f"{name}[{index}]") for index, item in enumerate(items)]
