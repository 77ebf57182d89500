"""Entry point that ``libdirectml.so`` calls after starting Python, or finding it running."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from typing import Any

import directml_py

from ..abi.memory import read_with
from ..api.d3d12_enums import D3D12_MESSAGE_SEVERITY
from ..d3d12 import ID3D12Device
from ..d3d12.debug import devices_of_c
from ..d3d12.debug_output import exceptions_tell_nobody
from ..d3d12.live_objects import COUNTERS
from ..d3d12.shared_handles import use_handles
from ..d3d12.untracked import Tracking
from ..dml.bindings import read_bindings_with
from ..kernels.build_digest import REINSTALL, declared_by
from .argument_memory import write_with
from .expected_digest import DECLARATIONS
from .interfaces import FUNCTIONS, INTERFACES
from .object_table import Objects
from .object_text import ObjectText
from .program_abi import Win32Handles
from .thunks import Calls


def create_device(*arguments: Any) -> ID3D12Device:
    """D3D12CreateDevice with a debug layer that by default breaks on nothing, as on Windows: an exception raised at a
    break would become the HRESULT of whichever method runs the commands. Enabling the layer later removes the
    device."""
    device = directml_py.D3D12CreateDevice(*arguments)
    devices_of_c.add(device)
    if device.info_queue is not None:
        for severity in D3D12_MESSAGE_SEVERITY:
            device.info_queue.SetBreakOnSeverity(severity, False)
    return device


def use_memory_functions(lib: Any) -> None:
    """Have the functions in C read and write arguments, which need not ask the kernel to copy them."""
    address = lib.dmlpy_memory_functions()
    if address:
        peek, poke, peek_bindings = ctypes.cast(address, ctypes.py_object).value
        read_with(peek)
        write_with(poke)
        read_bindings_with(peek_bindings)


def start(ffi: Any, lib: Any) -> None:
    """Bind every C function that the library declares to its Python implementation.

    Raises ``ImportError`` if the library was built from different sources than this package.
    """
    if declared_by(ffi, lib) != DECLARATIONS:
        folder = ffi.string(lib.dmlpy_folder()).decode(errors="replace")
        package = directml_py.__file__.rpartition("/")[0]
        raise ImportError(
            f"libdirectml.so in {folder} was built from sources other than those of the package {package}; {REINSTALL}"
        )
    exceptions_tell_nobody()
    Tracking.commands = not lib.dmlpy_is_hosted()
    use_memory_functions(lib)
    objects = Objects(lib, ffi)
    COUNTERS.append(objects.references)
    if objects.program.is_windows:
        use_handles(Win32Handles(lib))
    calls = Calls(objects, ffi)

    def define(name: str, function: Any) -> None:
        ffi.def_extern(name=name)(function)

    def define_when_called(name: str, make: Callable[[], Callable[..., Any]]) -> None:
        """A program calls few of the methods, and to make all thunks takes a part of its start that can be felt."""

        def first_call(*values: Any) -> Any:
            function = make()
            define(name, function)
            return function(*values)

        define(name, first_call)

    define("dmlpy_last_release", objects.released)
    define("dmlpy_released_again", objects.released_again)
    define("dmlpy_revived", objects.revived)
    define("dmlpy_object_text", ObjectText(objects, ffi).address_of)
    define("dmlpy_QueryInterface", calls.query_interface)
    for name, interface in INTERFACES.items():
        if interface.base:
            for method in interface.methods:
                define_when_called(f"{name}_{method.name}", partial(calls.method, name, method))
    for function in FUNCTIONS:
        override = create_device if function.name == "D3D12CreateDevice" else None
        body = override or getattr(directml_py, function.name, None)
        define_when_called(f"dmlpy_{function.name}", partial(calls.function, function, body))
