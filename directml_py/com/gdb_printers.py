"""Pretty-printers for GDB: an interface pointer shows its object's interface, name and state.

GDB runs this file in its own Python, without the package.
"""

from __future__ import annotations

import re
import struct

import gdb

SMART_POINTER = re.compile(r"(.*::)?(ComPtr|CComPtr|com_ptr|com_ptr_t)<.*>")
# The interfaces by the beginnings of their names, and what their vtables are called in libdirectml.so.
INTERFACE = re.compile(r"I(D3D12|DML|DXGI|DXCore)\w+|IUnknown")
VTABLE = re.compile(r"(\w+)_methods in section \S+ of .*libdirectml\.so")
# dmlpy_object of tools/building/libdirectml.c: the vtable's address and the count of references.
OBJECT = struct.Struct("=QI")
DESCRIBE = "((const char *(*)(const void *)) directml_py_describe)((const void *) {address})"
CALLS = "print directml-calls"


class Calls(gdb.Parameter):
    """Whether pointers to DirectML's objects are described by a call in the program.

    If off, as in a core dump, only the interface and the number of references are shown.
    """

    set_doc = "Set whether interface pointers are described by a call in the program."
    show_doc = "Show whether interface pointers are described by a call in the program."

    def __init__(self) -> None:
        super().__init__(CALLS, gdb.COMMAND_DATA, gdb.PARAM_BOOLEAN)
        self.value = True

    def get_set_string(self) -> str:
        return ""

    def get_show_string(self, value: str) -> str:
        return f"Calls in the program to describe interface pointers are {value}."


class InterfacePrinter:
    """``0x55d0 <ID3D12Resource2 'weights': buffer of 256 bytes, DEFAULT heap>, 1 reference``."""

    def __init__(self, address: int, kind: str, references: int) -> None:
        self._address = address
        self._kind = kind
        self._references = references

    def to_string(self) -> str:
        text = _described(self._address) if gdb.parameter(CALLS) else ""
        plural = "" if self._references == 1 else "s"
        return f"0x{self._address:x} {text or f'<{self._kind}>, {self._references} reference{plural}'}"


class SmartPointerPrinter:
    """A ``ComPtr``, ``CComPtr``, ``wil::com_ptr`` or ``winrt::com_ptr``, as the pointer that is its only field."""

    def __init__(self, pointer: gdb.Value) -> None:
        self._pointer = pointer

    def to_string(self) -> gdb.Value:
        return self._pointer


def _described(address: int) -> str:
    """What the package says of the object; empty where nothing can be called, as in a core dump."""
    unwinds = gdb.parameter("unwindonsignal")
    gdb.execute("set unwindonsignal on")
    try:
        return str(gdb.parse_and_eval(DESCRIBE.format(address=address)).string(errors="replace"))
    except gdb.error:
        return ""
    finally:
        gdb.execute(f"set unwindonsignal {'on' if unwinds else 'off'}")


def printer_of(value: gdb.Value) -> InterfacePrinter | SmartPointerPrinter | None:
    """The printer of a pointer or a smart pointer to an object of the library; None for anything else."""
    kind = value.type.strip_typedefs()
    if kind.code == gdb.TYPE_CODE_PTR:
        return _pointer_printer(value, kind.target())
    if kind.code == gdb.TYPE_CODE_STRUCT and SMART_POINTER.fullmatch(kind.name or ""):
        fields = kind.fields()
        if len(fields) == 1 and fields[0].type.strip_typedefs().code == gdb.TYPE_CODE_PTR:
            return SmartPointerPrinter(value[fields[0]])
    return None


def _pointer_printer(value: gdb.Value, target: gdb.Type) -> InterfacePrinter | None:
    if INTERFACE.fullmatch(target.strip_typedefs().unqualified().name or "") is None:
        return None
    address = int(value)
    try:
        vtable, references = OBJECT.unpack(gdb.selected_inferior().read_memory(address, OBJECT.size))
        symbol = VTABLE.match(gdb.execute(f"info symbol {vtable}", to_string=True))
    except gdb.error:
        return None
    return None if symbol is None else InterfacePrinter(address, symbol[1], references)


# GDB may source the file again, and so define the function again.
if not any(getattr(printer, "__name__", "") == printer_of.__name__ for printer in gdb.pretty_printers):
    Calls()
    gdb.pretty_printers.append(printer_of)
