"""The C source of the native loops: cffi's bindings around ``directml_py/kernels/native``.

Every folder there is a kernel, but ``common`` and ``threads``, which all share. It holds ``declarations.h``, which
cffi reads too, ``kernels.inc``, which is compiled once for each kind of processor, ``dispatch.h``, the dispatch table
of a kind of processor, and the rest in a C file of the folder's name. Declarations include those that they need.
"""

from __future__ import annotations

import re
from graphlib import TopologicalSorter
from pathlib import Path

import cffi

SOURCES = Path(__file__).resolve().parents[2] / "directml_py" / "kernels" / "native"
MODULE = "directml_py.kernels._native"
COMMON = "common"
PARTS = {"DML_TABLES": "dispatch.h", "DML_LOOPS": "kernels.inc", "DML_SOURCES": "{loop}.c"}
USED = re.compile(r'^#include "\.\./(\w+)/declarations\.h"\n', re.MULTILINE)
INCLUDES = """\
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif
"""


def folders() -> dict[str, str]:
    """The declarations of each folder, those first that others need; cffi reads no includes, so they have none."""
    texts = {
        path.parent.name: path.read_text(encoding="utf-8")
        for path in sorted(SOURCES.glob("*/declarations.h"))
    }
    order = TopologicalSorter({COMMON: []})
    for name, text in texts.items():
        order.add(name, *USED.findall(text), *({COMMON} - {name}))
    return {name: USED.sub("", texts[name]) for name in order.static_order()}


def write_source(path: Path) -> None:
    """Write the C file of the extension module, and beside it the lists of the loops' files that it includes."""
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = folders()
    loops = [name for name in texts if name != COMMON]
    macros = [f"#define DML_FOR_LOOPS(DO) {' '.join(f'DO({loop})' for loop in loops)}"]
    for macro, name in PARTS.items():
        listing = path.with_name(f"{macro.lower()}.h")
        files = [SOURCES / loop / name.format(loop=loop) for loop in loops]
        listing.write_text("".join(f'#include "{file}"\n' for file in files), encoding="utf-8")
        macros.append(f'#define {macro} "{listing}"')
    declarations = "\n".join(texts.values())
    ffi = cffi.FFI()
    ffi.cdef(declarations)
    source = [INCLUDES, declarations, *macros, f'#include "{SOURCES / "kernels.c"}"', ""]
    ffi.set_source(MODULE, "\n".join(source))
    ffi.emit_c_code(str(path))
