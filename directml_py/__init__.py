"""directml-py: DirectML's structs, object model and operators in Python, on any machine.

Everything that a port of a DirectML program needs is here, under its C name.
"""

from types import ModuleType as _ModuleType

from ._version import __version__ as __version__
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
from .d3d12 import *
from .descs import *
from .dml import *
from .evaluate import evaluate as evaluate
from .evaluate import validate as validate
from .kernels import set_thread_count as set_thread_count
from .kernels import thread_count as thread_count
from .validation import Diagnostic as Diagnostic
from .validation import Severity as Severity


def _public_names() -> list[str]:
    """What ``from directml_py import *`` gives: everything above, but not the submodules.

    A submodule among them, ``dml`` above all, would hide the name that programs give this package.
    """
    return sorted(
        name
        for name, value in globals().items()
        if not name.startswith("_") and not isinstance(value, _ModuleType)
    )


# Assigned where type checkers do not look: they would take a computed __all__ for an empty one.
globals()["__all__"] = _public_names()
