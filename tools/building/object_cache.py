"""Object files of earlier builds, found by what the compiler would have read.

Compiling the kernels takes a minute, and pip gives each build a new temporary folder, so that an install in which
nothing has changed would compile them again. Objects are kept in the user's cache folder, as pip keeps wheels.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
FOLDER = CACHE / "directml-py" / "objects"
# Each build makes some seventy.
KEPT = 280


def use(compiler: Any, folder: Path = FOLDER) -> None:
    """Let a compiler of setuptools take objects from the folder, and put there those that it makes."""
    if hasattr(compiler, "compiler_so"):
        compiler._compile = partial(_compile, compiler, compiler._compile, folder)


def _compile(
    compiler: Any,
    compile_source: Callable[..., None],
    folder: Path,
    target: str,
    source: str,
    extension: str,
    cc_args: list[str],
    extra_postargs: list[str],
    pp_opts: list[str],
) -> None:
    key = _key(compiler.compiler_so, source, extra_postargs, pp_opts)
    kept = folder / f"{key}.o"
    if key and kept.exists():
        os.utime(kept)
        shutil.copyfile(kept, target)
        return
    compile_source(target, source, extension, cc_args, extra_postargs, pp_opts)
    if key:
        _keep(Path(target), kept)


def _key(command: list[str], source: str, flags: list[str], include_flags: list[str]) -> str:
    """The digest of the compiler, its flags and the preprocessed source; empty if that cannot be had, so that the
    compiler itself says why."""
    try:
        version = subprocess.run([command[0], "--version"], capture_output=True, check=True)
        # Without line markers, which name the temporary folder.
        preprocess = [*command, *include_flags, *flags, "-E", "-P", source]
        text = subprocess.run(preprocess, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    digest = hashlib.sha256("\0".join([*command, *flags]).encode())
    digest.update(version.stdout)
    digest.update(text.stdout)
    return digest.hexdigest()


def _keep(made: Path, kept: Path) -> None:
    """Copy the object into the folder, unless nothing can be written there, and drop the oldest."""
    part = kept.with_suffix(f".{os.getpid()}")
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(made, part)
        part.replace(kept)
        objects = sorted(kept.parent.glob("*.o"), key=lambda path: path.stat().st_mtime)
        for old in objects[:-KEPT]:
            old.unlink(missing_ok=True)
    except OSError:
        with suppress(OSError):
            part.unlink()
