"""``python -m directml_py config``: what the build of a C or C++ program needs."""

from __future__ import annotations

import argparse
import shlex
import sys
import sysconfig
from pathlib import Path

HELP = "What the build of a C or C++ program with libdirectml.so needs, in the manner of python3-config."
PACKAGE = Path(__file__).resolve().parents[1]
# Apart from the modules: Python would take libdirectml.so for one.
FOLDER = PACKAGE / "com" / "lib"
LIBRARY = FOLDER / "libdirectml.so"
# Where Debian's directx-headers-dev and most others put them; --direct3d names another place.
SYSTEM_HEADERS = Path("/usr/include")


class Missing(Exception):
    """What a build would need is not there; the text says how to get it."""


def include_folder() -> Path:
    """The headers of this package: inside it or, where it is used from its source, beside it."""
    places = (PACKAGE / "include", PACKAGE.parent / "include")
    return next((place for place in places if (place / "DirectML.h").exists()), places[0])


def cflags(direct3d: Path) -> list[str]:
    """Compiler options; Direct3D's headers come as system headers, whose warnings nobody here can mend."""
    if not (direct3d / "directx" / "d3d12.h").exists():
        raise Missing(
            f"{direct3d}/directx/d3d12.h is missing: install Debian's directx-headers-dev, or name the folder that "
            "has directx/d3d12.h with --direct3d"
        )
    system = [direct3d / "wsl" / "stubs", direct3d / "directx"]
    # The compiler has its own idea of where /usr/include comes in the order.
    system += [] if direct3d == SYSTEM_HEADERS else [direct3d]
    return [f"-I{include_folder()}", *(part for folder in system for part in ("-isystem", str(folder)))]


def libs() -> list[str]:
    """Linker options."""
    check_library()
    return [f"-L{FOLDER}", "-ldirectml", f"-Wl,-rpath,{FOLDER}", "-lDirectX-Guids"]


def check_library() -> None:
    """Raises ``Missing``."""
    if LIBRARY.exists():
        return
    if not sys.platform.startswith("linux"):
        raise Missing("libdirectml.so is built on Linux alone")
    name = sysconfig.get_config_var("LDLIBRARY") or "libpython"
    needs = [
        "a C compiler (gcc or clang)",
        f"Python's headers (Python.h, in {sysconfig.get_path('include')})",
    ]
    folder = Path(sysconfig.get_config_var("LIBDIR") or "")
    if not name.endswith(".so") or not (folder / name).exists():
        needs.append(f"a shared libpython ({folder / name} is none; Debian: python3-dev)")
    raise Missing(
        f"libdirectml.so was not built when this package was installed. It needs {', '.join(needs)}; "
        "then install the package anew (pip install --force-reinstall --no-cache-dir)"
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
        help="where directx/d3d12.h lies (default: %(default)s)",
    )


def run(arguments: argparse.Namespace) -> int:
    """0, or 2 if something is missing or nothing was asked for."""
    try:
        lines = _answers(arguments)
    except Missing as missing:
        print(f"config: {missing}", file=sys.stderr)
        return 2
    if not lines:
        print("config: ask for something: --cflags --libs, --cmake, --pkgconfig …", file=sys.stderr)
        return 2
    print("\n".join(lines))
    return 0


def _answers(arguments: argparse.Namespace) -> list[str]:
    options = [
        *(cflags(arguments.direct3d) if arguments.cflags else ()),
        *(libs() if arguments.libs else ()),
    ]
    lines = [shlex.join(options)] if options else []
    if arguments.cmake or arguments.pkgconfig or arguments.libdir or arguments.library:
        check_library()
    lines += [str(FOLDER)] * (arguments.cmake + arguments.pkgconfig + arguments.libdir)
    lines += [str(include_folder())] if arguments.includedir else []
    lines += [str(LIBRARY)] if arguments.library else []
    return lines
