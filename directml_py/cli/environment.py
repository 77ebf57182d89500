"""The environment variables of this package, checked before a command starts."""

from __future__ import annotations

from ..abi.hresult import DMLError
from ..d3d12.adapters import enumerated_adapters
from ..dml.profiles import profile_of
from ..kernels import backend


def wrong_environment() -> str:
    """What is wrong with a variable that the package reads, in one line; empty if nothing is."""
    try:
        if backend.wanted:
            # Loads what DIRECTML_PY_KERNELS insists on.
            bool(backend.native)
        int(backend.threads)
        profile_of(None)
        enumerated_adapters()
    except DMLError as error:
        return str(error.diagnostics[0].message if error.diagnostics else error.args[-1])
    except (ValueError, ImportError) as error:
        return str(error)
    return ""
