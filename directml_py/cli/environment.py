"""The environment variables of this package, and checks of their values."""

from __future__ import annotations

import os
from collections.abc import Callable

from ..abi.hresult import DMLError
from ..capturing import VARIABLE as CAPTURE_VARIABLE
from ..d3d12.adapters import COUNT_VARIABLE, enumerated_adapters
from ..dml.profiles import PROFILE_VARIABLE, profile_of
from ..kernels.backend import KERNELS_VARIABLE, THREADS_VARIABLE, backend

PREFIX = "DIRECTML_PY_"


def _any_value() -> object:
    """For variables that take any value, or whose value is checked when it is used."""
    return None


# The check of each variable: it raises DMLError, ValueError or ImportError for a wrong value.
VARIABLES: dict[str, Callable[[], object]] = {
    KERNELS_VARIABLE: lambda: bool(backend.wanted and backend.native),
    THREADS_VARIABLE: lambda: backend.threads,
    PROFILE_VARIABLE: lambda: profile_of(None),
    COUNT_VARIABLE: enumerated_adapters,
    CAPTURE_VARIABLE: _any_value,
    f"{PREFIX}LIBDIR": _any_value,
    f"{PREFIX}REQUIRE_TOOLS": _any_value,
    f"{PREFIX}TEST_ISA": _any_value,
}


def problem_of(variable: str) -> str:
    """What is wrong with the value of a variable that the package reads, in one line; empty if nothing."""
    if variable not in os.environ:
        return ""
    try:
        VARIABLES[variable]()
    except DMLError as error:
        return str(error.diagnostics[0].message if error.diagnostics else error.args[-1])
    except (ValueError, ImportError) as error:
        return str(error)
    return ""


def wrong_environment() -> str:
    """The first problem of a variable, in one line; empty if there is none."""
    return next(filter(None, map(problem_of, VARIABLES)), "")
