"""What ``libdirectml.so`` calls when it has started Python, or found it running."""

from __future__ import annotations

from typing import Any

import directml_py

from .calls import Calls
from .interfaces import FUNCTIONS, INTERFACES
from .objects import Objects


def start(ffi: Any, lib: Any) -> None:
    """Give every C function that the library declares its Python side."""
    objects = Objects(lib)
    calls = Calls(objects, ffi)

    def define(name: str, function: Any) -> None:
        ffi.def_extern(name=name)(function)

    define("dmlpy_last_release", objects.released)
    define("dmlpy_QueryInterface", calls.query_interface)
    for name, interface in INTERFACES.items():
        if interface.base:
            for method in interface.methods:
                define(f"{name}_{method.name}", calls.method(name, method))
    for function in FUNCTIONS:
        found = getattr(directml_py, function.name, None)
        define(f"dmlpy_{function.name}", calls.function(function, found))
