"""The C source of the native kernels: cffi's bindings around ``directml_py/kernels/native``.

Every folder there is a kernel of ``kernel_list``, except ``common`` and ``threads``, which all kernels share. A folder
holds ``declarations.h``, which cffi reads too, ``kernels.inc``, which is compiled once per instruction set,
``dispatch.h``, the struct of its dispatch table, and the rest in a C file with the folder's name. Declarations include
those that they need.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from graphlib import TopologicalSorter
from pathlib import Path

import cffi

from .kernel_list import KERNELS, NativeKernel, launch_number
from .native_entries import entry_code

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "directml_py" / "kernels" / "native"
MODULE = "directml_py.kernels._native"
COMMON = "common"
PARTS = {
    "DML_TABLES": "dispatch.h",
    "DML_KERNELS": "kernels.inc",
    "DML_AVX512_KERNELS": "{kernel.avx512}",
    "DML_SOURCES": "{kernel.name}.c",
}
# Replaces the name in the declarations: cffi does not expand macros.
LAUNCHES = "/* DML_LAUNCH_... */"
ONCE = "#pragma once\n"
USED = re.compile(r'^#include "\.\./(\w+)/declarations\.h"\n', re.MULTILINE)


def folders() -> dict[str, str]:
    """The declarations of each folder, in dependency order; includes are removed, since cffi cannot read them."""
    texts = {
        path.parent.name: path.read_text(encoding="utf-8").removeprefix(ONCE)
        for path in sorted(SOURCES.glob("*/declarations.h"))
    }
    order = TopologicalSorter({COMMON: []})
    for name, text in texts.items():
        order.add(name, *USED.findall(text), *({COMMON} - {name}))
    texts[COMMON] = texts[COMMON].replace(LAUNCHES, launch_enumeration())
    return {name: USED.sub("", texts[name]) for name in order.static_order()}


def launch_enumeration() -> str:
    """The numbers of the functions that can be launched together."""
    functions = [one for kernel in KERNELS for one in (*kernel.launches, *kernel.array_launches)]
    return f"enum {{ {', '.join(map(launch_number, functions))} }};"


def listed_kernels(names: Sequence[str]) -> list[NativeKernel]:
    """The entries of ``folders``, in their order."""
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


def dispatch_macros(kernels: Sequence[NativeKernel]) -> list[str]:
    """``DML_FOR_...(DO)``: DO for each kernel, for each with AVX-512 variants, and for each function that can be
    launched."""
    launches = {
        "DML_FOR_LAUNCHES": [one for kernel in kernels for one in kernel.launches],
        "DML_FOR_ARRAY_LAUNCHES": [one for kernel in kernels for one in kernel.array_launches],
    }
    arguments = {
        "DML_FOR_KERNELS": [kernel.name for kernel in kernels],
        "DML_FOR_AVX512_KERNELS": [kernel.name for kernel in kernels if kernel.avx512 == "kernels.inc"],
        **{name: [f"{launch_number(one)}, {one}" for one in found] for name, found in launches.items()},
    }
    return [
        f"#define {name}(DO) {' '.join(f'DO({one})' for one in found)}" for name, found in arguments.items()
    ]


def write_source(path: Path) -> None:
    """Write the C file of the extension module, and beside it the lists of kernel files that it includes.

    Raises ``ValueError`` if the folders are not those of ``kernel_list``.
    """
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = folders()
    kernels = listed_kernels([name for name in texts if name != COMMON])
    macros = dispatch_macros(kernels)
    for macro, part in PARTS.items():
        listing = path.with_name(f"{macro.lower()}.h")
        names = [(kernel.name, part.format(kernel=kernel)) for kernel in kernels]
        files = [SOURCES / folder / name for folder, name in names if name]
        listing.write_text("".join(f'#include "{file}"\n' for file in files), encoding="utf-8")
        macros.append(f'#define {macro} "{listing}"')
    declarations = "\n".join(texts.values())
    ffi = cffi.FFI()
    ffi.cdef(declarations)
    system = f'#include "{SOURCES / COMMON / "system.h"}"'
    kernels_file = f'#include "{SOURCES / "kernels.c"}"'
    source = [system, declarations, *macros, kernels_file, entry_code(declarations)]
    ffi.set_source(MODULE, "\n".join(source))
    ffi.emit_c_code(str(path))
