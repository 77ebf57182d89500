"""Wine's loader: finding it, the programs that it can run here, and the environment that it needs."""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

LIBRARIES = Path(__file__).resolve().parent.parent / "com" / "lib" / "wine"
DLLS = ("directml_py", "directml", "d3d12", "dxgi", "dxcore")
OLDEST = 8
# Debian's package wine64 leaves its programs here, off PATH.
DEBIAN_FOLDER = "/usr/lib/wine"
# Wine has DLLs of these names, which only native ones can replace. A builtin one is preferred to any file, so that a
# DirectML.dll that a program brings along, even one that it loads by its path, is never used.
OVERRIDES = {"d3d12": "n", "dxgi": "n", "dxcore": "n", "directml": "b", "*directml": "b"}
MACHINES = {0x014C: "a 32-bit program", 0xAA64: "a program for ARM64", 0x01C4: "a program for ARM"}
X86_64 = 0x8664
IS_DLL = 0x2000


class WineError(Exception):
    """Why no Windows program can be run, in one sentence."""


def check_library() -> None:
    """Raise ``WineError`` if the DLLs or the library behind them were not built."""
    files = [LIBRARIES / "x86_64-unix" / "directml_py.so", *map(dll_path, DLLS)]
    if not all(path.exists() for path in files):
        raise WineError(
            "the DLLs for Windows programs were not built; install MinGW (Debian: gcc-mingw-w64-x86-64) and a shared "
            "libpython (python3-dev), then this package again"
        )


def dll_path(name: str) -> Path:
    return LIBRARIES / "x86_64-windows" / f"{name}.dll"


def find_loader() -> str:
    """The path of Wine's loader: $WINELOADER, or else wine or wine64 on PATH.

    Raises ``WineError`` if there is none, or if it is older than Wine 8.
    """
    search = os.pathsep.join((os.environ.get("PATH", os.defpath), DEBIAN_FOLDER))
    wanted = os.environ.get("WINELOADER")
    names = [wanted] if wanted else ["wine", "wine64"]
    loader = next(filter(None, (shutil.which(name, path=search) for name in names)), None)
    if loader is None and wanted:
        raise WineError(
            f"$WINELOADER is {wanted}, which is not a program; unset it, or let it name Wine's loader"
        )
    if loader is None:
        raise WineError("there is no Wine; install it (Debian: apt-get install wine64)")
    version = version_of(loader)
    if version is None:
        raise WineError(f"{loader} does not say its version as Wine does")
    if version < OLDEST:
        raise WineError(f"{loader} is Wine {version}; Windows programs need Wine {OLDEST} or newer")
    return loader


def version_of(loader: str) -> int | None:
    """The major version of a loader; None if it prints something else than Wine's version."""
    try:
        output = subprocess.run([loader, "--version"], capture_output=True, text=True, timeout=60).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.match(r"wine-(\d+)\.", output)
    return int(match[1]) if match else None


def check_program(program: str) -> None:
    """Raise ``WineError`` for a file that is not a Windows program for x86-64.

    Windows paths, such as ``C:\\program.exe``, are left to Wine.
    """
    if re.match(r"[A-Za-z]:", program):
        return
    try:
        with open(program, "rb") as file:
            machine, characteristics = read_header(file)
    except OSError as error:
        raise WineError(f"{program}: {error.strerror}") from None
    what = MACHINES.get(machine, "no Windows program")
    if machine == X86_64 and characteristics & IS_DLL:
        what = "a DLL"
    elif machine == X86_64:
        return
    raise WineError(f"{program} is {what}; Windows programs (.exe) for x86-64 can be run")


def read_header(file: BinaryIO) -> tuple[int, int]:
    """The machine that a PE file is for, and its characteristics; 0 for both if it is no PE file."""
    head = file.read(0x40)
    if len(head) == 0x40 and head[:2] == b"MZ":
        file.seek(*struct.unpack_from("<I", head, 0x3C))
        header = file.read(24)
        if len(header) == 24 and header[:4] == b"PE\0\0":
            return struct.unpack_from("<H", header, 4)[0], struct.unpack_from("<H", header, 22)[0]
    return 0, 0


def environment(prefix: Path, variables: Mapping[str, str]) -> dict[str, str]:
    """``variables``, extended so that programs in ``prefix`` find this package's DLLs and library."""
    # Wine takes file names and arguments for texts in the locale's encoding.
    encoding = {"LC_ALL": "C.UTF-8"} if variables.get("LC_ALL") in ("C", "POSIX") else {}
    paths = [str(LIBRARIES), *filter(None, variables.get("WINEDLLPATH", "").split(os.pathsep))]
    return {
        **variables,
        **encoding,
        "WINEPREFIX": str(prefix),
        "WINEDLLPATH": os.pathsep.join(paths),
        "WINEDLLOVERRIDES": overrides(variables.get("WINEDLLOVERRIDES", "")),
        "WINEDEBUG": variables.get("WINEDEBUG", "-all"),
    }


def overrides(inherited: str) -> str:
    """Wine's list of load orders, with this package's for its own DLLs and the ``inherited`` ones for all others."""
    kept = []
    for entry in filter(None, inherited.split(";")):
        names, _, order = entry.partition("=")
        others = [name for name in names.split(",") if name.strip().lower() not in OVERRIDES]
        kept += [f"{','.join(others)}={order}"] if others else []
    return ";".join((*(f"{name}={order}" for name, order in OVERRIDES.items()), *kept))
