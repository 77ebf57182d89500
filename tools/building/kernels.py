"""The C source of the native loops: cffi's bindings around ``directml_py/kernels/native``."""

from __future__ import annotations

from pathlib import Path

import cffi

SOURCES = Path(__file__).resolve().parents[2] / "directml_py" / "kernels" / "native"
MODULE = "directml_py.kernels._native"
# Each holds nothing but declarations that cffi reads too.
DECLARATIONS = ("api.h", "parallel.h", "copy.h", "gather.h", "reduce.h")
INCLUDES = """\
#include <math.h>
#include <pthread.h>
#if defined(__linux__)
#include <sched.h>
#endif
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif
"""


def write_source(path: Path) -> None:
    """Write the C file of the extension module."""
    declarations = "\n".join((SOURCES / name).read_text(encoding="utf-8") for name in DECLARATIONS)
    ffi = cffi.FFI()
    ffi.cdef(declarations)
    ffi.set_source(MODULE, f'{INCLUDES}\n{declarations}\n#include "{SOURCES / "kernels.c"}"\n')
    path.parent.mkdir(parents=True, exist_ok=True)
    ffi.emit_c_code(str(path))
