"""``expected_digest.py``: digests of the C declarations, by which Python recognizes C code built from other sources."""

from __future__ import annotations

import runpy
from pathlib import Path

import cffi
from building import libdirectml, native_kernels

from .catalog import Catalog
from .python_text import python_module

# The package itself cannot be imported before this file is written.
DECLARED = runpy.run_path(
    str(Path(__file__).resolve().parents[2] / "directml_py" / "kernels" / "build_digest.py")
)


def digest_of(declarations: str) -> str:
    """The result of ``declared_by`` for a module that cffi compiles from these declarations."""
    ffi = cffi.FFI()
    ffi.cdef(declarations)
    # cffi lists functions only in a compiled module; here its parser has the declarations.
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
        "com": libdirectml.Source(catalog).cdef(),
    }
    title = "What the C code beside this package declares (see directml_py/kernels/build_digest.py)."
    return {
        f"directml_py/{room}/expected_digest.py": python_module(
            title, "", [f'DECLARATIONS = "{digest_of(text)}"']
        )
        for room, text in sources.items()
    }
