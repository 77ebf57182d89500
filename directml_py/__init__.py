"""directml-py: DirectML's structs, object model and operators in Python, on any machine.

Everything that a port of a DirectML program needs is here, under its C name. Names are loaded on first use (PEP 562),
so that importing this package costs next to nothing. `dir(directml_py)` lists them all:

- structs, such as DML_JOIN_OPERATOR_DESC: help(directml_py.DML_JOIN_OPERATOR_DESC) explains JOIN and its fields; a
  struct is constructed from its fields by position or by name;
- enumerations, such as DML_TENSOR_DATA_TYPE, and their members, such as DML_TENSOR_DATA_TYPE_FLOAT32;
- interfaces, such as IDMLDevice, with the methods of C++, and their identifiers, such as IID_IDMLDevice;
- types, such as UINT and GUID, error codes, such as E_INVALIDARG, and DMLError, which a failing call raises.

Python-only additions: `tensor_desc` builds a tensor desc, `evaluate` runs one operator on arrays, `validate` reports
what is wrong with a desc, `explain` which kernels run it. Submodules have a `help` of their own; those for programs are

- graph: a graph builder in the style of DirectMLX;
- session: the object model in few calls;
- testing: assertions, strategies and a plugin for tests of code that builds descs;
- cffi: the structs for users of cffi;
- onnx: ONNX models as graphs;
- pydirectml, dxdispatch: run programs for Microsoft's Python module and models of its DxDispatch;
- samples: programs to read and to run.
"""

import os as _os
import sys as _sys
from importlib import import_module as _import_module
from types import FunctionType as _FunctionType
from typing import TYPE_CHECKING

if not _os.path.exists(__path__[0] + "/api/cdefs.py"):
    from ._clone import use_installed as _use_installed

    _use_installed(__path__)

from ._version import __version__ as __version__
from .api.exports import EXPORTS as _EXPORTS
from .late import loading as _loading
from .late import provide as _provide

_provide("operator descs", lambda: _import_module(".api.operator_descs", __name__).DESCS)
# How structs behave where they have pointers, which is the same whatever was imported before.
_provide("struct values", lambda: _import_module(".descs.struct_values", __name__).VALUES)

_DIRECT3D = "D3D", "ID3D", "CD3D", "DXGI", "IDXGI", "DXCore", "IDXCore"
_LIMITS = "docs/reference/limits.md"
# The submodules for programs, which may be used without an import of their own.
_PACKAGES = "cffi", "dxdispatch", "graph", "onnx", "pydirectml", "samples", "session", "testing"

# For type checkers; the table of exports is generated from it. No submodule may have the name of one of these, as its
# import would shadow the name.
if TYPE_CHECKING:
    from .abi.hresult import *
    from .abi.interface import IUnknown as IUnknown
    from .abi.memory import set_memory_probing as set_memory_probing
    from .abi.rules import message_id as message_id
    from .abi.wintypes import *
    from .api.d3d12_enums import *
    from .api.d3d12_structs import *
    from .api.descriptor_handles import *
    from .api.enums import *
    from .api.iids import *
    from .api.operator_descs import *
    from .api.structs import *
    from .capturing import capture as capture
    from .d3d12 import *
    from .descs import *
    from .dml import *
    from .kernels import set_thread_count as set_thread_count
    from .kernels import thread_count as thread_count
    from .shortcuts import KernelChoice as KernelChoice
    from .shortcuts import evaluate as evaluate
    from .shortcuts import explain as explain
    from .shortcuts import validate as validate
    from .validation import Diagnostic as Diagnostic
    from .validation import Severity as Severity
else:

    def __getattr__(name: str) -> object:
        if name == "__all__":
            return sorted(_EXPORTS)
        if name in _PACKAGES:
            with _loading:
                return _import_module(f".{name}", __name__)
        module = _EXPORTS.get(name)
        if module is None:
            raise AttributeError(_no_attribute(name))
        with _loading:
            value = globals()[name] = getattr(_import_module(f".{module}", __name__), name)
        return value

    def _no_attribute(name: str) -> str:
        with _loading:
            from .text.similar import did_you_mean

        text = f"module {__name__!r} has no attribute {name!r}"
        # What libraries ask for whether or not it is there has no similar name.
        if name.startswith("_"):
            return text
        is_direct3d = name.startswith(_DIRECT3D)
        similar = did_you_mean(name, [*_EXPORTS, *_PACKAGES], 0.94 if is_direct3d else 0.75)
        if is_direct3d and not similar:
            return f"{text}: of Direct3D it has what DirectML needs, without graphics and shaders ({_LIMITS})"
        return text + similar

    def __dir__() -> list[str]:
        names = {*globals(), *_EXPORTS}
        if _is_help_asking():
            # Keeps help() to a page: the docstrings of all structs and members have tens of thousands of lines.
            names = {name for name in _EXPORTS if isinstance(__getattr__(name), _FunctionType)}
        return sorted(names)

    def _is_help_asking() -> bool:
        """Whether the caller is pydoc, which calls through inspect."""
        frame = _sys._getframe(2)
        while frame is not None and frame.f_globals.get("__name__") == "inspect":
            frame = frame.f_back
        return frame is not None and frame.f_globals.get("__name__") == "pydoc"


if "DIRECTML_PY_CAPTURE" in _os.environ:
    from .capturing import start_from_environment as _start_from_environment

    _start_from_environment()
