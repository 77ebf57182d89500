"""Comparison with Microsoft's DirectML: validates and executes descs in a real library, called through ctypes.

``open(directml=PATH)`` runs the library on the emulated Direct3D 12 device, for validation only; with ``d3d12=PATH`` it
also executes on the GPU: on WSL with the libraries in ``/usr/lib/wsl/lib``, on Windows with ``DirectML.dll`` and
``d3d12.dll``.
"""

from .comparison import Comparison, OutputDifference
from .isolation import Crash, Isolated
from .loading import HardwareError
from .real_directml import Library, Verdict, close, compare, evaluate, open, validate
from .recorded_cases import Case, read_cases, write_cases

__all__ = [
    "Case",
    "Comparison",
    "Crash",
    "HardwareError",
    "Isolated",
    "Library",
    "OutputDifference",
    "Verdict",
    "close",
    "compare",
    "evaluate",
    "open",
    "read_cases",
    "validate",
    "write_cases",
]
