"""Wine prefixes: the package's own, which is created when it is first needed, and a user's, which gets the DLLs.

In a prefix the package changes the five files of ``DLLS`` in system32, as DXVK's set-up does. Files that they replace
are kept beside them, and ``uninstall`` puts them back.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .loader import DLLS, WineError, dll_path, environment

SYSTEM32 = Path("drive_c", "windows", "system32")
# The suffix of files that this package has replaced, and the name of the file that says that it has.
KEPT = ".before-directml-py"
FRESH = ".fresh"
MARKER = ".directml-py"
WINDOWS_VERSION = "win10"
# What creates a prefix asks nothing, and opens no window.
UNATTENDED = "mscoree,mshtml="
TICK = 1.0
# How long a server of Wine may take to end its programs and to write the registry, before it is killed with them.
PATIENCE = 10.0


def default_prefix(loader: str) -> Path:
    """The package's own prefix, in the user's cache; creates it if it is missing, or was not completed."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    prefix = cache.absolute() / "directml-py" / "wine"
    try:
        if not (prefix / MARKER).exists():
            prefix.parent.mkdir(parents=True, exist_ok=True)
            with locked(prefix.parent, f"another process creates the Wine prefix {prefix}"):
                if not (prefix / MARKER).exists():
                    _create(loader, prefix)
    except OSError as error:
        raise WineError(f"cannot create the Wine prefix {prefix}: {error.strerror or error}") from None
    check_owner(prefix)
    return prefix


def _create(loader: str, prefix: Path) -> None:
    # An earlier creation may have been killed, but not the programs that it had started.
    end(prefix)
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
        # Its server writes the registry at its end.
        end(prefix)
        install(prefix)
    except BaseException:
        end(prefix)
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
        try:
            while True:
                try:
                    code = process.wait(TICK)
                    break
                except subprocess.TimeoutExpired:
                    if sys.stderr.isatty():
                        print(".", end="", file=sys.stderr, flush=True)
        except BaseException:
            process.kill()
            raise
    if code:
        raise WineError(f"{' '.join(command[:2])} failed with exit code {code} in the Wine prefix {prefix}")


def end(prefix: Path) -> None:
    """End what Wine has left running in ``prefix``, and wait until it has ended."""
    begin = time.monotonic()
    while found := running(prefix):
        late = time.monotonic() - begin > PATIENCE
        # Interrupted, a server ends the programs that it knows. What has not reached it yet, as under load, looks for a
        # server, or starts one.
        servers = [process for process, name in found.items() if name.startswith("wineserver")]
        for process in found if late else servers:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL if late else signal.SIGINT)
        time.sleep(0.05)


def running(prefix: Path) -> dict[int, str]:
    """The processes of Wine's that were started for ``prefix``, each with the name of its file.

    Asking the prefix's server would miss those that were started before the folder was made again, since a folder's
    server is found by its inode.
    """
    variable = b"WINEPREFIX=" + os.fsencode(prefix)
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        # Processes of other users cannot be read, and others end meanwhile.
        with suppress(OSError):
            name = (folder / "exe").readlink().name
            if name.startswith("wine") and variable in (folder / "environ").read_bytes().split(b"\0"):
                found[int(folder.name)] = name
    return found


@contextmanager
def locked(folder: Path, meanwhile: str) -> Iterator[None]:
    """Wait until no other process is in a block with the same folder, and say what it does ``meanwhile``."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"wine: waiting, since {meanwhile}", file=sys.stderr)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def user_prefix(path: str) -> Path:
    """The prefix at a path of the user's. Raises ``WineError`` if it is not a 64-bit one of this user."""
    prefix = Path(path).expanduser().resolve()
    try:
        if not (prefix / SYSTEM32).is_dir() or not (prefix / "system.reg").exists():
            raise WineError(f"{prefix} is not a Wine prefix")
        check_owner(prefix)
        with (prefix / "system.reg").open(errors="replace") as file:
            is_32_bit = "#arch=win32" in file.read(4096)
    except OSError as error:
        raise WineError(f"{prefix}: {error.strerror}") from None
    if is_32_bit:
        raise WineError(f"{prefix} is a 32-bit Wine prefix; Windows programs for x86-64 need a 64-bit one")
    return prefix


def check_owner(prefix: Path) -> None:
    """Raise ``WineError`` for another user's prefix, which Wine refuses."""
    if prefix.stat().st_uid != os.geteuid():
        raise WineError(f"the Wine prefix {prefix} belongs to another user")


def is_installed(prefix: Path) -> bool:
    """Whether the prefix has this package's DLLs, which an update of Wine may have replaced."""
    if not (prefix / MARKER).exists():
        return False
    return all(_same(_target(prefix, name), dll_path(name)) for name in DLLS)


def repair(prefix: Path) -> None:
    """Install again into a prefix whose DLLs are not this package's, as after an update of either."""
    if is_installed(prefix):
        return
    with locked(prefix, f"another process installs into the Wine prefix {prefix}"):
        if not is_installed(prefix):
            install(prefix)
            print(f"wine: the DLLs in {prefix} were other ones; installed again", file=sys.stderr)


def install(prefix: Path) -> None:
    """Put this package's DLLs into ``prefix``; what they replace is kept. Raises ``WineError`` if that fails, and then
    leaves the prefix as it was."""
    try:
        _exchange(prefix)
    except OSError as error:
        with suppress(WineError):
            uninstall(prefix)
        raise WineError(f"cannot install into {prefix}: {error.strerror or error}") from None


def _exchange(prefix: Path) -> None:
    for name in DLLS:
        target = _target(prefix, name)
        for found in _named(target):
            if not _is_of_this_package(found):
                os.replace(found, found.with_name(found.name + KEPT))
            elif found != target:
                found.unlink()
        fresh = target.with_name(target.name + FRESH)
        shutil.copyfile(dll_path(name), fresh)
        os.replace(fresh, target)
    (prefix / MARKER).touch()


def uninstall(prefix: Path) -> None:
    """Take this package's DLLs out of ``prefix``, and put back what they had replaced."""
    try:
        for target in (_target(prefix, name) for name in DLLS):
            target.with_name(target.name + FRESH).unlink(missing_ok=True)
            for found in filter(_is_of_this_package, _named(target)):
                found.unlink()
            for kept in _named(target, KEPT):
                # A file that has come since, as by an update of Wine, is newer than the one that was kept.
                if _named(target):
                    kept.unlink()
                else:
                    os.replace(kept, kept.with_name(kept.name.removesuffix(KEPT)))
        (prefix / MARKER).unlink(missing_ok=True)
    except OSError as error:
        raise WineError(f"cannot uninstall from {prefix}: {error.strerror or error}") from None


def _target(prefix: Path, name: str) -> Path:
    return prefix / SYSTEM32 / f"{name}.dll"


def _named(target: Path, suffix: str = "") -> list[Path]:
    """The files that are one to Windows: their names differ in the case of letters alone."""
    name = (target.name + suffix).lower()
    return [path for path in target.parent.iterdir() if path.name.lower() == name]


def _same(first: Path, second: Path) -> bool:
    try:
        return first.read_bytes() == second.read_bytes()
    except OSError:
        return False


def _is_of_this_package(path: Path) -> bool:
    """Whether a DLL is this package's, of whatever version: it names the bridge, or is it."""
    return path.is_file() and b"directml_py." in path.read_bytes()
