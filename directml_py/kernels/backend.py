"""Kernel selection (native or NumPy) and thread limits."""

from __future__ import annotations

import operator
import os
import warnings
from importlib import import_module
from typing import Any

from ..late import lazy, loading
from .build_digest import REINSTALL, declared_by
from .expected_digest import DECLARATIONS

KERNELS_VARIABLE = "DIRECTML_PY_KERNELS"
THREADS_VARIABLE = "DIRECTML_PY_THREADS"
# More than any machine has; C counts in 32 bits.
MOST_THREADS = 1 << 16


class Backend:
    """The kernels in use, determined when the first one is bound.

    ``native`` is the extension module, with ``ffi`` and ``lib``. It is None if the module was not built, or was built
    from other sources (which is reported as a warning), or if ``DIRECTML_PY_KERNELS`` is ``numpy``. Raises
    ``ImportError`` if that variable is ``native`` and the module is unavailable, ``ValueError`` if it has any other
    value, or if ``DIRECTML_PY_THREADS`` is not a number above 0.
    """

    @lazy
    def wanted(self) -> str:
        text = os.environ.get(KERNELS_VARIABLE, "")
        if text not in ("", "numpy", "native"):
            raise ValueError(f"{KERNELS_VARIABLE} must be numpy or native, not {text!r}")
        return text

    @lazy
    def native(self) -> Any:
        # A wrong variable is reported whether or not its value is of use here.
        threads = self.threads
        if self.is_plain:
            return None
        try:
            with loading:
                module = import_module("directml_py.kernels._native")
        except ImportError as error:
            if self.wanted:
                raise ImportError(
                    f"{KERNELS_VARIABLE} is native, but the native kernels do not load: {error}"
                ) from None
            return None
        if declared_by(module.ffi, module.lib) != DECLARATIONS:
            problem = f"{module.__file__} was built from sources other than the Python beside it; {REINSTALL}"
            if self.wanted:
                raise ImportError(f"{KERNELS_VARIABLE} is native, but {problem}")
            warnings.warn(f"everything runs in NumPy: {problem}", RuntimeWarning, stacklevel=2)
            return None
        module.lib.dml_set_threads(threads)
        return module

    @lazy
    def is_plain(self) -> bool:
        """Whether the references are requested: naive NumPy, all elements at once and in one thread."""
        return self.wanted == "numpy"

    @lazy
    def threads(self) -> int:
        """The number of threads that a kernel may use."""
        text = os.environ.get(THREADS_VARIABLE, "")
        if not text:
            return available_processors()
        if not text.isdecimal() or not text.strip("0"):
            raise ValueError(f"{THREADS_VARIABLE} must be a number above 0, not {text!r}")
        # Python refuses to parse numbers of thousands of digits.
        return MOST_THREADS if len(text.lstrip("0")) > 9 else min(int(text), MOST_THREADS)

    @property
    def title(self) -> str:
        """``numpy``, or ``native`` with the ISA variant and the number of threads."""
        if self.native is None:
            return "numpy"
        return f"native ({self.isa}, {self.threads} {'thread' if self.threads == 1 else 'threads'})"

    @property
    def isa(self) -> str:
        """The ISA variant of the native kernels in use: ``baseline``, ``avx2``, ``avx512`` or ``amx``."""
        name: bytes = self.native.ffi.string(self.native.lib.dml_chosen_isa())
        return name.decode()


backend = Backend()


def available_processors() -> int:
    """The processors that this process may run on."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def thread_count() -> int:
    """The number of threads that a kernel may use for large tensors."""
    return backend.threads


def set_thread_count(count: int) -> None:
    """Let kernels use up to ``count`` threads for large tensors; small ones always run in the calling thread.

    The initial value is ``DIRECTML_PY_THREADS`` or, without that, the number of processors of this process. Reference
    kernels use one thread. Raises ``TypeError`` if ``count`` is not an integer, ``ValueError`` if it is less than 1.
    """
    number = operator.index(count)
    if number < 1:
        raise ValueError(f"count must be at least 1, not {number}")
    backend.threads = min(number, MOST_THREADS)
    if backend.native is not None:
        backend.native.lib.dml_set_threads(backend.threads)
