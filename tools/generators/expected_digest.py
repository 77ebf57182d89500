"""``expected_digest.py``: digests of what the C code declares, by which Python knows what it was built from."""

from __future__ import annotations

import runpy
from pathlib import Path

import cffi
from building import libdirectml, native_kernels

from .catalog import Catalog
from .python_text import python_module

# The package itself does not load before this file is written.
DECLARED = runpy.run_path(
    str(Path(__file__).resolve().parents[2] / "directml_py" / "kernels" / "build_digest.py")
)


def digest_of(declarations: str) -> str:
    """What ``declared_by`` says of a module that was compiled from these declarations for cffi."""
    ffi = cffi.FFI()
    ffi.cdef(declarations)
    # cffi tells of functions only where they are compiled; what it has read is its parser's.
    parser = ffi._parser
    lines = [f"{name} {value}" for name, value in parser._int_constants.items()]
    for entry, (kind, _) in parser._declarations.items():
        what, _, name = entry.partition(" ")
        if what in ("function", "extern_python"):
            lines.append(f"{name} {kind.get_c_name()}")
    return str(DECLARED["digest"]([*lines, *DECLARED["types_of"](ffi)]))


def generate(catalog: Catalog) -> dict[str, str]:
    sources = {
        "kernels": "\n".join(native_kernels.folders().values()),
        "com": libdirectml.Source(catalog, "", "").cdef(),
    }
    title = "What the C code beside this package declares (see directml_py/kernels/build_digest.py)."
    return {
        f"directml_py/{room}/expected_digest.py": python_module(
            title, "", [f'DECLARATIONS = "{digest_of(text)}"']
        )
        for room, text in sources.items()
    }
