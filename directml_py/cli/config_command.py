"""``python -m directml_py config``: compiler and linker options for C and C++ programs."""

from __future__ import annotations

import argparse
import platform
import shlex
import sys
import sysconfig
from pathlib import Path

HELP = (
    "Print compiler and linker options for C and C++ programs that use libdirectml.so, like python3-config."
)
PACKAGE = Path(__file__).resolve().parents[1]
# Not among the modules: Python would import libdirectml.so as an extension.
FOLDER = PACKAGE / "com" / "lib"
LIBRARY = FOLDER / "libdirectml.so"
# Where Debian's directx-headers-dev and most other packages install them; --direct3d overrides it.
SYSTEM_HEADERS = Path("/usr/include")


class Missing(Exception):
    """A file that a build needs is missing; the text says how to get it."""


def include_folder() -> Path:
    """The folder of this package's headers: inside it, or beside it in a source tree."""
    folders = (PACKAGE / "include", PACKAGE.parent / "include")
    return next((folder for folder in folders if (folder / "DirectML.h").exists()), folders[0])


def cflags(direct3d: Path) -> list[str]:
    """Compiler options; Direct3D's headers are system headers, so that their warnings are suppressed."""
    if not (direct3d / "directx" / "d3d12.h").exists():
        raise Missing(
            f"{direct3d}/directx/d3d12.h is missing: install Debian's directx-headers-dev, or name the folder that "
            "has directx/d3d12.h with --direct3d"
        )
    system = [direct3d / "wsl" / "stubs", direct3d / "directx"]
    # /usr/include must keep its own position in the compiler's search order.
    system += [] if direct3d == SYSTEM_HEADERS else [direct3d]
    return [f"-I{include_folder()}", *(option for folder in system for option in ("-isystem", str(folder)))]


def libs(direct3d: Path = SYSTEM_HEADERS) -> list[str]:
    """Linker options."""
    check_library()
    return [f"-L{FOLDER}", "-ldirectml", f"-Wl,-rpath,{FOLDER}", *guids(direct3d)]


def guids(direct3d: Path = SYSTEM_HEADERS) -> list[str]:
    """Options for DirectX-Guids, the library of Direct3D 12's ``IID_`` variables, if installed beside the headers.

    Debian's package has it, a clone of the headers does not. Programs that use ``__uuidof`` do not need it.
    """
    multiarch = sysconfig.get_config_var("MULTIARCH") or f"{platform.machine()}-linux-gnu"
    for folder in (f"lib/{multiarch}", "lib", "lib64"):
        directory = direct3d.parent / folder
        if any((directory / f"libDirectX-Guids.{ending}").exists() for ending in ("a", "so")):
            return (
                ["-lDirectX-Guids"] if direct3d == SYSTEM_HEADERS else [f"-L{directory}", "-lDirectX-Guids"]
            )
    return []


def check_library() -> None:
    """Raises ``Missing``."""
    if LIBRARY.exists():
        return
    if not sys.platform.startswith("linux"):
        raise Missing("libdirectml.so is built on Linux only")
    name = sysconfig.get_config_var("LDLIBRARY") or "libpython"
    needs = [
        "a C compiler (gcc or clang)",
        f"Python's headers (Python.h, in {sysconfig.get_path('include')})",
    ]
    folder = Path(sysconfig.get_config_var("LIBDIR") or "")
    if not name.endswith(".so") or not (folder / name).exists():
        needs.append(f"a shared libpython ({folder / name} is not one; Debian: python3-dev)")
    raise Missing(
        f"libdirectml.so was not built when this package was installed. It needs {', '.join(needs)}; "
        "then reinstall the package (pip install --force-reinstall --no-cache-dir)"
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cflags", action="store_true", help="compiler options")
    parser.add_argument("--libs", action="store_true", help="linker options")
    parser.add_argument(
        "--cmake", action="store_true", help="the folder of DirectMLConfig.cmake, for CMAKE_PREFIX_PATH"
    )
    parser.add_argument(
        "--pkgconfig", action="store_true", help="the folder of directml.pc, for PKG_CONFIG_PATH"
    )
    parser.add_argument("--includedir", action="store_true", help="the folder of DirectML.h alone")
    parser.add_argument(
        "--libdir", action="store_true", help="the folder of libdirectml.so, libd3d12.so and libdxcore.so"
    )
    parser.add_argument("--library", action="store_true", help="the path of libdirectml.so")
    parser.add_argument(
        "--direct3d",
        type=Path,
        default=SYSTEM_HEADERS,
        metavar="FOLDER",
        help="for --cflags and --libs: the folder of directx/d3d12.h (default: %(default)s)",
    )


def run(arguments: argparse.Namespace) -> int:
    """The exit code: 0, or 2 if a file is missing or no option was given."""
    try:
        lines = _answers(arguments)
    except Missing as missing:
        print(f"config: {missing}", file=sys.stderr)
        return 2
    if not lines:
        print("config: give an option, such as --cflags --libs; --help lists them", file=sys.stderr)
        return 2
    print("\n".join(lines))
    return 0


def _answers(arguments: argparse.Namespace) -> list[str]:
    options = [
        *(cflags(arguments.direct3d) if arguments.cflags else ()),
        *(libs(arguments.direct3d) if arguments.libs else ()),
    ]
    lines = [shlex.join(options)] if options else []
    if arguments.cmake or arguments.pkgconfig or arguments.libdir or arguments.library:
        check_library()
    lines += [str(FOLDER)] * (arguments.cmake + arguments.pkgconfig + arguments.libdir)
    lines += [str(include_folder())] if arguments.includedir else []
    lines += [str(LIBRARY)] if arguments.library else []
    return lines
