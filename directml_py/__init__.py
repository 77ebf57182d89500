"""directml-py: DirectML's structs, object model and operators in Python, on any machine.

Everything that a port of a DirectML program needs is here, under its C name. Names are loaded when they are first
asked for (PEP 562), so that importing this package costs next to nothing.
"""

import os as _os
from importlib import import_module as _import_module
from typing import TYPE_CHECKING

from ._version import __version__ as __version__
from .api.exports import EXPORTS as _EXPORTS

# What type checkers see; the table of exports is generated from it. No submodule may have the name of one of these:
# an import of the submodule would hide it.
if TYPE_CHECKING:
    from .abi.hresult import *
    from .abi.interface import IUnknown as IUnknown
    from .abi.memory import set_memory_probing as set_memory_probing
    from .abi.rules import message_id as message_id
    from .abi.wintypes import *
    from .api.d3d12_enums import *
    from .api.d3d12_structs import *
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
    from .shortcuts import evaluate as evaluate
    from .shortcuts import validate as validate
    from .validation import Diagnostic as Diagnostic
    from .validation import Severity as Severity
else:

    def __getattr__(name: str) -> object:
        if name == "__all__":
            return sorted(_EXPORTS)
        module = _EXPORTS.get(name)
        if module is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        # Structs describe themselves in terms that this room teaches them.
        if module.endswith("structs") or module == "api.operator_descs":
            _import_module(".descs", __name__)
        value = globals()[name] = getattr(_import_module(f".{module}", __name__), name)
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *_EXPORTS})


if "DIRECTML_PY_CAPTURE" in _os.environ:
    from .capturing import start_from_environment as _start_from_environment

    _start_from_environment()
