"""Wine prefixes: the package's own, which is created when it is first needed, and a user's, which gets the DLLs.

In a prefix the package changes the five files of ``DLLS`` in system32, as DXVK's set-up does. Files that they replace
are kept beside them, and ``uninstall`` puts them back.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .loader import DLLS, WineError, dll_path, environment

SYSTEM32 = Path("drive_c", "windows", "system32")
# The suffix of files that this package has replaced, and the name of the file that says that it has.
KEPT = ".before-directml-py"
MARKER = ".directml-py"
WINDOWS_VERSION = "win10"
# What creates a prefix asks nothing, and opens no window.
UNATTENDED = "mscoree,mshtml="
TICK = 1.0


def own_prefix(loader: str) -> Path:
    """The package's own prefix, in the user's cache; creates it if it is missing, or was not completed."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    prefix = cache / "directml-py" / "wine"
    if (prefix / MARKER).exists():
        return prefix
    try:
        prefix.parent.mkdir(parents=True, exist_ok=True)
        with locked(prefix.with_suffix(".lock")):
            if not (prefix / MARKER).exists():
                _create(loader, prefix)
    except OSError as error:
        raise WineError(f"cannot create the Wine prefix {prefix}: {error.strerror or error}") from None
    return prefix


def _create(loader: str, prefix: Path) -> None:
    shutil.rmtree(prefix, ignore_errors=True)
    begin = time.monotonic()
    print(f"wine: creating the Wine prefix {prefix}, once; this takes about ten seconds", file=sys.stderr)
    try:
        _run(loader, prefix, "wineboot", "--init")
        _run(
            loader,
            prefix,
            *("reg", "add", r"HKEY_CURRENT_USER\Software\Wine", "/v", "Version", "/d", WINDOWS_VERSION, "/f"),
        )
        install(prefix)
    except BaseException:
        shutil.rmtree(prefix, ignore_errors=True)
        raise
    print(f"wine: done after {time.monotonic() - begin:.0f} s", file=sys.stderr)


def _run(loader: str, prefix: Path, *command: str) -> None:
    variables = {
        name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")
    }
    variables = {**environment(prefix, variables), "WINEDLLOVERRIDES": UNATTENDED}
    with subprocess.Popen(
        [loader, *command],
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        while True:
            try:
                code = process.wait(TICK)
                break
            except subprocess.TimeoutExpired:
                if sys.stderr.isatty():
                    print(".", end="", file=sys.stderr, flush=True)
    if code:
        raise WineError(f"{' '.join(command[:2])} failed with exit code {code} in the Wine prefix {prefix}")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Wait until no other process is in a block with the same file."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def user_prefix(path: str) -> Path:
    """The prefix at a path of the user's. Raises ``WineError`` if it is not a 64-bit one of this user."""
    prefix = Path(path).expanduser().resolve()
    if not (prefix / SYSTEM32).is_dir() or not (prefix / "system.reg").exists():
        raise WineError(f"{prefix} is not a Wine prefix")
    if prefix.stat().st_uid != os.geteuid():
        raise WineError(f"the Wine prefix {prefix} belongs to another user")
    with (prefix / "system.reg").open(errors="replace") as file:
        if "#arch=win32" in file.read(4096):
            raise WineError(
                f"{prefix} is a 32-bit Wine prefix; Windows programs for x86-64 need a 64-bit one"
            )
    return prefix


def is_installed(prefix: Path) -> bool:
    """Whether the prefix has this package's DLLs, which an update of Wine may have replaced."""
    if not (prefix / MARKER).exists():
        return False
    return all(_same(_target(prefix, name), dll_path(name)) for name in DLLS)


def install(prefix: Path) -> None:
    """Put this package's DLLs into ``prefix``; what they replace is kept. Raises ``WineError`` if that fails, and then
    leaves the prefix as it was."""
    try:
        for name in DLLS:
            target = _target(prefix, name)
            if target.exists() and not _is_own(target):
                os.replace(target, _kept(target))
            fresh = target.with_suffix(".fresh")
            shutil.copyfile(dll_path(name), fresh)
            os.replace(fresh, target)
        (prefix / MARKER).touch()
    except OSError as error:
        uninstall(prefix)
        raise WineError(f"cannot install into {prefix}: {error.strerror or error}") from None


def uninstall(prefix: Path) -> None:
    """Take this package's DLLs out of ``prefix``, and put back what they had replaced."""
    try:
        for name in DLLS:
            target = _target(prefix, name)
            target.with_suffix(".fresh").unlink(missing_ok=True)
            if target.exists() and _is_own(target):
                target.unlink()
            if _kept(target).exists():
                # A file that has come since, as by an update of Wine, is newer than the one that was kept.
                if target.exists():
                    _kept(target).unlink()
                else:
                    os.replace(_kept(target), target)
        (prefix / MARKER).unlink(missing_ok=True)
    except OSError as error:
        raise WineError(f"cannot uninstall from {prefix}: {error.strerror or error}") from None


def _target(prefix: Path, name: str) -> Path:
    return prefix / SYSTEM32 / f"{name}.dll"


def _kept(target: Path) -> Path:
    return target.with_name(target.name + KEPT)


def _same(first: Path, second: Path) -> bool:
    try:
        return first.read_bytes() == second.read_bytes()
    except OSError:
        return False


def _is_own(path: Path) -> bool:
    """Whether a DLL is this package's, of whatever version: it names the bridge, or is it."""
    return b"directml_py." in path.read_bytes()
