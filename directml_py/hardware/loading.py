"""Loading of shared libraries by path, with checks for required exports."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from pathlib import Path, PureWindowsPath
from typing import NamedTuple


class HardwareError(RuntimeError):
    """A library cannot be used, or was not opened for the requested operation; the message is one sentence."""


LIBRARY_FOLDER = Path(__file__).resolve().parents[1] / "com" / "lib"
# In load order: each depends on those before it.
LIBRARY_FILES = ("libdirectml.so", "libd3d12.so", "libdxcore.so")
PathLike = str | os.PathLike[str]


class Libraries(NamedTuple):
    """``d3d12`` is the library that exports D3D12CreateDevice."""

    directml: ctypes.CDLL
    d3d12: ctypes.CDLL
    emulated: bool


def load_libraries(directml: PathLike, d3d12: PathLike | None, dxcore: PathLike | None) -> Libraries:
    """Load a DirectML library and its dependencies. Raises ``HardwareError``.

    If ``d3d12`` is None, the emulated Direct3D 12 is used; if ``dxcore`` is None, the one beside ``d3d12``, if any.
    """
    path = checked_path(directml, "directml")
    if d3d12 is None:
        device = _load_emulator()
    else:
        d3d12_path = checked_path(d3d12, "d3d12")
        for sibling in _dxcore_of(d3d12_path, dxcore):
            load(sibling, "dxcore", shared=True)
        device = load(d3d12_path, "d3d12", shared=True)
        require(device, d3d12_path, "D3D12CreateDevice", "Direct3D 12")
    library = load(path, "directml")
    require(library, path, "DMLCreateDevice1", "DirectML")
    return Libraries(library, device, d3d12 is None)


def checked_path(path: PathLike, name: str) -> Path:
    """``path``, resolved. Raises ``HardwareError`` unless it is a file that this system can load."""
    text = os.fspath(path)
    if not isinstance(text, str):
        raise TypeError(f"{name} must be a path, not {type(path).__name__}")
    if sys.platform != "win32" and (PureWindowsPath(text).drive or text.lower().endswith(".dll")):
        raise HardwareError(
            f"{name}: {text} is a Windows library, which {sys.platform} cannot load; WSL has its own in "
            "/usr/lib/wsl/lib"
        )
    file = Path(text)
    if not file.is_file():
        raise HardwareError(f"{name}: {text} is not a file")
    return file.resolve()


def load(path: Path, name: str, shared: bool = False) -> ctypes.CDLL:
    """The library at ``path``; if ``shared``, libraries that are loaded later can link to its symbols."""
    try:
        # cdecl and stdcall are the same on 64-bit Windows.
        return ctypes.CDLL(str(path), ctypes.RTLD_GLOBAL if shared else ctypes.DEFAULT_MODE)
    except OSError as error:
        raise HardwareError(f"{name}: {path} cannot be loaded: {error}") from None


def require(library: ctypes.CDLL, path: Path, function: str, what: str) -> None:
    if not hasattr(library, function):
        raise HardwareError(f"{path} has no {function}: it is not {what}")


def _load_emulator() -> ctypes.CDLL:
    missing = [name for name in LIBRARY_FILES if not (LIBRARY_FOLDER / name).is_file()]
    if missing:
        raise HardwareError(
            f"the emulated Direct3D 12 device is not available to C: this installation has no {missing[0]}; "
            "pass d3d12"
        )
    libraries = [load(LIBRARY_FOLDER / name, "directml", shared=True) for name in LIBRARY_FILES]
    return libraries[0]


def _dxcore_of(d3d12: Path, dxcore: PathLike | None) -> Iterator[Path]:
    if dxcore is not None:
        yield checked_path(dxcore, "dxcore")
    elif (sibling := d3d12.with_name("libdxcore.so")).is_file():
        yield sibling
