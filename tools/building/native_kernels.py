"""The object files of the native kernels: cffi's bindings, and the C code of ``directml_py/kernels/native``.

Every folder there is a kernel of ``kernel_list``, except ``common`` and ``threads``, which all kernels share. A folder
holds ``declarations.h``, which cffi reads too, ``dispatch.h``, the struct of its dispatch table, C files that are
compiled once for each instruction set, as the list says, and C files that are compiled once. Headers include what they
need.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import cffi

from .kernel_list import ISA_FLAGS, KERNELS, NativeKernel
from .native_entries import entry_code

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "directml_py" / "kernels" / "native"
MODULE = "directml_py.kernels._native"
COMMON = "common"
# Has the contexts of the instruction sets that the compiler knows.
CONTEXTS = SOURCES / "context.c"
ONCE = "#pragma once\n"
USED = re.compile(r'^#include "\.\./(\w+)/declarations\.h"\n', re.MULTILINE)
# What the sources are written in: functions of Linux, and no symbols of the library but the module's.
FLAGS = ("-std=gnu11", "-D_GNU_SOURCE", "-fvisibility=hidden")


class Unit(NamedTuple):
    """A C file, compiled for an instruction set; ``isa`` is empty for those that are compiled once."""

    source: Path
    isa: str = ""

    @property
    def flags(self) -> list[str]:
        flags = ISA_FLAGS.get(self.isa, ())
        if sys.platform == "darwin":
            # One call may compile for both processors.
            flags = tuple(word for flag in flags for word in ("-Xarch_x86_64", flag))
        return [*flags, f"-DDML_ISA={self.isa}"] if self.isa else []


def folders() -> dict[str, str]:
    """The declarations of each folder, in dependency order; includes are removed, since cffi cannot read them."""
    texts = {
        path.parent.name: path.read_text(encoding="utf-8").removeprefix(ONCE)
        for path in sorted(SOURCES.glob("*/declarations.h"))
    }
    order = TopologicalSorter({COMMON: []})
    for name, text in texts.items():
        order.add(name, *USED.findall(text), *({COMMON} - {name}))
    return {name: USED.sub("", texts[name]) for name in order.static_order()}


def listed_kernels(names: Sequence[str]) -> list[NativeKernel]:
    """The entries of ``folders``, in their order.

    Raises ``ValueError`` if the folders are not those of ``kernel_list``.
    """
    by_name = {kernel.name: kernel for kernel in KERNELS}
    for name in names:
        if name not in by_name:
            raise ValueError(f"{SOURCES / name} has no entry in KERNELS of tools/building/kernel_list.py")
    for name in by_name:
        if name not in names:
            raise ValueError(
                f"KERNELS of tools/building/kernel_list.py has {name}, but {SOURCES / name} is missing"
            )
    return [by_name[name] for name in names]


def units(isas: Sequence[str] = tuple(ISA_FLAGS)) -> Iterator[Unit]:
    """What is compiled if the compiler knows these instruction sets."""
    kernels = listed_kernels([name for name in folders() if name != COMMON])
    variants = {
        SOURCES / kernel.name / file: names for kernel in kernels for file, names in kernel.sources.items()
    }
    for source in sorted(SOURCES.rglob("*.c")):
        yield from (Unit(source, isa) for isa in variants.get(source, ("",)) if isa in ("", *isas))


def known_isas(accepts: Callable[[list[str]], bool]) -> list[str]:
    """The instruction sets whose flags a compiler accepts. Tiles must be asked for, which is done on Linux alone."""
    return [
        isa
        for isa in ISA_FLAGS
        if (isa != "amx" or sys.platform.startswith("linux")) and accepts(Unit(SOURCES, isa).flags)
    ]


def write_module(path: Path) -> None:
    """Write the C file of the extension module: cffi's bindings, around entry points.

    Raises ``ValueError`` if the folders are not those of ``kernel_list``.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = folders()
    listed_kernels([name for name in texts if name != COMMON])
    declarations = "\n".join(texts.values())
    ffi = cffi.FFI()
    ffi.cdef(declarations)
    stack = f'#include "{SOURCES / "threads" / "work_stack.h"}"'
    ffi.set_source(MODULE, "\n".join([stack, declarations, entry_code(declarations)]))
    ffi.emit_c_code(str(path))


def accepted(command: Sequence[str], flags: Sequence[str]) -> bool:
    """Whether a compiler accepts flags: no file, and so no processor, is involved. One that is not there accepts
    none."""
    try:
        done = subprocess.run([*command, *flags, "-E", "-xc", os.devnull], capture_output=True)
    except OSError:
        return False
    return done.returncode == 0


def compile_all(compile_unit: Callable[[Unit, list[str]], str], isas: Sequence[str]) -> list[str]:
    """The object files that ``compile_unit`` makes of each unit and its flags, in as many threads as processors."""
    known = [f"-DDML_HAS_{isa.upper()}" for isa in isas]

    def compiled(unit: Unit) -> str:
        return compile_unit(unit, [*unit.flags, *(known if unit.source == CONTEXTS else [])])

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(compiled, units(isas)))


def build(command: Sequence[str], folder: Path, module: Path | None = None) -> None:
    """Compile the kernels in a folder by a compiler's command, with its flags, and link them to a module, if one is
    wanted.

    This is the build of tests, with flags of their own; an installation's is in ``commands``. Raises ``RuntimeError``
    with what the compiler says.
    """
    folder = folder.resolve()
    write_module(folder / "_native.c")

    def run(*words: str) -> None:
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{' '.join(words)}\n{done.stderr}")

    def compile_unit(unit: Unit, flags: list[str]) -> str:
        name = f"{unit.source.parent.name}_{unit.source.stem}_{unit.isa}.o"
        run(*command, *FLAGS, *flags, "-fPIC", "-c", str(unit.source), "-o", name)
        return name

    run(*command, "-fPIC", f"-I{sysconfig.get_path('include')}", "-c", "_native.c")
    objects = compile_all(compile_unit, known_isas(lambda flags: accepted(command, flags)))
    if module is not None:
        run(*command, "-shared", "_native.o", *objects, "-o", str(module.resolve()), "-pthread", "-lm")
